"""Snippets that need no stack: the picture, and the page on add-ons."""

import re
import tomllib
from typing import Any

from tests.fakes.clock import FakeClock
from tests.fakes.functions import FUNCTIONS
from tests.fakes.instances import scope
from tests.fakes.keys import FakeKeyRing
from tests.fakes.transport import ScriptedTransport, answer
from tests.snippets.blocks import Block
from zarniwoop.contract.modality import SearchModality
from zarniwoop.contract.provider import ProviderInstanceConfig
from zarniwoop.contract.request import SearchRequest

_WIDEST = 120


def every_function_is_in_the_picture(picture: Block) -> None:
    """By its own name, and no line is wider than a screen."""
    words = set(re.findall(r"\w+", picture.text))
    folders = {path.parent.name for path in FUNCTIONS.glob("*/app.py")}
    assert folders <= words, f"the picture misses {sorted(folders - words)}"
    assert max(map(len, picture.text.splitlines())) <= _WIDEST


def the_protocol_on_the_page_searches(code: Block, package: Block) -> None:
    """It is asked and read as a provider is, and is where its package says."""
    named: dict[str, Any] = {"__name__": "my_package"}
    exec(compile(code.text, "docs/adding-a-provider.md", "exec"), named)  # noqa: S102
    transport = ScriptedTransport(answer({"volumes": [{"name": "On Bells", "link": "https://shelf.example/v/1"}]}))
    configuration = ProviderInstanceConfig(
        instance_id="shelf-main",
        protocol_id="shelf",
        base_url="https://shelf.example",
        transport=transport,
        keys=FakeKeyRing(),
        clock=FakeClock(),
        credential_key="apiKey",
    )
    instance = named["PROTOCOL"].instantiate(configuration)
    found = instance.search(SearchRequest(query="bells", modality=SearchModality.BOOK), scope())
    assert [(hit.title, hit.url) for hit in found.hits] == [("On Bells", "https://shelf.example/v/1")]
    entry = tomllib.loads(package.text)["project"]["entry-points"]["zarniwoop.protocols"]
    assert entry == {named["PROTOCOL"].id(): "my_package:PROTOCOL"}
