"""GitHub's repositories, files and issues as hits.

Quirks: a description, a fragment of a file and an issue's text are no HTML, and a `<` in them is one; what matched
comes only where it was asked for; a `pull_request` that has an address makes one of an issue.
Extras of all: `repository`; of a file: `path`, `sha`, `repository_description`; of a repository: `stars`, `forks`,
`topics`, `programming_language`, `license`, `pushed_at`, `archived`; of an issue: `number`, `state`, `comments`,
`labels`, `updated_at`, `is_pull_request`.
"""

from collections.abc import Mapping
from typing import Any

from zarniwoop.contract.hit import ContentInline, ContentReference, SearchHit
from zarniwoop.contract.modality import SearchModality
from zarniwoop.text.dates import parse_date
from zarniwoop.text.plain import clip, one_line, plain, verbatim
from zarniwoop.text.urls import http_url

_SNIPPET = 400
_SOURCE = "GitHub"
_TEXTS = ("content", "body", "description")


def to_hit(item: Mapping[str, Any], kind: str) -> SearchHit | None:
    return {"repositories": _repository, "issues": _issue}.get(kind, _file)(item)


def _repository(item: Mapping[str, Any]) -> SearchHit | None:
    name, url = one_line(item["full_name"]), http_url(item["html_url"])
    if name is None or url is None:
        return None
    license_ = item.get("license")
    extras = {
        "repository": name,
        "stars": item.get("stargazers_count"),
        "forks": item.get("forks_count"),
        "topics": [topic for topic in item.get("topics") or () if isinstance(topic, str)] or None,
        "programming_language": one_line(item.get("language")),
        "license": one_line(license_.get("spdx_id")) if isinstance(license_, dict) else None,
        "pushed_at": one_line(item.get("pushed_at")),
        "archived": item.get("archived") is True or None,
    }
    return SearchHit(
        title=name,
        url=url,
        modality=SearchModality.CODE,
        snippet=_shortened(one_line(item.get("description"))),
        source=_SOURCE,
        content=ContentReference(inline=ContentInline.STASH_ON_DEMAND, reference=name),
        authors=_login(item.get("owner")),
        published_at=parse_date(item.get("created_at")),
        extras=_known(extras),
    )


def _file(item: Mapping[str, Any]) -> SearchHit | None:
    path, sha, url = one_line(item["path"]), item["sha"], http_url(item["html_url"])
    repository = item["repository"]
    name = one_line(repository["full_name"])
    if path is None or name is None or url is None:
        return None
    matched = _fragments(item)
    description = one_line(repository.get("description"))
    return SearchHit(
        title=f"{name}: {path}",
        url=url,
        modality=SearchModality.CODE,
        snippet=_shortened(one_line(" … ".join(matched)) or description),
        source=_SOURCE,
        content=ContentReference(
            inline=ContentInline.EMBED_TEXT if matched else ContentInline.STASH_ON_DEMAND,
            text="\n…\n".join(matched) or None,
            reference=f"{name}#{sha}",
        ),
        authors=_login(repository.get("owner")),
        extras=_known({"repository": name, "path": path, "sha": one_line(sha), "repository_description": description}),
    )


def _issue(item: Mapping[str, Any]) -> SearchHit | None:
    title, url = one_line(item["title"]), http_url(item["html_url"])
    if title is None or url is None:
        return None
    text, matched = verbatim(item.get("body")), _fragments(item)
    labels = [one_line(label.get("name")) for label in item.get("labels") or () if isinstance(label, dict)]
    extras = {
        "repository": "/".join(url.split("/")[3:5]) or None,
        "number": item.get("number"),
        "state": one_line(item.get("state")),
        "comments": item.get("comments"),
        "labels": [label for label in labels if label] or None,
        "updated_at": one_line(item.get("updated_at")),
        "is_pull_request": bool((item.get("pull_request") or {}).get("html_url")),
    }
    return SearchHit(
        title=title,
        url=url,
        modality=SearchModality.CODE,
        snippet=_shortened(one_line(" … ".join(matched)) or plain(text)),
        source=_SOURCE,
        content=ContentReference(inline=ContentInline.EMBED_TEXT, text=text) if text else None,
        authors=_login(item.get("user")),
        published_at=parse_date(item.get("created_at")),
        extras=_known(extras),
    )


def _fragments(item: Mapping[str, Any]) -> list[str]:
    """The pieces of text, and not of a path or title, in which the words were found, each once."""
    matches = (match for match in item.get("text_matches") or () if isinstance(match, dict))
    pieces = (verbatim(match.get("fragment")) for match in matches if match.get("property") in _TEXTS)
    return list(dict.fromkeys(piece for piece in pieces if piece))


def _login(user: Any) -> tuple[str, ...]:
    name = one_line(user.get("login")) if isinstance(user, dict) else None
    return (name,) if name else ()


def _shortened(text: str | None) -> str | None:
    return clip(text, _SNIPPET) if text else None


def _known(extras: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in extras.items() if value is not None}
