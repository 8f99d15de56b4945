"""GitLab: projects, files and issues, as JSON.

Wire format: GET /api/v4/search, /api/v4/{projects,groups}/<id>/search with `scope`, `search`, `per_page`, `page`; GET
/api/v4/projects/<id>, …/repository/files/<path>/raw. https://docs.gitlab.com/api/search/
Quirks: a bare list whose paging stands in headers; no search without a token; code is searched inside one project only,
as without advanced search; a file has no address. A token that begins with `bad` is refused, one with `weak` lacks its
scope, and one with `slow` asks too often.
"""

from collections.abc import Callable, Mapping
from typing import Any

from tests.simulator.corpus import Issue, Repository, SourceFile
from tests.simulator.formats.format import Format, World
from tests.simulator.messages import Answer, Request, json_answer, natural, text_answer

_SITE = "https://gitlab.com"
_UNAUTHORISED = json_answer({"message": "401 Unauthorized"}, status=401)
_WEAK = json_answer(
    {
        "error": "insufficient_scope",
        "error_description": "The request requires higher privileges than provided by the access token.",
        "scope": "api read_api",
    },
    status=403,
)
_TOO_FAST = json_answer(
    {"message": {"error": "This endpoint has been requested too many times. Try again later."}},
    status=429,
    headers={"Retry-After": "42"},
)
_NO_SCOPE = json_answer({"error": "Scope not supported without Elasticsearch!"}, status=400)
_BAD_SCOPE = json_answer({"error": "scope does not have a valid value"}, status=400)
_NO_SEARCH = json_answer({"error": "search is missing, search is empty"}, status=400)
_NO_PROJECT = json_answer({"message": "404 Project Not Found"}, status=404)
_NO_GROUP = json_answer({"message": "404 Group Not Found"}, status=404)
_NOWHERE = json_answer({"error": "404 Not Found"}, status=404)


def answer(request: Request, world: World) -> Answer:
    if not request.path.startswith("/api/v4/"):
        return _NOWHERE
    token = request.headers.get("private-token", "")
    refusals = {"bad": _UNAUTHORISED, "weak": _WEAK, "slow": _TOO_FAST}
    refused = next((refusal for begin, refusal in refusals.items() if token.startswith(begin)), None)
    if not token or refused:
        return refused or _UNAUTHORISED
    path = request.path.removeprefix("/api/v4/")
    if path == "search":
        return _search(request, world, lambda _repository: True, whole=True)
    kind, _, rest = path.partition("/")
    if kind == "projects":
        return _in_project(rest, request, world)
    if kind == "groups" and rest.endswith("/search"):
        return _in_group(rest.removesuffix("/search"), request, world)
    return _NOWHERE


def _in_project(rest: str, request: Request, world: World) -> Answer:
    for repository in world.library.repositories.items:
        for name in (str(repository.number), repository.name):
            if rest == name:
                return json_answer(_project(repository))
            if rest == f"{name}/search":
                return _search(request, world, _only(repository))
            if rest.startswith(f"{name}/repository/files/"):
                return _raw(rest.removeprefix(f"{name}/repository/files/"), repository, world)
    return _NO_PROJECT


def _only(repository: Repository) -> Callable[[Repository], bool]:
    return lambda each: each.number == repository.number


def _in_group(group: str, request: Request, world: World) -> Answer:
    def keep(repository: Repository) -> bool:
        return repository.name.partition("/")[0] == group

    if not any(keep(repository) for repository in world.library.repositories.items):
        return _NO_GROUP
    return _search(request, world, keep, whole=True)


def _search(request: Request, world: World, keep: Callable[[Repository], bool], *, whole: bool = False) -> Answer:
    asked = request.query
    scope, words = asked.get("scope", ""), asked.get("search", "").strip()
    if scope not in ("projects", "issues", "merge_requests", "blobs", "wiki_blobs", "commits"):
        return _BAD_SCOPE
    if not words:
        return _NO_SEARCH
    if whole and scope in ("blobs", "wiki_blobs", "commits"):
        return _NO_SCOPE
    size = natural(asked.get("per_page"), 20, least=1, most=100)
    page = natural(asked.get("page"), 1, least=1)
    items, total = _found(scope, words, world, keep, (page - 1) * size, size)
    return json_answer(items, headers=_paging(page, size, total))


def _paging(page: int, size: int, total: int) -> dict[str, str]:
    pages = -(-total // size)
    following, before = str(page + 1) if page < pages else "", str(page - 1) if page > 1 else ""
    told = {"Total": total, "Total-Pages": pages, "Per-Page": size, "Page": page}
    return {f"X-{name}": str(value) for name, value in told.items()} | {"X-Next-Page": following, "X-Prev-Page": before}


def _found(
    scope: str, words: str, world: World, keep: Callable[[Repository], bool], start: int, size: int
) -> tuple[list[dict[str, Any]], int]:
    library = world.library
    if scope == "projects":
        projects = library.repositories.search(words, keep=keep, start=start, count=size)
        return [_project(each) for each in projects.items], projects.total
    if scope == "issues":
        issues = library.issues.search(words, keep=lambda each: keep(each.repository), start=start, count=size)
        return [_issue(each) for each in issues.items], issues.total
    if scope == "blobs":
        return _blobs(words, world, keep, start, size)
    return [], 0


def _blobs(
    words: str, world: World, keep: Callable[[Repository], bool], start: int, size: int
) -> tuple[list[dict[str, Any]], int]:
    endings = [word.partition(":")[2] for word in words.split() if word.startswith("extension:")]
    plain = " ".join(word for word in words.split() if not word.startswith("extension:"))

    def fits(file: SourceFile) -> bool:
        return keep(file.repository) and (not endings or file.path.rpartition(".")[2] in endings)

    found = world.library.files.search(plain, keep=fits, start=start, count=size)
    return [_blob(each) for each in found.items], found.total


def _project(item: Repository) -> dict[str, Any]:
    group, _, name = item.name.partition("/")
    page = f"{_SITE}/{item.name}"
    return {
        "id": item.number,
        "description": item.description,
        "name": name,
        "name_with_namespace": f"{group} / {name}",
        "path": name,
        "path_with_namespace": item.name,
        "created_at": _moment(item.created),
        "default_branch": "main",
        "tag_list": list(item.topics),
        "ssh_url_to_repo": f"git@gitlab.com:{item.name}.git",
        "http_url_to_repo": f"{page}.git",
        "web_url": page,
        "avatar_url": None,
        "star_count": item.stars,
        "forks_count": item.forks,
        "last_activity_at": _moment(item.pushed),
    }


def _issue(item: Issue) -> dict[str, Any]:
    return {
        "id": item.repository.number * 10 + item.number,
        "iid": item.number,
        "project_id": item.repository.number,
        "title": item.title,
        "description": item.body,
        "state": "opened" if item.state == "open" else "closed",
        "created_at": _moment(item.created),
        "updated_at": _moment(item.created),
        "closed_at": None,
        "labels": list(item.labels),
        "milestone": None,
        "assignees": [],
        "author": _user(item.author),
        "assignee": None,
        "user_notes_count": 2,
        "upvotes": 0,
        "downvotes": 0,
        "due_date": None,
        "confidential": False,
        "discussion_locked": None,
        "web_url": f"{_SITE}/{item.repository.name}/-/issues/{item.number}",
    }


def _user(name: str) -> Mapping[str, Any]:
    return {"id": 9000, "name": name.title(), "username": name, "state": "active", "web_url": f"{_SITE}/{name}"}


def _blob(item: SourceFile) -> dict[str, Any]:
    return {
        "basename": item.path.rpartition(".")[0],
        "data": item.text,
        "path": item.path,
        "filename": item.path,
        "id": None,
        "ref": "main",
        "startline": 1,
        "project_id": item.repository.number,
    }


def _raw(rest: str, repository: Repository, world: World) -> Answer:
    for file in world.library.files.items:
        if file.repository.number == repository.number and rest == f"{file.path}/raw":
            return text_answer(file.text)
    return json_answer({"message": "404 File Not Found"}, status=404)


def _moment(date: str) -> str:
    return date.replace("Z", ".000Z")


FORMAT = Format(
    name="gitlab", answer=answer, refusals={401: _UNAUTHORISED, 403: _WEAK, 404: _NO_PROJECT, 429: _TOO_FAST}
)
