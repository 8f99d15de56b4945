"""`research_investigate`: starts an investigation, and may wait for its result."""

from zarniwoop.entry.tool import tool
from zarniwoop.tools.research_investigate import RESEARCH_INVESTIGATE

handler = tool(RESEARCH_INVESTIGATE)
