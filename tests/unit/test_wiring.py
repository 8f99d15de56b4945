"""The composition root: made once, when first needed, out of variables that nothing else reads."""

import gc
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import orjson
import pytest

from tests.fakes.cloud import Cloud, cloud
from tests.fakes.environment import ROOT, FakeEnvironment
from tests.fakes.parameter_store import InMemoryParameterStore
from tests.fakes.providers import found
from tests.fakes.transport import ScriptedTransport, answer
from zarniwoop.contract.deadline import Deadline
from zarniwoop.contract.failure import Cause, ConfigurationUnavailable, ProviderUnavailable, QueryRejected
from zarniwoop.contract.hit import ContentInline, ContentReference
from zarniwoop.contract.modality import SearchModality
from zarniwoop.contract.request import SearchRequest, SearchScope
from zarniwoop.contract.result import Outcome, SearchResult
from zarniwoop.contract.transport import HttpRequest
from zarniwoop.net.transport import PooledTransport
from zarniwoop.observe.clock import SystemClock
from zarniwoop.observe.heap import settle_heap
from zarniwoop.observe.metrics import Metric
from zarniwoop.stores.content import S3ContentStore
from zarniwoop.stores.dynamodb_tokens import DynamoDbTokenStore
from zarniwoop.stores.state import ProjectKey
from zarniwoop.wiring import Environment, environment

KEY = "operator-key-0123456789"
HASH_KEY_NAME = f"{ROOT}/_stack/queryHashKey"
PAGE = answer(
    {"searchParameters": {"type": "search"}, "organic": [{"title": "Bells", "link": "https://example.com/b"}]}
)


@pytest.fixture
def account() -> Iterator[Cloud]:
    with cloud() as made:
        yield made


def _scope(made: Environment, tenant_id: str = "acme") -> SearchScope:
    return SearchScope(
        tenant_id=tenant_id, project_id="demo", request_id="request-1", deadline=Deadline.after(20.0, made.clock)
    )


def _search(made: Environment, modality: SearchModality = SearchModality.WEB) -> SearchResult:
    return made.tools.dispatcher.search(SearchRequest(query="cathedral bells", modality=modality), _scope(made))


def test_who_looks_at_a_run_or_reads_on_builds_no_dispatcher(account: Cloud) -> None:
    """Formats, settings and sockets are a good part of a cold start."""
    made = account.environment()
    assert made.tools.runs() and made.tools.rests() and made.tools.evidence()
    assert not {"_dispatcher", "_factory", "_transport"} & set(vars(made))


def test_the_first_invocation_leaves_a_heap_that_no_collection_walks_through() -> None:
    """Once: what later invocations leave behind is collected as ever."""
    gc.unfreeze()
    settle_heap.cache_clear()
    FakeEnvironment().finish()
    settled = gc.get_freeze_count()
    left: list[object] = [[] for _ in range(100)]
    FakeEnvironment().finish()
    assert settled > 1_000
    assert gc.get_freeze_count() <= settled, len(left)


def test_a_process_has_one_environment_out_of_its_variables(account: Cloud, monkeypatch: pytest.MonkeyPatch) -> None:
    """Made at the first invocation, kept for all that follow."""
    for name, value in account.variables.items():
        monkeypatch.setenv(name, value)
    environment.cache_clear()
    made = environment()
    assert made is environment()
    assert isinstance(made.clock, SystemClock)
    assert (made.event_bus, made.idempotency_table) == ("default", "idempotency_table")
    environment.cache_clear()


def test_log_lines_name_the_stack_as_the_metrics_do(
    account: Cloud, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """One word finds both in CloudWatch."""
    monkeypatch.setenv("POWERTOOLS_SERVICE_NAME", "my-stack")
    made = Environment({**account.variables, "POWERTOOLS_SERVICE_NAME": "my-stack"})
    made.metrics.count(Metric.SETTINGS_STALE)
    made.log.warning("settings are stale")
    made.finish()
    lines = [orjson.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line["service"] for line in lines] == ["my-stack", "my-stack"]


def test_nothing_is_made_before_it_is_needed(account: Cloud) -> None:
    """An authorizer never pays for the dispatcher, nor a search for S3."""
    made = account.environment()
    assert isinstance(made.tokens, DynamoDbTokenStore)
    assert set(made.__dict__) & {"tools", "audit", "content", "events", "_transport", "_parameters"} == set()
    assert isinstance(made.content, S3ContentStore)
    assert made.events.meta.service_model.service_name == "events"
    assert made.dynamodb() is made.dynamodb()


def test_calls_are_looked_up_with_the_patience_of_a_read(account: Cloud) -> None:
    """And written with that of a side write."""
    made = account.environment()
    asked: list[str] = []
    made.dynamodb().meta.events.register("before-call", lambda model, **_more: asked.append(model.name))
    made._calls.between(ProjectKey(tenant_id="acme", project_id="demo"), "main", 0.0, 1.0, at_most=1)
    assert asked == ["Query"]


def test_a_search_works_on_what_is_wired(account: Cloud) -> None:
    """Settings, key, state, provider, audit: with the stack's own hash key, and under the request's id."""
    account.set_all({"research.endpoint.main.protocol": "serper", "research.endpoint.main.apiKey": KEY})
    transport = ScriptedTransport(PAGE)
    made = account.environment(transport=transport)
    made.begin("request-1")
    assert [attempt.outcome for attempt in _search(made).attempts] == [Outcome.SUCCESS]
    made.finish()
    (record,) = account.items("CALLS_TABLE")
    assert (record["request_id"]["S"], len(record["query_hash"]["S"])) == ("request-1", 64)
    assert made.redactor.redact(f"x {KEY}") == "x [redacted]"


def test_the_operators_variables_are_keys_of_last_resort(account: Cloud) -> None:
    """The protocol's own before the generic one, and an empty one is none."""
    account.set("research.endpoint.main.protocol", "serper")
    for variables, key in (
        ({"SERPER_API_KEY": KEY, "WEB_SEARCH_API_KEY": "another-key-0123456789"}, KEY),
        ({"SERPER_API_KEY": "", "WEB_SEARCH_API_KEY": KEY}, KEY),
    ):
        transport = ScriptedTransport(PAGE)
        made = Environment({**account.variables, **variables}, transport=transport)
        assert _search(made).hits
        assert transport.sent[0].secret is not None
        assert transport.sent[0].secret.reveal() == key


def test_a_corrected_variable_is_another_fingerprint(account: Cloud) -> None:
    """So that a cooldown for a wrong key ends with the wrong key; the mark does not give it away."""
    account.set("research.endpoint.main.protocol", "serper")
    prints = []
    for value in (KEY, KEY + "0"):
        made = Environment({**account.variables, "SERPER_API_KEY": value}, transport=ScriptedTransport())
        settings, stale = made.research_settings(_scope(made))
        prints.append(settings.endpoints[0].fingerprint)
        assert not stale
        assert value not in repr(settings)
    assert len(set(prints)) == 2


def test_the_transport_dials_only_what_is_public_or_named(account: Cloud) -> None:
    """The variable opens loopback for the tests; by default there is nothing private to reach."""
    made = Environment({**account.variables, "ALLOWED_PRIVATE_NETWORKS": ""})
    transport = made._transport
    assert isinstance(transport, PooledTransport)
    with pytest.raises(ProviderUnavailable) as refused:
        transport.send(HttpRequest(url="http://127.0.0.1:9/"), deadline=Deadline.after(1.0, made.clock))
    assert refused.value.cause is Cause.ADDRESS
    transport.close()


def test_a_page_reader_is_told_of_public_pages_alone(account: Cloud) -> None:
    """What the operator opened is no exception: a reader of the house's own would fetch it."""
    account.set_all({"research.endpoint.main.protocol": "firecrawl", "research.endpoint.main.apiKey": KEY})
    transport = ScriptedTransport()
    made = account.environment(transport=transport)
    reader = made.tools.dispatcher.factory.assemble(_scope(made)).candidates["main"].instance
    for page in ("http://169.254.169.254/latest/meta-data/", "http://127.0.0.1:8080/"):
        with pytest.raises(QueryRejected, match="not on the public internet"):
            reader.load_content(ContentReference(inline=ContentInline.STASH_ON_DEMAND, reference=page), _scope(made))
    assert transport.sent == []


@pytest.fixture
def addon(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Two installed add-ons: one that works and is no wire format, and one that cannot be imported."""
    (tmp_path / "working_addon.py").write_text(
        "from tests.fakes.clock import FakeClock\n"
        "from tests.fakes.providers import FakeProtocol, found\n"
        "PROTOCOL = FakeProtocol(FakeClock(), {'mine': [found(2)]}, protocol_id='mine')\n"
    )
    installed = tmp_path / "addons-1.0.dist-info"
    installed.mkdir()
    (installed / "METADATA").write_text("Metadata-Version: 2.1\nName: addons\nVersion: 1.0\n")
    (installed / "entry_points.txt").write_text(
        "[zarniwoop.protocols]\nmine = working_addon:PROTOCOL\nbroken = no_such_module:PROTOCOL\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    yield
    sys.modules.pop("working_addon", None)


@pytest.mark.usefixtures("addon")
def test_add_ons_are_found_by_their_entry_points(account: Cloud) -> None:
    """One that works is asked like a built-in; one that does not is told of."""
    account.set("research.endpoint.mine.protocol", "mine")
    made = account.environment(transport=ScriptedTransport())
    assert _search(made).returned_count == 2
    protocols = made.tools.dispatcher.factory.protocols
    assert {"mine", "serper"} <= set(protocols.by_id)
    assert protocols.broken == {"broken": "cannot be loaded (ModuleNotFoundError)"}


def test_without_the_stacks_hash_key_hashes_are_made_all_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    """Comparable within this environment only, and the log says so once."""
    made = FakeEnvironment({"main": [found(1)]})
    for _ in range(2):
        assert _search(made).hits
    made.finish()
    first, second = made.fake_calls.records
    assert first.query_hash == second.query_hash
    assert capsys.readouterr().out.count("no query hash key") == 1


def test_an_unreadable_hash_key_does_not_stop_a_search(capsys: pytest.CaptureFixture[str]) -> None:
    """Settings were read, then Parameter Store went away."""
    made = FakeEnvironment({"main": [found(1)]})
    made.tools.dispatcher.factory.assemble(_scope(made))
    made.fake_parameters.fail_with = ConfigurationUnavailable("SSM")
    assert _search(made).hits
    assert "the query hash key cannot be read" in capsys.readouterr().out


def test_a_hash_key_that_can_be_read_again_is_used_again() -> None:
    """One failure of Parameter Store does not make an environment's hashes incomparable for as long as it lives."""
    made = FakeEnvironment({"main": [found(1)]})
    made.tools.dispatcher.factory.assemble(_scope(made))
    made.fake_parameters.put_secret(HASH_KEY_NAME, "h" * 64)
    made.fake_parameters.fail_with = ConfigurationUnavailable("SSM")
    assert len({made._hash_key() for _ in range(3)}) == 3
    assert made.fake_parameters.calls["reveal"] == 1
    made.fake_parameters.fail_with = None
    made.hands.advance(5)
    assert {made._hash_key() for _ in range(3)} == {b"h" * 64}
    assert made.fake_parameters.calls["reveal"] == 2


def test_a_hash_key_that_was_saved_meanwhile_is_soon_in_use() -> None:
    """Without one the environment has its own, and looks again after five minutes."""
    made = FakeEnvironment()
    own = made._hash_key()
    made.fake_parameters.put_secret(HASH_KEY_NAME, "h" * 64)
    assert made._hash_key() == own
    made.hands.advance(300)
    assert made._hash_key() == b"h" * 64


def test_the_operators_key_has_the_same_mark_in_every_environment_whatever_becomes_of_the_hash_key() -> None:
    """Else a cooldown for a refused key would not be the fleet's, and would end with each cold start."""
    marks = []
    for failure in (None, ConfigurationUnavailable("SSM")):
        made = FakeEnvironment()
        made._variables = {**made._variables, "OPENAI_API_KEY": KEY}
        made.fake_parameters.fail_with = failure
        marks.append(dict(made._key_marks))
        assert made.fake_parameters.calls["reveal"] == 0
    assert marks[0] == marks[1]
    assert set(marks[0]) == {"OPENAI_API_KEY"}


def test_the_hash_key_is_read_once_however_many_threads_want_it() -> None:
    """Two keys in one environment would make its own hashes incomparable."""
    made = FakeEnvironment()
    at_once = Barrier(8)

    def hashed(_number: int) -> bytes:
        at_once.wait()
        return made._hash_key()

    with ThreadPoolExecutor(8) as pool:
        keys = set(pool.map(hashed, range(8)))
    assert len(keys) == 1
    assert made.fake_parameters.calls["reveal"] == 1


def test_an_instance_that_raises_what_it_must_not_is_logged_by_kind(capsys: pytest.CaptureFixture[str]) -> None:
    """Its text may be anything."""
    made = FakeEnvironment({"main": [KeyError("cathedral bells")]})
    _search(made)
    line = next(
        parsed for text in capsys.readouterr().out.splitlines() if (parsed := orjson.loads(text))["level"] == "ERROR"
    )
    assert (line["instance"], line["error"]) == ("main", "KeyError")
    assert "cathedral" not in str(line)


def test_the_end_of_an_invocation_writes_and_forgets() -> None:
    """An invocation that used no audit does not make one."""
    made = FakeEnvironment({"main": [found(1)]})
    made.finish()
    assert "audit" not in made.__dict__
    _search(made)
    made.finish()
    assert len(made.fake_calls.records) == 1
    assert made.metrics.drain() == []


def test_spans_are_opened_only_in_a_sampled_invocation(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lambda says so in a variable that changes with every invocation."""
    made = FakeEnvironment()
    monkeypatch.setitem(sys.modules, "aws_xray_sdk.core", None)
    monkeypatch.setenv("_X_AMZN_TRACE_ID", "Root=1-5;Parent=5;Sampled=0")
    with made.tracing.span("dispatch"):
        assert not made.tracing.unavailable
    monkeypatch.setenv("_X_AMZN_TRACE_ID", "Root=1-5;Parent=5;Sampled=1")
    with made.tracing.span("dispatch"):
        assert made.tracing.unavailable


def test_settings_of_one_tenant_are_not_anothers() -> None:
    """Every scope is read under its own path."""
    made = FakeEnvironment({"main": [found(1)]})
    assert isinstance(made.fake_parameters, InMemoryParameterStore)
    assert made.research_settings(_scope(made, "other"))[0].endpoints == ()
    assert len(made.research_settings(_scope(made))[0].endpoints) == 1


def test_the_settings_that_say_what_a_key_opens_are_known_of_every_protocol() -> None:
    """Else a project could point the tenant's key at another core, index, group or filter."""
    known = Environment({})._known_protocols
    owed = {
        "solr": {"core", "handler", "filterQuery", "idField", "textField", "searchFields"},
        "elasticsearch": {"index", "query", "textField", "searchFields"},
        "gitlab": {"project", "group"},
        "bedrock-kb": {"knowledgeBaseId", "filter"},
    }
    assert {name for name, each in known.items() if each.steering} == set(owed)
    assert all(names <= set(known[name].steering) for name, names in owed.items())
    assert {name for name, each in known.items() if each.by_role} == {"agentcore", "bedrock-kb"}
