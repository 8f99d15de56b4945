"""Evidence as references: CSL-JSON, BibTeX, Markdown.

Schema: https://github.com/citation-style-language/schema/blob/v1.0.2/schemas/input/csl-data.json
Titles and names are a stranger's words: each form escapes what would be markup in it. Names stay whole (`literal`):
which part of a name is the family's is not guessed.
Quirk: BibTeX reads ` and ` as the border between two authors, and braces keep a name or a title as it is. It counts
them whatever stands before, so that a backslash escapes none: a stranger's braces are written by name.
"""

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from zarniwoop.contract.evidence import Evidence
from zarniwoop.evidence.sources import SourceKind, kind_of
from zarniwoop.text.normal_form import normal_form

_TYPES: Mapping[SourceKind, str] = {
    SourceKind.PEER_REVIEWED: "article-journal",
    SourceKind.PREPRINT: "article",
    SourceKind.NEWS: "article-newspaper",
    SourceKind.ENCYCLOPEDIA: "entry-encyclopedia",
    SourceKind.BOOK: "book",
    SourceKind.FORUM: "post",
}
_CSL_NAMES = {"doi": "DOI", "pmid": "PMID", "pmcid": "PMCID", "isbn": "ISBN"}
_ENTRY_TYPES = {"article-journal": "article", "book": "book"}
_BETWEEN_NAMES = re.compile(r"\s+(?:and|&)\s+|,\s+(?=\S+\s)")
"""Where no semicolon is: a comma in front of a single word stands within a name."""
_PREFIX = re.compile(r"^\s*(?:by|von|par|por)\s+", re.IGNORECASE)
_IN_BIBTEX = {
    "\\": r"\textbackslash{}", "{": r"\textbraceleft{}", "}": r"\textbraceright{}",
    "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
}  # fmt: skip
_IN_MARKDOWN = re.compile(r"[\\`*_{}\[\]<>()#+\-.!|~&]")
_NOT_IN_A_URL = re.compile(r"[\x00-\x20\x7f<>\"{}\\^`|]")
_WORD = re.compile(r"[a-z0-9]+")
_STOP_WORDS = frozenset(("a", "an", "the", "der", "die", "das", "le", "la", "el", "on", "of", "in", "and", "www"))


class CitationFormat(StrEnum):
    """In which form references are given out."""

    CSL_JSON = "csl-json"
    BIBTEX = "bibtex"
    MARKDOWN = "markdown"


def csl_json(cited: Sequence[Evidence]) -> list[dict[str, Any]]:
    """One item each, under the evidence's id."""
    return [_csl_item(evidence) for evidence in cited]


def bibtex(cited: Sequence[Evidence]) -> str:
    """One entry each, under keys that are unique among them and the same whenever these are cited in this order."""
    keys = _keys(cited)
    return "\n\n".join(_entry(evidence, key) for evidence, key in zip(cited, keys, strict=True))


def markdown(cited: Sequence[Evidence]) -> str:
    """A numbered list, in the order of the evidence."""
    return "\n".join(f"{number}. {_reference(evidence)}" for number, evidence in enumerate(cited, 1))


def authors_of(evidence: Evidence) -> tuple[str, ...]:
    """Those that a provider named, else those of the byline."""
    if evidence.authors:
        return tuple(filter(None, map(_one_line, evidence.authors)))
    byline = _PREFIX.sub("", evidence.byline or "")
    names = byline.split(";") if ";" in byline else _BETWEEN_NAMES.split(byline)
    return tuple(filter(None, map(_one_line, names)))


def _csl_item(evidence: Evidence) -> dict[str, Any]:
    given = {
        "author": [{"literal": name} for name in authors_of(evidence)],
        "issued": _issued(evidence),
        "accessed": _date_parts(_accessed(evidence)),
        "URL": _url(evidence.final_url),
        "container-title": _one_line(evidence.site_name or ""),
        "language": evidence.language,
        **{csl: evidence.identifiers.get(name) for name, csl in _CSL_NAMES.items()},
        "note": "Retracted" if evidence.retracted else None,
    }
    return {
        "id": evidence.id,
        "type": _type_of(evidence),
        "title": _one_line(evidence.title),
        **{name: value for name, value in given.items() if value},
    }


def _type_of(evidence: Evidence) -> str:
    return _TYPES.get(kind_of(evidence), "webpage")


def _entry(evidence: Evidence, key: str) -> str:
    kind = _ENTRY_TYPES.get(_type_of(evidence), "misc")
    year, month = _written(evidence)[:2] if _written(evidence) else (None, None)
    place = _one_line(evidence.site_name or "")
    accessed = "-".join(f"{part:02d}" for part in _accessed(evidence))
    fields = {
        "title": f"{{{_escaped(_one_line(evidence.title))}}}",
        "author": " and ".join(f"{{{_escaped(name)}}}" for name in authors_of(evidence)),
        "journal" if kind == "article" else "howpublished": _escaped(place),
        "year": str(year or ""),
        "month": str(month or ""),
        "doi": _NOT_IN_A_URL.sub(_percent, evidence.identifiers.get("doi", "")),
        "isbn": _escaped(evidence.identifiers.get("isbn", "")),
        "url": _url(evidence.final_url),
        "note": ("Retracted. " if evidence.retracted else "") + f"Accessed {accessed}",
    }
    lines = (f"  {name} = {{{value}}}," for name, value in fields.items() if value)
    return "\n".join((f"@{kind}{{{key},", *lines, "}"))


def _keys(cited: Sequence[Evidence]) -> list[str]:
    """`name2024word`; those that would be the same are told apart by a letter, or a number after the last letter."""
    taken: set[str] = set()
    keys = []
    for evidence in cited:
        base = key = _key(evidence)
        number = 0
        while key in taken:
            number += 1
            key = base + (chr(ord("a") + number - 1) if number <= 26 else f"-{number}")
        taken.add(key)
        keys.append(key)
    return keys


def _key(evidence: Evidence) -> str:
    names = authors_of(evidence)
    host = evidence.final_url.partition("://")[2].partition("/")[0]
    name = (_words(names[0])[-1:] if names else []) or _words(evidence.site_name or host)[:1] or ["source"]
    written = _written(evidence)
    title = _words(evidence.title)[:1]
    return "".join((name[0], str(written[0]) if written else "", *title))


def _words(text: str) -> list[str]:
    plain = normal_form("NFKD", text).encode("ascii", "ignore").decode().lower()
    return [word for word in _WORD.findall(plain) if word not in _STOP_WORDS]


def _reference(evidence: Evidence) -> str:
    names = ", ".join(map(_plain, authors_of(evidence)))
    place = _plain(_one_line(evidence.site_name or ""))
    written = evidence.published_at.value[:10] if evidence.published_at else "no date"
    accessed = "-".join(f"{part:02d}" for part in _accessed(evidence))
    doi = evidence.identifiers.get("doi")
    parts = (
        names,
        f"[{_plain(_one_line(evidence.title))}](<{_url(evidence.final_url)}>)",
        place,
        _plain(written),
        f"DOI {_plain(doi)}" if doi else "",
        f"accessed {accessed}",
        "**retracted**" if evidence.retracted else "",
    )
    return ". ".join(filter(None, parts)) + "."


def _issued(evidence: Evidence) -> dict[str, Any] | None:
    written = _written(evidence)
    return _date_parts(written) if written else None


def _written(evidence: Evidence) -> tuple[int, ...]:
    """Year, month and day as far as they are known."""
    if evidence.published_at is None:
        return ()
    parts = evidence.published_at.value[:10].split("-")
    return tuple(int(part) for part in parts) if all(part.isdecimal() for part in parts) else ()


def _accessed(evidence: Evidence) -> tuple[int, ...]:
    read = datetime.fromtimestamp(evidence.retrieved_at, tz=UTC)
    return read.year, read.month, read.day


def _date_parts(parts: Sequence[int]) -> dict[str, Any]:
    return {"date-parts": [list(parts)]}


def _one_line(text: str) -> str:
    return " ".join("".join(mark if mark.isprintable() else " " for mark in text).split())


def _escaped(text: str) -> str:
    return "".join(_IN_BIBTEX.get(mark, mark) for mark in text)


def _plain(text: str) -> str:
    return _IN_MARKDOWN.sub(r"\\\g<0>", text)


def _url(url: str) -> str:
    return _NOT_IN_A_URL.sub(_percent, url)


def _percent(mark: re.Match[str]) -> str:
    return f"%{ord(mark.group()):02X}"
