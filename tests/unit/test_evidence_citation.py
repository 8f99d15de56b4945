"""References: valid CSL-JSON, BibTeX that is read back as it was meant, Markdown that nothing breaks out of."""

import re
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.contract.test_evidence_store import evidence
from zarniwoop.contract.evidence import Evidence
from zarniwoop.contract.hit import DatePrecision, PublishedAt
from zarniwoop.contract.modality import SearchModality
from zarniwoop.evidence.citation import authors_of, bibtex, csl_json, markdown

NOW = 1_796_000_000.0
_DATE = {
    "type": "object",
    "properties": {
        "date-parts": {
            "type": "array",
            "minItems": 1,
            "maxItems": 2,
            "items": {"type": "array", "minItems": 1, "maxItems": 3, "items": {"type": ["string", "number"]}},
        }
    },
    "additionalProperties": False,
}
_NAME = {
    "type": "object",
    "properties": {name: {"type": "string"} for name in ("family", "given", "literal")},
    "additionalProperties": False,
}
CSL = {
    "type": "array",
    "items": {
        "type": "object",
        "required": ["type", "id"],
        "properties": {
            "type": {
                "enum": [
                    *("article", "article-journal", "article-magazine", "article-newspaper", "book", "chapter"),
                    *("entry-encyclopedia", "post", "post-weblog", "report", "webpage"),
                ]
            },
            "id": {"type": ["string", "number"]},
            "author": {"type": "array", "items": _NAME},
            "issued": _DATE,
            "accessed": _DATE,
            **{
                name: {"type": "string"}
                for name in ("title", "URL", "container-title", "language", "DOI", "PMID", "PMCID", "ISBN", "note")
            },
        },
        "additionalProperties": False,
    },
}
"""Of csl-data.json 1.0.2, what is used of it; it allows no other property either."""
TRICKY = "Bells & whistles: 100% {fun}_#1 \\ $5 ~^ “Köln”"


def cited(url: str = "https://example.com/bells", **more: Any) -> Evidence:
    return evidence(url=url, **({"retrieved_at": NOW} | more))


def paper(**more: Any) -> Evidence:
    known: dict[str, Any] = {
        "title": "Molecular structure of nucleic acids",
        "authors": ("J. D. Watson", "F. H. C. Crick"),
        "site_name": "Nature",
        "identifiers": {"doi": "10.1038/171737a0", "pmid": "13054692"},
        "published_at": PublishedAt(value="1953-04-25", precision=DatePrecision.DAY),
        "modality": SearchModality.ACADEMIC,
        "language": "en",
    }
    return cited(**(known | more))


def entries(text: str) -> list[tuple[str, str, dict[str, str]]]:
    """A reader of BibTeX: type, key and fields of each entry, by its braces."""
    found = []
    position = 0
    while (start := text.find("@", position)) >= 0:
        opening = text.index("{", start)
        closing = _closing(text, opening)
        key, _, rest = text[opening + 1 : closing].partition(",")
        found.append((text[start + 1 : opening], key, _fields(rest)))
        position = closing + 1
    return found


def _fields(text: str) -> dict[str, str]:
    fields, position = {}, 0
    while (match := re.compile(r"\s*(\w+) = \{").match(text, position)) is not None:
        closing = _closing(text, match.end() - 1)
        fields[match.group(1)] = text[match.end() : closing]
        assert text[closing + 1] == ","
        position = closing + 2
    assert not text[position:].strip()
    return fields


def _closing(text: str, opening: int) -> int:
    """As BibTeX counts: each brace, whatever stands before it."""
    depth, position = 0, opening
    while True:
        depth += {"{": 1, "}": -1}.get(text[position], 0)
        if depth == 0:
            return position
        position += 1


_NAMED = {"backslash": "\0", "asciitilde": "~", "asciicircum": "^", "braceleft": "{", "braceright": "}"}


def plain(text: str) -> str:
    """What BibTeX's escapes mean."""
    text = re.sub(r"\\text(\w+)\{\}", lambda said: _NAMED[said[1]], text)
    return re.sub(r"\\([&%$#_])", r"\1", text).replace("\0", "\\")


def test_a_paper_is_cited_with_its_identifiers() -> None:
    """In all three forms."""
    (item,) = csl_json([paper()])
    assert item == {
        "id": paper().id,
        "type": "article-journal",
        "title": "Molecular structure of nucleic acids",
        "author": [{"literal": "J. D. Watson"}, {"literal": "F. H. C. Crick"}],
        "issued": {"date-parts": [[1953, 4, 25]]},
        "accessed": {"date-parts": [[2026, 11, 30]]},
        "URL": "https://example.com/bells",
        "container-title": "Nature",
        "language": "en",
        "DOI": "10.1038/171737a0",
        "PMID": "13054692",
    }
    ((kind, key, fields),) = entries(bibtex([paper()]))
    assert (kind, key) == ("article", "watson1953molecular")
    assert fields == {
        "title": "{Molecular structure of nucleic acids}",
        "author": "{J. D. Watson} and {F. H. C. Crick}",
        "journal": "Nature",
        "year": "1953",
        "month": "4",
        "doi": "10.1038/171737a0",
        "url": "https://example.com/bells",
        "note": "Accessed 2026-11-30",
    }
    assert markdown([paper()]) == (
        r"1. J\. D\. Watson, F\. H\. C\. Crick. [Molecular structure of nucleic acids](<https://example.com/bells>). "
        r"Nature. 1953\-04\-25. DOI 10\.1038/171737a0. accessed 2026-11-30."
    )


@pytest.mark.parametrize(
    ("more", "kind"),
    [
        ({}, "webpage"),
        ({"identifiers": {"arxiv_id": "1706.03762"}}, "article"),
        ({"modality": SearchModality.NEWS}, "article-newspaper"),
        ({"modality": SearchModality.ENCYCLOPEDIA}, "entry-encyclopedia"),
        ({"identifiers": {"isbn": "9780140449136"}}, "book"),
        ({"final_url": "https://www.reddit.com/r/bells"}, "post"),
        ({"published_at": PublishedAt(value="2024", precision=DatePrecision.YEAR)}, "webpage"),
        ({"published_at": PublishedAt(value="2024-05-01T10:00:00Z", precision=DatePrecision.SECOND)}, "webpage"),
        ({"published_at": PublishedAt(value="soon", precision=DatePrecision.YEAR)}, "webpage"),
        ({"title": TRICKY, "site_name": TRICKY, "byline": TRICKY}, "webpage"),
        ({"title": "", "language": "", "site_name": "\n"}, "webpage"),
        ({"retracted": True}, "webpage"),
    ],
)
def test_csl_json_is_valid_whatever_is_known(more: dict[str, Any], kind: str) -> None:
    """And nothing that is not known is in it."""
    items = csl_json([cited(**more)])
    jsonschema.validate(items, CSL)
    assert items[0]["type"] == kind
    assert all(items[0][name] for name in items[0] if name != "title")


def test_markup_in_a_title_is_read_back_as_it_was() -> None:
    """From BibTeX by its braces and escapes."""
    ((_, _, fields),) = entries(bibtex([cited(title=TRICKY, authors=("Bell and Sons {Ltd}",), site_name=TRICKY)]))
    assert plain(fields["title"].removeprefix("{").removesuffix("}")) == TRICKY
    assert plain(fields["author"]) == "{Bell and Sons {Ltd}}"
    assert plain(fields["howpublished"]) == TRICKY


def test_a_title_that_closes_its_entry_adds_none() -> None:
    """Its braces are not BibTeX's, with or without a backslash before them."""
    for title in ("x}}, note = {forged}} @misc{forged, title = {{y", "x\\}\\}} @misc{forged, title = {{y", "}", "{"):
        written = bibtex([cited(title=title), paper()])
        assert [(kind, key) for kind, key, _ in entries(written)][1:] == [("article", "watson1953molecular")]
        assert written.count("{") == written.count("}")


@given(st.text(max_size=60), st.text(max_size=60), st.text("abc/?#&=%{}\\ <>\"'()_~^\n", max_size=40))
def test_no_title_name_or_url_breaks_an_entry(title: str, name: str, path: str) -> None:
    """Whatever a page calls itself, the entries before and behind it are whole, and its own fields are its own."""
    hostile = cited(title=title, byline=name, site_name=name, final_url="https://example.com/" + path)
    found = entries(bibtex([paper(), hostile, paper()]))
    assert [key for _, key, _ in found][::2] == ["watson1953molecular", "watson1953moleculara"]
    assert plain(found[1][2].get("title", "{}")[1:-1]) == " ".join(
        "".join(mark if mark.isprintable() else " " for mark in title).split()
    )
    assert set(found[1][2]) <= {"title", "author", "howpublished", "url", "note"}
    jsonschema.validate(csl_json([hostile]), CSL)
    assert len(markdown([paper(), hostile, paper()]).split("\n")) == 3


def test_keys_are_unique_and_always_the_same() -> None:
    """By a letter behind those that would be the same, by a number behind the last letter."""
    many = [cited(f"https://example.com/{number}") for number in range(30)]
    keys = [key for _, key, _ in entries(bibtex(many))]
    assert keys[:3] == ["examplebells", "examplebellsa", "examplebellsb"]
    assert keys[26:28] == ["examplebellsz", "examplebells-27"]
    assert len(set(keys)) == 30
    assert all(re.fullmatch(r"[a-z0-9-]+", key) for key in keys)
    assert bibtex(many) == bibtex(many)
    strange = [cited(title="鐘", final_url="https://鐘.example/"), cited(title="", final_url="")]
    assert [key for _, key, _ in entries(bibtex(strange))] == ["example", "source"]


@pytest.mark.parametrize(
    ("byline", "names"),
    [
        ("By Ada Bell", ("Ada Bell",)),
        ("Ada Bell and Bo Clapper", ("Ada Bell", "Bo Clapper")),
        ("Ada Bell, Bo Clapper", ("Ada Bell", "Bo Clapper")),
        ("Bell, Ada; Clapper, Bo", ("Bell, Ada", "Clapper, Bo")),
        ("Bell, Ada", ("Bell, Ada",)),
        ("Ferdinand Sandler", ("Ferdinand Sandler",)),
        (None, ()),
        (" ; ", ()),
    ],
)
def test_a_byline_is_taken_apart_only_where_it_is_clear(byline: str | None, names: tuple[str, ...]) -> None:
    """A family name is not guessed."""
    assert authors_of(cited(byline=byline)) == names


def test_a_title_cannot_break_out_of_its_link() -> None:
    """Nor bring a link, an image or markup of its own."""
    hostile = cited(
        title="x](https://evil.example) ![i](https://evil.example/i) <b>&lt;",
        final_url="https://example.com/a>b) <script>\n#(c)",
    )
    line = markdown([hostile])
    assert re.sub(r"\\.", "", line).count("](") == 1
    assert "<script>" not in line
    assert "\n" not in line
    assert "(<https://example.com/a%3Eb)%20%3Cscript%3E%0A#(c)>)" in line


def test_a_retracted_work_is_cited_as_one() -> None:
    """In all three forms."""
    assert csl_json([paper(retracted=True)])[0]["note"] == "Retracted"
    assert "note = {Retracted. Accessed" in bibtex([paper(retracted=True)])
    assert markdown([paper(retracted=True)]).endswith("**retracted**.")
