"""The projects in which those hits of GitLab live that have no address of their own.

https://docs.gitlab.com/api/projects/#retrieve-a-project
Quirk: a look-up only decorates. A project that is closed to this key costs its hits their address, and whatever else
goes wrong ends the look-ups, not the search.
"""

from collections.abc import Generator
from typing import Any

from zarniwoop.adapters.gitlab_hits import Home
from zarniwoop.adapters.gitlab_items import HOMELESS, HomeOf
from zarniwoop.adapters.gitlab_query import PROJECT, api_of, kind_of, site_of
from zarniwoop.contract.failure import ProviderError
from zarniwoop.contract.provider import ProviderInstanceConfig
from zarniwoop.contract.transport import HttpAnswer, HttpRequest
from zarniwoop.text.plain import one_line
from zarniwoop.text.urls import http_url
from zarniwoop.wire.reading import MISREAD, read_json

MOST_LOOK_UPS = 5
_CLOSED = (403, 404)


def homes_of(items: list[Any], config: ProviderInstanceConfig) -> Generator[HttpRequest, HttpAnswer, HomeOf]:
    """The projects of what was found: the one that the settings name, or a few that are looked up."""
    named, nowhere = config.extras.get(PROJECT.name, ""), Home(api=api_of(config))
    if kind_of(config) not in HOMELESS or not items:
        return lambda _number: nowhere
    if named and not named.isdecimal():
        home = Home(name=named, web=f"{site_of(config)}/{named}", api=api_of(config))
        return lambda _number: home
    found = (item.get("project_id") for item in items if isinstance(item, dict))
    numbers = [int(named)] if named else [number for number in dict.fromkeys(found) if type(number) is int]
    known = yield from _looked_up(numbers[:MOST_LOOK_UPS], api_of(config))
    return lambda number: known.get(int(named) if named else number, nowhere)


def _looked_up(numbers: list[int], api: str) -> Generator[HttpRequest, HttpAnswer, dict[int, Home]]:
    known: dict[int, Home] = {}
    for number in numbers:
        try:
            project = read_json((yield HttpRequest(url=f"{api}/projects/{number}", is_paced=False)))
            name, web = project["path_with_namespace"], http_url(project["web_url"])
            known[number] = Home(name=one_line(name), web=web, api=api)
        except (ProviderError, *MISREAD) as failure:
            if getattr(failure, "status", None) not in _CLOSED:
                break
    return known
