"""PubMed's records as NCBI describes them: document summaries (esummary, JSON) and full records (efetch, XML).

Documented at https://www.ncbi.nlm.nih.gov/books/NBK25499/ and https://dtd.nlm.nih.gov/ncbi/pubmed/
Quirks: an absent value is an empty string; titles carry inline markup, in JSON sometimes escaped; an abstract comes in
labelled sections with markup and formulas inside; books are `PubmedBookArticle`, laid out differently.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from html import escape, unescape
from typing import TYPE_CHECKING, Any

from zarniwoop.contract.failure import Cause, MalformedAnswer
from zarniwoop.contract.hit import ContentInline, ContentReference, SearchHit
from zarniwoop.contract.modality import SearchModality
from zarniwoop.contract.transport import HttpAnswer
from zarniwoop.text.dates import parse_date
from zarniwoop.text.identifiers import bare_doi
from zarniwoop.text.languages import LANGUAGE_OF_MARC
from zarniwoop.text.plain import clip, plain
from zarniwoop.wire.reading import read_xml

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

_MARKUP = re.compile(r"</?(?:i|b|u|em|strong|sub|sup|scp)>", re.IGNORECASE)
_PMCID = re.compile(r"PMC\d+")
_RECORDS = ("PubmedArticle", "PubmedBookArticle")
_RETRACTED = "Retracted Publication"


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """A full record, as far as a hit or its reader needs it."""

    pmid: str
    title: str | None
    authors: tuple[str, ...]
    abstract: str | None
    is_retracted: bool


def page_of(pmid: str) -> str:
    return f"https://pubmed.ncbi.nlm.nih.gov/{pmid}/"


def summary_to_hit(summary: Mapping[str, Any]) -> SearchHit | None:
    """A hit out of a document summary; None for one that holds an error in place of a record."""
    identifiers = _identifiers(summary)
    title = None if "error" in summary else _title(summary["title"] or summary.get("booktitle", ""))
    if title is None or int(identifiers["pmid"]) < 1:
        return None
    on_demand = ContentReference(inline=ContentInline.STASH_ON_DEMAND, reference=identifiers["pmid"])
    named = [author["name"] for author in summary["authors"] if author.get("authtype", "Author") != "Editor"]
    return SearchHit(
        title=title,
        url=page_of(identifiers["pmid"]),
        modality=SearchModality.ACADEMIC,
        source=plain(summary.get("fulljournalname") or summary.get("source")),
        content=on_demand if "Has Abstract" in summary.get("attributes", ("Has Abstract",)) else None,
        authors=tuple(name for name in map(plain, named) if name),
        published_at=parse_date(summary.get("pubdate")) or parse_date(summary.get("epubdate")),
        language=LANGUAGE_OF_MARC.get(next(iter(summary.get("lang", ())), "")),
        identifiers=identifiers,
        extras=_extras(summary),
    )


def _identifiers(summary: Mapping[str, Any]) -> dict[str, str]:
    by_type = {entry["idtype"]: entry["value"] for entry in summary.get("articleids", ())}
    pmid = by_type.get("pubmed") or by_type.get("pmid") or summary["uid"]
    doi = bare_doi(by_type.get("doi"))
    pmcid = _PMCID.search(by_type.get("pmc") or by_type.get("pmcid") or "")
    return {"pmid": pmid} | ({"doi": doi} if doi else {}) | ({"pmcid": pmcid.group()} if pmcid else {})


def _extras(summary: Mapping[str, Any]) -> dict[str, Any]:
    kinds = tuple(summary.get("pubtype") or ())
    extras: dict[str, Any] = {name: summary.get(name) for name in ("volume", "issue", "pages")}
    extras |= {"publication_types": kinds, "is_retracted": _RETRACTED in kinds}
    return {name: value for name, value in extras.items() if value}


def _title(markup: str) -> str | None:
    """A title without its inline markup; `p < 0.05` and what else looks like a tag stays."""
    return plain(escape(_MARKUP.sub("", unescape(markup)), quote=False))


def with_record(hit: SearchHit, record: Record | None) -> SearchHit:
    """The hit with what only the full record says; as it was when the record did not come along."""
    if record is None:
        return hit
    abstract = record.abstract
    return replace(
        hit,
        snippet=clip(abstract.replace("\n", " "), 300) if abstract else None,
        content=ContentReference(inline=ContentInline.EMBED_TEXT, text=abstract) if abstract else None,
        extras={**hit.extras, "is_retracted": True} if record.is_retracted else hit.extras,
    )


def read_records(answer: HttpAnswer) -> dict[str, Record]:
    """Full records by PMID, the first where one comes twice. Raises MalformedAnswer for anything but a record set."""
    root = read_xml(answer)
    if root.tag not in ("PubmedArticleSet", "PubmedBookArticleSet", *_RECORDS):
        raise MalformedAnswer("the XML is not a set of PubMed records", cause=Cause.SHAPE)
    items = [root] if root.tag in _RECORDS else [item for item in root if item.tag in _RECORDS]
    return {record.pmid: record for record in map(_record, reversed(items)) if record}


def _record(item: "Element") -> Record | None:
    citation = item.find("MedlineCitation")
    article = citation.find("Article") if citation is not None else item.find("BookDocument")
    pmid = (item.findtext("*/PMID") or "").strip()
    if article is None or not pmid.isdecimal():
        return None
    kinds = [kind.text for kind in article.iter("PublicationType")]
    notices = item.findall("MedlineCitation/CommentsCorrectionsList/CommentsCorrections[@RefType='RetractionIn']")
    return Record(
        pmid=pmid,
        title=_text(article.find("ArticleTitle")) or _text(article.find("Book/BookTitle")),
        authors=_authors(article),
        abstract=_abstract(article),
        is_retracted=_RETRACTED in kinds or bool(notices),
    )


def _authors(article: "Element") -> tuple[str, ...]:
    """`Piwowar HA`, as in the summaries, or the name of a group."""
    authors = article.findall("AuthorList/Author") or article.findall("Book/AuthorList/Author")
    parts = ([author.find(part) for part in ("CollectiveName", "LastName", "Initials")] for author in authors)
    names = (" ".join(filter(None, map(_text, name))) for name in parts)
    return tuple(name for name in names if name)


def _abstract(article: "Element") -> str | None:
    """One line a section, its label before it; NCBI labels a section without one `UNLABELLED`."""
    sections: list[str] = []
    for element in article.findall("Abstract/AbstractText"):
        text, label = _text(element), element.get("Label", "UNLABELLED")
        if text:
            sections.append(text if label == "UNLABELLED" else f"{label}: {text}")
    return "\n".join(sections) or None


def _text(element: "Element | None") -> str | None:
    """All text inside, markup and formulas included. XML has decoded it: escaped again, `p < 0.05` is not a tag."""
    return None if element is None else plain(escape("".join(element.itertext()), quote=False))
