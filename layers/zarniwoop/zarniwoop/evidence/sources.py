"""What kind of source a page is, by its identifiers, its host and how it was found: rules that anybody can check.

The first kind that fits, in the order of `SourceKind`. Hosts are compared with everything below them.
"""

import re
from collections.abc import Mapping
from enum import StrEnum
from urllib.parse import urlsplit

from zarniwoop.contract.evidence import Evidence
from zarniwoop.contract.modality import SearchModality
from zarniwoop.text.identifiers import work_identifiers
from zarniwoop.text.urls import host_of, is_below


class SourceKind(StrEnum):
    """Who stands behind a page."""

    PREPRINT = "preprint"
    PEER_REVIEWED = "peer_reviewed"
    GOVERNMENT = "government"
    EDUCATION = "education"
    ENCYCLOPEDIA = "encyclopedia"
    FORUM = "forum"
    NEWS = "news"
    BOOK = "book"
    VENDOR = "vendor"
    WEB = "web"


_PREPRINT_DOIS = re.compile(r"10\.(?:48550|1101|2139|21203|31234|20944|36227|26434|31219|31235|22541)/")
_PREPRINT_HOSTS = ("arxiv.org", "biorxiv.org", "medrxiv.org", "chemrxiv.org", "preprints.org", "ssrn.com", "osf.io")
_GOVERNMENT = re.compile(
    r"(?:^|\.)(?:gov|mil|int)$|(?:^|\.)(?:gov|govt|gob|gouv|gv|mil|go|gc|admin|bund)\.[a-z]{2}$|(?:^|\.)europa\.eu$"
)
_EDUCATION = re.compile(r"(?:^|\.)edu$|(?:^|\.)(?:edu|ac)\.[a-z]{2}$")
_ENCYCLOPEDIAS = ("wikipedia.org", "britannica.com", "scholarpedia.org", "encyclopedia.com", "plato.stanford.edu")
_FORUMS = (
    "reddit.com", "quora.com", "stackexchange.com", "stackoverflow.com", "superuser.com", "serverfault.com",
    "news.ycombinator.com", "medium.com", "substack.com", "wordpress.com", "blogspot.com", "tumblr.com", "github.io",
    "facebook.com", "x.com", "twitter.com", "linkedin.com", "youtube.com", "tiktok.com", "instagram.com",
    "mastodon.social", "bsky.app", "answers.com", "discord.com", "t.me",
)  # fmt: skip
_NEWS = (
    "reuters.com", "apnews.com", "afp.com", "dpa.com", "bbc.co.uk", "bbc.com", "theguardian.com", "nytimes.com",
    "washingtonpost.com", "wsj.com", "ft.com", "economist.com", "bloomberg.com", "lemonde.fr", "spiegel.de", "zeit.de",
    "faz.net", "sueddeutsche.de", "elpais.com", "nhk.or.jp", "aljazeera.com", "npr.org", "cnn.com", "tagesschau.de",
)  # fmt: skip
_FORUM_PLACES = re.compile(r"/(?:forums?|community|comments|threads?|discussions?)(?:/|$)", re.IGNORECASE)
_FORUM_HOSTS = re.compile(r"^(?:forums?|community|discuss|answers)\.")
_VENDOR_PLACES = re.compile(r"/(?:pricing|products?|shop|store|buy|plans|checkout|cart)(?:/|$|\.html?$)", re.IGNORECASE)
_VENDOR_HOSTS = re.compile(r"^(?:shop|store|buy)\.")
_DOI_HOSTS = ("doi.org",)
_PUBMED_HOSTS = ("pubmed.ncbi.nlm.nih.gov",)
_PMC_HOSTS = ("pmc.ncbi.nlm.nih.gov",)
_RETRACTED_TITLE = re.compile(
    r"\W*(?:RETRACTED|WITHDRAWN)\b|\W*(?:Retracted|Withdrawn)(?: [Aa]rticle| [Pp]aper)?\s*[\]:]"
)


def identifiers_of_url(url: str) -> dict[str, str]:
    """What a URL names at those who give identifiers out. A DOI in anybody else's URL proves nothing."""
    host, path = host_of(url), urlsplit(url).path
    return work_identifiers(
        doi=path if _is_any(host, _DOI_HOSTS) else None,
        arxiv_id=url if _is_any(host, ("arxiv.org",)) and path.startswith(("/abs/", "/pdf/")) else None,
        pmid=url if _is_any(host, _PUBMED_HOSTS) else None,
        pmcid=path.rstrip("/").rpartition("/")[2] if _is_any(host, _PMC_HOSTS) else None,
    )


def says_it_is_retracted(title: str) -> bool:
    """Publishers put it in front of the title; a notice of a retraction is called otherwise."""
    return _RETRACTED_TITLE.match(title) is not None


def kind_of(evidence: Evidence) -> SourceKind:
    """The first kind that fits."""
    host = host_of(evidence.final_url) or ""
    path = urlsplit(evidence.final_url).path
    fits: Mapping[SourceKind, bool] = {
        SourceKind.PREPRINT: _is_preprint(evidence.identifiers, host),
        SourceKind.PEER_REVIEWED: any(evidence.identifiers.get(name) for name in ("doi", "pmid", "pmcid")),
        SourceKind.GOVERNMENT: _GOVERNMENT.search(host) is not None,
        SourceKind.ENCYCLOPEDIA: evidence.modality is SearchModality.ENCYCLOPEDIA or _is_any(host, _ENCYCLOPEDIAS),
        SourceKind.EDUCATION: _EDUCATION.search(host) is not None,
        SourceKind.FORUM: _is_any(host, _FORUMS)
        or _FORUM_HOSTS.match(host) is not None
        or _FORUM_PLACES.search(path) is not None,
        SourceKind.NEWS: evidence.modality is SearchModality.NEWS or _is_any(host, _NEWS),
        SourceKind.BOOK: evidence.modality is SearchModality.BOOK or bool(evidence.identifiers.get("isbn")),
        SourceKind.VENDOR: _VENDOR_HOSTS.match(host) is not None or _VENDOR_PLACES.search(path) is not None,
    }
    return next((kind for kind, is_one in fits.items() if is_one), SourceKind.WEB)


def _is_preprint(identifiers: Mapping[str, str], host: str) -> bool:
    """One that has appeared since has a DOI of its publisher, or is in PubMed."""
    doi = identifiers.get("doi", "")
    if identifiers.get("pmid") or (doi and not _PREPRINT_DOIS.match(doi)):
        return False
    return bool(doi or identifiers.get("arxiv_id")) or _is_any(host, _PREPRINT_HOSTS)


def _is_any(host: str | None, domains: tuple[str, ...]) -> bool:
    return any(is_below(host, domain) for domain in domains)
