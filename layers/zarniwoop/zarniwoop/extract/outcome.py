"""What becomes of a page's bytes, and the one way in which a step says that it cannot go on."""

from dataclasses import dataclass
from enum import StrEnum

from zarniwoop.contract.page import ExtractedPage, PageOutcome, PageStep


class Fault(StrEnum):
    """Why a reader gives up on bytes. The words are the reasons of a page's step and of a document's record."""

    EMPTY = "empty"
    UNKNOWN_ENCODING = "unknown_encoding"
    ENCRYPTED = "encrypted"
    BOMB = "expands_too_much"
    DAMAGED = "damaged"
    TOO_LONG = "too_much_text"
    WRONG_KIND = "wrong_extension"
    TOO_SLOW = "takes_too_long"
    SCANNED = "scanned"


class Unreadable(Exception):  # noqa: N818 - named by its consequence
    """These bytes give no text, for a reason of a closed set."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.value)
        self.fault = fault


@dataclass(frozen=True, slots=True, kw_only=True)
class Extraction:
    """How reading a page ended. `page` is there when anything could be read, also of a page that is no evidence.

    `degraded`: a step was given up, by the clock or with its process, and the page was read without it.
    `media_type` and `charset` are what the bytes are and were read as, whatever the header said.
    """

    outcome: PageOutcome
    reason: str | None = None
    page: ExtractedPage | None = None
    steps: tuple[PageStep, ...] = ()
    media_type: str | None = None
    charset: str | None = None
    degraded: bool = False
