"""What a search asks of DynamoDB and S3, counted: the product's own environment on the template's tables, by moto.

`python -m tests.benchmarks.database` prints the counts of every feature. Providers answer from memory. Besides calls it
counts what DynamoDB bills on demand: a read unit for every 4 KB of every item, missing ones included, since all reads
are strongly consistent; a write unit for every KB of every item written, refused conditions included.
"""

import base64
import io
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, redirect_stdout
from dataclasses import asdict, dataclass, field
from typing import Any

import boto3
import orjson

from tests.benchmarks.features import FEATURES, HEDGE_AFTER_MS, HEDGED_AFTER, PROVIDERS, Before, Feature, Meets
from tests.benchmarks.scripted import Scripted
from tests.fakes.aws import REGION
from tests.fakes.clock import FakeClock
from tests.fakes.cloud import SETTINGS_ROOT, Cloud, LambdaContext, cloud
from tests.fakes.functions import posted
from zarniwoop.dispatch.strategies import hedging
from zarniwoop.entry.tool import Handler, tool
from zarniwoop.settings.levels import Place
from zarniwoop.settings.writer import SsmSettingsWriter
from zarniwoop.stores.attributes import read_text
from zarniwoop.stores.kept_results import Flight
from zarniwoop.stores.keys import read_result_key
from zarniwoop.stores.result_items import flight_item
from zarniwoop.stores.state import ProjectKey
from zarniwoop.tools.research_search import RESEARCH_SEARCH
from zarniwoop.wiring import Environment

PROJECT_ID = "demo"
QUERY = "cathedral bells"
AWAITED_SECONDS = 1.0
PATIENCE_SECONDS = 10.0
"""How long a hedge's loser has to hand in its account here: on a busy machine 150 ms may be too little."""
_READ_UNIT, _WRITE_UNIT = 4096, 1024


@dataclass(slots=True)
class Counts:
    """Calls, what is billed of them, and bytes that leave the function."""

    reads: int = 0
    writes: int = 0
    read_units: int = 0
    write_units: int = 0
    objects: int = 0
    log_bytes: int = 0
    answer_bytes: int = 0


@dataclass
class Meter:
    """Counts the calls of the default session's clients, between `begin` and `end`; `plain` is not counted."""

    plain: Any
    _counts: Counts | None = None

    def begin(self) -> None:
        self._counts = Counts()

    def end(self) -> Counts:
        counts, self._counts = self._counts or Counts(), None
        return counts

    def listen(self, session: boto3.session.Session) -> None:
        session.events.register("before-call.dynamodb", self._asked)
        session.events.register("after-call.dynamodb", self._answered)
        session.events.register("after-call.s3", self._put)

    @staticmethod
    def _asked(params: Mapping[str, Any], context: dict[str, Any], **_rest: object) -> None:
        context["asked"] = orjson.loads(params["body"])

    def _answered(self, model: Any, parsed: Mapping[str, Any], context: Mapping[str, Any], **_rest: object) -> None:
        counts, asked = self._counts, context["asked"]
        if counts is None:
            return
        if model.name == "BatchGetItem":
            counts.reads += 1
            counts.read_units += sum(len(each["Keys"]) for each in asked["RequestItems"].values())
            found = [item for items in parsed["Responses"].values() for item in items]
            counts.read_units += sum(units(item, _READ_UNIT) - 1 for item in found)
            return
        counts.writes += 1
        if model.name == "BatchWriteItem":
            puts = [put["PutRequest"]["Item"] for each in asked["RequestItems"].values() for put in each]
            counts.write_units += sum(units(item, _WRITE_UNIT) for item in puts)
        else:
            counts.write_units += units(self._standing(asked), _WRITE_UNIT)

    def _standing(self, asked: Mapping[str, Any]) -> Mapping[str, Any]:
        """The item that an UpdateItem or PutItem was about, as it is now."""
        key = asked.get("Key") or {name: asked["Item"][name] for name in ("pk", "sk")}
        item: Mapping[str, Any] = self.plain.get_item(TableName=asked["TableName"], Key=key)["Item"]
        return item

    def _put(self, model: Any, **_rest: object) -> None:
        if self._counts is not None and model.name == "PutObject":
            self._counts.objects += 1


class Awaiting(FakeClock):
    """Does something at a moment of a wait."""

    def __init__(self) -> None:
        super().__init__()
        self.at = float("inf")
        self.act: Callable[[], object] = lambda: None

    def advance(self, seconds: float) -> None:
        super().advance(seconds)
        if self.now() >= self.at:
            self.at = float("inf")
            self.act()


@dataclass
class Bench:
    """One warm execution environment; each feature has a tenant of its own."""

    data: Cloud
    meter: Meter
    clock: Awaiting = field(default_factory=Awaiting)

    def __post_init__(self) -> None:
        self.providers = Scripted(self.clock)
        self.environment: Environment = self.data.environment(transport=self.providers, clock=self.clock)
        self._handler: Handler = tool(RESEARCH_SEARCH, environment=lambda: self.environment)

    def measure(self, feature: Feature) -> Counts:
        """What one search of a warm environment asks for."""
        self._save(feature)
        self.providers.takes = 0.0
        self._search(feature, "another query")
        self.clock.advance(PATIENCE_SECONDS)
        self._prepare(feature)
        self.providers.first_meets = feature.meets
        self.providers.takes = _seconds_of_an_answer(feature)
        self.meter.begin()
        answer, log = self._search(feature, QUERY)
        counts = self.meter.end()
        counts.answer_bytes, counts.log_bytes = len(answer), len(log)
        return counts

    def _save(self, feature: Feature) -> None:
        settings = SsmSettingsWriter(self.data.client("ssm"), SETTINGS_ROOT)
        place = Place(tenant_id=feature.name)
        for priority, endpoint in enumerate(feature.asked):
            settings.put(place, f"research.endpoint.{endpoint}.protocol", endpoint)
            settings.put(place, f"research.endpoint.{endpoint}.priority", str(priority))
            settings.put(place, f"research.endpoint.{endpoint}.apiKey", "bench-key-0123456789")
        for key, value in {HEDGE_AFTER_MS: "0", **feature.settings}.items():
            settings.put(place, key, value)

    def _search(self, feature: Feature, query: str) -> tuple[bytes, bytes]:
        """The answer and what was logged. Raises AssertionError unless it brings hits, or is a plan."""
        arguments = {"query": query, "modality": feature.modality, **feature.arguments}
        event = posted(arguments, identity={"tenant_id": feature.name, "projects": PROJECT_ID})
        with redirect_stdout(io.StringIO()) as log:
            response = self._handler(event, LambdaContext())
        body: bytes = response["body"].encode()
        data = orjson.loads(body)["data"]
        if not (data.get("hits") or data.get("plans")):
            raise AssertionError(body)
        return body, log.getvalue().encode()

    def _prepare(self, feature: Feature) -> None:
        match feature.before:
            case Before.SEARCHED:
                self._search(feature, QUERY)
            case Before.FAILED:
                self.providers.first_meets = Meets.DOWN
                self._fail(feature)
            case Before.UNDER_WAY:
                self._search(feature, QUERY)
                self._take_off_again(feature)
            case Before.NOTHING:
                pass

    def _fail(self, feature: Feature) -> None:
        try:
            self._search(feature, QUERY)
        except AssertionError:
            self.clock.advance(60.0)

    def _take_off_again(self, feature: Feature) -> None:
        """The kept answer makes room for a flight, and comes back after a second."""
        project = ProjectKey(tenant_id=feature.name, project_id=PROJECT_ID)
        kept = [each for each in self.data.items("STATE_TABLE") if each["pk"]["S"].startswith(f"T#{feature.name}#")]
        answer = max((each for each in kept if "stored_at" in each), key=lambda each: float(each["stored_at"]["N"]))
        flight = Flight(
            generation=int(answer["generation"]["N"]), holder="another", held_until=self.clock.now() + PATIENCE_SECONDS
        )
        table, identity = self.data.variables["STATE_TABLE"], read_result_key(read_text(answer, "sk"))
        self.meter.plain.put_item(TableName=table, Item=flight_item(project, identity, flight))
        self.clock.at = self.clock.now() + AWAITED_SECONDS
        self.clock.act = lambda: self.meter.plain.put_item(TableName=table, Item=answer)


@contextmanager
def bench() -> Iterator[Bench]:
    """On a data plane of its own."""
    usual, grace = boto3.DEFAULT_SESSION, hedging.LOSER_GRACE_SECONDS
    with cloud() as data:
        session = boto3.session.Session(region_name=REGION)
        meter = Meter(plain=boto3.session.Session(region_name=REGION).client("dynamodb"))
        meter.listen(session)
        boto3.DEFAULT_SESSION, hedging.LOSER_GRACE_SECONDS = session, PATIENCE_SECONDS
        try:
            yield Bench(data, meter)
        finally:
            boto3.DEFAULT_SESSION, hedging.LOSER_GRACE_SECONDS = usual, grace


def _seconds_of_an_answer(feature: Feature) -> float:
    """Those who are asked at once move the clock one after the other: of a fan-out none may; a hedge comes late."""
    if "strategy" in feature.arguments:
        return 0.0
    return HEDGED_AFTER + PROVIDERS if feature.meets is Meets.NOTHING else PROVIDERS


def measured() -> dict[str, Counts]:
    """The counts of every feature."""
    with bench() as made:
        return {feature.name: made.measure(feature) for feature in FEATURES}


def units(item: Mapping[str, Any], size: int) -> int:
    """How many units of this size an item takes."""
    return -(-sum(len(name.encode()) + _bytes_of(value) for name, value in item.items()) // size)


def _bytes_of(value: Mapping[str, Any]) -> int:
    """As DynamoDB's guide has it ("Item sizes and formats"), for the types that are used."""
    ((kind, content),) = value.items()
    if kind == "B":
        return len(content if isinstance(content, bytes) else base64.b64decode(content))
    if kind == "N":
        return (len(content) + 1) // 2 + 1
    if kind == "M":
        return 3 + sum(1 + len(name.encode()) + _bytes_of(each) for name, each in content.items())
    if kind in ("L", "SS"):
        return 3 + sum(1 + (_bytes_of(each) if kind == "L" else len(each)) for each in content)
    return len(content.encode()) if kind == "S" else 1


if __name__ == "__main__":
    found = {f"{name}_{what}": value for name, counts in measured().items() for what, value in asdict(counts).items()}
    sys.stdout.buffer.write(orjson.dumps(found))
