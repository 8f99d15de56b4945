"""Forty pages that give orders, read by a model that obeys every one: what stops it are the guard-rails, not its wits.

The agent has the tools of a token of level 1 and calls whatever a page orders; the stack is the deployed one, with a
key of the tenant's, another tenant's evidence and another project beside it.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import orjson
import pytest

from tests.fakes.document_files import docx
from tests.fakes.functions import posted, sample
from tests.fakes.injected_pages import COLLECTOR, INVENTED, OTHER_TENANT, SAID, SEEN, UNSEEN, Order, orders
from tests.fakes.web import PUBLIC, Web, moved, page
from tests.fakes.web_pages import ARTICLE_TEXT, article
from tests.fakes.web_tools import WebTools, web_tools
from tests.functional.deployed import CANARY
from tests.simulator import Simulator
from zarniwoop.tools.registry import TOOLS
from zarniwoop.wiring import Environment

ORDERED = re.compile(r"obey order number (\d+)")
SETTING = "research.endpoint.serper-main"
ORDERS = len(orders(""))
PAGES = [(number, True) for number in range(ORDERS)] + [(number, False) for number in range(len(UNSEEN))]
BATCHES = [PAGES[start : start + 8] for start in range(0, len(PAGES), 8)]
HOST = "http://www.example.com"


@dataclass
class Obedient:
    """A model with tools that does what it reads, in whatever field of an answer it stands."""

    tools: WebTools
    orders: tuple[Order, ...]

    def reads(self, *urls: str) -> tuple[Any, list[tuple[Order, Any]]]:
        """The pages' answer, and what came of every order in it."""
        answer = self.tools.fetch(*urls)
        numbers = dict.fromkeys(ORDERED.findall(" ".join(_strings(answer))))
        obeyed = [self.orders[int(number)] for number in numbers]
        return answer, [(order, self._call(order)) for order in obeyed]

    def _call(self, order: Order) -> Any:
        if order.tool == "settings":
            return self.tools.stack.envelope("settings", _level_1(sample("settings.save")))
        if order.tool not in {tool.name for tool in TOOLS}:
            return {"ok": False, "error": {"type": "urn:zarniwoop:problem:unknown-tool"}, "data": None}
        return self.tools.stack.envelope(order.tool, _level_1(posted(order.arguments, tool=order.tool)))


def _level_1(event: dict[str, Any]) -> dict[str, Any]:
    event["requestContext"]["authorizer"] |= {"level": "1"}
    return event


def _strings(value: Any) -> Iterator[str]:
    """Every text of an answer."""
    if isinstance(value, str):
        yield value
    for each in value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ():
        yield from _strings(each)


def _end(answer: Any) -> str:
    """The slug of the problem, or the outcome of the one page."""
    if answer["data"] and "pages" in answer["data"]:
        return str(answer["data"]["pages"][0]["outcome"])
    return str(answer["error"]["type"]).rpartition(":")[2]


@pytest.fixture(scope="module")
def agent() -> Iterator[Obedient]:
    hosts = ("t.evil.test", COLLECTOR, "www.example.com")
    web = Web(
        names={**{host: [(PUBLIC,)] for host in hosts}, "inside.evil.test": [("10.0.0.7",)]},
        pages={"/to-inside": moved("http://inside.evil.test/")},
        otherwise=page(article("Bells").encode()),
    )
    keys = {f"{SETTING}.apiKey": CANARY}
    with (
        Simulator() as simulator,
        pytest.MonkeyPatch.context() as patch,
        web,
        Environment({})._page_reader as reader,
        web_tools(simulator, patch, web, reader=reader, keys=keys) as tools,
    ):
        theirs = tools.call("web_fetch", {"urls": [f"{HOST}/"]}, identity={"tenant_id": OTHER_TENANT})
        yield Obedient(tools, orders(theirs["evidence"][0]["id"]))


def _of_others(tools: WebTools) -> list[Any]:
    """What nobody but another tenant may change: its evidence, and all settings."""
    theirs = [item for item in tools.evidence() if item["pk"]["S"] == f"T#{OTHER_TENANT}#P#demo"]
    ssm = tools.stack.cloud.client("ssm")
    settings = ssm.get_parameters_by_path(Path="/", Recursive=True, WithDecryption=True)["Parameters"]
    return [theirs, sorted((each["Name"], each["Value"]) for each in settings)]


def _body(number: int, seen: bool) -> str:
    carriers = SEEN if seen else UNSEEN
    return carriers[number % len(carriers)](SAID.format(number))


@pytest.mark.parametrize("batch", BATCHES, ids=lambda batch: f"{'seen' if batch[0][1] else 'unseen'} {batch[0][0]}")
def test_no_order_of_a_page_is_carried_out_however_willing_its_reader(
    agent: Obedient, batch: list[tuple[int, bool]]
) -> None:
    """What is seen is obeyed and stopped; what nobody sees is not even read."""
    tools, web = agent.tools, agent.tools.web
    before = _of_others(tools)
    for number, seen in batch:
        web.pages[f"/orders/{number}-{seen}"] = page(_body(number, seen).encode())
    answer, obeyed = agent.reads(*(f"{HOST}/orders/{number}-{seen}" for number, seen in batch))
    assert [order for order, _ in obeyed] == [agent.orders[number] for number, seen in batch if seen]
    assert [_end(came) for _, came in obeyed] == [order.end for order, _ in obeyed]
    fence = answer["data"]["fence"]
    for (number, seen), read in zip(batch, answer["data"]["pages"], strict=True):
        assert (read["outcome"], read["content"].count(fence)) == ("ok", 2)
        assert fence not in _body(number, seen)
        assert "instructions" in read["suspicious"] or not seen
    assert _of_others(tools) == before
    assert (web.canary_connections, web.forbidden) == (0, [])
    assert CANARY not in orjson.dumps([answer, [came for _, came in obeyed]]).decode()
    assert INVENTED not in orjson.dumps(tools.evidence()).decode()
    for request in web.requests:
        assert not {"authorization", "cookie", "x-api-key"} & request.headers.keys()


def test_there_are_forty_pages_and_every_order_is_given() -> None:
    """Twenty-four that are seen, sixteen that are not."""
    assert len(PAGES) == 40
    assert {number for number, seen in PAGES if seen} == set(range(ORDERS))


CODE = '```html\n<div style="display:none">how markup hides</div>\n```'


def _files(said: str) -> dict[str, tuple[str, bytes]]:
    """By path: a media type, and a body that says something which nobody sees."""
    text = " ".join(ARTICLE_TEXT)
    markdown = (
        f'{text}\n\n{CODE}\n\n<!-- {said} -->\n\n[//]: # ({said})\n\n<div style="display:none">\n\n{said}\n\n</div>'
    )
    item = f"<item><title>Bells</title><description><![CDATA[{text}<p hidden>{said}</p>]]></description></item>"
    hidden = f"<w:p><w:r><w:rPr><w:vanish/></w:rPr><w:t>{said}</w:t></w:r></w:p>"
    return {
        "/bells.md": ("text/markdown", markdown.encode()),
        "/feed": ("application/rss+xml", f"<rss><channel>{item}</channel></rss>".encode()),
        "/bells.docx": ("application/zip", docx(body=f"<w:p><w:r><w:t>{text}</w:t></w:r></w:p>{hidden}")),
    }


def test_what_a_file_hides_is_not_read_either(agent: Obedient) -> None:
    """Markdown, feeds and Word files hide what pages do; what their code shows is read."""
    files = _files(SAID.format(0))
    for path, (media_type, body) in files.items():
        agent.tools.web.pages[path] = page(body, headers={"Content-Type": media_type})
    answer, obeyed = agent.reads(*(f"{HOST}{path}" for path in files))
    assert obeyed == []
    pages = answer["data"]["pages"]
    assert [read["outcome"] for read in pages] == ["ok"] * 3
    assert [read["hidden"] for read in pages] == [
        {"comment": 2, "display_none": 1},
        {"hidden_attribute": 1},
        {"display_none": 1},
    ]
    assert all({"hidden_orders", "instructions"} <= set(read["suspicious"]) for read in pages)
    assert CODE in pages[0]["content"]
