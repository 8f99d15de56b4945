"""The factory: settings to instances, kept per (tenant, project, process) for a few minutes (seed 1, section 3)."""

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from zarniwoop.contract.deadline import Clock
from zarniwoop.contract.problem import CallerError
from zarniwoop.contract.provider import ProviderInstanceConfig, WrongSettingsError
from zarniwoop.contract.request import SearchScope
from zarniwoop.contract.transport import KeyRing, Transport
from zarniwoop.dispatch.candidates import Candidate
from zarniwoop.dispatch.protocols import Protocols
from zarniwoop.observe.metrics import Metric, Metrics
from zarniwoop.settings.endpoints import EndpointSettings, Misconfigured, ResearchSettings
from zarniwoop.settings.names import PROTOCOL

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
    """What was built for one scope. `generation` is the project's when first seen, None before."""

    candidates: Mapping[str, Candidate]
    settings: ResearchSettings
    misconfigured: tuple[Misconfigured, ...]
    stale: bool
    built_at: float
    generation: int | None = field(default=None)


class SearchProviderFactory:
    """Builds and keeps instances; `transport`, `keys` and `clock` are handed to each of them."""

    def __init__(
        self,
        *,
        settings: SettingsSource,
        protocols: Protocols,
        transport: Transport,
        keys: KeyRing,
        clock: Clock,
        metrics: Metrics,
        forget_settings: Callable[[str, str], None] = lambda _tenant_id, _project_id: None,
    ) -> None:
        self._settings = settings
        self._protocols = protocols
        self._transport = transport
        self._keys = keys
        self._clock = clock
        self._metrics = metrics
        self._forget_settings = forget_settings
        self._lock = threading.Lock()
        self._assemblies: dict[CacheKey, Assembly] = {}

    @property
    def protocols(self) -> Protocols:
        return self._protocols

    def assemble(self, scope: SearchScope) -> Assembly:
        """The instances of the scope's project, rebuilt from settings when the time to live is over.

        Raises ProjectScopeMissing, and ConfigurationUnavailable when settings cannot be read and none are cached.
        """
        if not scope.tenant_id or not scope.project_id:
            raise ProjectScopeMissing
        key = (scope.tenant_id, scope.project_id, scope.process_id)
        with self._lock:
            kept = self._assemblies.get(key)
            if kept is None or self._is_over(kept):
                built = self._build(scope, kept)
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
            made = self._instantiate(endpoint)
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
            generation=previous.generation if previous else None,
        )

    def _instantiate(self, endpoint: EndpointSettings) -> Candidate | tuple[Misconfigured, ...]:
        config = ProviderInstanceConfig(
            instance_id=endpoint.id,
            protocol_id=endpoint.protocol,
            base_url=endpoint.base_url,
            credential_key=endpoint.credential_key,
            enabled=endpoint.enabled,
            extras=endpoint.extras,
            transport=self._transport,
            keys=self._keys,
            clock=self._clock,
        )
        try:
            instance = self._protocols.by_id[endpoint.protocol].instantiate(config)
        except WrongSettingsError as error:
            return tuple(
                Misconfigured(instance_id=endpoint.id, setting=setting, reason=reason)
                for setting, reason in error.faults
            )
        except ValueError as error:
            return (Misconfigured(instance_id=endpoint.id, setting=PROTOCOL, reason=str(error)),)
        except Exception as error:  # noqa: BLE001 - an add-on's constructor: it must not take the other endpoints along
            reason = f"protocol '{endpoint.protocol}' fails to start ({type(error).__name__})"
            return (Misconfigured(instance_id=endpoint.id, setting=PROTOCOL, reason=reason),)
        return Candidate(instance=instance, endpoint=endpoint)

    @staticmethod
    def _dispose_replaced(previous: Assembly | None, candidates: Mapping[str, Candidate]) -> None:
        for instance_id, candidate in (previous.candidates if previous else {}).items():
            if candidates.get(instance_id) is not candidate:
                candidate.instance.dispose()
