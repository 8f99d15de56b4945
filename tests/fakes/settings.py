"""The settings API as an editor uses it: requests in the likeness of the samples, and the envelopes of its answers."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import orjson

from tests.fakes.cloud import LambdaContext
from tests.fakes.functions import body_of, sample
from zarniwoop.entry.settings import settings
from zarniwoop.wiring import Environment

_SAMPLES = {"read": "settings", "form": "settings.form"}


@dataclass
class Editor:
    """Somebody with a token of level 4 for all projects of tenant `acme`, unless `identity` says otherwise."""

    environment: Environment
    identity: Mapping[str, str] = field(default_factory=dict)
    level: str = "tenant"
    _requests: "count[int]" = field(default_factory=lambda: count(1))

    def read(self, **query: str) -> Any:
        """The data of GET; of project `demo` unless another one is named."""
        return self.ok("read", {"project_id": "demo"} | query)

    def versions(self) -> dict[str, str]:
        found: dict[str, str] = self.read()["versions"]
        return found

    def save(self, changes: Mapping[str, Any], **more: Any) -> Any:
        return self.ok("save", self._placed({"settings": dict(changes), "version": "*"} | more))

    def refused(self, changes: Mapping[str, Any], **more: Any) -> Any:
        """The problem of a save that fails, its body without a trace of the values."""
        response = self.call("save", self._placed({"settings": dict(changes), "version": "*"} | more))
        envelope = body_of(response)
        assert not envelope["ok"], envelope
        assert envelope["error"]["status"] == response["statusCode"]
        return envelope["error"]

    def ok(self, operation: str, arguments: Mapping[str, Any]) -> Any:
        envelope = body_of(self.call(operation, arguments))
        assert envelope["ok"], envelope
        return envelope["data"]

    def rows(self, **query: str) -> dict[str, Any]:
        return {row["key"]: row for row in self.read(**query)["settings"]}

    def endpoint(self, instance_id: str, **query: str) -> Any:
        (row,) = [row for row in self.read(**query)["endpoints"] if row["id"] == instance_id]
        return row

    def call(self, operation: str, arguments: Mapping[str, Any], headers: Mapping[str, str] | None = None) -> Any:
        """The proxy response; each call has a request id of its own."""
        event = sample(_SAMPLES.get(operation, f"settings.{operation}"))
        event["requestContext"]["authorizer"] |= self.identity
        event["headers"] |= headers or {}
        given = dict(arguments)
        if event["pathParameters"]:
            event["pathParameters"] = {name: given.pop(name) for name in event["pathParameters"]}
        if event["httpMethod"] in ("GET", "DELETE"):
            event["headers"].pop("If-Match", None)
            event["headers"] |= headers or {}
            event["queryStringParameters"] = {name: str(value) for name, value in given.items()}
        else:
            event["body"] = orjson.dumps(given).decode()
        context = LambdaContext(aws_request_id=f"request-{next(self._requests)}-{id(self)}")
        return settings(lambda: self.environment)(event, context)

    def _placed(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """`demo` where the level is a project's."""
        project = {"project_id": "demo"} if arguments.get("level", self.level) == "project" else {}
        return {"level": self.level} | project | arguments
