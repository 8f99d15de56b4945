"""GitHub: repositories, files and issues, as JSON.

Wire format: GET /search/{repositories,code,issues} with `q`, `per_page`, `page`; GET /rate_limit; GET
/repos/<name>/{readme,git/blobs/<sha>} for text. https://docs.github.com/en/rest/search/search
Quirks: code is searched for those with a token alone; what matched is sent for one media type; more than 256 characters
or five operators are a 422. A token that begins with `bad` is refused, one with `slow` is at its limit, and a query for
`timeout` runs out of time.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import sha1
from time import time
from typing import Any

from tests.simulator.corpus import Issue, Repository, SourceFile
from tests.simulator.formats.format import Format, World
from tests.simulator.index import terms_of
from tests.simulator.messages import Answer, Request, json_answer, natural, text_answer

_DOCS = "https://docs.github.com/rest"
_QUALIFIER = re.compile(r"(?<!\S)(-?)(language|user|org|repo|extension|created|is|type|in|label):(\S+)", re.IGNORECASE)
_OPERATOR = re.compile(r"(?<!\S)(?:AND|OR|NOT)(?!\S)")


def _refusal(status: int, message: str, headers: Mapping[str, str] | None = None, **more: Any) -> Answer:
    body = {"message": message, **more, "documentation_url": _DOCS, "status": str(status)}
    return json_answer(body, status=status, headers=headers)


_BAD_TOKEN = _refusal(401, "Bad credentials")
_NO_TOKEN = _refusal(401, "Requires authentication", errors=[{"message": "Must be authenticated to access the code"}])
_NO_AGENT = _refusal(403, "Request forbidden by administrative rules. Please make sure it has a User-Agent header")
_SECONDARY = _refusal(
    403, "You have exceeded a secondary rate limit. Please wait a few minutes.", {"Retry-After": "60"}
)
_INVALID = _refusal(422, "Validation Failed", errors=[{"resource": "Search", "field": "q", "code": "invalid"}])
_MISSING = _refusal(404, "Not Found")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kind:
    bucket: str
    limit: int
    find: Callable[[str, "_Qualifiers", World, int, int], tuple[list[Any], int]]
    item: Callable[[Any, list[str], bool], dict[str, Any]]


_Qualifiers = Mapping[str, list[str]]


def answer(request: Request, world: World) -> Answer:
    token = request.headers.get("authorization", "").removeprefix("Bearer ").removeprefix("token ")
    if not request.headers.get("user-agent"):
        return _NO_AGENT
    if token.startswith("bad"):
        return _BAD_TOKEN
    if request.path == "/rate_limit":
        return json_answer({"resources": _buckets(), "rate": _bucket(5000)})
    if request.path.startswith("/repos/"):
        return _text(request.path.removeprefix("/repos/"), world)
    kind = _KINDS.get(request.path.removeprefix("/search/"))
    if kind is None:
        return _MISSING
    if kind.bucket == "code_search" and not token:
        return _NO_TOKEN
    if token.startswith("slow"):
        return _refusal(403, "API rate limit exceeded", _rates(kind, left=0))
    return _search(kind, request, world)


def _rates(kind: _Kind, *, left: int) -> dict[str, str]:
    told = {"Limit": kind.limit, "Remaining": left, "Used": kind.limit - left, "Reset": _reset()}
    return {f"X-RateLimit-{name}": str(number) for name, number in told.items()} | {"X-RateLimit-Resource": kind.bucket}


def _reset() -> int:
    return int(time()) + 42


def _buckets() -> dict[str, dict[str, int]]:
    return {"core": _bucket(5000), "search": _bucket(30), "code_search": _bucket(10)}


def _bucket(limit: int) -> dict[str, int]:
    return {"limit": limit, "used": 1, "remaining": limit - 1, "reset": _reset()}


def _search(kind: _Kind, request: Request, world: World) -> Answer:
    query = request.query.get("q", "")
    words = _QUALIFIER.sub(" ", query).strip()
    if not query.strip() or len(words) > 256 or len(_OPERATOR.findall(words)) > 5:
        return _INVALID
    qualifiers: dict[str, list[str]] = {}
    for minus, name, value in _QUALIFIER.findall(query):
        qualifiers.setdefault(minus + name.lower(), []).append(value.lower().strip('"'))
    size = natural(request.query.get("per_page"), 30, least=1, most=100)
    start = (natural(request.query.get("page"), 1, least=1) - 1) * size
    items, total = kind.find(_OPERATOR.sub(" ", words), qualifiers, world, start, size)
    matches = "text-match" in request.headers.get("accept", "")
    body = {
        "total_count": total,
        "incomplete_results": "timeout" in words.lower(),
        "items": [kind.item(item, terms_of(words), matches) for item in items],
    }
    return json_answer(body, media_type="application/json; charset=utf-8", headers=_rates(kind, left=kind.limit - 1))


def _repositories(words: str, asked: _Qualifiers, world: World, start: int, size: int) -> tuple[list[Any], int]:
    return _found(world.library.repositories, words, lambda each: _fits(each, each.created, asked), start, size)


def _code(words: str, asked: _Qualifiers, world: World, start: int, size: int) -> tuple[list[Any], int]:
    def keep(file: SourceFile) -> bool:
        wanted = asked.get("extension")
        return _fits(file.repository, "", asked) and (not wanted or file.path.rpartition(".")[2].lower() in wanted)

    return _found(world.library.files, words, keep, start, size)


def _issues(words: str, asked: _Qualifiers, world: World, start: int, size: int) -> tuple[list[Any], int]:
    kinds = {*asked.get("is", []), *asked.get("type", [])}

    def keep(issue: Issue) -> bool:
        return not kinds & {"pr", "pull-request"} and _fits(issue.repository, issue.created, asked)

    return _found(world.library.issues, words, keep, start, size)


def _found(shelf: Any, words: str, keep: Callable[[Any], bool], start: int, size: int) -> tuple[list[Any], int]:
    rows = range(len(shelf.items))
    found = (
        shelf.search(words, keep=keep, start=start, count=size)
        if words
        else shelf.page(rows, keep=keep, start=start, count=size)
    )
    return list(found.items), found.total


def _fits(repository: Repository, created: str, asked: _Qualifiers) -> bool:
    owner = repository.name.partition("/")[0].lower()
    own = {"language": repository.language.lower(), "user": owner, "org": owner, "repo": repository.name.lower()}
    named = all(own[name] in values for name, values in asked.items() if name in own)
    return named and all(_lies_in(created[:10], window) for window in asked.get("created", []) if created)


def _lies_in(day: str, window: str) -> bool:
    if ".." in window:
        first, last = window.split("..")
        return first <= day <= last
    return day >= window[2:] if window.startswith(">=") else day <= window.removeprefix("<=")


def _repository(item: Repository, _words: list[str], _matches: bool) -> dict[str, Any]:
    return {
        **_short(item),
        "created_at": item.created,
        "updated_at": item.pushed,
        "pushed_at": item.pushed,
        "stargazers_count": item.stars,
        "watchers_count": item.stars,
        "language": item.language,
        "forks_count": item.forks,
        "archived": False,
        "license": {"key": item.license.lower(), "name": item.license, "spdx_id": item.license},
        "topics": list(item.topics),
        "default_branch": "main",
        "score": 1.0,
    }


def _short(item: Repository) -> dict[str, Any]:
    owner, _, name = item.name.partition("/")
    page = f"https://github.com/{item.name}"
    return {
        "id": item.number,
        "node_id": f"R_{item.number}",
        "name": name,
        "full_name": item.name,
        "private": False,
        "owner": _user(owner),
        "html_url": page,
        "description": item.description,
        "fork": False,
        "url": f"https://api.github.com/repos/{item.name}",
    }


def _user(login: str) -> dict[str, Any]:
    page = f"https://github.com/{login}"
    return {"login": login, "id": len(login) + 9000, "html_url": page, "type": "User", "site_admin": False}


def _file(item: SourceFile, words: list[str], matches: bool) -> dict[str, Any]:
    api = f"https://api.github.com/repositories/{item.repository.number}"
    commit = _sha(item.repository.name)
    found: dict[str, Any] = {
        "name": item.path.rpartition("/")[2],
        "path": item.path,
        "sha": _sha(item.text),
        "url": f"{api}/contents/{item.path}?ref={commit}",
        "git_url": f"{api}/git/blobs/{_sha(item.text)}",
        "html_url": f"https://github.com/{item.repository.name}/blob/{commit}/{item.path}",
        "repository": _short(item.repository),
        "score": 1.0,
    }
    return found | ({"text_matches": _matched(item.text, words, "FileContent", "content")} if matches else {})


def _issue(item: Issue, words: list[str], matches: bool) -> dict[str, Any]:
    api = f"https://api.github.com/repos/{item.repository.name}"
    found: dict[str, Any] = {
        "url": f"{api}/issues/{item.number}",
        "labels_url": f"{api}/issues/{item.number}/labels{{/name}}",
        "comments_url": f"{api}/issues/{item.number}/comments",
        "events_url": f"{api}/issues/{item.number}/events",
        "html_url": f"https://github.com/{item.repository.name}/issues/{item.number}",
        "id": item.repository.number * 10 + item.number,
        "number": item.number,
        "title": item.title,
        "user": _user(item.author),
        "labels": [{"name": label, "color": "ededed"} for label in item.labels],
        "state": item.state,
        "assignee": None,
        "milestone": None,
        "comments": 2,
        "created_at": item.created,
        "updated_at": item.created,
        "closed_at": item.created if item.state == "closed" else None,
        "body": item.body,
        "score": 1.0,
    }
    return found | ({"text_matches": _matched(item.body, words, "Issue", "body")} if matches else {})


def _matched(text: str, words: list[str], kind: str, name: str) -> list[dict[str, Any]]:
    """The lines around the first word that stands in the text."""
    at = min((place for word in words if (place := text.lower().find(word.lower())) >= 0), default=None)
    if at is None:
        return []
    begin, end = text.rfind("\n", 0, at) + 1, text.find("\n", at + 60)
    fragment = text[begin : end if end > 0 else len(text)]
    return [{"object_url": "", "object_type": kind, "property": name, "fragment": fragment, "matches": []}]


def _text(path: str, world: World) -> Answer:
    name, _, wanted = path.partition("/git/blobs/")
    for file in world.library.files.items:
        if wanted and file.repository.name == name and _sha(file.text) == wanted:
            return text_answer(file.text, media_type="application/vnd.github.raw+json; charset=utf-8")
    for repository in world.library.repositories.items:
        if path == f"{repository.name}/readme":
            readme = f"# {repository.name}\n\n{repository.description}\n"
            return text_answer(readme, media_type="application/vnd.github.raw+json; charset=utf-8")
    return _MISSING


def _sha(text: str) -> str:
    return sha1(text.encode(), usedforsecurity=False).hexdigest()


_KINDS = {
    "repositories": _Kind(bucket="search", limit=30, find=_repositories, item=_repository),
    "code": _Kind(bucket="code_search", limit=10, find=_code, item=_file),
    "issues": _Kind(bucket="search", limit=30, find=_issues, item=_issue),
}

FORMAT = Format(
    name="github", answer=answer, refusals={401: _BAD_TOKEN, 403: _SECONDARY, 422: _INVALID, 429: _SECONDARY}
)
