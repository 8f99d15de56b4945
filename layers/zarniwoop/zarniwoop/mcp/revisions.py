"""The revisions of MCP that are spoken here, and the words that they have in common.

Spec: modelcontextprotocol.io/specification, revision 2026-07-28 (every request says in `_meta` who asks and how,
headers repeat it, and nothing is remembered), 2025-11-25 and 2025-06-18 (a handshake first; here it is answered and
forgotten).
Quirk: 2025-03-26 obliges a server to take batches, so it is not among them.

Plain words instead of the official models, which the tests hold them against: importing those costs as much as all
tools together.
"""

from enum import IntEnum

STATELESS = "2026-07-28"
HANDSHAKES = ("2025-11-25", "2025-06-18")
"""The newest first: it is what a client is offered that asks for one that is not spoken here."""
REVISIONS = (STATELESS, *HANDSHAKES)

REVISION_HEADER = "mcp-protocol-version"
METHOD_HEADER = "mcp-method"
NAME_HEADER = "mcp-name"
ROUTING_HEADERS = frozenset((REVISION_HEADER, METHOD_HEADER, NAME_HEADER))

META_REVISION = "io.modelcontextprotocol/protocolVersion"
META_CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
META_CLIENT = "io.modelcontextprotocol/clientInfo"
META_SERVER = "io.modelcontextprotocol/serverInfo"


class Code(IntEnum):
    """JSON-RPC's own error codes, and those that MCP adds."""

    PARSE_ERROR = -32700
    INVALID_REQUEST = -32600
    METHOD_NOT_FOUND = -32601
    INVALID_PARAMS = -32602
    INTERNAL_ERROR = -32603
    HEADER_MISMATCH = -32020
    UNSUPPORTED_REVISION = -32022


STATUSES = {Code.METHOD_NOT_FOUND: 404, Code.INTERNAL_ERROR: 500}
"""Of 2026-07-28, where it is not 400; an internal error's where no id could be read, for else the body tells it."""
