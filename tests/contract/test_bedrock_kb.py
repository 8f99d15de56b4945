"""Bedrock knowledge bases: what is asked, and what their answers come to, through boto3's own model."""

from datetime import date
from typing import Any

import pytest

from tests.contract.fixtures import fixture, recordings_without_a_test
from tests.fakes.instances import instance, request, scope
from tests.fakes.transport import ScriptedTransport, answer
from zarniwoop.adapters.bedrock_kb import PROTOCOL
from zarniwoop.contract.failure import AccessRefused, EndpointMisconfigured, ProviderUnavailable, RateLimited
from zarniwoop.contract.hit import ContentInline, ContentReference, SearchHit
from zarniwoop.contract.modality import SearchDomain, SearchModality
from zarniwoop.contract.provider import WrongSettingsError
from zarniwoop.contract.result import FilterHandling, SearchResult
from zarniwoop.contract.transport import HttpAnswer

RAG, INTERNAL_DOC = SearchModality.RAG, SearchModality.INTERNAL_DOC
OURS = {"knowledgeBaseId": "ABCDEFGHIJ"}
ARN = "arn:aws:bedrock:us-east-1:123456789012:knowledge-base/ABCDEFGHIJ"
NOTHING = b'{"retrievalResults": []}'


def asked(
    *script: HttpAnswer, modality: SearchModality = RAG, extras: dict[str, str] | None = None, **more: Any
) -> tuple[SearchResult, Any]:
    """What a search comes to, and what was on its way to AWS."""
    transport = ScriptedTransport(*(script or (answer(NOTHING),)))
    made = instance(PROTOCOL, transport, extras=OURS | (extras or {}))
    result = made.search(request("how are bells greased?", modality, **more), scope())
    (sent,) = transport.sent
    return result, sent.request


def found(modality: SearchModality = RAG, **more: Any) -> SearchResult:
    return asked(answer(fixture("bedrock-kb", "rag.json")), modality=modality, **more)[0]


def retrieved(location: dict[str, Any] | None, **more: Any) -> SearchHit:
    """The hit that a passage lying somewhere comes to."""
    passage = {"content": {"text": "A passage."}, **({"location": location} if location else {}), **more}
    (hit,) = asked(answer({"retrievalResults": [passage]}))[0].hits
    return hit


def test_every_recorded_answer_has_a_test() -> None:
    """A recording that appears beside the project without a test here fails the run."""
    assert recordings_without_a_test("bedrock-kb", __file__) == []


def test_it_holds_documents_of_the_house() -> None:
    made = instance(PROTOCOL, ScriptedTransport(), extras=OURS)
    assert made.modalities() == {RAG, INTERNAL_DOC}
    assert made.domains() == {SearchDomain.INTERNAL}


def test_a_search_for_passages_is_one_call() -> None:
    _, sent = asked(max_results=5)
    assert (sent.method, sent.url) == (
        "POST",
        "https://bedrock-agent-runtime.eu-central-1.amazonaws.com/knowledgebases/ABCDEFGHIJ/retrieve",
    )
    assert sent.json == {
        "retrievalQuery": {"text": "how are bells greased?"},
        "retrievalConfiguration": {"vectorSearchConfiguration": {"numberOfResults": 5}},
    }


def test_a_search_for_documents_asks_for_several_passages_of_each() -> None:
    """And gives the best of each document, in the order of their relevance."""
    _, sent = asked(modality=INTERNAL_DOC, max_results=5)
    assert sent.json["retrievalConfiguration"]["vectorSearchConfiguration"] == {"numberOfResults": 15}
    result = found(INTERNAL_DOC)
    assert [hit.title for hit in result.hits] == [
        "How to grease.pdf",
        "Care of ropes",
        "minutes 17",
        "bell: tenor weight: 1770",
    ]
    assert result.hits[0].extras["page"] == 3


def test_settings_choose_search_filter_and_region() -> None:
    filtered = {"equals": {"key": "team", "value": "ringers"}}
    extras = {
        "searchType": "HYBRID",
        "filter": '{"equals": {"key": "team", "value": "ringers"}}',
        "region": "us-east-1",
    }
    _, sent = asked(extras=extras)
    assert sent.url.startswith("https://bedrock-agent-runtime.us-east-1.amazonaws.com/")
    assert sent.json["retrievalConfiguration"]["vectorSearchConfiguration"] == {
        "numberOfResults": 10,
        "overrideSearchType": "HYBRID",
        "filter": filtered,
    }
    _, managed = asked(extras=extras | {"managed": "true"})
    assert managed.json["retrievalConfiguration"] == {
        "managedSearchConfiguration": {"numberOfResults": 10, "filter": filtered}
    }


def test_an_arn_names_a_knowledge_base_too() -> None:
    _, sent = asked(extras={"knowledgeBaseId": ARN})
    assert "knowledge-base%2FABCDEFGHIJ/retrieve" in sent.url


@pytest.mark.parametrize(
    ("name", "value"),
    [("knowledgeBaseId", "short"), ("searchType", "FUZZY"), ("region", "here"), ("filter", "team = ringers")],
)
def test_settings_that_cannot_be_meant_are_refused(name: str, value: str) -> None:
    with pytest.raises(WrongSettingsError):
        instance(PROTOCOL, ScriptedTransport(), extras=OURS | {name: value})


def test_without_a_knowledge_base_there_is_no_instance() -> None:
    with pytest.raises(WrongSettingsError):
        instance(PROTOCOL, ScriptedTransport())


@pytest.mark.parametrize("written", ["{not json at all}", "{'equals': 1}", '{"equals": 1}}'])
def test_a_filter_that_is_no_json_makes_no_instance(written: str) -> None:
    """So that it is told where it is saved, not by the first search."""
    with pytest.raises(WrongSettingsError) as caught:
        instance(PROTOCOL, ScriptedTransport(), extras=OURS | {"filter": written})
    assert caught.value.faults == (("filter", "must be a JSON object"),)


def test_the_knowledge_base_of_another_tenant_is_not_asked() -> None:
    """The role might; who may name which stands in the stack's parameters."""
    transport = ScriptedTransport()
    with pytest.raises(EndpointMisconfigured) as caught:
        instance(PROTOCOL, transport, extras={"knowledgeBaseId": "KLMNOPQRST"}).search(request(modality=RAG), scope())
    assert (caught.value.setting, caught.value.calls, transport.sent) == ("knowledgeBaseId", 0, [])


def test_a_passage_becomes_a_hit_with_its_text_and_place() -> None:
    """An object in S3 has an https address, its page a fragment; what the house said of it is kept apart."""
    hit = found().hits[0]
    assert (hit.title, hit.source) == ("How to grease.pdf", "Amazon Bedrock knowledge base")
    assert hit.url == "https://belfry-handbook.s3.amazonaws.com/care/How%20to%20grease.pdf#page=3"
    text = "Bells are greased twice a year.\nThe clapper is checked each spring."
    assert hit.content == ContentReference(inline=ContentInline.EMBED_TEXT, text=text)
    assert hit.snippet == text.replace("\n", " ")
    assert hit.extras == {
        "score": 0.7421,
        "location": "S3",
        "source_uri": "s3://belfry-handbook/care/How to grease.pdf",
        "page": 3,
        "chunk_id": "1%3A0%3Aabc",
        "document_id": "s3://belfry-handbook/care/How to grease.pdf",
        "metadata": {"team": "ringers", "tags": ["grease", "clapper"]},
    }


def test_every_passage_has_an_address_and_one_without_text_is_dropped() -> None:
    """A row of a table is its cells, a picture of which nothing was read is nothing."""
    result = found()
    assert [hit.url for hit in result.hits[2:]] == [
        "https://wiki.belfry.example.org/ropes",
        "https://bedrock-agent-runtime.amazonaws.com/knowledgebases/ABCDEFGHIJ#minutes%2017",
        "https://bedrock-agent-runtime.amazonaws.com/knowledgebases/ABCDEFGHIJ#passage",
    ]
    assert result.hits[2].title == "Care of ropes"
    assert result.hits[4].snippet == "bell: tenor weight: 1770"
    assert result.dropped_count == 1


@pytest.mark.parametrize(
    ("kind", "member", "name"),
    [
        ("WEB", "webLocation", "url"),
        ("CONFLUENCE", "confluenceLocation", "url"),
        ("SALESFORCE", "salesforceLocation", "url"),
        ("SHAREPOINT", "sharePointLocation", "url"),
        ("ONEDRIVE", "oneDriveLocation", "url"),
        ("GOOGLEDRIVE", "googleDriveLocation", "url"),
        ("KENDRA", "kendraDocumentLocation", "uri"),
        ("CUSTOM", "customDocumentLocation", "id"),
    ],
)
def test_a_source_that_knows_an_address_gives_it(kind: str, member: str, name: str) -> None:
    hit = retrieved({"type": kind, member: {name: "https://docs.example.org/a/Care%20of%20bells"}})
    assert (hit.url, hit.title) == ("https://docs.example.org/a/Care%20of%20bells", "Care of bells")


def test_what_lies_nowhere_is_named_by_its_document() -> None:
    hit = retrieved(None, documentId="doc/17")
    assert hit.url == "https://bedrock-agent-runtime.amazonaws.com/knowledgebases/ABCDEFGHIJ#doc%2F17"
    assert hit.title == "A passage."


def test_spoken_and_filmed_passages_are_read_by_their_words() -> None:
    passages = [
        {"content": {"type": "AUDIO", "audio": {"s3Uri": "s3://b/a.mp3", "transcription": "Said."}}},
        {"content": {"type": "VIDEO", "video": {"s3Uri": "s3://b/a.mp4", "summary": "Shown."}}},
    ]
    result, _ = asked(answer({"retrievalResults": passages}))
    assert [hit.snippet for hit in result.hits] == ["Said.", "Shown."]


def test_a_guardrail_that_withholds_is_told_of() -> None:
    result, _ = asked(answer({"retrievalResults": [], "guardrailAction": "INTERVENED"}))
    assert (result.hits, result.note) == ((), "a guardrail of the knowledge base withheld passages")


def test_a_filter_that_is_applied_here_has_more_to_choose_from() -> None:
    """A type shows in the address; days do not."""
    result = found(filetype="pdf", date_from=date(2020, 1, 1))
    assert [entry.handling for entry in result.applied] == [FilterHandling.HERE, FilterHandling.IGNORED]
    assert {hit.extras["location"] for hit in result.hits} == {"S3"}
    _, sent = asked(filetype="pdf")
    assert sent.json["retrievalConfiguration"]["vectorSearchConfiguration"] == {"numberOfResults": 100}


@pytest.mark.parametrize(
    ("code", "status", "failure"),
    [
        ("ThrottlingException", 429, RateLimited),
        ("ServiceQuotaExceededException", 400, RateLimited),
        ("AccessDeniedException", 403, AccessRefused),
        ("ResourceNotFoundException", 404, EndpointMisconfigured),
        ("DependencyFailedException", 424, ProviderUnavailable),
        ("BadGatewayException", 502, ProviderUnavailable),
    ],
)
def test_an_error_of_the_service_has_its_consequence(code: str, status: int, failure: type[Exception]) -> None:
    refused = answer({"message": "their own words"}, status=status, headers={"x-amzn-errortype": code})
    with pytest.raises(failure) as caught:
        asked(refused)
    assert "their own words" not in str(caught.value)


def test_a_knowledge_base_that_is_gone_puts_its_setting_at_fault() -> None:
    with pytest.raises(EndpointMisconfigured) as caught:
        asked(answer({"message": "x"}, status=404, headers={"x-amzn-errortype": "ResourceNotFoundException"}))
    assert caught.value.setting == "knowledgeBaseId"
