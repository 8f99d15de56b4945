"""`research_providers`: what is there, and in what state. Read-only; it never spends a search."""

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass, replace

from pydantic import Field

from zarniwoop.contract.envelope import ToolResult
from zarniwoop.contract.failure import ConfigurationUnavailable
from zarniwoop.contract.modality import SearchModality
from zarniwoop.contract.problem import UnknownThing
from zarniwoop.contract.quota import ProviderAvailability, QuotaStatus
from zarniwoop.contract.request import SearchRequest, SearchScope
from zarniwoop.dispatch.calls.asking import verdict_of
from zarniwoop.dispatch.candidates.factory import Assembly
from zarniwoop.dispatch.candidates.gate import Skip, Verdict
from zarniwoop.dispatch.candidates.observations import Contact, Seen, health_of
from zarniwoop.dispatch.candidates.selection import Candidate, line_up
from zarniwoop.dispatch.dispatcher import ANSWER_GRACE_SECONDS, Survey
from zarniwoop.dispatch.plan import NOTHING
from zarniwoop.dispatch.spending.purse import Purse
from zarniwoop.settings.names import cooldown_subject
from zarniwoop.stores.audit import CallRecord
from zarniwoop.stores.state import Cooldown, Subject
from zarniwoop.tools.arguments import Flag, HitArguments, Id
from zarniwoop.tools.budget_rows import budget_rows
from zarniwoop.tools.dry_run import DryRun
from zarniwoop.tools.provider_rows import CooldownRow, MisconfiguredRow, ProviderRow, ProvidersReport
from zarniwoop.tools.tool import Tool, ToolServices

LOOK_UP_SECONDS = 5.0
"""How long a provider may take to say what is left."""


class ProvidersArguments(HitArguments):
    """Arguments of `research_providers`."""

    provider_id: Id | None = Field(default=None, description="Tell of this provider instance alone, and all about it.")
    detail: Flag = Field(
        default=False,
        description="true: all about every instance: what it is good for, its filters, limits and observed health.",
    )


def providers(arguments: ProvidersArguments, scope: SearchScope, services: ToolServices) -> ToolResult:
    """The report. Quotas come from the cache, a provider's free quota endpoint, or our own count."""
    dispatcher = services.dispatcher
    survey = dispatcher.survey(scope)
    looked = _look_up(_chosen(arguments, survey.assembly), survey, scope, services)
    if _has_new_pools(survey):
        survey = dispatcher.survey(scope)
    assembly = survey.assembly
    now = services.clock.now()
    made = _Report(survey=survey, scope=scope, now=now, read_at=now - (services.clock.monotonic() - assembly.built_at))
    rows = [made.row(each, looked.get(each.endpoint.id, _Looked())) for each in _chosen(arguments, assembly)]
    rows.sort(key=lambda row: row.id)
    whole = arguments.detail or arguments.provider_id is not None
    routing = _routing(assembly)
    report = ProvidersReport(
        providers=rows if whole else [row.in_short() for row in rows],
        routing=routing if whole else {modality: asked for modality, asked in routing.items() if asked},
        budgets=list(budget_rows(assembly.settings.budgets, survey.snapshot, now)),
        misconfigured=_misconfigured(assembly, dispatcher.factory.protocols.broken),
        settings_are_stale=assembly.stale,
    )
    return ToolResult(ok=True, data=report)


def _chosen(arguments: ProvidersArguments, assembly: Assembly) -> list[Candidate]:
    """All instances, or the one that is named. Raises UnknownThing; one that is misconfigured has no row."""
    name, known = arguments.provider_id, assembly.candidates
    if name is None:
        return list(known.values())
    if name in known:
        return [known[name]]
    if any(each.instance_id == name for each in assembly.misconfigured):
        return []
    raise UnknownThing(
        f"there is no provider instance '{name}' in this project",
        field="provider_id",
        suggested_action=f"name one of {', '.join(sorted(known)) or 'those that the settings make'}, or leave it out",
    )


def plan(arguments: ProvidersArguments, scope: SearchScope, services: ToolServices) -> ToolResult:
    """The dry run: whose quota would be asked for. No search is spent either way."""
    survey = services.dispatcher.survey(scope)
    knobs = survey.assembly.settings.knobs
    asked = [
        candidate.endpoint.id
        for candidate in _chosen(arguments, survey.assembly)
        if candidate.endpoint.enabled
        and candidate.instance.capabilities().looks_up_quota
        and services.dispatcher.quotas.would_ask(candidate, scope, survey.snapshot, knobs)
    ]
    data = DryRun(tool=RESEARCH_PROVIDERS.name, plans={}, worst_case=NOTHING, look_ups=tuple(sorted(asked)))
    return ToolResult(ok=True, data=data)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Looked:
    """What was looked up of an instance; nothing of what was not there in time, of its `last_calls` None."""

    quota: QuotaStatus | None = None
    last_calls: Sequence[CallRecord] | None = None
    look_up: Contact | None = None


def _look_up(
    chosen: Sequence[Candidate], survey: Survey, scope: SearchScope, services: ToolServices
) -> dict[str, _Looked]:
    """Quota and last calls of all that are enabled, side by side; what is not there in time is unknown.

    A provider that takes its time over a quota does not hide the calls, which are read first. Keys are read here: how
    many there are, and so whether any of them may be asked with, is not known before. Threads cannot be broken off; one
    that is late ends at its own deadline.
    """
    candidates = [candidate for candidate in chosen if candidate.endpoint.enabled]
    if not candidates:
        return {}
    knobs, hurried = survey.assembly.settings.knobs, scope.until(scope.deadline.within(LOOK_UP_SECONDS))
    book = services.dispatcher.quotas
    looked: dict[str, _Looked] = {}

    def look(candidate: Candidate) -> None:
        known = looked[candidate.endpoint.id] = _Looked(last_calls=book.last_calls(candidate, scope))
        with suppress(ConfigurationUnavailable):
            candidate.read_keys()
        quota = book.look_up(candidate, hurried, survey.snapshot, knobs)
        looked[candidate.endpoint.id] = replace(known, quota=quota, look_up=book.last_look_up(candidate, scope))

    pool = ThreadPoolExecutor(max_workers=len(candidates), thread_name_prefix="quota")
    try:
        futures = [pool.submit(look, candidate) for candidate in candidates]
        wait(futures, timeout=hurried.deadline.remaining() + ANSWER_GRACE_SECONDS)
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
    for future in futures:
        if future.done() and not future.cancelled():
            future.result()
    return dict(looked)


def _has_new_pools(survey: Survey) -> bool:
    """Whether an endpoint has come to light as one with several keys, of which the snapshot knows nothing."""
    seen = {instance_id for instance_id, _ in survey.snapshot.pools}
    return any(each.key_count() > 1 and name not in seen for name, each in survey.assembly.candidates.items())


@dataclass(frozen=True, slots=True, kw_only=True)
class _Report:
    """What the rows are made of. `read_at` is when the settings were read."""

    survey: Survey
    scope: SearchScope
    now: float
    read_at: float

    def row(self, candidate: Candidate, looked: _Looked) -> ProviderRow:
        instance, endpoint = candidate.instance, candidate.endpoint
        able = instance.capabilities()
        subjects: list[Subject] = [(endpoint.id, modality) for modality in sorted(instance.modalities())]
        availability = {str(subject[1]): self._availability(candidate, subject, looked.quota) for subject in subjects}
        health = health_of(candidate, self._seen(candidate, looked, availability), self.scope, self.now)
        return ProviderRow(
            id=endpoint.id,
            protocol=endpoint.protocol,
            display_name=instance.display_name(),
            enabled=endpoint.enabled,
            has_key=endpoint.credential_key is not None,
            domains=sorted(instance.domains()),
            tiers=sorted(instance.tiers()),
            filters=sorted(able.filters),
            operators=sorted(able.operators),
            max_results=able.max_results,
            max_query_chars=able.max_query_chars,
            index_family=able.index_family,
            language=candidate.language,
            loads_content=able.loads_content,
            tells_quota=able.tells_quota,
            availability=availability,
            health=health,
            seen=health.values,
            cooldowns=list(self._cooldowns(subjects)),
            quota=looked.quota,
            cost_per_call=endpoint.cost_per_call,
            status_text=instance.status_text(self.scope),
            prompt_hint=instance.prompt_hint(),
        )

    def _met(self, candidate: Candidate, modality: SearchModality, purse: Purse) -> Verdict:
        """What a search would meet."""
        request = SearchRequest(query="-", modality=modality)
        return verdict_of(candidate, request, self.scope, self.survey.snapshot, purse, self.now)

    def _availability(self, candidate: Candidate, subject: Subject, quota: QuotaStatus | None) -> str:
        """The seed's word, budgets aside."""
        verdict = self._met(candidate, subject[1], Purse())
        if verdict.skip is not None:
            return ProviderAvailability[verdict.skip.name]
        return ProviderAvailability.EXHAUSTED if quota and quota.exhausted_at(self.now) else ProviderAvailability.READY

    def _seen(self, candidate: Candidate, looked: _Looked, availability: Mapping[str, str]) -> Seen:
        return Seen(
            snapshot=self.survey.snapshot,
            availability=availability,
            read_at=self.read_at,
            quota=looked.quota,
            last_calls=looked.last_calls,
            look_up=looked.look_up,
            budget=self._budget_of(candidate, availability),
        )

    def _budget_of(self, candidate: Candidate, availability: Mapping[str, str]) -> str | None:
        """The budget that leaves nothing for a search of any modality that is ready otherwise."""
        purse = Purse(budgets=self.survey.assembly.settings.budgets)
        ready = [SearchModality(name) for name, word in availability.items() if word == ProviderAvailability.READY]
        met = [self._met(candidate, modality, purse) for modality in ready]
        return met[0].detail if met and all(verdict.skip is Skip.BUDGET for verdict in met) else None

    def _cooldowns(self, subjects: Sequence[Subject]) -> Iterator[CooldownRow]:
        snapshot = self.survey.snapshot
        for subject in subjects:
            if subject in snapshot.cooldowns:
                yield from _cooldown_rows(snapshot.cooldowns[subject], None, self.now)
            for index, cooldown in sorted(snapshot.pools.get(subject, {}).items()):
                yield from _cooldown_rows(cooldown, index, self.now)


def _cooldown_rows(cooldown: Cooldown, key_index: int | None, now: float) -> Iterator[CooldownRow]:
    """None for one that is over."""
    if cooldown.closed or not (cooldown.until_settings_change or cooldown.until > now):
        return
    yield CooldownRow(
        subject=cooldown_subject(cooldown.instance_id, cooldown.modality),
        modality=str(cooldown.modality),
        reason=cooldown.reason,
        remaining_seconds=None if cooldown.until_settings_change else round(cooldown.until - now, 1),
        failures=cooldown.failures,
        key_index=key_index,
    )


def _routing(assembly: Assembly) -> dict[str, list[str]]:
    return {
        str(modality): [
            candidate.endpoint.id
            for candidate in line_up(
                SearchRequest(query="-", modality=modality), assembly.candidates, assembly.settings
            ).candidates
        ]
        for modality in SearchModality
    }


def _misconfigured(assembly: Assembly, broken: Mapping[str, str]) -> list[MisconfiguredRow]:
    rows = [
        MisconfiguredRow(id=each.instance_id, setting=each.setting, reason=each.reason)
        for each in assembly.misconfigured
    ]
    return rows + [MisconfiguredRow(id=name, setting="add-on", reason=reason) for name, reason in broken.items()]


RESEARCH_PROVIDERS = Tool(
    name="research_providers",
    title="Providers",
    description=(
        "The provider instances of this project and the state that they are in. Use it before pinning a provider, or "
        "to see why a search failed. Returns for each instance which modalities it serves, whether it is READY, "
        "EXHAUSTED, in COOLDOWN (with reason and seconds left) or DISABLED, and its quota; `routing`, the order in "
        "which they are asked; and what is left of budgets. With provider_id it tells all about one, what it is good "
        "for included. Read-only and free: it never spends a search. Not for searching, and not needed before one: a "
        "search picks its provider itself."
    ),
    arguments=ProvidersArguments,
    handle=providers,
    plan=plan,
    answer=ProvidersReport,
    spends=False,
)
