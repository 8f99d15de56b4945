"""Rows 49 to 54: what Lambda and the edge of the API do to a function, through the handlers that are deployed."""

import base64
import importlib.abc
import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from importlib.metadata import EntryPoint
from threading import Event
from typing import Any, NoReturn
from unittest.mock import patch

from tests.fakes.aws import create_table
from tests.fakes.cloud import LambdaContext
from tests.fakes.continuations import InMemoryContinuations
from tests.fakes.functions import body_of, handler_of, posted
from tests.fakes.providers import FakeProtocol, Step, found
from tests.fakes.transport import ScriptedTransport, answer
from tests.functional.faults.scenario import CANARY, QUERY, Kind, Scenario, Stage, StagedEnvironment, saved
from zarniwoop.adapters import BUILTIN
from zarniwoop.contract.failure import QueryRejected
from zarniwoop.contract.hit import ContentInline, ContentReference, SearchHit
from zarniwoop.contract.modality import SearchModality
from zarniwoop.contract.request import SearchRequest
from zarniwoop.contract.result import SearchResult
from zarniwoop.dispatch.candidates.protocols import ENTRY_POINT_GROUP, collect_protocols
from zarniwoop.entry.tool import tool
from zarniwoop.settings.levels import Place
from zarniwoop.tools.research_providers import RESEARCH_PROVIDERS
from zarniwoop.tools.research_rich import RESEARCH_RICH
from zarniwoop.tools.research_search import RESEARCH_SEARCH

LAMBDA_RESPONSE_BYTES = 6 * 1024 * 1024
ASKED = {"query": QUERY, "modality": "WEB"}
PAGE = answer(
    {"searchParameters": {"type": "search"}, "organic": [{"title": "Bells", "link": "https://example.com/b"}]}
)
IDEMPOTENCY_TABLE = "idempotency"


def fake(stage: Stage, *steps: Step, **more: Any) -> tuple[StagedEnvironment, FakeProtocol]:
    """An environment with one scripted instance, `main`."""
    protocol = FakeProtocol(stage.clock, {"main": list(steps)})
    settings = {"research.endpoint.main.protocol": "fake", "research.endpoint.main.apiKey": CANARY}
    return stage.environment(settings, protocols=[protocol], **more), protocol


def call(
    stage: Stage, environment: StagedEnvironment, event: Mapping[str, Any], context: LambdaContext | None = None
) -> dict[str, Any]:
    """`research_search` over REST; what it answers is shown to the stage."""
    response = tool(RESEARCH_SEARCH, environment=lambda: environment)(event, context or LambdaContext())
    stage.show(Kind.RESULT, response["body"])
    return response


def too_little_time(stage: Stage) -> None:
    """With 800 ms left nobody is asked: the caller hears so at once, and when to come again."""
    environment, protocol = fake(stage, found(1))
    response = call(stage, environment, posted(ASKED), LambdaContext(remaining_ms=800))
    error = body_of(response)["error"]
    assert (response["statusCode"], error["type"]) == (504, "urn:zarniwoop:problem:out-of-time")
    assert (error["retryable"], response["headers"]["retry-after"]) == (True, "1")
    assert protocol.asked == []


def oversized_response(stage: Stage) -> None:
    """Whole hits go along as far as they fit, and the others are under a handle; it is whole JSON in Lambda's limit."""
    noisy = 'said "so" \\ ' * 20_000
    bodied = _large(noisy, ContentReference(inline=ContentInline.EMBED_TEXT, text=noisy), snippet=None)
    for heavy in (bodied, _large(noisy, None, snippet=noisy)):
        environment, _ = fake(stage, heavy)
        kept = InMemoryContinuations(stage.clock)
        vars(environment)["continuations"] = kept
        response = call(stage, environment, posted({**ASKED, "max_results": 50}))
        data = body_of(response)["data"]
        assert len(json.dumps(response)) <= LAMBDA_RESPONSE_BYTES
        given = len(data["hits"])
        assert (data["truncated"], data["dropped_count"], given > 3) == (True, 0, True)
        ((_, rest),) = kept.rests.items()
        assert data["size"]["handle"]
        assert [hit["rank"] for hit in data["hits"]] + [hit.rank for _, hit in rest.entries] == list(range(1, 51))
        assert noisy in (data["hits"][0]["snippet"], (data["hits"][0]["content"] or {}).get("text"))


def malformed_events(stage: Stage) -> None:
    """Each is refused with a problem that names the field and the way out; no provider is asked."""
    environment, protocol = fake(stage, found(1))
    deep = '{"query": ' + "[" * 100_000 + "]" * 100_000 + "}"
    deepish = '{"query": ' + '{"a": ' * 40 + "1" + "}" * 40 + "}"
    refused = (
        (posted(None), 400, "body"),
        (posted(""), 400, "body"),
        (posted("{"), 400, "body"),
        (posted("[]"), 400, "body"),
        (posted(deep), 400, "body"),
        (posted(deepish), 400, "body"),
        (posted("no base64", isBase64Encoded=True), 400, "body"),
        (posted(_base64(b'{"query": "\xff"}'), isBase64Encoded=True), 400, "body"),
        (posted('{"query": "\ud800"}'), 400, "body"),
        (posted('{"query": "' + "a" * 256 * 1024 + '"}'), 413, "body"),
        (posted("a" * 10_000_000), 413, "body"),
        (posted(ASKED, headers={"Content-Type": "text/plain"}), 415, "content-type"),
    )
    for event, status, field in refused:
        response = call(stage, environment, event)
        error = body_of(response)["error"]
        assert (response["statusCode"], error["status"], error["field"]) == (status, status, field)
        assert error["suggested_action"]
    assert protocol.asked == []
    sound = posted(_base64(json.dumps(ASKED).encode()), isBase64Encoded=True)
    assert call(stage, environment, sound)["statusCode"] == 200


def repeated_requests(stage: Stage) -> None:
    """One key is one call: its answer comes again, another body is refused, and a failure stands for nothing."""
    _idempotent(stage)
    environment, protocol = fake(stage, found(1), QueryRejected("no"), found(2), **_REMEMBERING)
    first = call(stage, environment, _keyed("first"))
    again = call(stage, environment, _keyed("first"), LambdaContext(aws_request_id="request-2"))
    assert (first["statusCode"], again) == (200, first)
    assert len(protocol.asked) == 1
    other = call(stage, environment, _keyed("first", max_results=3))
    assert (other["statusCode"], body_of(other)["error"]["field"]) == (422, "idempotency-key")
    failed = call(stage, environment, _keyed("second"))
    answered = call(stage, environment, _keyed("second"))
    assert (body_of(failed)["ok"], body_of(answered)["ok"]) == (False, True)
    assert len(protocol.asked) == 3
    _simultaneous(stage)
    _crashed(stage)


def _simultaneous(stage: Stage) -> None:
    """While the first is at it, the second is told to wait."""
    started, finish = Event(), Event()

    def slow(request: SearchRequest) -> SearchResult:
        started.set()
        finish.wait(5.0)
        return found(1)(request)

    one, asked_by_one = fake(stage, slow, **_REMEMBERING)
    other, asked_by_other = fake(stage, found(1), **_REMEMBERING)
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(call, stage, one, _keyed("third"))
        started.wait(5.0)
        refused = call(stage, other, _keyed("third"))
        finish.set()
    error = body_of(refused)["error"]
    assert (refused["statusCode"], error["retryable"], error["wait_seconds"]) == (409, True, 1.0)
    assert call(stage, other, _keyed("third")) == first.result()
    assert (len(asked_by_one.asked), asked_by_other.asked) == (1, [])


def _crashed(stage: Stage) -> None:
    """A key whose Lambda died is held until that Lambda would have timed out, and then free."""
    environment, protocol = fake(stage, found(1), **_REMEMBERING)
    killed = tool(replace(RESEARCH_SEARCH, handle=_die), environment=lambda: environment)
    began = time.time() * 1000
    try:
        killed(_keyed("fourth"), LambdaContext(remaining_ms=20_000))
    except _KilledError:
        pass
    else:
        raise AssertionError("the function outlived its end")
    held = next(item for item in _claims(environment) if item["status"]["S"] == "INPROGRESS")
    assert began + 19_000 <= float(held["in_progress_expiration"]["N"]) <= time.time() * 1000 + 20_001
    assert call(stage, environment, _keyed("fourth"))["statusCode"] == 409
    environment.dynamodb().update_item(
        TableName=IDEMPOTENCY_TABLE,
        Key={"id": held["id"]},
        UpdateExpression="SET in_progress_expiration = :past",
        ExpressionAttributeValues={":past": {"N": str(int(began) - 1)}},
    )
    assert call(stage, environment, _keyed("fourth"))["statusCode"] == 200
    assert len(protocol.asked) == 1


def warm_environment(stage: Stage) -> None:
    """Nothing of one request shows in the next: neither its key, nor its fault, nor what its straggler writes down."""
    other = {"tenant_id": "other", "projects": "theirs"}
    parameters = saved({"research.endpoint.main.protocol": "serper", "research.endpoint.main.apiKey": CANARY})
    parameters.put(Place(tenant_id="other"), "research.endpoint.main.protocol", "serper")
    parameters.put(Place(tenant_id="other"), "research.endpoint.main.apiKey", f"{CANARY}-of-the-other")
    transport = ScriptedTransport(PAGE, PAGE, PAGE)
    environment = stage.environment(transport=transport, parameters=parameters)
    broken = tool(replace(RESEARCH_SEARCH, handle=_fail), environment=lambda: environment)
    for number, identity in enumerate(({}, other, {}), 1):
        fault = broken(posted(ASKED), LambdaContext(aws_request_id=f"fault-{number}"))
        assert (fault["statusCode"], body_of(fault)["error"]["detail"]) == (500, _DETAIL.format(number))
        response = call(stage, environment, posted(ASKED, identity=identity), LambdaContext(aws_request_id=str(number)))
        assert body_of(response)["ok"]
    assert [sent.secret.reveal() for sent in transport.sent if sent.secret] == [
        CANARY,
        f"{CANARY}-of-the-other",
        CANARY,
    ]
    assert [(record.tenant_id, record.request_id) for record in environment.witness.handed] == [
        ("acme", "1"),
        ("other", "2"),
        ("acme", "3"),
    ]
    _straggler(stage)


_DETAIL = "request fault-{} failed; the log of this request says why"


def _straggler(stage: Stage) -> None:
    """A search that comes in after its request was answered is written down as that request's."""
    came_in = Event()

    def images_hang(request: SearchRequest) -> SearchResult:
        if request.modality is SearchModality.IMAGE:
            came_in.wait(5.0)
        return found(1)(request)

    environment, protocol = fake(stage, images_hang)
    rich = tool(RESEARCH_RICH, environment=lambda: environment)
    event = posted({"query": QUERY}, tool="research_rich")
    data = body_of(rich(event, LambdaContext(aws_request_id="slow", remaining_ms=3_100)))["data"]
    assert (data["partial"], data["results"]["IMAGE"]["failure"]) == (True, "out_of_time")
    call(stage, environment, posted(ASKED), LambdaContext(aws_request_id="next"))
    came_in.set()
    for _ in range(100):
        environment.audit.flush()
        if len(environment.witness.handed) == len(protocol.asked):
            break
        time.sleep(0.01)
    by_request = {(record.request_id, record.modality) for record in environment.witness.handed}
    assert by_request == {*(("slow", SearchModality(each)) for each in data["results"]), ("next", SearchModality.WEB)}


def missing_dependencies(stage: Stage) -> None:
    """A function starts without what only some requests need; what cannot be done says so, the rest goes on."""
    stage.within(_without("aws_xray_sdk", "defusedxml"))
    stage.within(patch.dict(os.environ, {"_X_AMZN_TRACE_ID": "Root=1-5-0;Parent=5;Sampled=1"}))
    assert callable(handler_of("research_search"))
    settings = {
        "research.endpoint.arxiv.protocol": "arxiv",
        "research.endpoint.arxiv.priority": "1",
        "research.endpoint.serper.protocol": "serper",
        "research.endpoint.serper.apiKey": CANARY,
    }
    transport = ScriptedTransport(answer("<feed/>"), PAGE)
    environment = stage.environment(settings, transport=transport)
    result = environment.search(SearchModality.ACADEMIC)
    assert [(attempt.instance_id, attempt.reason) for attempt in result.attempts] == [
        ("arxiv", "provider_unavailable"),
        ("serper", None),
    ]
    assert environment.tracing.unavailable
    _broken_addon(stage)


def _broken_addon(stage: Stage) -> None:
    """An add-on that fails to import is told of, and takes nothing along."""
    addon = EntryPoint(name="broken", value="no_such_module:PROTOCOL", group=ENTRY_POINT_GROUP)
    environment = stage.environment({"research.endpoint.hn.protocol": "hackernews"})
    environment._protocols = collect_protocols(BUILTIN, addons=[addon])
    handler = tool(RESEARCH_PROVIDERS, environment=lambda: environment)
    data = body_of(handler(posted({}, tool="research_providers"), LambdaContext()))["data"]
    assert data["misconfigured"] == [
        {"id": "broken", "setting": "add-on", "reason": "cannot be loaded (ModuleNotFoundError)"}
    ]
    assert [row["id"] for row in data["providers"]] == ["hn"]


def _large(
    text: str, content: ContentReference | None, *, snippet: str | None
) -> Callable[[SearchRequest], SearchResult]:
    """A step that answers with as many heavy hits as are asked for."""

    def heavy(request: SearchRequest) -> SearchResult:
        hits = tuple(
            SearchHit(
                title=f"Hit {rank}",
                url=f"https://example.com/{rank}",
                modality=request.modality,
                rank=rank,
                snippet=snippet,
                content=content,
            )
            for rank in range(1, request.max_results + 1)
        )
        return found(len(hits), hits=hits)(request)

    return heavy


def _base64(raw: bytes) -> str:
    return base64.b64encode(raw).decode()


_REMEMBERING: dict[str, Any] = {"variables": {"IDEMPOTENCY_TABLE": IDEMPOTENCY_TABLE}}


def _idempotent(stage: Stage) -> None:
    stage.within(stage.aws())
    create_table(IDEMPOTENCY_TABLE, "id")


def _claims(environment: StagedEnvironment) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = environment.dynamodb().scan(TableName=IDEMPOTENCY_TABLE)["Items"]
    return items


def _keyed(key: str, **more: Any) -> dict[str, Any]:
    return posted({**ASKED, **more}, headers={"Idempotency-Key": key})


class _KilledError(BaseException):
    """Stands for the end of a Lambda environment: nothing catches it."""


def _die(*_anything: object) -> NoReturn:
    raise _KilledError


def _fail(*_anything: object) -> NoReturn:
    raise RuntimeError(f"{QUERY} {CANARY}")


class _Absent(importlib.abc.MetaPathFinder):
    """Finds that some packages are not installed."""

    def __init__(self, *names: str) -> None:
        self.names = names

    def hides(self, name: str) -> bool:
        return name.partition(".")[0] in self.names

    def find_spec(self, fullname: str, path: object, target: object = None) -> None:
        if self.hides(fullname):
            raise ModuleNotFoundError(f"No module named '{fullname}'", name=fullname)


@contextmanager
def _without(*names: str) -> Iterator[None]:
    """As if these packages were not in the layer."""
    absent = _Absent(*names)
    hidden = {name: module for name, module in sys.modules.items() if absent.hides(name)}
    for name in hidden:
        del sys.modules[name]
    sys.meta_path.insert(0, absent)
    try:
        yield
    finally:
        sys.meta_path.remove(absent)
        sys.modules.update(hidden)


_ROWS: tuple[tuple[int, str, Callable[[Stage], None]], ...] = (
    (49, "the function starts with 800 ms left", too_little_time),
    (50, "the answer is larger than Lambda's response may be", oversized_response),
    (51, "the event is malformed", malformed_events),
    (52, "a request comes twice, at once, and after a crash", repeated_requests),
    (53, "a warm environment has seen a fault and other tenants", warm_environment),
    (54, "a dependency is not there at import", missing_dependencies),
)
SCENARIOS = tuple(Scenario(number=number, fault=fault, run=run) for number, fault, run in _ROWS)
