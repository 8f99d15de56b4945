"""`research_providers`: what provider instances there are, and in what state."""

from zarniwoop.entry.tool import tool
from zarniwoop.tools.research_providers import RESEARCH_PROVIDERS

handler = tool(RESEARCH_PROVIDERS)
