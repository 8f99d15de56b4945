"""Searches that use one feature each, and what each asks of DynamoDB and S3 besides its provider.

Counts are exact: one more or one less fails `make bench` and the suite; docs/cost.md is made of them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

OURS, PROVIDERS, REFUSALS = 0.1, 0.8, 0.2
"""Seconds that the page of costs takes these three to need: what is ours, a provider's answer, a refusal."""
HEDGED_AFTER = 2.5
HEDGE_AFTER_MS = "research.hedge.afterMs"

WEB = ("serper", "brave", "hackernews")
SERPER, BRAVE, _HACKERNEWS = WEB
PUBMED, ARXIV = "pubmed", "arxiv"

_KEYS = {f"research.endpoint.{SERPER}.apiKey": "first-key-01\nsecond-key-02\nthird-key-03"}
_KEPT = {"research.cache.ttlSeconds.web": "900"}
_A_PROJECTS, _A_TENANTS = {"research.budget.project.calls": "1000"}, {"research.budget.tenant.calls": "1000"}


class Before(StrEnum):
    """What happened before the search that is counted."""

    NOTHING = "nothing"
    FAILED = "the provider failed, and its cooldown is over"
    SEARCHED = "the same search was made a moment ago"
    UNDER_WAY = "the same search is under way, and answered a second later"


class Meets(StrEnum):
    """What the first request of the search meets."""

    AN_ANSWER = "an answer"
    THROTTLED = "a 429"
    DOWN = "a 503"
    NOTHING = "no answer until it is broken off"


@dataclass(frozen=True, slots=True, kw_only=True)
class Feature:
    """One row: `told` in the document, `name` in the figures. `asked` are the endpoints, `seconds` what it may take."""

    name: str
    told: str
    reads: int
    writes: int
    objects: int = 0
    asked: tuple[str, ...] = (SERPER,)
    settings: Mapping[str, str] = field(default_factory=dict)
    arguments: Mapping[str, Any] = field(default_factory=dict)
    before: Before = Before.NOTHING
    meets: Meets = Meets.AN_ANSWER
    seconds: float = OURS + PROVIDERS

    @property
    def modality(self) -> str:
        return "WEB" if self.asked[0] in WEB else "ACADEMIC"


FEATURES = (
    Feature(name="plain", told="nothing of what follows", reads=1, writes=1),
    Feature(
        name="request_ceiling",
        told="`max_calls` or `max_cost`",
        reads=1,
        writes=1,
        arguments={"max_calls": 3, "max_cost": 1},
    ),
    Feature(
        name="credit_limit",
        told="an endpoint's `creditLimit`",
        reads=1,
        writes=3,
        settings={f"research.endpoint.{SERPER}.creditLimit": "2500"},
    ),
    Feature(name="project_budget", told="a project's budget", reads=1, writes=3, settings=_A_PROJECTS),
    Feature(
        name="two_budgets",
        told="a project's and a tenant's budget",
        reads=1,
        writes=5,
        settings={**_A_PROJECTS, **_A_TENANTS},
    ),
    Feature(
        name="turn",
        told="a published rate (PubMed: two requests, a turn each)",
        reads=1,
        writes=3,
        asked=(PUBMED,),
        seconds=OURS + 2 * PROVIDERS,
    ),
    Feature(
        name="turn_behind",
        told="the same behind another search",
        reads=1,
        writes=4,
        asked=(PUBMED,),
        before=Before.SEARCHED,
        seconds=OURS + 2 * PROVIDERS,
    ),
    Feature(
        name="exclusive_turn", told="a published rate on one connection (arXiv)", reads=1, writes=4, asked=(ARXIV,)
    ),
    Feature(name="key_pool", told="three keys", reads=1, writes=1, settings=_KEYS),
    Feature(
        name="key_throttled",
        told="three keys, the first throttled",
        reads=1,
        writes=2,
        settings=_KEYS,
        meets=Meets.THROTTLED,
        seconds=OURS + REFUSALS + PROVIDERS,
    ),
    Feature(
        name="failover",
        told="a provider that fails, and a second one",
        reads=1,
        writes=2,
        asked=(SERPER, BRAVE),
        meets=Meets.DOWN,
        seconds=OURS + REFUSALS + PROVIDERS,
    ),
    Feature(name="probe", told="the probe after a cooldown", reads=1, writes=3, before=Before.FAILED),
    Feature(
        name="hedged",
        told="a hedge: the first provider hangs",
        reads=1,
        writes=2,
        asked=(SERPER, BRAVE),
        settings={HEDGE_AFTER_MS: "50"},
        meets=Meets.NOTHING,
        seconds=OURS + HEDGED_AFTER + PROVIDERS,
    ),
    Feature(
        name="fan_out",
        told="a fan-out to three indexes",
        reads=1,
        writes=1,
        asked=WEB,
        arguments={"strategy": "fanout"},
    ),
    Feature(name="cache_miss", told="kept answers: asked, and kept", reads=1, writes=3, settings=_KEPT),
    Feature(
        name="cache_hit",
        told="kept answers: one that is there",
        reads=1,
        writes=0,
        settings=_KEPT,
        before=Before.SEARCHED,
        seconds=OURS,
    ),
    Feature(
        name="waiter",
        told="kept answers: waiting a second for another's",
        reads=6,
        writes=0,
        settings=_KEPT,
        before=Before.UNDER_WAY,
        seconds=OURS + 1.5,
    ),
    Feature(
        name="bounded",
        told="`max_chars`, and hits left over",
        reads=1,
        writes=1,
        objects=1,
        arguments={"max_chars": 2500},
    ),
    Feature(name="dry_run", told="`dry_run`", reads=1, writes=0, arguments={"dry_run": True}, seconds=OURS),
)
