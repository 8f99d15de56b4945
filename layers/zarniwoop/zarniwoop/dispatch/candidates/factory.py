"""The factory: settings to instances, kept per (tenant, project, process) for a few minutes (seed 1, section 3)."""

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from zarniwoop.contract.deadline import Clock
from zarniwoop.contract.problem import CallerError
from zarniwoop.contract.provider import ProviderInstanceConfig, WrongSettingsError
from zarniwoop.contract.request import SearchRequest, SearchScope
from zarniwoop.contract.transport import AwsCaller, KeyPools, PublicAddresses, Transport
from zarniwoop.dispatch.candidates.language import wanted_languages
from zarniwoop.dispatch.candidates.protocols import Protocols
from zarniwoop.dispatch.candidates.selection import Candidate, Lineup, line_up
from zarniwoop.observe.metrics import Metric, Metrics
from zarniwoop.settings.endpoints import EndpointSettings, Misconfigured, ResearchSettings
from zarniwoop.settings.names import PROTOCOL
from zarniwoop.stores.recent import Recent
from zarniwoop.text.languages import primary_language

_MOST_ASSEMBLIES = 256
CacheKey = tuple[str, str, str | None]
SettingsSource = Callable[[SearchScope], tuple[ResearchSettings, bool]]
"""The research settings in force for a scope, and whether they are a stale copy. Raises ConfigurationUnavailable."""


class ProjectScopeMissing(CallerError):  # noqa: N818 - named by its consequence
    """The seed's refusal of a call without a project."""

    slug = "no-project-scope"
    title = "There is no project scope"

    def __init__(self) -> None:
        super().__init__(
            "research tools require a project scope",
            field="project_id",
            suggested_action="name one of your token's projects as project_id",
        )


@dataclass(slots=True, kw_only=True)
class Assembly:
    """What was built for one scope. `generation` is the project's as read before the settings were; None: not known."""

    candidates: Mapping[str, Candidate]
    settings: ResearchSettings
    misconfigured: tuple[Misconfigured, ...]
    stale: bool
    built_at: float
    generation: int | None = field(default=None)
    _lineups: Recent[tuple[object, ...], Lineup] = field(default_factory=Recent, repr=False)

    def line_up(self, request: SearchRequest) -> Lineup:
        """`candidates.line_up`, worked out once for all requests that it treats alike. Raises what that raises."""
        alike = (
            request.modality,
            request.tier,
            request.pinned_provider_id,
            request.free_only,
            wanted_languages(request),
        )
        lineup = self._lineups.get(alike)
        if lineup is None:
            lineup = line_up(request, self.candidates, self.settings)
            self._lineups.put(alike, lineup)
        return lineup


class SearchProviderFactory:
    """Builds and keeps instances; `transport`, `keys`, `clock`, `aws` and `addresses` are handed to each of them."""

    def __init__(
        self,
        *,
        settings: SettingsSource,
        protocols: Protocols,
        transport: Transport,
        keys: KeyPools,
        clock: Clock,
        metrics: Metrics,
        forget_settings: Callable[[str, str], None] = lambda _tenant_id, _project_id: None,
        aws: AwsCaller | None = None,
        addresses: PublicAddresses | None = None,
    ) -> None:
        self._settings = settings
        self._protocols = protocols
        self._transport = transport
        self._keys = keys
        self._clock = clock
        self._metrics = metrics
        self._forget_settings = forget_settings
        self._aws = aws
        self._addresses = addresses
        self._lock = threading.Lock()
        self._assemblies: dict[CacheKey, Assembly] = {}

    @property
    def protocols(self) -> Protocols:
        return self._protocols

    def holds(self, scope: SearchScope) -> bool:
        """Whether something was built for the scope's project, be it new or old."""
        key = _cache_key(scope)
        with self._lock:
            return key in self._assemblies or bool(self._siblings(key))

    def forget_settings(self, scope: SearchScope) -> None:
        """Read the settings anew for what is built next: another project of the tenant may have had them read."""
        self._forget_settings(scope.tenant_id, scope.project_id)

    def assemble(self, scope: SearchScope, generation: int | None = None) -> Assembly:
        """The instances of the scope's project, rebuilt from settings when the time to live is over.

        `generation` is the project's as the caller read it before it had the settings forgotten. Where a part of the
        project was built before, the new one is as old as that: they share what was read.
        Raises ProjectScopeMissing, and ConfigurationUnavailable when settings cannot be read and none are cached.
        """
        if not scope.tenant_id or not scope.project_id:
            raise ProjectScopeMissing
        key = _cache_key(scope)
        with self._lock:
            kept = self._assemblies.get(key)
            if kept is None or self._is_over(kept):
                siblings = self._siblings(key)
                known = generation if not siblings else min((each.generation for each in siblings), key=_age)
                built = self._build(scope, kept)
                built.generation = known
                self._assemblies.pop(key, None)
                self._assemblies[key] = built
                self._forget_the_oldest()
                return built
            return kept

    def evict(self, tenant_id: str, project_id: str) -> int:
        """Drop and dispose everything built for a project, settings included; return how many instances went."""
        self._forget_settings(tenant_id, project_id)
        with self._lock:
            keys = [key for key in self._assemblies if key[:2] == (tenant_id, project_id)]
            gone = [candidate for key in keys for candidate in self._assemblies.pop(key).candidates.values()]
        for candidate in gone:
            candidate.instance.dispose()
        return len(gone)

    def _siblings(self, key: CacheKey) -> list[Assembly]:
        """What was built for a project: for itself and for its processes."""
        return [assembly for each, assembly in self._assemblies.items() if each[:2] == key[:2]]

    def _forget_the_oldest(self) -> None:
        """An environment that serves many projects keeps the ones that were built last."""
        while len(self._assemblies) > _MOST_ASSEMBLIES:
            oldest = self._assemblies.pop(next(iter(self._assemblies)))
            for candidate in oldest.candidates.values():
                candidate.instance.dispose()

    def _is_over(self, assembly: Assembly) -> bool:
        minutes = assembly.settings.knobs.factory_cache_ttl_minutes
        return self._clock.monotonic() >= assembly.built_at + minutes * 60

    def _build(self, scope: SearchScope, previous: Assembly | None) -> Assembly:
        settings, stale = self._settings(scope)
        if stale:
            self._metrics.count(Metric.SETTINGS_STALE)
        candidates: dict[str, Candidate] = {}
        misconfigured = list(settings.misconfigured)
        for endpoint in settings.endpoints:
            kept = previous.candidates.get(endpoint.id) if previous else None
            if kept is not None and kept.endpoint == endpoint:
                candidates[endpoint.id] = kept
                continue
            made = self.make(endpoint)
            if isinstance(made, Candidate):
                candidates[endpoint.id] = made
            else:
                misconfigured.extend(made)
        self._dispose_replaced(previous, candidates)
        return Assembly(
            candidates=candidates,
            settings=settings,
            misconfigured=tuple(misconfigured),
            stale=stale,
            built_at=self._clock.monotonic(),
        )

    def make(self, endpoint: EndpointSettings) -> Candidate | tuple[Misconfigured, ...]:
        """An instance of its own, kept by nobody; or what is wrong with its settings."""
        return instantiate(
            endpoint,
            self._protocols,
            transport=self._transport,
            keys=self._keys,
            clock=self._clock,
            aws=self._aws,
            addresses=self._addresses,
        )

    @staticmethod
    def _dispose_replaced(previous: Assembly | None, candidates: Mapping[str, Candidate]) -> None:
        for instance_id, candidate in (previous.candidates if previous else {}).items():
            if candidates.get(instance_id) is not candidate:
                candidate.instance.dispose()


def _cache_key(scope: SearchScope) -> CacheKey:
    return scope.tenant_id, scope.project_id, scope.process_id


def _age(generation: int | None) -> int:
    return -1 if generation is None else generation


def instantiate(
    endpoint: EndpointSettings,
    protocols: Protocols,
    *,
    transport: Transport,
    keys: KeyPools,
    clock: Clock,
    aws: AwsCaller | None = None,
    addresses: PublicAddresses | None = None,
) -> Candidate | tuple[Misconfigured, ...]:
    """An instance of the endpoint's protocol, or what of its settings keeps it from being made."""
    config = ProviderInstanceConfig(
        instance_id=endpoint.id,
        protocol_id=endpoint.protocol,
        base_url=endpoint.base_url,
        credential_key=endpoint.credential_key,
        enabled=endpoint.enabled,
        extras=endpoint.extras,
        transport=transport,
        keys=keys,
        clock=clock,
        aws=aws,
        addresses=addresses,
    )
    try:
        instance = protocols.by_id[endpoint.protocol].instantiate(config)
        language = instance.capabilities().language or endpoint.extras.get("language")
    except WrongSettingsError as error:
        return tuple(
            Misconfigured(instance_id=endpoint.id, setting=setting, reason=reason) for setting, reason in error.faults
        )
    except ValueError as error:
        return (Misconfigured(instance_id=endpoint.id, setting=PROTOCOL, reason=str(error)),)
    except Exception as error:  # noqa: BLE001 - an add-on's constructor: it must not take the other endpoints along
        reason = f"protocol '{endpoint.protocol}' fails to start ({type(error).__name__})"
        return (Misconfigured(instance_id=endpoint.id, setting=PROTOCOL, reason=reason),)
    only = primary_language(language) if language else None
    return Candidate(instance=instance, endpoint=endpoint, language=only, keys=keys)
