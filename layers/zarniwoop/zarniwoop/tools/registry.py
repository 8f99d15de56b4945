"""Every tool, named here and nowhere else: routes, schemas, documentation and house rules are made from this tuple."""

from typing import Any

from zarniwoop.tools.research_investigate import RESEARCH_INVESTIGATE
from zarniwoop.tools.research_providers import RESEARCH_PROVIDERS
from zarniwoop.tools.research_rich import RESEARCH_RICH
from zarniwoop.tools.research_search import RESEARCH_SEARCH, RESEARCH_SEARCH_EXPERT
from zarniwoop.tools.tool import Tool

TOOLS: tuple[Tool[Any], ...] = (
    RESEARCH_SEARCH,
    RESEARCH_SEARCH_EXPERT,
    RESEARCH_RICH,
    RESEARCH_INVESTIGATE,
    RESEARCH_PROVIDERS,
)
