"""Wikipedia: MediaWiki's Action API, `action=query` with `generator=search`, `list=search`, `titles` or `pageids`.

Wire format: GET /<language>/w/api.php, JSON in formatversion 1 or 2. https://www.mediawiki.org/wiki/API:Query
Quirks: pages come in the order of their ids and carry their rank in `index`; nothing found is an answer without
`query`; errors are HTTP 200; snippets are HTML; a request without User-Agent is refused.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import Any
from urllib.parse import quote

from tests.simulator.corpus import Article
from tests.simulator.formats.format import Format, World
from tests.simulator.index import Matches, Shelf, terms_of
from tests.simulator.messages import Answer, Request, json_answer, natural, text_answer

_ENDPOINT = re.compile(r"/([a-z-]+)/w/api\.php")
_NO_AGENT = text_answer(
    "Please set a user-agent and respect our robot policy https://w.wiki/4wJS. See also T400119.\n", status=403
)
_KNOWN = frozenset(
    """
    action format formatversion origin maxlag utf8 uselang errorformat redirects continue list generator prop titles
    pageids srsearch srlimit sroffset srnamespace srprop srinfo srwhat srsort gsrsearch gsrlimit gsroffset gsrnamespace
    gsrprop gsrinfo gsrwhat gsrsort exintro explaintext exchars exsentences exlimit excontinue exsectionformat inprop
    ppprop
    """.split()  # noqa: SIM905 - a list of forty strings reads worse
)


def answer(request: Request, world: World) -> Answer:
    endpoint = _ENDPOINT.fullmatch(request.path)
    if endpoint is None or endpoint[1] not in world.library.articles:
        return text_answer("<!DOCTYPE html><title>Not Found</title>", status=404, media_type="text/html")
    if not request.headers.get("user-agent"):
        return _NO_AGENT
    asked = request.parameters
    problem = _problem(asked)
    if problem is not None:
        return problem
    value = _query(asked, world.library.articles[endpoint[1]], endpoint[1])
    unknown = sorted(set(asked) - _KNOWN)
    if unknown:
        value["warnings"] = {"main": _warning(asked, f"Unrecognized parameter: {', '.join(unknown)}.")}
    return json_answer(value, media_type="application/json; charset=utf-8")


def _problem(asked: Mapping[str, str]) -> Answer | None:
    if asked.get("action") != "query":
        return _error("badvalue", f'Unrecognized value for parameter "action": {asked.get("action", "help")}.')
    if asked.get("generator") == "search" and not asked.get("gsrsearch", "").strip():
        return _error("missingparam", 'The "gsrsearch" parameter must be set.')
    if asked.get("list") == "search" and not asked.get("srsearch", "").strip():
        return _error("missingparam", 'The "srsearch" parameter must be set.')
    return None


def _error(code: str, info: str) -> Answer:
    value = {"error": {"code": code, "info": info}, "servedby": "simulator"}
    return json_answer(value, headers={"MediaWiki-API-Error": code})


def _warning(asked: Mapping[str, str], text: str) -> dict[str, str]:
    return {"warnings" if asked.get("formatversion") == "2" else "*": text}


def _query(asked: Mapping[str, str], articles: Shelf[Article], language: str) -> dict[str, Any]:
    value: dict[str, Any] = {"batchcomplete": True if asked.get("formatversion") == "2" else ""}
    if asked.get("list") == "search":
        found, start = _search(asked, "sr", articles)
        _continue(value, "sroffset", start, found, "-||")
        value["query"] = {"searchinfo": {"totalhits": found.total}, "search": _hits(asked["srsearch"], found.items)}
    elif asked.get("generator") == "search":
        found, start = _search(asked, "gsr", articles)
        _continue(value, "gsroffset", start, found, "gsroffset||")
        ranked = {article.pageid: start + rank for rank, article in enumerate(found.items, 1)}
        if found.items:
            value["query"] = {"pages": _pages(asked, found.items, language, ranked)}
    else:
        value["query"] = _named_pages(asked, articles, language)
    return value


def _search(asked: Mapping[str, str], prefix: str, articles: Shelf[Article]) -> tuple[Matches[Article], int]:
    start = natural(asked.get(f"{prefix}offset"), 0)
    count = natural(asked.get(f"{prefix}limit"), 10, least=1, most=500)
    return articles.search(asked[f"{prefix}search"], start=start, count=count), start


def _continue(value: dict[str, Any], name: str, start: int, found: Matches[Article], rest: str) -> None:
    reached = start + len(found.items)
    if found.items and reached < found.total:
        value["continue"] = {name: reached, "continue": rest}


def _hits(query: str, articles: Sequence[Article]) -> list[dict[str, Any]]:
    words = "|".join(re.escape(term) for term in terms_of(query))
    return [
        {
            "ns": 0,
            "title": article.title,
            "pageid": article.pageid,
            "size": article.size,
            "wordcount": article.size // 11,
            "snippet": _snippet(article, words),
            "timestamp": article.timestamp,
        }
        for article in articles
    ]


def _snippet(article: Article, words: str) -> str:
    text = escape(article.extract.replace("\n", " ")[:200])
    return re.sub(rf"\b({words})\b", r'<span class="searchmatch">\1</span>', text, flags=re.IGNORECASE)


def _named_pages(asked: Mapping[str, str], articles: Shelf[Article], language: str) -> dict[str, Any]:
    query: dict[str, Any] = {}
    if "pageids" in asked:
        wanted = {number for number in asked["pageids"].split("|") if number.isdecimal()}
        found = [article for article in articles.items if str(article.pageid) in wanted]
        return {"pages": _pages(asked, found, language, {})}
    normal = {title: title[:1].upper() + title[1:].replace("_", " ") for title in asked.get("titles", "").split("|")}
    changed = [{"from": title, "to": to} for title, to in normal.items() if title != to]
    if changed:
        query["normalized"] = changed
    redirects = {name: article.title for article in articles.items for name in article.redirects}
    followed = [{"from": title, "to": redirects[title]} for title in normal.values() if title in redirects]
    if followed and "redirects" in asked:
        query["redirects"] = followed
    wanted = {redirects.get(title, title) if "redirects" in asked else title for title in normal.values()}
    found = [article for article in articles.items if article.title in wanted]
    missing = sorted(wanted - {article.title for article in found} - {""})
    query["pages"] = _pages(asked, found, language, {}, missing)
    return query


def _pages(
    asked: Mapping[str, str],
    articles: Sequence[Article],
    language: str,
    ranked: Mapping[int, int],
    missing: Sequence[str] = (),
) -> list[dict[str, Any]] | dict[str, dict[str, Any]]:
    modern = asked.get("formatversion") == "2"
    pages: dict[str, dict[str, Any]] = {}
    for number, title in enumerate(missing, 1):
        pages[str(-number)] = {"ns": 0, "title": title, "missing": True if modern else ""}
    for article in sorted(articles, key=lambda article: article.pageid):
        page: dict[str, Any] = {"pageid": article.pageid, "ns": 0, "title": article.title}
        if article.pageid in ranked:
            page["index"] = ranked[article.pageid]
        for prop in asked.get("prop", "").split("|"):
            page |= _PROPS[prop](asked, article, language) if prop in _PROPS else {}
        pages[str(article.pageid)] = page
    return list(pages.values()) if modern else pages


def _extract(asked: Mapping[str, str], article: Article, language: str) -> dict[str, Any]:
    whole = article.extract if "exintro" in asked or not article.rest else f"{article.extract}\n{article.rest}"
    if "exsentences" in asked:
        whole = " ".join(re.split(r"(?<=[.!?])\s+", whole)[: natural(asked["exsentences"], 1, least=1, most=10)])
    limit = natural(asked.get("exchars"), 0)
    if 0 < limit < len(whole):
        whole = whole[:limit].rstrip() + "..."
    if "explaintext" in asked:
        return {"extract": whole}
    return {"extract": "".join(f"<p>{escape(paragraph, quote=False)}</p>" for paragraph in whole.split("\n"))}


def _info(asked: Mapping[str, str], article: Article, language: str) -> dict[str, Any]:
    info: dict[str, Any] = {
        "contentmodel": "wikitext",
        "pagelanguage": language,
        "pagelanguagehtmlcode": language,
        "pagelanguagedir": "ltr",
        "touched": article.timestamp,
        "lastrevid": 1_300_000_000 + article.pageid % 1_000_000,
        "length": article.size,
    }
    if "url" in asked.get("inprop", "").split("|"):
        title = quote(article.title.replace(" ", "_"), safe="()_',:/-.")
        site = f"https://{language}.wikipedia.org"
        info["fullurl"] = f"{site}/wiki/{title}"
        info["editurl"] = f"{site}/w/index.php?title={title}&action=edit"
        info["canonicalurl"] = f"{site}/wiki/{title}"
    return info


def _description(asked: Mapping[str, str], article: Article, language: str) -> dict[str, Any]:
    return {"description": article.description, "descriptionsource": "local" if language == "en" else "central"}


def _pageprops(asked: Mapping[str, str], article: Article, language: str) -> dict[str, Any]:
    ambiguous = article.description == "Topics referred to by the same term"
    return {"pageprops": {"disambiguation": ""}} if ambiguous else {}


_PROPS: Mapping[str, Callable[[Mapping[str, str], Article, str], dict[str, Any]]] = {
    "extracts": _extract,
    "info": _info,
    "description": _description,
    "pageprops": _pageprops,
}

FORMAT = Format(
    name="wikipedia",
    answer=answer,
    refusals={429: text_answer("Too many requests (f061ab2)\n", status=429), 403: _NO_AGENT},
)
