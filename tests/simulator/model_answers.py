"""What the scripted model answers: the recipes of this project by rule, anything else in one sentence.

It reads the prompt as a model would: the indexes out of the list, the hits out of the fence. A question that comes
without a schema (over Bedrock, or in words) is recognised by what its system part asks for.
"""

import json
import re
from collections.abc import Callable
from typing import Any

INVENTED_SPAN = "As is well known, they contradict each other."
PROSE = "This model answers by rule and says nothing else."

_ASKS = {
    "You plan": "research_plan",
    "You judge": "research_verdicts",
    "You put search hits into order": "research_order",
    "You extract entities": "research_insights",
}
_INDEX = re.compile(r"^- ([a-z0-9][a-z0-9_-]*) \(([A-Z_, ]+)\):", re.MULTILINE)
_ALLOWED = re.compile(r"`modality` is one of: ([A-Z_, ]+)\.")
_QUESTION = re.compile(r"^Question:\n(.*)$", re.MULTILINE)
_MOST = re.compile(r"at most (\d+) searches")


def schema_of(body: dict[str, Any]) -> str:
    """The schema's name, as the request says it or as its words mean it."""
    named = body.get("response_format", {}).get("json_schema", {}).get("name")
    if named:
        return str(named)
    text = _text(body)
    return next((schema for words, schema in _ASKS.items() if words in text), "")


def content_for(body: dict[str, Any]) -> str:
    answer = _ANSWERS.get(schema_of(body))
    return json.dumps(answer(_text(body)), ensure_ascii=False) if answer else PROSE


def _text(body: dict[str, Any]) -> str:
    """All messages as one text; content may be a list of parts."""
    contents = [message.get("content") or "" for message in body.get("messages", ())]
    return "\n".join(
        content if isinstance(content, str) else "".join(part.get("text", "") for part in content)
        for content in contents
    )


def _plan(text: str) -> dict[str, Any]:
    """One search per modality that is allowed and served, in the question's own words."""
    question = (_QUESTION.findall(text) or [""])[0]
    allowed = _words((_ALLOWED.findall(text) or [""])[0])
    serving = {name: _words(modalities) for name, modalities in _INDEX.findall(text)}
    most = int((_MOST.findall(text) or ["1"])[0])
    second_wave = "first wave" in text
    searches = [
        {
            "query": f"{question} overview"[:400] if second_wave else question[:400],
            "modality": modality,
            "sourceAffinity": {name: 1.0 for name, served in serving.items() if modality in served},
        }
        for modality in allowed
    ]
    return {"searches": searches[:most], "rationale": "One search per kind of index."}


def _verdicts(text: str) -> dict[str, Any]:
    """Every third hit is dropped; the others are the less relevant the later they come."""
    return {
        "verdicts": [
            {
                "key": hit["key"],
                "verdict": "drop" if number % 3 == 2 else "keep",
                "relevanceScore": round(max(0.1, 0.95 - 0.03 * number), 2),
                "reason": "It is about something else." if number % 3 == 2 else "It is about the question.",
            }
            for number, hit in enumerate(_hits(text))
        ]
    }


def _order(text: str) -> dict[str, Any]:
    return {"keys": [hit["key"] for hit in reversed(_hits(text))]}


def _insights(text: str) -> dict[str, Any]:
    """The title of each of the first hits as a work, and each but the first related to the first.

    A title of one word is passed over: it carries no relation. One relation more is made up, as models do: no hit has
    the words that it quotes.
    """
    hits = [hit for hit in _hits(text) if " " in hit["title"]][:3]
    entities = [{"name": hit["title"], "type": "work", "key": hit["key"], "span": hit["title"]} for hit in hits]
    relations = [
        {
            "subject": hit["title"],
            "relation": "related to",
            "object": hits[0]["title"],
            "key": hit["key"],
            "span": hit["title"],
        }
        for hit in hits[1:]
    ]
    made_up = [{**each, "relation": "contradicts", "span": INVENTED_SPAN} for each in relations[:1]]
    return {"entities": entities, "relations": relations + made_up}


def _hits(text: str) -> list[dict[str, Any]]:
    lines = [line for line in text.splitlines() if line.startswith('{"key":')]
    return [json.loads(line) for line in lines]


def _words(listed: str) -> list[str]:
    return [word.strip() for word in listed.split(",") if word.strip()]


_ANSWERS: dict[str, Callable[[str], dict[str, Any]]] = {
    "research_plan": _plan,
    "research_verdicts": _verdicts,
    "research_order": _order,
    "research_insights": _insights,
}
