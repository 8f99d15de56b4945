"""The functions as they are deployed, on the template's data plane in this process and the provider simulator."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import boto3
from botocore.loaders import create_loader
from botocore.session import Session, get_session

from stack.seeding import settings
from tests.fakes.answer_schemas import check_answer
from tests.fakes.aws import REGION
from tests.fakes.cloud import Cloud, LambdaContext, cloud
from tests.fakes.evidence import FakePages, page, read
from tests.fakes.functions import body_of, handler_of
from tests.simulator import Simulator
from zarniwoop.settings.names import is_secret
from zarniwoop.stores.continuations import Rest
from zarniwoop.stores.runs import Run
from zarniwoop.stores.state import ProjectKey
from zarniwoop.text.as_json import as_json
from zarniwoop.wiring import Environment, environment

if TYPE_CHECKING:
    import pytest

CANARY = 'canary/Key+7="quoted"&0123456789'
"""The key of every provider that wants one; its raw, URL-encoded, base64 and JSON spellings all differ."""
_LOADER = create_loader()
"""The service descriptions of botocore, read once: they take longer to parse than a test takes to run."""
SAMPLE_PAGE = "https://en.wikipedia.org/wiki/Bell"
"""The page that the sample events ask for; of all other pages there is none."""
SAMPLE_TEXT = "# Bell\n\nA bell is a directly struck idiophone, and most have the shape of a hollow cup."
PROJECT = ProjectKey(tenant_id="acme", project_id="demo")
SAMPLE_RUN = "r-01kh4f0e80000g40r40m30e209"
SAMPLE_HANDLE = f"{'0123456789abcdef' * 2}-0"
READS = frozenset({"GetItem", "BatchGetItem", "Query", "Scan"})


@dataclass
class Deployed:
    """One warm execution environment behind every handler, as `wiring.environment` makes it from the variables."""

    cloud: Cloud
    simulator: Simulator
    aws_calls: list[tuple[str, str]] = field(default_factory=list)

    @property
    def environment(self) -> Environment:
        return environment()

    def call(self, function: str, event: Any, context: LambdaContext | None = None) -> dict[str, Any]:
        """Invoke a function; its module is loaded anew, its environment is kept. A tool's answer fits its schema."""
        answer = handler_of(function)(event, context or LambdaContext())
        check_answer(function, body_of(answer) if "body" in answer else answer)
        return answer

    def envelope(self, function: str, event: Any) -> Any:
        return body_of(self.call(function, event))

    def freeze(self) -> None:
        """End the execution environment: the next call is a cold start."""
        transport = self.environment.__dict__.get("_transport")
        if transport is not None:
            transport.close()
        environment.cache_clear()

    def leave_behind(self) -> None:
        """The run that the sample events ask for, and the rest of an answer that they read on."""
        now = self.environment.clock.now()
        run = Run(
            run_id=SAMPLE_RUN,
            project=PROJECT,
            tool="research_investigate",
            created_at=now,
            updated_at=now,
            deadline_at=now + 300,
            expires_at=now + 3_600,
            execution_arn="arn",
        )
        self.environment.runs.create(run)
        hits = tuple(("hits", {"title": f"Hit {rank}", "rank": rank}) for rank in range(3))
        rest = Rest(tool="research_search", max_chars=20_000, begun_at=now, expires_at=now + 3_600, entries=hits)
        key = f"acme/demo/content/results/{SAMPLE_HANDLE.partition('-')[0]}"
        self.cloud.client("s3").put_object(Bucket="content", Key=key, Body=as_json(rest))
        self.forget_calls()

    def calls_of(self, service: str) -> list[str]:
        return [operation for called, operation in self.aws_calls if called == service]

    def writes(self) -> list[str]:
        """The calls that changed something in DynamoDB."""
        return [operation for operation in self.calls_of("dynamodb") if operation not in READS]

    def forget_calls(self) -> None:
        self.aws_calls.clear()
        self.simulator.reset()


@contextmanager
def deployed(
    simulator: Simulator, monkeypatch: "pytest.MonkeyPatch", wanted: Mapping[str, str] | None = None
) -> Iterator[Deployed]:
    """Every built-in provider configured as on a local stack for tenant `acme`, or just the `wanted` settings."""
    with cloud() as data_plane:
        made = Deployed(data_plane, simulator)
        session = boto3.session.Session(region_name=REGION, botocore_session=_core())
        monkeypatch.setattr(boto3, "DEFAULT_SESSION", session)
        session.events.register(
            "before-call",
            lambda model, **_rest: made.aws_calls.append((model.service_model.service_name, model.name)),
        )
        data_plane.set_all(with_canary(simulator) if wanted is None else wanted)
        for name, value in data_plane.variables.items():
            monkeypatch.setenv(name, value)
        environment.cache_clear()
        made.environment.__dict__["page_fetcher"] = FakePages(
            {SAMPLE_PAGE: read(SAMPLE_PAGE, page(SAMPLE_TEXT, title="Bell"))}
        )
        made.forget_calls()
        yield made
        made.freeze()


def with_canary(simulator: Simulator, *instance_ids: str) -> dict[str, str]:
    """A local stack's settings with the canary as key; of these endpoints alone, and without routing, when named."""
    saved = {
        key: CANARY if is_secret(key) else value
        for key, value in settings(f"http://127.0.0.1:{simulator.port}", {}).items()
    }
    prefixes = tuple(f"research.endpoint.{instance_id}." for instance_id in instance_ids)
    return {key: value for key, value in saved.items() if key.startswith(prefixes)} if prefixes else saved


def _core() -> Session:
    core = get_session()
    core.register_component("data_loader", _LOADER)
    return core
