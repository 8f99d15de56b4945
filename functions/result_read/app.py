"""`result_read`: the hits that did not fit into an answer."""

from zarniwoop.entry.tool import tool
from zarniwoop.tools.result_read import RESULT_READ

handler = tool(RESULT_READ)
