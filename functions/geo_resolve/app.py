"""`geo_resolve`: names and addresses to places with coordinates."""

from zarniwoop.entry.tool import tool
from zarniwoop.tools.geo_resolve import GEO_RESOLVE

handler = tool(GEO_RESOLVE)
