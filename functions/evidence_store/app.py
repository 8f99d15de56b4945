"""`evidence_store`: what a project has read, listed, read again and cited."""

from zarniwoop.entry.tool import tool
from zarniwoop.tools.evidence_store import EVIDENCE_STORE

handler = tool(EVIDENCE_STORE)
