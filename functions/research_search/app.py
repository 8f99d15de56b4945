"""`research_search`: the standard hit list for a query and a modality."""

from zarniwoop.entry.tool import tool
from zarniwoop.tools.research_search import RESEARCH_SEARCH

handler = tool(RESEARCH_SEARCH)
