"""`run_status`: how far a run is, and what it has found."""

from zarniwoop.entry.tool import tool
from zarniwoop.tools.run_status import RUN_STATUS

handler = tool(RUN_STATUS)
