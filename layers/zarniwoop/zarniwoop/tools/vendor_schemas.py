"""Arguments as the strictest modes of vendors take them: what they do not know, they refuse the whole request for.

OpenAI, `strict`: developers.openai.com/api/docs/guides/structured-outputs: every member is required, what may be left
out is null. Anthropic and Bedrock, `strict`: platform.claude.com/docs/en/build-with-claude/structured-outputs: no
bounds of numbers, texts and lists, and limits on all strict tools of a request together ("schema complexity limits"),
which are kept for Bedrock, too, where Claude is asked. Both vendors make a grammar of the schema, so patterns are left
out: they make it too large, and the tool checks them itself. Gemini: ai.google.dev/api/caching#Schema, of OpenAPI 3.0;
of formats of a text it knows `date-time` and `enum` alone.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Schema = dict[str, Any]

MOST_STRICT_TOOLS = 20
MOST_OPTIONAL = 24
MOST_UNIONS = 16
"""Of Anthropic, for one request: strict tools; members of them that may be left out; members of several types."""

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


@dataclass(frozen=True, slots=True, kw_only=True)
class GrammarSize:
    """What counts against the limits of a request, through all that lies within a schema."""

    tools: int = 0
    optional: int = 0
    unions: int = 0

    def __add__(self, other: "GrammarSize") -> "GrammarSize":
        return GrammarSize(
            tools=self.tools + other.tools,
            optional=self.optional + other.optional,
            unions=self.unions + other.unions,
        )

    @property
    def is_taken(self) -> bool:
        return self.tools <= MOST_STRICT_TOOLS and self.optional <= MOST_OPTIONAL and self.unions <= MOST_UNIONS


def grammar_size(schema: Schema) -> GrammarSize:
    """Of one strict tool."""
    return GrammarSize(tools=1) + _within(schema)


def in_one_grammar(schemas: Sequence[Schema]) -> frozenset[int]:
    """The places of those that a request takes together, whoever comes first in; what does not fit is passed over."""
    total, taken = GrammarSize(), set()
    for place, schema in enumerate(schemas):
        if (grown := total + grammar_size(schema)).is_taken:
            total = grown
            taken.add(place)
    return frozenset(taken)


def gemini(schema: Schema) -> Schema:
    """Types are spelt in capitals, as the enumeration of the API has them."""
    return _in_capitals(_only(schema, _OF_GEMINI))


def _within(schema: Schema) -> GrammarSize:
    members: dict[str, Schema] = schema.get("properties", {})
    size = GrammarSize(
        optional=len(members.keys() - set(schema.get("required", ()))),
        unions=int("anyOf" in schema or isinstance(schema.get("type"), list)),
    )
    for each in (*members.values(), *schema.get("anyOf", ()), *filter(None, [schema.get("items")])):
        size += _within(each)
    return size


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
