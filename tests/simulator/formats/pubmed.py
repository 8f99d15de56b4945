"""PubMed: NCBI's E-utilities, esearch, esummary and efetch over one database.

Wire format: GET or POST /esearch.fcgi (JSON or XML), /esummary.fcgi (JSON), /efetch.fcgi (XML).
https://www.ncbi.nlm.nih.gov/books/NBK25499/
Quirks: all numbers of esearch are strings; an empty term is an ERROR inside a 200; summaries are a map by uid
beside the list `uids`; a URL that is too long is 414 and an XHTML page.
"""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from tests.simulator.corpus import Work, first_day, initials
from tests.simulator.formats.format import Format, World
from tests.simulator.formats.pubmed_query import found_by
from tests.simulator.formats.pubmed_xml import LANGUAGES, MONTHS, article_set, search_result
from tests.simulator.library import plain
from tests.simulator.messages import Answer, Request, json_answer, natural, text_answer

_LONGEST_TARGET = 4000
_TOO_LONG = text_answer(
    '<?xml version="1.0" encoding="UTF-8"?>\n'
    '<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN" "http://www.w3.org/TR/xhtml1/DTD/xhtml1-strict.dtd">\n'
    '<html xmlns="http://www.w3.org/1999/xhtml" lang="en" xml:lang="en"><head><title>Submitted URI too large!</title>'
    "</head><body><h1>Submitted URI too large!</h1><h2>Error 414</h2></body></html>\n",
    status=414,
    media_type="text/html; charset=utf-8",
)
_TOO_FAST = json_answer(
    {"error": "API rate limit exceeded", "api-key": "203.0.113.7", "count": "4", "limit": "3"}, status=429
)


def answer(request: Request, world: World) -> Answer:
    if len(request.target) > _LONGEST_TARGET:
        return _TOO_LONG
    asked = request.parameters
    if request.path not in _TOOLS:
        return text_answer("Not Found", status=404)
    sent = _TOOLS[request.path](asked, world)
    limit = 10 if asked.get("api_key") else 3
    headers = {"X-RateLimit-Limit": str(limit), "X-RateLimit-Remaining": str(limit - 1), "Cache-Control": "private"}
    return Answer(status=sent.status, body=sent.body, media_type=sent.media_type, headers=headers)


def _esearch(asked: Mapping[str, str], world: World) -> Answer:
    term = asked.get("term", "").strip()
    in_json = asked.get("retmode", "xml") == "json"
    if not term:
        return _search_error("Empty term and query_key - nothing todo", in_json=in_json)
    works = found_by(asked, world.library.works)
    start = natural(asked.get("retstart"), 0)
    page = works[start : start + natural(asked.get("retmax"), 20)]
    ids = [work.pmid for work in page if work.pmid]
    if not in_json:
        return _xml(search_result(len(works), start, ids, term))
    result: dict[str, Any] = {
        "count": str(len(works)),
        "retmax": str(len(ids)),
        "retstart": str(start),
        "idlist": ids,
        "translationset": [],
        "querytranslation": " AND ".join(f'"{word}"[All Fields]' for word in term.split()),
    }
    if not works:
        result["errorlist"] = {"phrasesnotfound": [term], "fieldsnotfound": []}
        result["warninglist"] = {
            "phrasesignored": [],
            "quotedphrasesnotfound": [],
            "outputmessages": ["No items found."],
        }
    return _json({"header": {"type": "esearch", "version": "0.3"}, "esearchresult": result})


def _search_error(problem: str, *, in_json: bool) -> Answer:
    if in_json:
        return _json({"header": {"type": "esearch", "version": "0.3"}, "esearchresult": {"ERROR": problem}})
    return _xml(
        '<?xml version="1.0" encoding="UTF-8" ?>\n<!DOCTYPE eSearchResult PUBLIC "-//NLM//DTD esearch 20060628//EN" '
        '"https://eutils.ncbi.nlm.nih.gov/eutils/dtd/20060628/esearch.dtd">\n'
        f"<eSearchResult><ERROR>{escape(problem)}</ERROR></eSearchResult>\n"
    )


def _esummary(asked: Mapping[str, str], world: World) -> Answer:
    header = {"type": "esummary", "version": "0.3"}
    ids = _ids(asked)
    if not ids:
        return _json({"header": header, "esummaryresult": ["Empty id list - nothing todo"]})
    by_pmid = _by_pmid(world)
    result: dict[str, Any] = {"uids": ids}
    for uid in ids:
        work = by_pmid.get(uid)
        result[uid] = _summary(work) if work else {"uid": uid, "error": "cannot get document summary"}
    return _json({"header": header, "result": result})


def _summary(work: Work) -> dict[str, Any]:
    names = [{"name": short_name(author), "authtype": _kind(author), "clusterid": ""} for author in work.authors]
    title = plain(work.title)
    return {
        "uid": work.pmid,
        "pubdate": _written_date(work.published),
        "epubdate": "",
        "source": work.venue_abbreviation or work.venue,
        "authors": names,
        "lastauthor": names[-1]["name"],
        "title": title if title.endswith(("?", ".")) else f"{title}.",
        "sorttitle": title.lower(),
        "volume": work.volume or "",
        "issue": work.issue or "",
        "pages": work.pages or "",
        "lang": [LANGUAGES.get(work.language, "und")],
        "nlmuniqueid": "",
        "issn": work.issn or "",
        "essn": "",
        "pubtype": ["Journal Article", *(["Retracted Publication"] if work.is_retracted else [])],
        "recordstatus": "PubMed - indexed for MEDLINE",
        "pubstatus": "4",
        "articleids": _article_ids(work),
        "history": [{"pubstatus": "pubmed", "date": f"{_sortable(work.published)} 06:00"}],
        "references": [],
        "attributes": ["Has Abstract"],
        "pmcrefcount": work.cited_by // 10,
        "fulljournalname": work.venue,
        "elocationid": f"doi: {work.doi}" if work.doi else "",
        "doctype": "citation",
        "booktitle": "",
        "availablefromurl": "",
        "sortpubdate": f"{_sortable(work.published)} 00:00",
        "sortfirstauthor": names[0]["name"],
        "vernaculartitle": "",
    }


def _article_ids(work: Work) -> list[dict[str, Any]]:
    ids: list[dict[str, Any]] = [{"idtype": "pubmed", "idtypen": 1, "value": work.pmid}]
    if work.pmcid:
        ids.append({"idtype": "pmc", "idtypen": 8, "value": work.pmcid})
        ids.append({"idtype": "pmcid", "idtypen": 5, "value": f"pmc-id: {work.pmcid};"})
    if work.doi:
        ids.append({"idtype": "doi", "idtypen": 3, "value": work.doi})
    return ids


def _efetch(asked: Mapping[str, str], world: World) -> Answer:
    ids = _ids(asked)
    if not ids:
        error = "<eFetchResult><ERROR>Empty id list - nothing todo</ERROR></eFetchResult>"
        return _xml(f'<?xml version="1.0" encoding="UTF-8" ?>\n{error}', status=400)
    by_pmid = _by_pmid(world)
    return _xml(article_set([by_pmid[uid] for uid in ids if uid in by_pmid]))


def _ids(asked: Mapping[str, str]) -> Sequence[str]:
    return [uid.strip() for uid in asked.get("id", "").split(",") if uid.strip()]


def _by_pmid(world: World) -> dict[str, Work]:
    return {work.pmid: work for work in world.library.works.items if work.pmid}


def short_name(author: str) -> str:
    """`Doudna, Jennifer A.` as `Doudna JA`; a group keeps its name."""
    last, _, first = author.partition(", ")
    return f"{last} {initials(first)}".strip()


def _kind(author: str) -> str:
    return "Author" if ", " in author else "CollectiveName"


def _written_date(published: str) -> str:
    """`2012-08-17` as `2012 Aug 17`."""
    year, *rest = published.split("-")
    month = [MONTHS[int(rest[0]) - 1]] if rest else []
    return " ".join([year, *month, *(str(int(day)) for day in rest[1:])])


def _sortable(published: str) -> str:
    return first_day(published).replace("-", "/")


def _json(value: Any) -> Answer:
    return json_answer(value, media_type="application/json; charset=UTF-8")


def _xml(text: str, *, status: int = 200) -> Answer:
    return text_answer(text, status=status, media_type="text/xml; charset=UTF-8")


_TOOLS = {"/esearch.fcgi": _esearch, "/esummary.fcgi": _esummary, "/efetch.fcgi": _efetch}

FORMAT = Format(name="pubmed", answer=answer, refusals={429: _TOO_FAST})
