"""The driver: carries a declared wire format out over the transport and turns it into an SPI instance.

It owns what no adapter may: keys, turns, status codes, vendor limits, filters applied here, and the line between "the
provider broke its format" and "our code is wrong".
"""

from collections.abc import Callable, Generator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeVar

from zarniwoop.contract.failure import Cause, CredentialsRejected, MalformedAnswer, ProviderError, ProviderUnavailable
from zarniwoop.contract.hit import ContentReference, LoadedContent
from zarniwoop.contract.modality import SearchDomain, SearchModality, SearchTier
from zarniwoop.contract.provider import (
    Capabilities,
    Pacing,
    ProviderInstanceConfig,
    SearchProviderInstance,
    WrongSettingsError,
)
from zarniwoop.contract.quota import ProviderAvailability, QuotaStatus
from zarniwoop.contract.request import SearchRequest, SearchScope
from zarniwoop.contract.result import SearchResult
from zarniwoop.contract.transport import Authentication, AwsCall, HttpAnswer, HttpRequest, Secret
from zarniwoop.text.retry_after import stated_wait
from zarniwoop.wire.extras import USER_AGENT, faults_of, part_of
from zarniwoop.wire.filters import account_for_filters
from zarniwoop.wire.format import Found, SettingsPart, WireFormat
from zarniwoop.wire.keyed import key_of, send_with_key
from zarniwoop.wire.limits import declined, within_vendor_limits
from zarniwoop.wire.operators import Meant, heeded, meaning_of
from zarniwoop.wire.pages import check_public
from zarniwoop.wire.reading import MISREAD
from zarniwoop.wire.status import failure_of

READER_VERSION = 3
"""Raised when the driver, or what all adapters read with, turns the same answer into other hits."""

Returned = TypeVar("Returned")

_SHOWN_HEADERS = ("x-ratelimit-", "x-rate-limit-", "ratelimit", "retry-after", "x-request-id", "x-api-pool")


@dataclass(frozen=True, slots=True)
class WireProtocol:
    """A `WireFormat` as the SPI's `SearchProtocol`."""

    format: WireFormat

    def id(self) -> str:
        return self.format.protocol_id

    def display_name(self) -> str:
        return self.format.display_name

    def modalities_supported(self) -> frozenset[SearchModality]:
        return self.format.modalities

    def tiers_supported(self) -> frozenset[SearchTier]:
        return self.format.tiers

    def settings_part(self) -> SettingsPart:
        return part_of(self.format)

    def instantiate(self, config: ProviderInstanceConfig) -> "WireInstance":
        base_url = config.base_url or self.format.default_base_url
        faults = tuple(faults_of(config, self.format))
        if faults:
            raise WrongSettingsError(*faults)
        return WireInstance(self.format, replace(config, base_url=base_url.rstrip("/") if base_url else None))


@dataclass(slots=True)
class _Exchange:
    """The state of one exchange: what was seen on the way."""

    headers: dict[str, str] = field(default_factory=dict)
    quota: QuotaStatus | None = None
    calls: int = 0


class WireInstance(SearchProviderInstance):
    """One endpoint of a built-in protocol."""

    def __init__(self, wire_format: WireFormat, config: ProviderInstanceConfig) -> None:
        self._format = wire_format
        self._config = config

    def id(self) -> str:
        return self._config.instance_id

    def display_name(self) -> str:
        return f"{self._format.display_name} ({self._config.instance_id})"

    def modalities(self) -> frozenset[SearchModality]:
        return self._format.modalities

    def domains(self) -> frozenset[SearchDomain]:
        return self._format.domains

    def tiers(self) -> frozenset[SearchTier]:
        return self._format.tiers

    def availability(self, scope: SearchScope) -> ProviderAvailability:  # noqa: ARG002 - the SPI's signature
        usable = self._config.enabled and (self._config.base_url or self._format.by_role)
        return ProviderAvailability.READY if usable else ProviderAvailability.DISABLED

    def prompt_hint(self) -> str:
        return self._format.prompt_hint

    @property
    def documentation(self) -> str:
        return self._format.documentation

    def answer_version(self) -> str:
        return f"{READER_VERSION}.{self._format.version}"

    @property
    def by_role(self) -> bool:
        return self._format.by_role

    def capabilities(self) -> Capabilities:
        declared = self._format
        return Capabilities(
            filters=declared.filters,
            operators=heeded(declared.operators, declared.filters, site_lists=declared.site_lists),
            max_results=declared.max_results,
            max_query_chars=declared.max_query_chars,
            index_family=declared.index_family,
            loads_content=declared.content_exchange is not None,
            tells_quota=declared.quota_exchange is not None or declared.quota_from_headers is not None,
            looks_up_quota=declared.quota_exchange is not None,
            language=declared.language(self._config) if declared.language else None,
        )

    def pacing(self, request: SearchRequest) -> Pacing | None:
        if self._format.pacing is None:
            return None
        return self._format.pacing(self._meant(request).request, self._config)

    def most_calls(self, request: SearchRequest) -> int:
        asked, _ = within_vendor_limits(self._meant(request).request, self._format)
        if self._format.most_calls is None:
            return super().most_calls(asked)
        return self._format.most_calls(asked, self._config)

    def most_load_calls(self, reference: ContentReference) -> int:  # noqa: ARG002 - the SPI's signature
        return self._format.load_calls

    def current_quota(self, scope: SearchScope) -> QuotaStatus | None:
        if self._format.quota_exchange is None:
            return None
        seen = _Exchange()
        quota = self._carry_out(self._format.quota_exchange(self._config), scope, seen)
        return replace(quota, observed_at=self._config.clock.now())

    def search(self, request: SearchRequest, scope: SearchScope) -> SearchResult:
        if request.modality not in self._format.modalities:
            return declined(self.id(), request, f"{self.id()} does not serve {request.modality}")
        meant = self._meant(request)
        asked, notes = within_vendor_limits(meant.request, self._format)
        seen = _Exchange()
        try:
            found = self._carry_out(self._format.exchange(asked, self._config), scope, seen)
        except ProviderError as error:
            error.calls = seen.calls
            raise
        return self._result(request, meant, found, seen, notes)

    def load_content(self, reference: ContentReference, scope: SearchScope) -> LoadedContent:
        if self._format.content_exchange is None:
            return super().load_content(reference, scope)
        seen = _Exchange()
        try:
            check_public(reference, self._config.addresses, scope.deadline)
            loaded = self._carry_out(self._format.content_exchange(reference, self._config), scope, seen)
        except ProviderError as error:
            error.calls = seen.calls
            raise
        return replace(loaded, calls=seen.calls)

    def _meant(self, request: SearchRequest) -> Meant:
        understood = self._format.understood(request.modality, self._config)
        return meaning_of(request, understood, site_lists=self._format.site_lists)

    def _result(
        self, request: SearchRequest, meant: Meant, found: Found, seen: _Exchange, notes: list[str]
    ) -> SearchResult:
        found, applied = account_for_filters(meant.request, meant.narrowed(found), self._format.ignores)
        hits = found.hits[: request.max_results]
        if found.note:
            notes.append(found.note)
        return SearchResult(
            query=request.query,
            modality=request.modality,
            provider_instance_id=self.id(),
            tier=request.tier,
            hits=tuple([hit.ranked(rank) for rank, hit in enumerate(hits, 1)]),
            returned_count=len(hits),
            dropped_count=found.dropped_count,
            note="; ".join(notes) or None,
            upstream_headers=seen.headers,
            applied=(*applied, *meant.applied),
            degraded=found.degraded,
            calls=seen.calls,
            quota=replace(seen.quota, observed_at=self._config.clock.now()) if seen.quota else None,
        )

    def _carry_out(self, exchange: Generator[Any, Any, Returned], scope: SearchScope, seen: _Exchange) -> Returned:
        """Run an exchange to its end. Raises ProviderError and nothing else that the answers could cause.

        A failure is raised inside the exchange, at its request: what it does not catch ends it.
        """
        step: Callable[[], HttpRequest | AwsCall] = partial(next, exchange)
        while True:
            try:
                request = step()
            except StopIteration as stop:
                returned: Returned = stop.value
                return returned
            except MISREAD as error:
                raise MalformedAnswer("the answer does not have the documented shape", cause=Cause.SHAPE) from error
            asking: Callable[..., Any] = self._ask_aws if isinstance(request, AwsCall) else self._ask
            try:
                step = partial(exchange.send, asking(request, scope, seen))
            except ProviderError as failure:
                step = partial(exchange.throw, failure)

    def _ask(self, request: HttpRequest, scope: SearchScope, seen: _Exchange) -> HttpAnswer:
        user_agent = self._config.extras.get(USER_AGENT.name)
        if user_agent:
            request = replace(request, headers={"User-Agent": user_agent, **request.headers})
        return send_with_key(
            lambda fresh: key_of(self._config, self._format, fresh=fresh, index=scope.key_index),
            lambda secret: self._send(request, secret, scope, seen),
        )

    def _ask_aws(self, call: AwsCall, scope: SearchScope, seen: _Exchange) -> Mapping[str, Any]:
        if self._config.aws is None:
            raise ProviderUnavailable("no AWS service can be asked from here", cause=Cause.CONNECT)
        try:
            answer = self._config.aws.call(call, tenant_id=scope.tenant_id, deadline=scope.deadline)
        except ProviderError as error:
            seen.calls += error.reached_provider
            raise
        seen.calls += 1
        return answer

    def _send(self, request: HttpRequest, secret: Secret | None, scope: SearchScope, seen: _Exchange) -> HttpAnswer:
        if seen.calls and request.is_paced:
            scope.take_turn()
        try:
            answer = self._config.transport.send(
                request, deadline=scope.deadline, authentication=self._authentication(), secret=secret
            )
        except ProviderError as error:
            seen.calls += error.reached_provider
            raise
        seen.calls += 1
        self._observe(answer, seen)
        failure = self._failure(answer, keyed=secret is not None)
        if failure is not None:
            raise failure
        return answer

    def _authentication(self) -> Authentication | None:
        declared = self._format
        return declared.authentication_for(self._config) if declared.authentication_for else declared.authentication

    def _failure(self, answer: HttpAnswer, *, keyed: bool) -> ProviderError | None:
        now = self._config.clock.now()
        own = self._own_reading(answer)
        if own is None or (isinstance(own, CredentialsRejected) and not keyed):
            return failure_of(answer, now, keyed=keyed)
        if own.retry_after is None:
            own.retry_after = stated_wait(answer.headers, now)
        return own

    def _own_reading(self, answer: HttpAnswer) -> ProviderError | None:
        """The provider's own reading of an answer; one that it cannot read is left to the default reading."""
        try:
            return self._format.classify(answer) if self._format.classify else None
        except (MalformedAnswer, *MISREAD):
            return None

    def _observe(self, answer: HttpAnswer, seen: _Exchange) -> None:
        seen.headers.update({name: value for name, value in answer.headers.items() if name.startswith(_SHOWN_HEADERS)})
        if self._format.quota_from_headers:
            with suppress(*MISREAD):
                now = self._config.clock.now()
                seen.quota = self._format.quota_from_headers(answer.headers, now) or seen.quota
