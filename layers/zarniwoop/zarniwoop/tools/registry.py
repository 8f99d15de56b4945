"""Every tool, named here and nowhere else: routes, schemas, documentation and house rules are made from this tuple."""

from typing import Any

from zarniwoop.contract.problem import UnknownThing
from zarniwoop.tools.evidence_store import EVIDENCE_STORE
from zarniwoop.tools.geo_resolve import GEO_RESOLVE
from zarniwoop.tools.research_investigate import RESEARCH_INVESTIGATE
from zarniwoop.tools.research_providers import RESEARCH_PROVIDERS
from zarniwoop.tools.research_rich import RESEARCH_RICH
from zarniwoop.tools.research_search import RESEARCH_SEARCH, RESEARCH_SEARCH_EXPERT
from zarniwoop.tools.result_read import RESULT_READ
from zarniwoop.tools.run_status import RUN_STATUS
from zarniwoop.tools.tool import Tool
from zarniwoop.tools.web_fetch import WEB_FETCH
from zarniwoop.tools.web_search import WEB_SEARCH

TOOLS: tuple[Tool[Any], ...] = (
    RESEARCH_SEARCH,
    RESEARCH_SEARCH_EXPERT,
    RESEARCH_RICH,
    RESEARCH_INVESTIGATE,
    RESEARCH_PROVIDERS,
    WEB_SEARCH,
    WEB_FETCH,
    EVIDENCE_STORE,
    GEO_RESOLVE,
    RUN_STATUS,
    RESULT_READ,
)


def no_such_tool() -> UnknownThing:
    return UnknownThing(
        "there is no tool of the name that the event gives",
        slug="unknown-tool",
        field="tool",
        suggested_action="name one of " + ", ".join(tool.name for tool in TOOLS),
    )
