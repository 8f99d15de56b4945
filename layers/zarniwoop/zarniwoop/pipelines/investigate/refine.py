"""The second wave, at most one: planned from what was found, when too little of it survived."""

from collections.abc import Collection, Mapping, Sequence

from zarniwoop.contract.modality import SearchModality
from zarniwoop.pipelines.investigate.evaluate import Judged
from zarniwoop.pipelines.investigate.fence import fenced_hits, harmless, prompt_hit
from zarniwoop.pipelines.investigate.fitting import HINTS_SHARE, hint_chars, that_fit, tokens_of
from zarniwoop.pipelines.investigate.plan import (
    MAX_QUERY_CHARS,
    Plan,
    PlanAnswer,
    PlanLimits,
    ProviderCard,
    identity,
    plan_variables,
    validated_plan,
)

WAVES = 2
MOST_SHOWN = 25


def needs_refinement(judged: Judged, threshold: int, wave: int) -> bool:
    """Whether fewer than `threshold` hits survived wave `wave` (the first is 1). Without a judge nobody knows: no."""
    return wave < WAVES and judged.evaluated and len(judged.kept) < threshold


def refine_variables(
    question: str,
    today: str,
    providers: Sequence[ProviderCard],
    limits: PlanLimits,
    *,
    previous: Plan,
    judged: Judged,
    threshold: int,
    nonce: str,
    tokens: float,
) -> dict[str, object]:
    """What the refine recipe may name: the plan's variables, what was asked, and what that found, survivors first.

    Hints and hits share so many `tokens`.
    """
    hints = hint_chars(len(providers), tokens * HINTS_SHARE)
    planned = plan_variables(question, today, providers, limits, hint_chars=hints)
    found = sorted(judged.hits, key=lambda hit: not hit.keep)[:MOST_SHOWN]
    shown = that_fit(
        [{**prompt_hit(hit.merged), "verdict": "keep" if hit.keep else "drop"} for hit in found],
        tokens - tokens_of(planned["providers"]),
    )
    return {
        **planned,
        "previous": [
            {"query": harmless(search.query, MAX_QUERY_CHARS), "modality": str(search.modality)}
            for search in previous.searches
        ],
        "survivors": len(judged.kept),
        "threshold": threshold,
        "fence": fenced_hits(shown, nonce),
        "nonce": nonce,
        "hits": shown,
    }


def refined_plan(
    answer: PlanAnswer,
    available: Mapping[SearchModality, Collection[str]],
    limits: PlanLimits,
    previous: Plan,
) -> Plan:
    """The searches of the second wave, numbered after the first; none of them was asked before."""
    return validated_plan(
        answer,
        available,
        limits,
        first_index=max((search.index + 1 for search in previous.searches), default=0),
        asked_before={identity(search) for search in previous.searches},
    )
