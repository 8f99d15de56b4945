"""What is asked of GitLab: which of its searches, in which part of the instance, with what parameters.

https://docs.gitlab.com/api/search/
Quirks: code, wikis and commits of more than one project are searched only by instances with advanced search; `site:` is
a word like any other; `extension:` narrows files.
"""

import re
from dataclasses import dataclass
from urllib.parse import quote

from zarniwoop.contract.provider import ProviderInstanceConfig
from zarniwoop.contract.request import SearchRequest
from zarniwoop.text.pairs import behind
from zarniwoop.wire.format import SettingField

MOST_CHARACTERS = 4096
MOST_RESULTS = 100
_KINDS = "projects|blobs|issues|merge_requests|commits|wiki_blobs|notes"
_EXTENSION = re.compile(r"\w{1,20}")
_PLACE = r"\d{1,12}|[A-Za-z0-9_.][A-Za-z0-9_.-]*(?:/[A-Za-z0-9_.][A-Za-z0-9_.-]*)*"

KIND = SettingField(
    name="kind",
    title="Kind",
    description=f"What is searched: {', '.join(f'`{kind}`' for kind in _KINDS.split('|'))}. Not set: blobs (code) "
    "inside a project, else projects.",
    pattern=_KINDS,
)
PROJECT = SettingField(
    name="project",
    title="Project",
    description="Search inside this project only: its number, or its path (`group/project`).",
    pattern=_PLACE,
    steers=True,
)
GROUP = SettingField(
    name="group",
    title="Group",
    description="Search inside this group only: its number or path. A project goes before it.",
    pattern=_PLACE,
    steers=True,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """The address and parameters of a search, and the filters that they carry."""

    url: str
    params: dict[str, str]
    translated: frozenset[str]


def kind_of(config: ProviderInstanceConfig) -> str:
    return config.extras.get(KIND.name) or ("blobs" if PROJECT.name in config.extras else "projects")


def site_of(config: ProviderInstanceConfig) -> str:
    """The address that people see, whether or not the one that was saved is that of the API."""
    return (config.base_url or "").removesuffix("/api/v4")


def api_of(config: ProviderInstanceConfig) -> str:
    return f"{site_of(config)}/api/v4"


def question(request: SearchRequest, config: ProviderInstanceConfig) -> Question:
    kind, translated, written = kind_of(config), set[str](), list[str]()
    filetype = request.expert_params.filetype
    if kind == "blobs" and filetype and _EXTENSION.fullmatch(filetype):
        written.append(f"extension:{filetype}")
        translated.add("filetype")
    filtered_here = {name for name, _ in request.expert_params.given()} - translated
    size = MOST_RESULTS if filtered_here else request.max_results
    return Question(
        url=f"{api_of(config)}{_part(config)}/search",
        params={"scope": kind, "search": behind(written, request.query), "per_page": str(size)},
        translated=frozenset(translated),
    )


def _part(config: ProviderInstanceConfig) -> str:
    for field, path in ((PROJECT, "projects"), (GROUP, "groups")):
        if named := config.extras.get(field.name):
            return f"/{path}/{quote(named, safe='')}"
    return ""
