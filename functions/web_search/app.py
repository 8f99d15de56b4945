"""`web_search`: pages of the web for a question, kept as evidence."""

from zarniwoop.entry.tool import tool
from zarniwoop.tools.web_search import WEB_SEARCH

handler = tool(WEB_SEARCH)
