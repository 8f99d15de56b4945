"""What GitLab's searches find, as hits.

Quirks: a file, a page of a wiki, a note and in older versions a commit have no address of their own, only the number of
their project, if that; the path of a file was called `filename` before it got one; no text is HTML.
Extras: `project_id`, `repository`; of a project `stars`, `forks`, `topics`, `last_activity_at`; of a file `path`,
`ref`, `start_line`; of an issue or merge request `number`, `state`, `labels`, `comments`, `updated_at`,
`is_merge_request`; of a commit `sha`.
"""

from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import quote

from zarniwoop.adapters.gitlab_hits import Home, gitlab_hit, names_of
from zarniwoop.contract.hit import ContentInline, ContentReference, SearchHit
from zarniwoop.text.dates import parse_date
from zarniwoop.text.plain import clip, one_line, plain, verbatim

_TITLE = 100
_NOTED = {"Issue": "issues", "MergeRequest": "merge_requests"}

HomeOf = Callable[[Any], Home]
HOMELESS = frozenset(("blobs", "wiki_blobs", "commits", "notes"))
"""The kinds whose items need their project for an address."""


def to_hit(item: Mapping[str, Any], kind: str, home_of: HomeOf) -> SearchHit | None:
    if kind == "projects":
        return _project(item)
    if kind in ("issues", "merge_requests"):
        return _issue(item, kind)
    home = home_of(item.get("project_id"))
    return {"commits": _commit, "notes": _note, "wiki_blobs": _wiki_page}.get(kind, _file)(item, home)


def _project(item: Mapping[str, Any]) -> SearchHit | None:
    extras = {
        "project_id": item["id"],
        "repository": one_line(item.get("path_with_namespace")),
        "stars": item.get("star_count"),
        "forks": item.get("forks_count"),
        "topics": names_of(item.get("topics") or item.get("tag_list")),
        "last_activity_at": one_line(item.get("last_activity_at")),
    }
    snippet = one_line(item.get("description"))
    title = item.get("name_with_namespace") or item["name"]
    return gitlab_hit(title, item["web_url"], snippet, extras, published=parse_date(item.get("created_at")))


def _issue(item: Mapping[str, Any], kind: str) -> SearchHit | None:
    text = verbatim(item.get("description"))
    extras = {
        "project_id": item.get("project_id"),
        "number": item.get("iid"),
        "state": one_line(item.get("state")),
        "labels": names_of(item.get("labels")),
        "comments": item.get("user_notes_count"),
        "updated_at": one_line(item.get("updated_at")),
        "is_merge_request": kind == "merge_requests",
    }
    content = ContentReference(inline=ContentInline.EMBED_TEXT, text=text) if text else None
    published, authors = parse_date(item.get("created_at")), _author(item)
    return gitlab_hit(
        item["title"], item["web_url"], plain(text), extras, published=published, authors=authors, content=content
    )


def _file(item: Mapping[str, Any], home: Home) -> SearchHit | None:
    path, ref, number = one_line(item.get("path") or item["filename"]), one_line(item["ref"]), item["project_id"]
    if path is None or ref is None or type(number) is not int:
        return None
    start = item.get("startline")
    anchor = f"#L{start}" if type(start) is int else ""
    url = home.page(f"blob/{quote(ref)}/{quote(path)}{anchor}") or (
        f"{home.api}/projects/{number}/repository/files/{quote(path, safe='')}/raw?ref={quote(ref, safe='')}"
    )
    extras = {"project_id": number, "repository": home.name, "path": path, "ref": ref, "start_line": start}
    text, reference = verbatim(item["data"]), f"{number}#{ref}#{path}"
    inline = ContentInline.EMBED_TEXT if text else ContentInline.STASH_ON_DEMAND
    content = ContentReference(inline=inline, text=text, reference=reference)
    return gitlab_hit(f"{home.name}: {path}" if home.name else path, url, one_line(text), extras, content=content)


def _wiki_page(item: Mapping[str, Any], home: Home) -> SearchHit | None:
    path, text = one_line(item.get("path") or item["filename"]), verbatim(item["data"])
    if path is None:
        return None
    slug = path.rpartition(".")[0] or path
    extras = {"project_id": item.get("project_id"), "repository": home.name, "path": path}
    content = ContentReference(inline=ContentInline.EMBED_TEXT, text=text) if text else None
    return gitlab_hit(slug, home.page(f"wikis/{quote(slug)}"), plain(text), extras, content=content)


def _commit(item: Mapping[str, Any], home: Home) -> SearchHit | None:
    sha = one_line(item["id"]) or ""
    url = item.get("web_url") or home.page(f"commit/{quote(sha, safe='')}")
    extras = {"project_id": item.get("project_id"), "repository": home.name, "sha": sha}
    author, published = one_line(item.get("author_name")), parse_date(item.get("created_at"))
    authors = (author,) if author else ()
    return gitlab_hit(item["title"], url, one_line(item.get("message")), extras, published=published, authors=authors)


def _note(item: Mapping[str, Any], home: Home) -> SearchHit | None:
    text, about, number = verbatim(item["body"]), _NOTED.get(item["noteable_type"]), item["noteable_iid"]
    if text is None or about is None:
        return None
    extras = {"repository": home.name, "about": about, "number": number}
    url, published = home.page(f"{about}/{number}#note_{item['id']}"), parse_date(item.get("created_at"))
    return gitlab_hit(
        clip(plain(text) or "", _TITLE), url, plain(text), extras, published=published, authors=_author(item)
    )


def _author(item: Mapping[str, Any]) -> tuple[str, ...]:
    author = item.get("author")
    name = one_line(author.get("name")) if isinstance(author, dict) else None
    return (name,) if name else ()
