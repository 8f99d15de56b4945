"""Amazon Bedrock AgentCore web search: what is asked, and what its answers come to, through boto3's own model."""

from datetime import UTC, date, datetime
from typing import Any

import boto3
import orjson
import pytest
from botocore.stub import Stubber

from tests.contract.fixtures import fixture, recordings_without_a_test
from tests.fakes.clock import FakeClock
from tests.fakes.instances import instance, request, scope
from tests.fakes.keys import FakeKeyRing
from tests.fakes.transport import ScriptedTransport, answer
from zarniwoop.adapters.agentcore import PROTOCOL
from zarniwoop.contract.failure import (
    AccessRefused,
    EndpointMisconfigured,
    ProviderUnavailable,
    QueryRejected,
    RateLimited,
)
from zarniwoop.contract.hit import ContentInline, ContentReference, DatePrecision, PublishedAt
from zarniwoop.contract.provider import ProviderInstanceConfig, WrongSettingsError
from zarniwoop.contract.quota import ProviderAvailability
from zarniwoop.contract.request import Locale
from zarniwoop.contract.result import FilterHandling, SearchResult
from zarniwoop.contract.transport import HttpAnswer
from zarniwoop.net.aws import BotoCaller
from zarniwoop.net.aws_grants import ResourceGrants

NOTHING = b'{"results": []}'


def asked(
    *script: HttpAnswer, query: str = "cathedral bells", extras: dict[str, str] | None = None, **more: Any
) -> tuple[SearchResult, Any]:
    """What a search comes to, and what was on its way to AWS."""
    transport = ScriptedTransport(*(script or (answer(NOTHING),)))
    result = instance(PROTOCOL, transport, extras=extras).search(request(query, **more), scope())
    (sent,) = transport.sent
    return result, sent.request


def found(**more: Any) -> SearchResult:
    return asked(answer(fixture("agentcore", "web.json")), **more)[0]


def refused(code: str, status: int) -> HttpAnswer:
    return answer({"message": "their own words"}, status=status, headers={"x-amzn-errortype": f"{code}:http://x/"})


def test_every_recorded_answer_has_a_test() -> None:
    """A recording that appears beside the project without a test here fails the run."""
    assert recordings_without_a_test("agentcore", __file__) == []


def test_it_is_ready_without_an_address_and_without_a_key() -> None:
    made = instance(PROTOCOL, ScriptedTransport())
    assert made.availability(scope()) is ProviderAvailability.READY
    assert (PROTOCOL.format.authentication, PROTOCOL.settings_part().takes_base_url) == (None, False)


def test_an_address_is_refused_because_nothing_would_be_sent_there() -> None:
    with pytest.raises(WrongSettingsError) as caught:
        instance(PROTOCOL, ScriptedTransport(), base_url="https://elsewhere.test")
    assert "elsewhere" not in str(caught.value)


def test_a_search_is_one_signed_call_of_the_managed_tool() -> None:
    """To the region's endpoint; the signature is boto3's."""
    _, sent = asked(max_results=7)
    assert (sent.method, sent.url) == (
        "POST",
        "https://bedrock-agentcore.eu-central-1.amazonaws.com/web-search/web-search.v1/invoke",
    )
    assert sent.json == {"searchQuery": "cathedral bells", "maxResults": 7}


def test_another_region_is_asked_where_the_settings_name_one() -> None:
    _, sent = asked(extras={"region": "us-east-1"})
    assert sent.url.startswith("https://bedrock-agentcore.us-east-1.amazonaws.com/")


def test_the_call_is_the_one_that_boto3_s_model_describes() -> None:
    """What the emulator lacks: a stubbed client compares the call with the service's own description of it."""
    client: Any = boto3.client(
        "bedrock-agentcore", region_name="eu-central-1", aws_access_key_id="AKIDEXAMPLE", aws_secret_access_key="x"
    )
    moment = datetime(2024, 5, 17, 8, 30, tzinfo=UTC)
    result = {"title": "Bells", "url": "https://ringing.example.org/", "text": "A peal.", "publishedAt": moment}
    expected = {
        "webSearchId": "web-search.v1",
        "searchQuery": "bells",
        "maxResults": 25,
        "filters": {
            "domainFilter": {"include": ["example.org"]},
            "publishedDateFilter": {"publishedAfter": datetime(2024, 1, 1, tzinfo=UTC)},
        },
    }
    config = ProviderInstanceConfig(
        instance_id="agentcore",
        protocol_id="agentcore",
        base_url=None,
        transport=ScriptedTransport(),
        keys=FakeKeyRing(),
        clock=FakeClock(),
        aws=BotoCaller(lambda *_: client, FakeClock(), ResourceGrants(), connect_seconds=1.0),
    )
    with Stubber(client) as stubbed:
        stubbed.add_response("invoke_web_search", {"results": [result]}, expected)
        searched = PROTOCOL.instantiate(config).search(
            request("bells", max_results=30, domain="example.org", date_from=date(2024, 1, 1)), scope()
        )
        stubbed.assert_no_pending_responses()
    (hit,) = searched.hits
    assert (hit.title, hit.published_at) == (
        "Bells",
        PublishedAt(value="2024-05-17T08:30:00Z", precision=DatePrecision.SECOND),
    )
    assert searched.calls == 1
    assert searched.note == "agentcore gives at most 25 results"


def test_a_long_query_is_shortened_at_a_word_and_that_is_told() -> None:
    result, sent = asked(query="bell " * 60)
    assert len(sent.json["searchQuery"]) <= 200
    assert sent.json["searchQuery"].endswith(" bell")
    assert result.note == "query shortened to 200 characters for agentcore"


def test_operators_for_sites_become_lists_of_domains() -> None:
    """The service has no operators: as words they would find pages that speak of them."""
    result, sent = asked(query="bells site:example.org -site:spam.example.net")
    assert sent.json["searchQuery"] == "bells"
    assert sent.json["filters"] == {"domainFilter": {"include": ["example.org"], "exclude": ["spam.example.net"]}}
    assert {(entry.name, entry.handling) for entry in result.applied} == {
        ("site", FilterHandling.PROVIDER),
        ("-site", FilterHandling.PROVIDER),
    }


def test_a_site_with_a_path_is_narrowed_by_the_service_and_finished_here() -> None:
    result = found(site="ringing.example.org/tuning")
    assert [(entry.name, entry.handling) for entry in result.applied] == [("site", FilterHandling.HERE)]
    assert [hit.url for hit in result.hits] == ["https://ringing.example.org/tuning"]
    _, sent = asked(site="ringing.example.org/tuning", max_results=3)
    assert sent.json["filters"] == {"domainFilter": {"include": ["ringing.example.org"]}}
    assert sent.json["maxResults"] == 25


def test_a_window_of_days_includes_both_of_its_ends() -> None:
    result, sent = asked(date_from=date(2024, 1, 1), date_to=date(2024, 1, 31))
    window = sent.json["filters"]["publishedDateFilter"]
    assert window == {"publishedAfter": "2024-01-01T00:00:00Z", "publishedBefore": "2024-01-31T23:59:59Z"}
    assert {entry.handling for entry in result.applied} == {FilterHandling.PROVIDER}


def test_language_and_type_are_ignored_with_a_reason() -> None:
    result = found(locale=Locale(language="de"), filetype="pdf")
    assert [entry.handling for entry in result.applied] == [FilterHandling.IGNORED] * 2
    assert len(result.hits) == 2


def test_a_result_becomes_a_hit_with_the_extract_in_it() -> None:
    """The extract keeps its lines; what has no title is called by its host; what nobody can go to is dropped."""
    result = found()
    first, second = result.hits
    assert (first.title, first.url, first.source) == (
        "How cathedral bells are tuned",
        "https://ringing.example.org/tuning",
        "ringing.example.org",
    )
    assert first.snippet is not None and first.snippet.startswith("A founder tunes a bell on a lathe. Five")
    text = "A founder tunes a bell on a lathe.\n\nFive partials have to agree: hum, prime, tierce, quint and nominal."
    assert first.content == ContentReference(inline=ContentInline.EMBED_TEXT, text=text)
    assert first.published_at == PublishedAt(value="2024-05-17T08:30:00Z", precision=DatePrecision.SECOND)
    assert (second.title, second.published_at) == ("bells.example.net", None)
    assert result.dropped_count == 2


def test_nothing_found_is_empty() -> None:
    assert asked()[0].hits == ()


@pytest.mark.parametrize(
    ("code", "status", "failure"),
    [
        ("ThrottlingException", 429, RateLimited),
        ("AccessDeniedException", 403, AccessRefused),
        ("ValidationException", 400, QueryRejected),
        ("ResourceNotFoundException", 404, EndpointMisconfigured),
        ("InternalServerException", 500, ProviderUnavailable),
        ("ServiceUnavailableException", 503, ProviderUnavailable),
        ("UnrecognizedClientException", 403, AccessRefused),
    ],
)
def test_an_error_of_the_service_has_its_consequence(code: str, status: int, failure: type[Exception]) -> None:
    """None of them puts a key at fault: a bench until settings change would never end."""
    with pytest.raises(failure) as caught:
        asked(refused(code, status))
    assert "their own words" not in str(caught.value)
    assert "their own words" not in repr(caught.value.__context__)


def test_a_search_that_the_fixture_answers_is_one_call() -> None:
    assert found().calls == 1
    assert orjson.loads(fixture("agentcore", "web.json"))["results"]
