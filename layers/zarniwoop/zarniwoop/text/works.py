"""Which hits show the same work, and what they tell of it together.

Two hits are the same when they share a DOI, an arXiv id, a PMID, a PMCID or a normalised URL, and so on along the
chain. A telling title of the same year unites what is left, unless those that share it bear different identifiers of
one kind: then they are different works ("Letter to the editor", 2021), save that a preprint's DOI contradicts no other.
Pictures are told apart by the address of the picture: several may be on one page.
The outcome depends on the set of hits, never on their order.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from zarniwoop.text.bm25 import words
from zarniwoop.text.identifiers import bare_arxiv_id, bare_doi, bare_pmcid
from zarniwoop.text.urls import host_of, http_url, normalised

FUSION_CONSTANT = 60
"""The k of reciprocal rank fusion (Cormack, Clarke and Büttcher, SIGIR 2009)."""
_ARXIV_DOI = "10.48550/arxiv."
_PREPRINT_DOIS = ("10.48550/", "10.1101/", "10.64898/", "10.2139/", "10.21203/", "10.20944/", "10.31234/", "10.26434/")
_PUBMED_URL = re.compile(
    r"https?://(?:pubmed\.ncbi\.nlm\.nih\.gov|(?:www\.)?ncbi\.nlm\.nih\.gov/pubmed|europepmc\.org/(?:article|abstract)/med)"
    r"/(\d+)/?(?:[?#].*)?",
    re.IGNORECASE,
)
_PMC_URL = re.compile(
    r"https?://(?:pmc\.ncbi\.nlm\.nih\.gov/articles|(?:www\.)?ncbi\.nlm\.nih\.gov/pmc/articles|"
    r"(?:www\.)?europepmc\.org/(?:articles|article/pmc))/((?:PMC)?\d+)(?:[/?#].*)?",
    re.IGNORECASE,
)
_FILLED = ("snippet", "published_at", "authors", "language")
_NOTICES = ("updated_by", "update_to")

Identity = tuple[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Marks:
    """What a hit shows of the work that it names."""

    identities: tuple[Identity, ...]
    title_and_year: Identity | None = None


def marks_of(
    *,
    title: str,
    url: str | None,
    published: str | None,
    identifiers: Mapping[str, Any],
    image_url: str | None = None,
    more: Iterable[Identity] = (),
) -> Marks:
    """The marks of a hit; `image_url` of a picture, `more` are identities that are known from elsewhere."""
    return Marks(
        identities=(*_identities(http_url(url) or "", identifiers, image_url), *more),
        title_and_year=_title_and_year(title, published),
    )


def same_works(marks: Sequence[Marks]) -> list[list[int]]:
    """The positions of the hits, grouped by the work that they show."""
    leaders = list(range(len(marks)))
    first: dict[Identity, int] = {}
    for number, each in enumerate(marks):
        for same in each.identities:
            _unite(leaders, first.setdefault(same, number), number)
    for alike in _alike(marks, leaders):
        for number in alike[1:]:
            _unite(leaders, alike[0], number)
    groups: dict[int, list[int]] = {}
    for number in range(len(marks)):
        groups.setdefault(_leader(leaders, number), []).append(number)
    return list(groups.values())


def riches(text: str | None, snippet: str | None, identifiers: Mapping[str, Any]) -> tuple[bool, int, int]:
    """Sorts the richest hit of a work first: with a body, the longest snippet, the most identifiers."""
    return not text, -len(snippet or ""), -len(identifiers)


def filled(hits: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The first hit of a work, with what it lacks out of the others."""
    told = dict(hits[0])
    for name in _FILLED:
        told[name] = next((hit[name] for hit in hits if hit.get(name)), told.get(name))
    identifiers: dict[str, str] = {}
    for hit in hits:
        identifiers = {**(hit.get("identifiers") or {}), **identifiers}
    return {**told, "identifiers": identifiers, "extras": _extras([hit.get("extras") or {} for hit in hits])}


def _extras(all_extras: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The first that is told counts, save for a retraction: whoever knows of one is right, and all notices are kept."""
    told: dict[str, Any] = {}
    for extras in all_extras:
        told = {**{name: value for name, value in extras.items() if value is not None}, **told}
    if any(extras.get("is_retracted") is True for extras in all_extras):
        told["is_retracted"] = True
    for name in _NOTICES:
        notices = [notice for extras in all_extras for notice in extras.get(name) or ()]
        if notices:
            told[name] = [notice for place, notice in enumerate(notices) if notice not in notices[:place]]
    return told


def _identities(url: str, identifiers: Mapping[str, Any], image_url: str | None) -> Iterator[Identity]:
    host = host_of(url) or ""
    doi = bare_doi(identifiers.get("doi")) or (bare_doi(unquote(url)) if host in ("doi.org", "dx.doi.org") else None)
    arxiv_id = bare_arxiv_id(identifiers.get("arxiv_id")) or (
        bare_arxiv_id(url) if host.endswith("arxiv.org") else None
    )
    if doi:
        yield "doi", doi
        if doi.startswith(_ARXIV_DOI):
            arxiv_id = doi.removeprefix(_ARXIV_DOI)
    if arxiv_id:
        yield "arxiv_id", arxiv_id.lower()
    if pmid := str(identifiers.get("pmid") or "").strip() or _within(url, _PUBMED_URL):
        yield "pmid", pmid
    if pmcid := bare_pmcid(str(identifiers.get("pmcid") or "").strip() or _within(url, _PMC_URL)):
        yield "pmcid", pmcid
    picture = http_url(image_url)
    if picture:
        yield "picture", normalised(picture)
    elif url:
        yield "url", normalised(url)


def _within(url: str, pattern: re.Pattern[str]) -> str:
    found = pattern.fullmatch(url)
    return found.group(1) if found else ""


def _title_and_year(title: str, published: str | None) -> Identity | None:
    """The title without case and punctuation, and the year; None for a title that many works may bear."""
    year = (published or "")[:4]
    plain = " ".join(words(title)) if year else ""
    telling = len(plain) >= (15 if plain.isascii() else 8)
    return (plain, year) if telling else None


def _alike(marks: Sequence[Marks], leaders: list[int]) -> list[list[int]]:
    """Hits that share title and year and, all they are united with taken together, contradict each other nowhere.

    Judged before any of them is united by title, so that no order of judging matters.
    """
    by_title: dict[Identity, list[int]] = {}
    borne: dict[int, set[Identity]] = {}
    for number, each in enumerate(marks):
        if each.title_and_year:
            by_title.setdefault(each.title_and_year, []).append(number)
        borne.setdefault(_leader(leaders, number), set()).update(filter(_contradicts, each.identities))
    return [
        numbers
        for numbers in by_title.values()
        if not _contradictory(set().union(*(borne[_leader(leaders, number)] for number in numbers)))
    ]


def _contradicts(same: Identity) -> bool:
    kind, name = same
    return kind in ("arxiv_id", "pmid", "pmcid") or (kind == "doi" and not name.startswith(_PREPRINT_DOIS))


def _contradictory(borne: Iterable[Identity]) -> bool:
    kinds = [kind for kind, _ in borne]
    return len(kinds) != len(set(kinds))


def _leader(leaders: list[int], number: int) -> int:
    while leaders[number] != number:
        leaders[number] = leaders[leaders[number]]
        number = leaders[number]
    return number


def _unite(leaders: list[int], one: int, other: int) -> None:
    leaders[_leader(leaders, other)] = _leader(leaders, one)
