"""Problems as the API states them."""

from zarniwoop_client.results.record import Record


class Problem(Record):
    """RFC 9457 problem details with the way out. https://www.rfc-editor.org/rfc/rfc9457"""

    type: str
    title: str
    status: int
    detail: str = ""
    field: str | None = None
    retryable: bool = False
    wait_seconds: float | None = None
    suggested_action: str | None = None

    @property
    def slug(self) -> str:
        """The last word of its type: `unknown-run`."""
        return self.type.rsplit(":", 1)[-1]
