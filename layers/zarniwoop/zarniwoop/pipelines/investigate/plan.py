"""The plan: which searches a model proposed, and which of them are carried out.

A model sees the question and the providers' hints, nothing that others wrote. What it proposes is taken apart by code:
providers, modalities and numbers that do not exist are left out, and it is said what was left out and why.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from math import isnan
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from zarniwoop.contract.modality import SearchModality
from zarniwoop.llm.schema import portable_schema
from zarniwoop.pipelines.investigate.fence import MAX_QUESTION_CHARS, harmless, visible

MAX_SEARCHES = 20
MAX_QUERY_CHARS = 400
MAX_AFFINITY = 2.0
MAX_HINT_CHARS = 700
_MAX_RATIONALE_CHARS = 1_000
_MAX_TOLD = 40


class ModelAnswer(BaseModel):
    """What a model is asked to answer with: it may say more than asked, which is ignored."""

    model_config = ConfigDict(
        extra="ignore",
        frozen=True,
        populate_by_name=True,
        hide_input_in_errors=True,
        json_schema_extra={"additionalProperties": False},
    )


class ProposedSearch(ModelAnswer):
    """One search as the model wrote it; `modality` is a word here, so that a wrong one costs only its own search."""

    query: str
    modality: Annotated[str, Field(json_schema_extra={"enum": [str(each) for each in SearchModality]})]
    source_affinity: dict[str, float] = Field(default_factory=dict, alias="sourceAffinity")


class PlanAnswer(ModelAnswer):
    """Seed 1, section 7, phase 1."""

    searches: list[ProposedSearch]
    rationale: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderCard:
    """What a planner is told of a provider instance."""

    id: str
    display_name: str
    modalities: tuple[SearchModality, ...]
    hint: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanLimits:
    """`max_searches` of this wave, never above 20; `modalities` None allows all that somebody serves."""

    max_searches: int
    modalities: frozenset[SearchModality] | None = None

    def allow(self, modality: SearchModality) -> bool:
        return self.modalities is None or modality in self.modalities


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedSearch:
    """A search that will be carried out; `index` is its number in the run."""

    index: int
    query: str
    modality: SearchModality
    source_affinity: Mapping[str, float]

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "PlannedSearch":
        return cls(**{**value, "modality": SearchModality(value["modality"])})


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """`refused` says in our words what was left out; it repeats no query."""

    searches: tuple[PlannedSearch, ...]
    rationale: str
    refused: tuple[str, ...] = ()

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "Plan":
        searches = tuple(PlannedSearch.from_json(each) for each in value["searches"])
        return cls(searches=searches, rationale=value["rationale"], refused=tuple(value["refused"]))


def serving(providers: Sequence[ProviderCard]) -> dict[SearchModality, tuple[str, ...]]:
    """The ids of the instances by modality, in the order of the cards."""
    served: dict[SearchModality, tuple[str, ...]] = {}
    for card in providers:
        for modality in card.modalities:
            served[modality] = (*served.get(modality, ()), card.id)
    return served


def plan_variables(
    question: str,
    today: str,
    providers: Sequence[ProviderCard],
    limits: PlanLimits,
    *,
    hint_chars: int = MAX_HINT_CHARS,
) -> dict[str, object]:
    """What the plan recipe may name. `today` is a day written as YYYY-MM-DD."""
    return {
        "question": harmless(question, MAX_QUESTION_CHARS),
        "today": today,
        "providers": [
            {
                "id": card.id,
                "display_name": harmless(card.display_name, 80),
                "modalities": [str(modality) for modality in card.modalities],
                "hint": harmless(card.hint, hint_chars),
            }
            for card in providers
        ],
        "modalities": [str(modality) for modality in SearchModality if _offered(modality, providers, limits)],
        "max_searches": min(limits.max_searches, MAX_SEARCHES),
        "max_query_chars": MAX_QUERY_CHARS,
    }


def plan_schema(variables: Mapping[str, Any]) -> dict[str, Any]:
    """The form of a plan with these variables' own limits. A weak model that is held to it still ends, and in time."""
    schema = portable_schema(PlanAnswer)
    searches = schema["properties"]["searches"]
    searches.update(minItems=1, maxItems=max(variables["max_searches"], 1))
    fields = searches["items"]["properties"]
    fields["modality"]["enum"] = variables["modalities"] or fields["modality"]["enum"]
    known = {provider["id"]: {"type": "number"} for provider in variables["providers"]}
    fields["sourceAffinity"] = {"type": "object", "properties": known, "additionalProperties": False}
    return schema


def _offered(modality: SearchModality, providers: Sequence[ProviderCard], limits: PlanLimits) -> bool:
    return limits.allow(modality) and any(modality in card.modalities for card in providers)


def validated_plan(
    answer: PlanAnswer,
    available: Mapping[SearchModality, Collection[str]],
    limits: PlanLimits,
    *,
    first_index: int = 0,
    asked_before: Collection[tuple[SearchModality, str]] = (),
) -> Plan:
    """The searches that can be carried out, numbered from `first_index`; none has an `identity` of `asked_before`."""
    refused: list[str] = []
    accepted: dict[tuple[SearchModality, str], PlannedSearch] = {}
    for number, proposed in enumerate(answer.searches, 1):
        search = _accepted(number, proposed, available, limits, refused)
        if search is None:
            continue
        same = identity(search)
        if same in asked_before:
            refused.append(f"search {number}: it was asked before")
        elif same in accepted:
            accepted[same] = _joined(accepted[same], search)
            refused.append(f"search {number}: merged with an earlier one that asks the same")
        elif len(accepted) >= min(limits.max_searches, MAX_SEARCHES):
            refused.append(f"search {number}: more than {min(limits.max_searches, MAX_SEARCHES)} searches")
        else:
            accepted[same] = search
    searches = tuple(_numbered(search, index) for index, search in enumerate(accepted.values(), first_index))
    return Plan(
        searches=searches, rationale=harmless(answer.rationale, _MAX_RATIONALE_CHARS), refused=_bounded(refused)
    )


def identity(search: PlannedSearch) -> tuple[SearchModality, str]:
    """Two searches with the same identity would bring the same hits."""
    return search.modality, search.query.casefold()


def _accepted(
    number: int,
    proposed: ProposedSearch,
    available: Mapping[SearchModality, Collection[str]],
    limits: PlanLimits,
    refused: list[str],
) -> PlannedSearch | None:
    modality = SearchModality.__members__.get(proposed.modality.strip().upper())
    if modality is None or not available.get(modality) or not limits.allow(modality):
        refused.append(f"search {number}: modality '{harmless(proposed.modality, 20)}' cannot be searched here")
        return None
    query = visible(proposed.query, MAX_QUERY_CHARS).removesuffix("…").strip()
    if not query.strip("…."):  # empty, or the prompt's placeholder
        refused.append(f"search {number}: it has no query")
        return None
    affinity = _affinity(number, proposed.source_affinity, available[modality], refused)
    return PlannedSearch(index=number, query=query, modality=modality, source_affinity=affinity)


def _affinity(
    number: int, proposed: Mapping[str, float], serving_it: Collection[str], refused: list[str]
) -> dict[str, float]:
    """The affinities of existing instances, each in 0..2; of anything that is no number, none."""
    kept: dict[str, float] = {}
    for name, value in proposed.items():
        if name not in serving_it:
            refused.append(f"search {number}: provider '{harmless(name, 64)}' does not serve it")
        elif isnan(value):
            refused.append(f"search {number}: the affinity of '{name}' is no number")
        else:
            kept[name] = min(max(value, 0.0), MAX_AFFINITY)
    return kept


def _joined(one: PlannedSearch, other: PlannedSearch) -> PlannedSearch:
    both = {**one.source_affinity}
    for name, value in other.source_affinity.items():
        both[name] = max(value, both.get(name, 0.0))
    return PlannedSearch(index=one.index, query=one.query, modality=one.modality, source_affinity=both)


def _numbered(search: PlannedSearch, index: int) -> PlannedSearch:
    return PlannedSearch(
        index=index, query=search.query, modality=search.modality, source_affinity=search.source_affinity
    )


def _bounded(refused: list[str]) -> tuple[str, ...]:
    if len(refused) <= _MAX_TOLD:
        return tuple(refused)
    return (*refused[:_MAX_TOLD], f"and {len(refused) - _MAX_TOLD} more")
