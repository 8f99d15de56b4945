"""The driver: keys, limits, failures and the account, on a made-up wire format."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from tests.fakes.addresses import FakeAddresses
from tests.fakes.clock import FakeClock
from tests.fakes.instances import instance, request, scope
from tests.fakes.keys import FakeKeyRing
from tests.fakes.transport import ScriptedTransport, answer
from zarniwoop.contract.failure import (
    Cause,
    ConfigurationUnavailable,
    CredentialsRejected,
    MalformedAnswer,
    ProviderError,
    ProviderUnavailable,
    QueryRejected,
    QuotaExhausted,
    RateLimited,
)
from zarniwoop.contract.hit import ContentInline, ContentReference, LoadedContent, SearchHit
from zarniwoop.contract.modality import SearchDomain, SearchModality, SearchTier
from zarniwoop.contract.provider import Pacing, ProviderInstanceConfig
from zarniwoop.contract.quota import ProviderAvailability, QuotaSource, QuotaStatus
from zarniwoop.contract.request import SearchRequest
from zarniwoop.contract.transport import HeaderKey, HttpAnswer, HttpRequest, Secret
from zarniwoop.text.operators import Kind
from zarniwoop.wire.driver import WireInstance, WireProtocol
from zarniwoop.wire.format import ContentExchange, Exchange, Found, QuotaExchange, SettingField, WireFormat
from zarniwoop.wire.reading import read_hits, read_json


class BugOfOursError(Exception):
    """What no provider's answer can raise."""


REFERENCE = ContentReference(inline=ContentInline.STASH_ON_DEMAND, reference="7")


def exchange(request: SearchRequest, config: ProviderInstanceConfig) -> Exchange:
    params = {"q": request.query, "n": str(request.max_results)}
    listed = read_json((yield HttpRequest(url=f"{config.base_url}/search", params=params)))
    if "more" in listed:
        listed = read_json((yield HttpRequest(url=listed["more"])))
    hits, dropped = read_hits(
        listed["items"], lambda item: SearchHit(title=item["t"], url=item["u"], modality=request.modality)
    )
    return Found(hits=hits, dropped_count=dropped, note=listed.get("note"), degraded=listed.get("degraded"))


def quota_exchange(config: ProviderInstanceConfig) -> QuotaExchange:
    left = read_json((yield HttpRequest(url=f"{config.base_url}/account")))["left"]
    return QuotaStatus(source=QuotaSource.PROVIDER, remaining=left)


def content_exchange(reference: ContentReference, config: ProviderInstanceConfig) -> ContentExchange:
    found = yield HttpRequest(url=f"{config.base_url}/body/{reference.reference}")
    return LoadedContent(body=found.body, media_type="text/plain", source_url=found.url)


FORMAT = WireFormat(
    protocol_id="made-up",
    display_name="Made up",
    modalities=frozenset({SearchModality.WEB, SearchModality.NEWS}),
    domains=frozenset({SearchDomain.WEB}),
    exchange=exchange,
    prompt_hint="hint",
    index_family="made-up",
    documentation="https://made-up.test/docs",
    default_base_url="https://made-up.test/v1/",
    max_query_chars=20,
    max_results=3,
)
KEYED = replace(FORMAT, authentication=HeaderKey(name="X-Key"), key_required=True)
ITEMS = [{"t": f"title {number}", "u": f"https://a.test/{number}"} for number in range(5)]


def made(transport: ScriptedTransport, wire_format: WireFormat = FORMAT, **settings: Any) -> WireInstance:
    return instance(WireProtocol(wire_format), transport, **settings)


def failing(*script: HttpAnswer | ProviderError, wire_format: WireFormat = FORMAT) -> ProviderError:
    """The failure that a search ends with."""
    with pytest.raises(ProviderError) as caught:
        made(ScriptedTransport(*script), wire_format).search(request(), scope())
    return caught.value


def with_keys(transport: ScriptedTransport, keys: FakeKeyRing, credential_key: str | None = "apiKey") -> WireInstance:
    return WireProtocol(KEYED).instantiate(
        ProviderInstanceConfig(
            instance_id="main",
            protocol_id="made-up",
            base_url=None,
            credential_key=credential_key,
            transport=transport,
            keys=keys,
            clock=FakeClock(),
        )
    )


class RenewedKeyRing(FakeKeyRing):
    """A key that was renewed in the store: only a fresh look sees it."""

    def secret(self, credential_key: str, *, fresh: bool = False, index: int = 1) -> Secret | None:
        self.asked.append((credential_key, fresh))
        return Secret("new") if fresh else Secret("old")


def test_a_protocol_says_what_its_format_declares() -> None:
    """The SPI's members."""
    protocol = WireProtocol(FORMAT)
    assert (protocol.id(), protocol.display_name()) == ("made-up", "Made up")
    assert protocol.modalities_supported() == FORMAT.modalities
    assert protocol.tiers_supported() == frozenset(SearchTier)


def test_an_instance_says_what_it_is_without_asking_anybody() -> None:
    """Its own id, the protocol's words."""
    one = made(ScriptedTransport())
    assert (one.id(), one.display_name()) == ("made-up-main", "Made up (made-up-main)")
    assert (one.modalities(), one.domains(), one.tiers()) == (FORMAT.modalities, FORMAT.domains, FORMAT.tiers)
    assert one.prompt_hint() == "hint"
    assert one.availability(scope()) is ProviderAvailability.READY
    assert one.pacing(request()) is None
    assert one.current_quota(scope()) is None


def test_an_instance_without_an_address_is_disabled() -> None:
    """A protocol without a default needs a base URL."""
    one = made(ScriptedTransport(), replace(FORMAT, default_base_url=None))
    assert one.availability(scope()) is ProviderAvailability.DISABLED


def test_a_required_setting_is_named_when_it_is_missing() -> None:
    """The form's field, so that it can be found."""
    needs = SettingField(name="index", title="Index", description="Which one.", pattern="[a-z]+", required=True)
    with pytest.raises(ValueError, match="index is required by protocol made-up"):
        made(ScriptedTransport(), replace(FORMAT, setting_fields=(needs,)))
    assert made(ScriptedTransport(), replace(FORMAT, setting_fields=(needs,)), extras={"index": "docs"})


def test_a_user_agent_that_was_set_is_sent_in_place_of_ours() -> None:
    """For a provider that lets in only whom it knows."""
    transport = ScriptedTransport(answer({"items": []}))
    made(transport, extras={"userAgent": "Acme/1"}).search(request(), scope())
    assert transport.sent[0].request.headers == {"User-Agent": "Acme/1"}


def test_pacing_is_asked_of_the_format() -> None:
    """It may depend on the request."""
    pacing = Pacing(subject="made-up.test", requests=1, seconds=3.0)
    one = made(ScriptedTransport(), replace(FORMAT, pacing=lambda _request, _config: pacing))
    assert one.pacing(request()) == pacing


def test_a_base_url_of_the_settings_replaces_the_default() -> None:
    """Without its closing slash."""
    transport = ScriptedTransport(answer({"items": []}), answer({"items": []}))
    made(transport, base_url="https://proxy.test/").search(request(), scope())
    made(transport).search(request(), scope())
    assert [sent.request.url for sent in transport.sent] == [
        "https://proxy.test/search",
        "https://made-up.test/v1/search",
    ]


def test_hits_are_ranked_from_one_and_counted() -> None:
    """And carry the note, the drops and the degradation that the adapter found."""
    body = {"items": [*ITEMS[:2], None], "note": "clamped", "degraded": "engines blocked"}
    result = made(ScriptedTransport(answer(body))).search(request(), scope())
    assert [hit.rank for hit in result.hits] == [1, 2]
    assert (result.returned_count, result.dropped_count) == (2, 1)
    assert result.note is not None
    assert result.note.endswith("; clamped")
    assert result.degraded == "engines blocked"


def test_more_hits_than_asked_for_are_cut() -> None:
    """Some providers know no limit."""
    result = made(ScriptedTransport(answer({"items": ITEMS}))).search(request(max_results=2), scope())
    assert (len(result.hits), result.returned_count, result.note) == (2, 2, None)


def test_operators_are_put_to_the_provider_as_it_declares() -> None:
    """Left in, seen to here or left out; the result names the query that was asked, and tells of each."""
    query = 'bells -site:a.test "of old" OR x'
    for operators, put, handling in (
        (frozenset(Kind), query, {"provider"}),
        (frozenset({Kind.PHRASE}), 'bells "of old" x', {"provider", "here", "ignored"}),
    ):
        transport = ScriptedTransport(answer({"items": ITEMS}))
        roomy = replace(FORMAT, operators=operators, max_query_chars=200)
        result = made(transport, roomy).search(request(query), scope())
        sent = transport.sent[0].request.params
        assert (sent["q"], result.query) == (put, query)
        assert {str(each.handling) for each in result.applied} == handling
        assert (len(result.hits), result.dropped_count) == ((5, 0) if operators == frozenset(Kind) else (0, 5))


def test_vendor_limits_are_kept_and_told() -> None:
    """The query is cut at a word; the result still names the query that was asked."""
    transport = ScriptedTransport(answer({"items": []}))
    asked = request("cathedral bells of France", max_results=50)
    result = made(transport).search(asked, scope())
    assert transport.sent[0].request.params == {"q": "cathedral bells of", "n": "3"}
    assert result.query == asked.query
    assert result.note == "query shortened to 20 characters for made-up; made-up gives at most 3 results"


def test_a_modality_that_is_not_served_is_declined_without_a_request() -> None:
    """A soft failure."""
    result = made(ScriptedTransport()).search(request(modality=SearchModality.MAP), scope())
    assert result.error_message == "made-up-main does not serve MAP"


def test_only_harmless_headers_are_shown() -> None:
    """Limits and request ids of all calls; no cookies."""
    first = answer({"more": "https://made-up.test/2"}, headers={"x-ratelimit-remaining": "9", "set-cookie": "s"})
    second = answer({"items": []}, headers={"x-ratelimit-remaining": "8", "x-request-id": "r", "server": "nginx"})
    result = made(ScriptedTransport(first, second)).search(request(), scope())
    assert result.upstream_headers == {"x-ratelimit-remaining": "8", "x-request-id": "r"}


@pytest.mark.parametrize("body", [{}, [], {"items": 5}, {"items": "text"}, {"items": {}}, {"more": None}, 5, None])
def test_a_shape_that_the_adapter_cannot_read_is_a_malformed_answer(body: object) -> None:
    """What misreading raises becomes the typed failure, with its cause."""
    bodies = [answer(body), answer(body)]
    failure = failing(*bodies)
    assert isinstance(failure, MalformedAnswer)
    assert failure.cause is Cause.SHAPE


def test_a_mistake_before_the_first_request_is_one_of_shape_too() -> None:
    """The generator's first step is adapter code like any other."""

    def broken(_request: SearchRequest, _config: ProviderInstanceConfig) -> Exchange:
        raise KeyError("x")
        yield

    assert isinstance(failing(wire_format=replace(FORMAT, exchange=broken)), MalformedAnswer)


def test_a_mistake_that_is_no_misreading_passes_through() -> None:
    """It is a bug of ours and must not cool a provider down."""

    def broken(_request: SearchRequest, _config: ProviderInstanceConfig) -> Exchange:
        raise BugOfOursError
        yield

    with pytest.raises(BugOfOursError):
        made(ScriptedTransport(), replace(FORMAT, exchange=broken)).search(request(), scope())


def test_failures_of_the_transport_and_of_the_status_pass_as_they_are() -> None:
    """With cause, status and wait."""
    lost = ProviderUnavailable("no route", cause=Cause.CONNECT)
    assert failing(lost) is lost
    refused = failing(answer(b"", status=429, headers={"retry-after": "9"}))
    assert isinstance(refused, RateLimited)
    assert (refused.status, refused.retry_after) == (429, 9.0)


def test_the_providers_own_reading_goes_first_and_gets_the_stated_wait() -> None:
    """A wait that the adapter read itself is kept."""

    def classify(_answer: HttpAnswer) -> ProviderError | None:
        return QuotaExhausted("spent")

    def classify_with_wait(_answer: HttpAnswer) -> ProviderError | None:
        return QuotaExhausted("spent", retry_after=5.0)

    refused = answer(b"", status=400, headers={"retry-after": "9"})
    for own, wait in ((classify, 9.0), (classify_with_wait, 5.0)):
        failure = failing(refused, wire_format=replace(FORMAT, classify=own))
        assert isinstance(failure, QuotaExhausted)
        assert failure.retry_after == wait


@pytest.mark.parametrize(
    "classify", [lambda found: read_json(found)["error"], lambda found: found.missing, lambda _found: None]
)
def test_an_answer_that_the_adapter_has_no_reading_of_gets_the_default_one(
    classify: Callable[[HttpAnswer], ProviderError | None],
) -> None:
    """A page of HTML with status 500 is an outage and no malformed answer."""
    wire_format = replace(FORMAT, classify=classify)
    assert isinstance(failing(answer(b"<html>", status=500), wire_format=wire_format), ProviderUnavailable)
    assert isinstance(failing(answer({"message": "x"}, status=400), wire_format=wire_format), QueryRejected)


def test_a_key_is_handed_to_the_transport() -> None:
    """And asked for when the call is made, not before."""
    transport, keys = ScriptedTransport(answer({"items": []})), FakeKeyRing(apiKey="sekrit")
    one = with_keys(transport, keys)
    assert keys.asked == []
    one.search(request(), scope())
    assert keys.asked == [("apiKey", False)]
    assert transport.sent[0].secret == Secret("sekrit")
    assert transport.sent[0].authentication == HeaderKey(name="X-Key")


def test_settings_may_choose_how_a_key_is_sent() -> None:
    transport = ScriptedTransport(answer({"items": []}))
    chosen = replace(KEYED, authentication_for=lambda config: HeaderKey(name=config.extras["header"]))
    config = with_keys(transport, FakeKeyRing(apiKey="sekrit"))._config
    WireInstance(chosen, replace(config, extras={"header": "X-Other"})).search(request(), scope())
    assert transport.sent[0].authentication == HeaderKey(name="X-Other")


def test_no_key_where_one_is_required_is_a_failure_without_a_request() -> None:
    """The provider would only refuse it."""
    transport = ScriptedTransport()
    for credential_key in ("apiKey", None):
        with pytest.raises(CredentialsRejected, match="no key is saved for main"):
            with_keys(transport, FakeKeyRing(), credential_key).search(request(), scope())
    assert transport.sent == []


def test_a_format_without_authentication_never_asks_for_a_key() -> None:
    """Even when the settings name one."""
    transport = ScriptedTransport(answer({"items": []}))
    made(transport, key="sekrit").search(request(), scope())
    assert (transport.sent[0].secret, transport.sent[0].authentication) == (None, None)


def test_a_refused_key_is_looked_up_again_once() -> None:
    """It may have been renewed since it was cached."""
    transport = ScriptedTransport(answer(b"", status=401), answer({"items": ITEMS[:1]}))
    result = with_keys(transport, RenewedKeyRing()).search(request(), scope())
    assert result.returned_count == 1
    assert [sent.secret for sent in transport.sent] == [Secret("old"), Secret("new")]


def test_a_key_that_was_not_renewed_is_not_tried_twice() -> None:
    """The same key would be refused again."""
    transport, keys = ScriptedTransport(answer(b"", status=401)), FakeKeyRing(apiKey="old")
    with pytest.raises(CredentialsRejected):
        with_keys(transport, keys).search(request(), scope())
    assert keys.asked == [("apiKey", False), ("apiKey", True)]
    assert len(transport.sent) == 1


def test_a_renewed_key_that_is_refused_as_well_is_a_failure() -> None:
    """Once is enough."""
    transport = ScriptedTransport(answer(b"", status=401), answer(b"", status=401))
    with pytest.raises(CredentialsRejected):
        with_keys(transport, RenewedKeyRing()).search(request(), scope())


def test_a_key_store_that_is_down_is_no_failure_of_the_provider() -> None:
    """It must not cool the provider down."""

    class DownKeyRing(FakeKeyRing):
        def secret(self, credential_key: str, *, fresh: bool = False, index: int = 1) -> Secret | None:
            raise ConfigurationUnavailable("down")

    with pytest.raises(ConfigurationUnavailable):
        with_keys(ScriptedTransport(), DownKeyRing()).search(request(), scope())


def test_quota_in_headers_rides_on_the_result_with_its_moment() -> None:
    """What an answer says is left belongs to that answer; headers that cannot be read say nothing."""

    def quota(headers: Any, now: float) -> QuotaStatus | None:
        return QuotaStatus(source=QuotaSource.HEADERS, remaining=float(headers["x-left"]), resets_at=now + 5)

    transport = ScriptedTransport(
        answer({"items": []}, headers={"x-left": "5"}), answer({"items": []}, headers={"x-left": "many"})
    )
    one = made(transport, replace(FORMAT, quota_from_headers=quota))
    told = one.search(request(), scope()).quota
    assert told is not None
    assert (told.remaining, told.observed_at, told.resets_at) == (5.0, 1_800_000_000.0, 1_800_000_005.0)
    assert one.search(request(), scope()).quota is None
    assert one.current_quota(scope()) is None


def test_quota_is_asked_of_the_provider_where_it_has_an_endpoint() -> None:
    """And dated by our clock."""
    one = made(ScriptedTransport(answer({"left": 7})), replace(FORMAT, quota_exchange=quota_exchange))
    quota = one.current_quota(scope())
    assert quota is not None
    assert (quota.source, quota.remaining, quota.observed_at) == (QuotaSource.PROVIDER, 7, 1_800_000_000.0)


def test_a_body_is_loaded_through_the_same_driver() -> None:
    """With the same failures."""
    wire_format = replace(FORMAT, content_exchange=content_exchange)
    transport = ScriptedTransport(answer(b"text", url="https://made-up.test/v1/body/7"), answer(b"", status=404))
    one = made(transport, wire_format)
    loaded = one.load_content(REFERENCE, scope())
    assert (loaded.body, loaded.source_url) == (b"text", "https://made-up.test/v1/body/7")
    with pytest.raises(QueryRejected):
        one.load_content(REFERENCE, scope())


PAGE = ContentReference(inline=ContentInline.STASH_ON_DEMAND, reference="http://169.254.169.254/latest/meta-data/")


@pytest.mark.parametrize("refusal", [Cause.ADDRESS, Cause.DNS])
def test_a_page_that_is_not_public_is_named_to_nobody(refusal: Cause) -> None:
    """No request is sent, and no provider is at fault."""
    addresses, transport = FakeAddresses(refusal), ScriptedTransport()
    one = made(transport, replace(FORMAT, content_exchange=content_exchange), addresses=addresses)
    with pytest.raises(QueryRejected, match="not on the public internet") as caught:
        one.load_content(PAGE, scope())
    assert "169.254" not in str(caught.value)
    assert (addresses.checked, transport.sent, caught.value.calls) == ([PAGE.reference], [], 0)


def test_out_of_time_is_not_a_page_s_fault() -> None:
    one = made(
        ScriptedTransport(),
        replace(FORMAT, content_exchange=content_exchange),
        addresses=FakeAddresses(Cause.DEADLINE),
    )
    with pytest.raises(ProviderUnavailable):
        one.load_content(PAGE, scope())


def test_only_references_that_are_addresses_are_looked_at() -> None:
    addresses = FakeAddresses(Cause.ADDRESS)
    wire_format = replace(FORMAT, content_exchange=content_exchange)
    made(ScriptedTransport(answer(b"text")), wire_format, addresses=addresses).load_content(REFERENCE, scope())
    assert addresses.checked == []


def test_where_nobody_can_tell_public_pages_none_is_read() -> None:
    """An instance that was made without a guard."""
    config = ProviderInstanceConfig(
        instance_id="main",
        protocol_id="made-up",
        base_url=None,
        transport=ScriptedTransport(),
        keys=FakeKeyRing(),
        clock=FakeClock(),
    )
    one = WireProtocol(replace(FORMAT, content_exchange=content_exchange)).instantiate(config)
    with pytest.raises(QueryRejected, match="nobody can tell"):
        one.load_content(PAGE, scope())


def test_a_provider_without_bodies_says_so() -> None:
    """As the SPI's default does."""
    with pytest.raises(QueryRejected, match="holds no bodies"):
        made(ScriptedTransport()).load_content(REFERENCE, scope())


MORE = answer({"more": "https://made-up.test/2"})


def test_a_result_tells_how_many_requests_it_took() -> None:
    """All that the provider may have charged for: a second page, and a key that was renewed in between."""
    assert made(ScriptedTransport(MORE, answer({"items": []}))).search(request(), scope()).calls == 2
    renewed = ScriptedTransport(answer(b"", status=401), answer({"items": []}))
    assert with_keys(renewed, RenewedKeyRing()).search(request(), scope()).calls == 2
    assert made(ScriptedTransport()).search(request(modality=SearchModality.MAP), scope()).calls == 0


@pytest.mark.parametrize(
    ("script", "calls"),
    [
        ([answer(b"", status=500)], 1),
        ([MORE, answer(b"", status=429)], 2),
        ([answer({})], 1),
        ([ProviderUnavailable("slow", cause=Cause.TIMEOUT)], 1),
        ([ProviderUnavailable("no name", cause=Cause.DNS)], 0),
        ([MORE, ProviderUnavailable("no route", cause=Cause.CONNECT)], 1),
        ([MORE, ProviderUnavailable("private", cause=Cause.ADDRESS)], 1),
        ([MORE, ProviderUnavailable("expired", cause=Cause.TLS)], 1),
    ],
)
def test_a_failure_tells_how_many_requests_reached_the_provider(
    script: list[HttpAnswer | ProviderError], calls: int
) -> None:
    """What failed on the way there is none of them."""
    assert failing(*script).calls == calls


def test_a_missing_key_is_no_request() -> None:
    """Nothing was sent."""
    with pytest.raises(CredentialsRejected) as refused:
        with_keys(ScriptedTransport(), FakeKeyRing()).search(request(), scope())
    assert refused.value.calls == 0
