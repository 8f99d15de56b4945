"""What the protocol itself refuses. Whatever a tool refuses is a tool's result, which a model can read."""

from typing import Any

from zarniwoop.contract.failure import ZarniwoopError
from zarniwoop.mcp.revisions import REVISIONS, STATUSES, Code

RequestId = int | str


class ProtocolFault(ZarniwoopError):  # noqa: N818 - named by its consequence, as in `contract.failure`
    """A message that is not answered by a result. Its words are ours: they never repeat what was sent."""

    def __init__(
        self,
        code: Code,
        message: str,
        *,
        data: Any = None,
        request_id: RequestId | None = None,
        status: int | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data
        self.request_id = request_id
        self.status = status or STATUSES.get(code, 400)

    def body(self) -> dict[str, Any]:
        """The JSON-RPC error; an id that could not be read is null."""
        error = {"code": int(self.code), "message": self.message, **({} if self.data is None else {"data": self.data})}
        return {"jsonrpc": "2.0", "id": self.request_id, "error": error}


def unsupported(requested: str, request_id: RequestId | None = None) -> ProtocolFault:
    """`requested` goes back because the revision wants it so; it is a header, and shortened."""
    return ProtocolFault(
        Code.UNSUPPORTED_REVISION,
        "Unsupported protocol version",
        data={"supported": list(REVISIONS), "requested": requested[:64]},
        request_id=request_id,
    )
