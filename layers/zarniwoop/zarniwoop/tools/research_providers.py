"""`research_providers`: what is there, and in what state. Read-only; it never spends a search."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from zarniwoop.contract.envelope import ToolResult
from zarniwoop.contract.modality import SearchModality
from zarniwoop.contract.quota import ProviderAvailability, QuotaStatus
from zarniwoop.contract.request import SearchRequest, SearchScope
from zarniwoop.dispatch.candidates import Candidate, line_up
from zarniwoop.dispatch.factory import Assembly
from zarniwoop.dispatch.gate import judge, standing
from zarniwoop.stores.state import Cooldown, ProjectKey, StateSnapshot, Subject
from zarniwoop.tools.arguments import ToolArguments
from zarniwoop.tools.tool import Tool, ToolServices


@dataclass(frozen=True, slots=True, kw_only=True)
class CooldownRow:
    """`remaining_seconds` is None when only a change of the endpoint's settings ends it."""

    modality: str
    reason: str
    remaining_seconds: float | None
    failures: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderRow:
    """One instance. Availability by modality, because a cooldown of IMAGE leaves WEB alone."""

    id: str
    protocol: str
    display_name: str
    enabled: bool
    has_key: bool
    domains: list[str]
    tiers: list[str]
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
    assembly = dispatcher.factory.assemble(scope)
    project = ProjectKey(tenant_id=scope.tenant_id, project_id=scope.project_id)
    subjects: list[Subject] = [
        (candidate.endpoint.id, modality)
        for candidate in assembly.candidates.values()
        for modality in sorted(candidate.instance.modalities())
    ]
    snapshot = dispatcher.fleet.snapshot(project, subjects)
    rows = [_row(candidate, scope, snapshot, assembly, services) for candidate in assembly.candidates.values()]
    report = ProvidersReport(
        providers=sorted(rows, key=lambda row: row.id),
        routing=_routing(assembly),
        misconfigured=_misconfigured(assembly, dispatcher.factory.protocols.broken),
        settings_are_stale=assembly.stale,
    )
    return ToolResult(ok=True, data=report)


def _row(
    candidate: Candidate, scope: SearchScope, snapshot: StateSnapshot, assembly: Assembly, services: ToolServices
) -> ProviderRow:
    instance, endpoint = candidate.instance, candidate.endpoint
    now = services.clock.now()
    modalities = sorted(instance.modalities())
    quota = (
        services.dispatcher.quotas.look_up(candidate, scope, snapshot, assembly.settings.knobs)
        if endpoint.enabled
        else None
    )
    cooldowns = [
        cooldown
        for modality in modalities
        if (cooldown := standing(snapshot.cooldowns.get((endpoint.id, modality)), endpoint.fingerprint)) is not None
    ]
    availability = {
        str(modality): _availability(candidate, (endpoint.id, modality), snapshot, scope, now, quota)
        for modality in modalities
    }
    return ProviderRow(
        id=endpoint.id,
        protocol=endpoint.protocol,
        display_name=instance.display_name(),
        enabled=endpoint.enabled,
        has_key=endpoint.credential_key is not None,
        domains=sorted(instance.domains()),
        tiers=sorted(instance.tiers()),
        availability=availability,
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
    verdict = judge(candidate, snapshot.cooldowns.get(subject), snapshot.quotas.get(subject), scope, now)
    if verdict.skip is None:
        return ProviderAvailability.EXHAUSTED if quota and quota.exhausted else ProviderAvailability.READY
    return ProviderAvailability[verdict.skip.name]


def _cooldown_rows(cooldowns: Sequence[Cooldown], now: float) -> list[CooldownRow]:
    return [
        CooldownRow(
            modality=str(cooldown.modality),
            reason=cooldown.reason,
            remaining_seconds=None if cooldown.until_settings_change else round(cooldown.until - now, 1),
            failures=cooldown.failures,
        )
        for cooldown in cooldowns
        if cooldown.until_settings_change or cooldown.until > now
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
