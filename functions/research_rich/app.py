"""`research_rich`: one query over WEB, IMAGE, VIDEO and NEWS at once."""

from zarniwoop.entry.tool import tool
from zarniwoop.tools.research_rich import RESEARCH_RICH

handler = tool(RESEARCH_RICH)
