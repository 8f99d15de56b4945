"""Arguments as the strictest modes of vendors take them: what they do not know, they refuse the whole request for.

OpenAI, `strict`: developers.openai.com/api/docs/guides/structured-outputs: every member is required, what may be left
out is null. Anthropic and Bedrock, `strict`: platform.claude.com/docs/en/build-with-claude/structured-outputs: no
bounds of numbers, texts and lists. Both make a grammar of the schema, so patterns are left out: they make it too large,
and the tool checks them itself. Gemini: ai.google.dev/api/caching#Schema, of OpenAPI 3.0; of formats of a text it knows
`date-time` and `enum` alone.
"""

from collections.abc import Mapping
from typing import Any

Schema = dict[str, Any]

_IN_A_GRAMMAR = frozenset(("type", "description", "enum", "format", "properties", "required", "items"))
_OF_OPENAI = _IN_A_GRAMMAR | {"minimum", "maximum", "minItems", "maxItems"}
_OF_GEMINI = (_OF_OPENAI | {"minLength", "maxLength", "pattern", "default"}) - {"format"}


def strict_openai(schema: Schema) -> Schema:
    """Whoever has nothing to say to a member says null, which is the same to us as leaving it out.

    But a flag is true or false, and its description says which of them is usual.
    """
    strict = _closed(_only(schema, _OF_OPENAI))
    optional = set(strict["properties"]) - set(schema.get("required", ()))
    members = {
        name: _or_null(each, schema["properties"][name]) if name in optional else each
        for name, each in strict["properties"].items()
    }
    return {**strict, "properties": members, "required": list(members)}


def strict_grammar(schema: Schema) -> Schema:
    """For Anthropic and Bedrock: what may be left out may be left out."""
    return _closed(_only(schema, _IN_A_GRAMMAR))


def gemini(schema: Schema) -> Schema:
    """Types are spelt in capitals, as the enumeration of the API has them."""
    return _in_capitals(_only(schema, _OF_GEMINI))


def _only(schema: Schema, known: frozenset[str]) -> Schema:
    """The schema and those within it, of these keywords."""
    kept = {key: value for key, value in schema.items() if key in known}
    if "properties" in kept:
        kept["properties"] = {name: _only(each, known) for name, each in kept["properties"].items()}
    if "items" in kept:
        kept["items"] = _only(kept["items"], known)
    return kept


def _closed(schema: Schema) -> Schema:
    return {**schema, "required": list(schema.get("required", ())), "additionalProperties": False}


def _or_null(strict: Schema, whole: Mapping[str, Any]) -> Schema:
    default = whole.get("default")
    if strict["type"] == "boolean":
        return {**strict, "description": f"{strict['description']} Usually {str(default).lower()}."}
    told = strict["description"] + ("" if default in (None, []) else f" null means {default}.")
    nullable = {**strict, "type": [strict["type"], "null"], "description": told}
    return {**nullable, "enum": [*strict["enum"], None]} if "enum" in strict else nullable


def _in_capitals(schema: Schema) -> Schema:
    spelt = {**schema, "type": schema["type"].upper()}
    if "properties" in spelt:
        spelt["properties"] = {name: _in_capitals(each) for name, each in spelt["properties"].items()}
    if "items" in spelt:
        spelt["items"] = _in_capitals(spelt["items"])
    return spelt
