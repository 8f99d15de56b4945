"""`components`: what several operations have in common, each under one name."""

from typing import Any

_DEFINITIONS, _SCHEMAS = "#/$defs/", "#/components/schemas/"
_OF_A_CLASS = frozenset(("title", "description", "default"))


class ClashError(Exception):
    """Two different schemas want the same name."""


class Components:
    """Grows while operations are made."""

    def __init__(self) -> None:
        self._schemas: dict[str, Any] = {}
        self._responses: dict[str, Any] = {}

    def told(self) -> dict[str, Any]:
        """In the order of their names, so that a new route moves none."""
        return {"schemas": dict(sorted(self._schemas.items())), "responses": dict(sorted(self._responses.items()))}

    def schema(self, name: str, schema: dict[str, Any]) -> dict[str, Any]:
        """A reference to it. Raises ClashError."""
        _add(self._schemas, name, schema)
        return {"$ref": _SCHEMAS + name}

    def response(self, name: str, response: dict[str, Any]) -> dict[str, Any]:
        """A reference to it. Raises ClashError."""
        _add(self._responses, name, response)
        return {"$ref": f"#/components/responses/{name}"}

    def taken_in(self, schema: dict[str, Any]) -> dict[str, Any]:
        """The schema with its `$defs` among the others; without titles, which only repeat names."""
        moved: dict[str, Any] = _moved(schema)
        for name, definition in moved.pop("$defs", {}).items():
            self.schema(name, {key: value for key, value in definition.items() if key not in _OF_A_CLASS})
        moved.pop("$schema", None)
        return moved


def _add(known: dict[str, Any], name: str, value: dict[str, Any]) -> None:
    if known.setdefault(name, value) != value:
        raise ClashError(name)


def _moved(node: Any) -> Any:
    if isinstance(node, list):
        return [_moved(each) for each in node]
    if not isinstance(node, dict):
        return node
    return {
        key: {name: _moved(each) for name, each in value.items()}
        if key in ("properties", "$defs")
        else value.replace(_DEFINITIONS, _SCHEMAS)
        if key == "$ref"
        else _moved(value)
        for key, value in node.items()
        if key != "title" or not isinstance(value, str)
    }
