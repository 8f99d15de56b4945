"""The committed document of the API, read as data, and what it says of an answer."""

import json
from functools import cache
from typing import Any

from jsonschema import Draft202012Validator
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT202012

from tests.fakes.template import ROOT

DOCUMENT: dict[str, Any] = json.loads((ROOT / "docs/openapi.json").read_text(encoding="utf-8"))
_API = "urn:api"


def validator(schema: dict[str, Any]) -> Any:
    """For a schema that refers to the document's components."""
    return Draft202012Validator(_absolute(schema), registry=_registry())


def response_of(method: str, path: str, status: int) -> dict[str, Any]:
    """What is told of a status. Raises KeyError where it is not."""
    told: dict[str, Any] = DOCUMENT["paths"][path][method.lower()]["responses"][str(status)]
    if "$ref" in told:
        told = DOCUMENT["components"]["responses"][told["$ref"].rpartition("/")[2]]
    return told


def check(method: str, path: str, response: dict[str, Any]) -> None:
    """Raises KeyError for a status or a media type that is not told, ValidationError for another body."""
    content = response_of(method, path, response["statusCode"]).get("content")
    if content is None:
        assert response["body"] == ""
        return
    media_type = response["headers"]["content-type"].partition(";")[0]
    body = json.loads(response["body"]) if media_type == "application/json" else response["body"]
    validator(content[media_type]["schema"]).validate(body)


@cache
def _registry() -> Any:
    return Registry().with_resource(_API, Resource.from_contents(DOCUMENT, default_specification=DRAFT202012))


def _absolute(node: Any) -> Any:
    if isinstance(node, list):
        return [_absolute(each) for each in node]
    if isinstance(node, dict):
        return {key: f"{_API}{each}" if key == "$ref" else _absolute(each) for key, each in node.items()}
    return node
