"""`web_fetch`: pages of the web as Markdown and evidence."""

from zarniwoop.entry.tool import tool
from zarniwoop.tools.web_fetch import WEB_FETCH

handler = tool(WEB_FETCH)
