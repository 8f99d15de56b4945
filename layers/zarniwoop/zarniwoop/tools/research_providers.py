"""`research_providers`: what is there, and in what state. Read-only; it never spends a search."""

from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass

from zarniwoop.contract.envelope import ToolResult
from zarniwoop.contract.modality import SearchModality
from zarniwoop.contract.quota import ProviderAvailability, QuotaStatus
from zarniwoop.contract.request import SearchRequest, SearchScope
from zarniwoop.dispatch.candidates import Candidate, line_up
from zarniwoop.dispatch.credit import quota_in_force
from zarniwoop.dispatch.dispatcher import GRACE_SECONDS, Survey
from zarniwoop.dispatch.factory import Assembly
from zarniwoop.dispatch.gate import judge
from zarniwoop.settings.names import cooldown_subject
from zarniwoop.stores.state import Cooldown, StateSnapshot, Subject
from zarniwoop.tools.arguments import ToolArguments
from zarniwoop.tools.tool import Tool, ToolServices

LOOK_UP_SECONDS = 5.0
"""How long a provider may take to say what is left."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CooldownRow:
    """`subject` is spelt as in the seed. `remaining_seconds` None: only a change of the endpoint's settings ends it."""

    subject: str
    modality: str
    reason: str
    remaining_seconds: float | None
    failures: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderRow:
    """One instance. Availability by modality, because a cooldown of IMAGE leaves WEB alone.

    `filters` are those that the provider itself applies; the others are applied here, where its hits allow it.
    """

    id: str
    protocol: str
    display_name: str
    enabled: bool
    has_key: bool
    domains: list[str]
    tiers: list[str]
    filters: list[str]
    max_results: int | None
    max_query_chars: int | None
    index_family: str | None
    language: str | None
    loads_content: bool
    tells_quota: bool
    availability: dict[str, str]
    cooldowns: list[CooldownRow]
    quota: QuotaStatus | None
    cost_per_call: float
    status_text: str | None
    prompt_hint: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MisconfiguredRow:
    """An endpoint, knob or add-on that cannot be used; `setting` is what to mend."""

    id: str
    setting: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ProvidersReport:
    """`routing` gives, for every modality, the instances in the order in which they would be asked."""

    providers: list[ProviderRow]
    routing: dict[str, list[str]]
    misconfigured: list[MisconfiguredRow]
    settings_are_stale: bool


def providers(_arguments: ToolArguments, scope: SearchScope, services: ToolServices) -> ToolResult:
    """The report. Quotas come from the cache, a provider's free quota endpoint, or our own count."""
    dispatcher = services.dispatcher
    survey = dispatcher.survey(scope)
    assembly = survey.assembly
    quotas = _quotas(survey, scope, services)
    rows = [
        _row(candidate, quotas.get(instance_id), scope, survey.snapshot, services.clock.now())
        for instance_id, candidate in assembly.candidates.items()
    ]
    report = ProvidersReport(
        providers=sorted(rows, key=lambda row: row.id),
        routing=_routing(assembly),
        misconfigured=_misconfigured(assembly, dispatcher.factory.protocols.broken),
        settings_are_stale=assembly.stale,
    )
    return ToolResult(ok=True, data=report)


def _quotas(survey: Survey, scope: SearchScope, services: ToolServices) -> dict[str, QuotaStatus | None]:
    """The quotas of all enabled instances, looked up side by side; one that is not there in time is unknown.

    Threads cannot be broken off; one that is late ends at its own deadline.
    """
    candidates = [candidate for candidate in survey.assembly.candidates.values() if candidate.endpoint.enabled]
    if not candidates:
        return {}
    knobs, hurried = survey.assembly.settings.knobs, scope.until(scope.deadline.within(LOOK_UP_SECONDS))
    pool = ThreadPoolExecutor(max_workers=len(candidates), thread_name_prefix="quota")
    try:
        futures = {
            candidate.endpoint.id: pool.submit(
                services.dispatcher.quotas.look_up, candidate, hurried, survey.snapshot, knobs
            )
            for candidate in candidates
        }
        wait(futures.values(), timeout=hurried.deadline.remaining() + GRACE_SECONDS)
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
    return {instance_id: future.result() for instance_id, future in futures.items() if _is_ready(future)}


def _is_ready(future: "Future[QuotaStatus | None]") -> bool:
    return future.done() and not future.cancelled()


def _row(
    candidate: Candidate, quota: QuotaStatus | None, scope: SearchScope, snapshot: StateSnapshot, now: float
) -> ProviderRow:
    instance, endpoint = candidate.instance, candidate.endpoint
    able = instance.capabilities()
    subjects: list[Subject] = [(endpoint.id, modality) for modality in sorted(instance.modalities())]
    cooldowns = [snapshot.cooldowns[subject] for subject in subjects if subject in snapshot.cooldowns]
    return ProviderRow(
        id=endpoint.id,
        protocol=endpoint.protocol,
        display_name=instance.display_name(),
        enabled=endpoint.enabled,
        has_key=endpoint.credential_key is not None,
        domains=sorted(instance.domains()),
        tiers=sorted(instance.tiers()),
        filters=sorted(able.filters),
        max_results=able.max_results,
        max_query_chars=able.max_query_chars,
        index_family=able.index_family,
        language=candidate.language,
        loads_content=able.loads_content,
        tells_quota=able.tells_quota,
        availability={
            str(subject[1]): _availability(candidate, subject, snapshot, scope, now, quota) for subject in subjects
        },
        cooldowns=_cooldown_rows(cooldowns, now),
        quota=quota,
        cost_per_call=endpoint.cost_per_call,
        status_text=instance.status_text(scope),
        prompt_hint=instance.prompt_hint(),
    )


def _availability(
    candidate: Candidate,
    subject: Subject,
    snapshot: StateSnapshot,
    scope: SearchScope,
    now: float,
    quota: QuotaStatus | None,
) -> str:
    """The seed's word: the gate's verdict, which is what a search would meet."""
    in_force = quota_in_force(candidate.endpoint, subject, snapshot, now)
    verdict = judge(candidate, snapshot.cooldowns.get(subject), in_force, scope, now)
    if verdict.skip is None:
        return ProviderAvailability.EXHAUSTED if quota and quota.exhausted_at(now) else ProviderAvailability.READY
    return ProviderAvailability[verdict.skip.name]


def _cooldown_rows(cooldowns: Sequence[Cooldown], now: float) -> list[CooldownRow]:
    return [
        CooldownRow(
            subject=cooldown_subject(cooldown.instance_id, cooldown.modality),
            modality=str(cooldown.modality),
            reason=cooldown.reason,
            remaining_seconds=None if cooldown.until_settings_change else round(cooldown.until - now, 1),
            failures=cooldown.failures,
        )
        for cooldown in cooldowns
        if not cooldown.closed and (cooldown.until_settings_change or cooldown.until > now)
    ]


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
        "List the provider instances of this project: which modalities each serves, whether it is READY, EXHAUSTED, in "
        "COOLDOWN (with reason and seconds left) or DISABLED, its quota, and the order in which they are asked. "
        "Read-only and free: it never spends a search. Use it before pinning a provider, or to see why a search failed."
    ),
    arguments=ToolArguments,
    handle=providers,
    spends=False,
)
