"""arXiv: preprints as an Atom feed.

Wire format: GET /query with `search_query` (all:, ti:, au:, abs:, cat:, co:, jr:, submittedDate:[a TO b], AND, OR,
ANDNOT), `id_list`, `start`, `max_results`, `sortBy`, `sortOrder`. https://info.arxiv.org/help/api/user-manual.html
Quirks: a bad parameter is HTTP 400 and a feed of one entry titled "Error"; an unknown id is silently missing; summaries
begin with two spaces; entry ids still say http.
"""

import re
from base64 import b64encode
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from hashlib import sha1
from html import escape

from tests.simulator.corpus import ArxivEntry, Work
from tests.simulator.formats.boolean import OPERATORS, Rows, rows_of
from tests.simulator.formats.format import Format, World
from tests.simulator.index import Shelf
from tests.simulator.library import plain, spoken_name
from tests.simulator.messages import Answer, Request, text_answer

_FEED = (
    "<?xml version='1.0' encoding='UTF-8'?>\n"
    '<feed xmlns:opensearch="http://a9.com/-/spec/opensearch/1.1/" xmlns:arxiv="http://arxiv.org/schemas/atom" '
    'xmlns="http://www.w3.org/2005/Atom">\n'
)
_ID = re.compile(r"(?P<bare>\d{4}\.\d{4,5}|[a-z-]+(\.[A-Z]{2})?/\d{7})(v\d+)?")
_TOKEN = re.compile(r'[()]|\w+:\[[^\]]*\]|\w+:"[^"]*"|"[^"]*"|[^\s()]+')
_DATES = re.compile(r"\w+:\[\s*(\d{8,14})\s+TO\s+(\d{8,14})\s*\]")
_COLUMNS: Mapping[str, str | None] = {
    "all": None,
    "ti": "title",
    "au": "authors",
    "abs": "body",
    "cat": "subject",
    "co": "body",
    "jr": "subject",
}
_MOST_RESULTS = 2000
_RATE_EXCEEDED = text_answer("Rate exceeded.", status=429)


def answer(request: Request, world: World) -> Answer:
    if request.path != "/query":
        return text_answer("Not Found", status=404)
    asked = request.parameters
    try:
        start = _number(asked, "start", 0)
        count = _number(asked, "max_results", 10)
        works = _chosen(asked, world)
    except ValueError as error:
        return _error(str(error))
    return _feed(asked, works, start, count)


def _number(asked: Mapping[str, str], name: str, default: int) -> int:
    text = asked.get(name, str(default))
    if not text.lstrip("-").isdecimal():
        raise ValueError(f"{name} must be an integer")
    if int(text) < 0:
        raise ValueError(f"{name} must be non-negative")
    if name == "max_results" and int(text) > _MOST_RESULTS:
        raise ValueError(f"{name} must not exceed {_MOST_RESULTS}")
    return int(text)


def _chosen(asked: Mapping[str, str], world: World) -> list[Work]:
    works = world.library.works
    query = asked.get("search_query", "").strip()
    ids = [_bare(one.strip()) for one in asked.get("id_list", "").split(",") if one.strip()]
    if not query:
        by_id = {work.arxiv.id: work for work in works.items if work.arxiv}
        return [by_id[one] for one in ids if one in by_id]
    tokens = _TOKEN.findall(query)
    rows = rows_of(tokens, lambda token: _leaf(token, works))
    wanted = [_value(token) for token in tokens if token not in OPERATORS]
    found = [works.items[row] for row in works.best_first(rows, wanted)]
    return _sorted(asked, [work for work in found if work.arxiv and (not ids or work.arxiv.id in ids)])


def _bare(text: str) -> str:
    matched = _ID.fullmatch(text)
    if matched is None:
        raise ValueError(f"incorrect id format for {text}")
    return matched["bare"]


def _value(token: str) -> str:
    return token.partition(":")[2].strip('"') if token.partition(":")[0] in _COLUMNS else token.strip('"')


def _leaf(token: str, works: Shelf[Work]) -> Rows:
    dates = _DATES.fullmatch(token)
    if dates:
        earliest, latest = dates[1].ljust(14, "0"), dates[2].ljust(14, "9")
        return frozenset(
            row for row, work in enumerate(works.items) if work.arxiv and earliest <= _digits(work.arxiv) <= latest
        )
    column = _COLUMNS.get(token.partition(":")[0])
    return works.holding(_value(token), column)


def _digits(entry: ArxivEntry) -> str:
    return re.sub(r"\D", "", entry.submitted)


def _sorted(asked: Mapping[str, str], works: list[Work]) -> list[Work]:
    order = asked.get("sortBy", "relevance")
    descending = asked.get("sortOrder", "descending") == "descending"
    if order == "submittedDate":
        return sorted(works, key=lambda work: work.arxiv.submitted if work.arxiv else "", reverse=descending)
    if order == "lastUpdatedDate":
        return sorted(works, key=lambda work: work.arxiv.updated if work.arxiv else "", reverse=descending)
    return works


def _feed(asked: Mapping[str, str], works: Sequence[Work], start: int, count: int) -> Answer:
    query, ids = escape(asked.get("search_query", "")), escape(asked.get("id_list", ""))
    digest = sha1(f"{query}|{ids}|{start}".encode(), usedforsecurity=False).digest()
    title = f"search_query={query}&amp;id_list={ids}&amp;start={start}&amp;max_results={count}"
    link = f"search_query={query}&amp;start={start}&amp;max_results={count}&amp;id_list={ids}"
    head = (
        f"  <id>https://arxiv.org/api/{b64encode(digest).decode().rstrip('=')}</id>\n"
        f"  <title>arXiv Query: {title}</title>\n"
        f"  <updated>{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}</updated>\n"
        f'  <link href="https://arxiv.org/api/query?{link}" type="application/atom+xml"/>\n'
        f"  <opensearch:itemsPerPage>{count}</opensearch:itemsPerPage>\n"
        f"  <opensearch:totalResults>{len(works)}</opensearch:totalResults>\n"
        f"  <opensearch:startIndex>{start}</opensearch:startIndex>\n"
    )
    entries = [_entry(work, work.arxiv) for work in works[start : start + count] if work.arxiv]
    return _atom(head + "".join(entries))


def _entry(work: Work, entry: ArxivEntry) -> str:
    versioned = f"{entry.id}v{entry.version}"
    lines = [
        f"<id>http://arxiv.org/abs/{versioned}</id>",
        f"<title>{escape(plain(work.title), quote=False)}</title>",
        f"<updated>{entry.updated}</updated>",
        f'<link href="https://arxiv.org/abs/{versioned}" rel="alternate" type="text/html"/>',
        f'<link href="https://arxiv.org/pdf/{versioned}" rel="related" type="application/pdf" title="pdf"/>',
        f"<summary>  {escape(plain(work.abstract), quote=False)}</summary>",
        *(f'<category term="{term}" scheme="http://arxiv.org/schemas/atom"/>' for term in entry.categories),
        f"<published>{entry.submitted}</published>",
        *([f"<arxiv:comment>{escape(entry.comment, quote=False)}</arxiv:comment>"] if entry.comment else []),
        f'<arxiv:primary_category term="{entry.categories[0]}"/>',
        *([f"<arxiv:journal_ref>{_journal_reference(work)}</arxiv:journal_ref>"] if work.venue_abbreviation else []),
        *(f"<author>\n      <name>{escape(spoken_name(author))}</name>\n    </author>" for author in work.authors),
        *_doi(work),
    ]
    return "  <entry>\n" + "".join(f"    {line}\n" for line in lines) + "  </entry>\n"


def _journal_reference(work: Work) -> str:
    return escape(f"{work.venue_abbreviation} {work.volume}, {work.pages} ({work.published[:4]})")


def _doi(work: Work) -> list[str]:
    """arXiv names the DOI of the published version, never the one it registers itself."""
    if not work.doi or work.doi.startswith("10.48550/"):
        return []
    doi = escape(work.doi)
    link = f'<link rel="related" href="https://doi.org/{doi}" title="doi"/>'
    return [f"<arxiv:doi>{doi}</arxiv:doi>", link]


def _error(problem: str) -> Answer:
    now = f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"
    address = f"https://arxiv.org/api/errors#{escape(problem.replace(' ', '_'))}"
    body = (
        "  <id>https://arxiv.org/</id>\n  <title>arXiv Search Results</title>\n"
        f"  <updated>{now}</updated>\n  <opensearch:itemsPerPage>1</opensearch:itemsPerPage>\n"
        "  <opensearch:totalResults>1</opensearch:totalResults>\n  <opensearch:startIndex>0</opensearch:startIndex>\n"
        f"  <entry>\n    <id>{address}</id>\n    <title>Error</title>\n    <updated>{now}</updated>\n"
        f'    <link href="{address}" rel="alternate" type="text/html"/>\n'
        f"    <summary>{escape(problem)}</summary>\n"
        "    <author>\n      <name>arXiv api core</name>\n    </author>\n  </entry>\n"
    )
    return _atom(body, status=400)


def _atom(inside: str, *, status: int = 200) -> Answer:
    media_type = "application/atom+xml; charset=utf-8"
    return text_answer(f"{_FEED}{inside}</feed>\n", status=status, media_type=media_type)


FORMAT = Format(name="arxiv", answer=answer, refusals={429: _RATE_EXCEEDED, 400: _error("search_query is malformed")})
