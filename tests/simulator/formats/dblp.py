"""dblp: computer science, by titles, authors, venues and years.

Wire format: GET /search/publ/api with `q`, `format` (json), `h`, `f`, `c`.
https://dblp.org/faq/How+to+use+the+dblp+search+API.html
Quirks: every number is a string; an empty answer has no `hit`; a sole author is an object; a title ends in a full stop
and escapes apostrophes; words must all occur and match from their start on, or whole with `$`; `|` is OR. Who asks too
often gets an empty document.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from tests.simulator.corpus import Work
from tests.simulator.formats.format import Format, World, plain_refusal
from tests.simulator.library import plain, spoken_name
from tests.simulator.messages import Answer, Request, json_answer, natural, text_answer

_BASE = "https://dblp.org/rec/"
_MOST_HITS = 1000
_WORD = re.compile(r"\w+")
_FIELDS = frozenset(("cs", "stat"))
_VENUES = re.compile(r"Computer|Computing|Neural|NAACL", re.IGNORECASE)
_TOO_FAST = text_answer("", status=429)


def answer(request: Request, world: World) -> Answer:
    if request.path != "/search/publ/api":
        return plain_refusal(404)
    asked = request.query
    if asked.get("format") != "json":
        return text_answer("<result/>", media_type="text/xml; charset=utf-8")
    query = asked.get("q", "")
    works = _found_by(query, world.library.works.items)
    start, size = natural(asked.get("f"), 0), natural(asked.get("h"), 30, most=_MOST_HITS)
    return json_answer({"result": _result(query, works, works[start : start + size], start)})


def _result(query: str, works: Sequence[Work], page: Sequence[Work], start: int) -> dict[str, Any]:
    counted = {"@total": len(works), "@computed": len(works), "@sent": len(page), "@first": start}
    hits: dict[str, Any] = {name: str(count) for name, count in counted.items()}
    if page:
        hits["hit"] = [_hit(work) for work in page]
    return {
        "query": " ".join(f"{word}*" for word in query.split()),
        "status": {"@code": "200", "text": "OK"},
        "time": {"@unit": "msecs", "text": "11.83"},
        "completions": {"@total": "0", "@computed": "0", "@sent": "0"},
        "hits": hits,
    }


def _found_by(query: str, works: Sequence[Work]) -> Sequence[Work]:
    """The works of computer science that hold every word, the newest first."""
    wanted = [alternatives.split("|") for alternatives in query.lower().split()]
    found = [work for work in works if _is_held(work) and wanted and all(_has(work, each) for each in wanted)]
    return sorted(found, key=lambda work: work.published, reverse=True)


def _is_held(work: Work) -> bool:
    categories = work.arxiv.categories if work.arxiv else ()
    return any(name.partition(".")[0] in _FIELDS for name in categories) or bool(_VENUES.search(work.venue))


def _has(work: Work, alternatives: Sequence[str]) -> bool:
    people = [spoken_name(author) for author in work.authors]
    words = _WORD.findall(" ".join((plain(work.title), work.venue, work.published[:4], *people)).lower())
    return any(_matches(words, part) for part in alternatives)


def _matches(words: Sequence[str], part: str) -> bool:
    """A part of several words ("dual-rna") must have them all; `$` asks for a whole one."""
    parts, whole = _WORD.findall(part), part.endswith("$")
    return bool(parts) and all(
        any(word == each if whole else word.startswith(each) for word in words) for each in parts
    )


def _hit(work: Work) -> dict[str, Any]:
    number = str(work.number % 10_000_000)
    return {"@score": "7", "@id": number, "info": _info(work), "url": f"URL#{number}"}


def _info(work: Work) -> dict[str, Any]:
    people = [{"@pid": f"{work.number % 1000}/{place}", "text": _numbered(name)} for place, name in _people(work)]
    preprint = work.type == "preprint" and work.arxiv is not None
    key = f"journals/corr/abs-{(work.arxiv.id if work.arxiv else '').replace('.', '-')}" if preprint else _key(work)
    info: Mapping[str, Any] = {
        "authors": {"author": people if len(people) > 1 else people[0]} if people else None,
        "title": f"{plain(work.title).replace(chr(39), '&apos;').removesuffix('.')}.",
        "venue": "CoRR" if preprint else work.venue,
        "volume": f"abs/{work.arxiv.id}" if preprint and work.arxiv else work.volume,
        "number": None if preprint else work.issue,
        "pages": None if preprint else work.pages,
        "year": work.published[:4],
        "type": "Informal and Other Publications" if preprint else "Journal Articles",
        "access": "open" if work.is_open_access else "closed",
        "key": key,
        "doi": (work.doi or "").upper() or None,
        "ee": f"https://doi.org/{work.doi}" if work.doi else None,
        "url": _BASE + key,
    }
    return {name: value for name, value in info.items() if value is not None}


def _people(work: Work) -> list[tuple[int, str]]:
    return list(enumerate(spoken_name(author) for author in work.authors))


def _numbered(name: str) -> str:
    """One of the people of the corpus has many namesakes."""
    return f"{name} 0001" if name.endswith((" Li", " Sun")) else name


def _key(work: Work) -> str:
    return (
        f"journals/sim/{(work.authors[0] if work.authors else 'x').partition(',')[0].title().replace(' ', '')}"
        + (work.published[2:4])
    )


FORMAT = Format(name="dblp", answer=answer, refusals={429: _TOO_FAST})
