"""`research_search_expert`: a search with filters, and optionally one pinned instance."""

from zarniwoop.entry.tool import tool
from zarniwoop.tools.research_search import RESEARCH_SEARCH_EXPERT

handler = tool(RESEARCH_SEARCH_EXPERT)
