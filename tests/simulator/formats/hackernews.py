"""Hacker News by Algolia: stories and comments.

Wire format: GET /search (by relevance) and /search_by_date with `query`, `tags`, `numericFilters`, `hitsPerPage`,
`page` from 0. https://hn.algolia.com/api
Quirks: an Ask HN has no `url`; a comment has `comment_text` and `story_title` but neither `title` nor `url`; texts are
HTML; `nbPages` is capped, so that nobody gets past the first thousand.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from tests.simulator.corpus import Comment, Story, moment
from tests.simulator.formats.format import Format, World
from tests.simulator.index import Matches, terms_of
from tests.simulator.messages import Answer, Request, json_answer, natural

Post = Story | Comment

_REACHABLE = 1000
_CONDITION = re.compile(r"(created_at_i|points|num_comments|story_id)\s*(>=|<=|>|<|=)\s*(\d+)")
_COMPARE: Mapping[str, Callable[[int, int], bool]] = {
    ">": lambda left, right: left > right,
    "<": lambda left, right: left < right,
    ">=": lambda left, right: left >= right,
    "<=": lambda left, right: left <= right,
    "=": lambda left, right: left == right,
}


def answer(request: Request, world: World) -> Answer:
    if request.path not in ("/search", "/search_by_date"):
        return json_answer({"status": 404, "error": "Not Found"}, status=404)
    asked = request.query
    try:
        numeric = _numeric(asked.get("numericFilters", ""))
    except ValueError:
        return json_answer({"message": "numericFilters: invalid syntax", "status": 400}, status=400)
    per_page = natural(asked.get("hitsPerPage"), 20, most=_REACHABLE)
    page = natural(asked.get("page"), 0)
    found = _find(asked, world, numeric, by_date=request.path.endswith("_by_date"))
    reachable = found.items[:_REACHABLE]
    hits = reachable[page * per_page : (page + 1) * per_page]
    stories = {post.id: post for post in world.library.posts.items if isinstance(post, Story)}
    words = terms_of(asked.get("query", ""))
    return json_answer(
        {
            "exhaustive": {"nbHits": False, "typo": False},
            "exhaustiveNbHits": False,
            "exhaustiveTypo": False,
            "hits": [_hit(post, stories, words) for post in hits],
            "hitsPerPage": per_page,
            "nbHits": found.total,
            "nbPages": -(-len(reachable) // per_page) if per_page else 0,
            "page": page,
            "params": f"{request.query_string}&advancedSyntax=true&analyticsTags=backend",
            "processingTimeMS": 2,
            "query": asked.get("query", ""),
            "serverTimeMS": 3,
        },
        media_type="application/json; charset=utf-8",
    )


def _find(asked: Mapping[str, str], world: World, numeric: Callable[[Post], bool], *, by_date: bool) -> Matches[Post]:
    tags = _tags(asked.get("tags", ""))
    posts = world.library.posts

    def keep(post: Post) -> bool:
        own = _tags_of(post)
        return all(any(tag in own for tag in group) for group in tags) and numeric(post)

    query = asked.get("query", "").strip()
    if query:
        found = posts.search(query, keep=keep, count=len(posts.items))
    else:
        found = posts.page(range(len(posts.items)), keep=keep, count=len(posts.items))
    if not by_date:
        return found
    return Matches(items=tuple(sorted(found.items, key=_created, reverse=True)), total=found.total)


def _tags(text: str) -> list[tuple[str, ...]]:
    """`story,(author_a,author_b)` as groups: one tag of every group must be there."""
    groups = re.findall(r"\(([^)]*)\)|([^,()]+)", text)
    return [tuple(tag.strip() for tag in (several or single).split(",")) for several, single in groups]


def _tags_of(post: Post) -> list[str]:
    if isinstance(post, Comment):
        return ["comment", f"author_{post.author}", f"story_{post.story_id}"]
    kinds = {"Ask HN": ["ask_hn"], "Show HN": ["show_hn"]}.get(post.title.partition(":")[0], [])
    return ["story", f"author_{post.author}", f"story_{post.id}", *kinds]


def _numeric(text: str) -> Callable[[Post], bool]:
    conditions = [_CONDITION.fullmatch(part.strip()) for part in text.split(",") if part.strip()]
    if None in conditions:
        raise ValueError("no numeric condition")
    read = [(found[1], _COMPARE[found[2]], int(found[3])) for found in conditions if found]
    return lambda post: all(compare(_number(post, name), number) for name, compare, number in read)


def _number(post: Post, name: str) -> int:
    if name == "created_at_i":
        return _created(post)
    return int(getattr(post, name, 0))


def _created(post: Post) -> int:
    created = moment(post.created, post.age_hours)
    return int(created.timestamp()) if created else 0


def _hit(post: Post, stories: Mapping[int, Story], words: Sequence[str]) -> dict[str, Any]:
    created = _created(post)
    stamp = f"{datetime.fromtimestamp(created, UTC):%Y-%m-%dT%H:%M:%SZ}"
    own = _comment(post, stories) if isinstance(post, Comment) else _story(post, stories)
    shown = {"author": post.author, **{name: own[name] for name in _HIGHLIGHTED if name in own}}
    return {
        "_highlightResult": {name: _highlight(value, words) for name, value in shown.items()},
        "_tags": _tags_of(post),
        "author": post.author,
        "created_at": stamp,
        "created_at_i": created,
        "objectID": str(post.id),
        "updated_at": stamp,
        **own,
    }


_HIGHLIGHTED = ("title", "url", "story_text", "comment_text", "story_title", "story_url")


def _story(post: Story, stories: Mapping[int, Story]) -> dict[str, Any]:
    own: dict[str, Any] = {
        "num_comments": post.num_comments,
        "points": post.points,
        "story_id": post.id,
        "title": post.title,
    }
    if post.url:
        own["url"] = post.url
    return {**own, "story_text": post.text} if post.text else own


def _comment(post: Comment, stories: Mapping[int, Story]) -> dict[str, Any]:
    own: dict[str, Any] = {"comment_text": post.text, "parent_id": post.parent_id, "story_id": post.story_id}
    story = stories.get(post.story_id)
    if story:
        own["story_title"] = story.title
    return {**own, "story_url": story.url} if story and story.url else own


def _highlight(value: str, words: Sequence[str]) -> dict[str, Any]:
    pattern = re.compile(r"\b(" + "|".join(re.escape(word) for word in words) + r")", re.IGNORECASE)
    matched = sorted({found.lower() for found in pattern.findall(value)} - {""}) if words else []
    if not matched:
        return {"matchLevel": "none", "matchedWords": [], "value": value}
    level = "full" if len(matched) >= len(words) else "partial"
    marked = pattern.sub(r"<em>\1</em>", value)
    return {"fullyHighlighted": False, "matchLevel": level, "matchedWords": matched, "value": marked}


FORMAT = Format(name="hackernews", answer=answer)
