"""Answers that are kept, and the one flight that the fleet may have under way for each."""

from typing import Protocol

from zarniwoop.stores.kept_results import Flight, KeptAnswer, Standing
from zarniwoop.stores.project import ProjectKey


class ResultStore(Protocol):
    """Every method raises StoreUnavailable when it fails, and ValueError for an identity that is no hash.

    What stands under an identity is also read by `StateStore.snapshot`, beside the state that a search needs anyway.
    """

    def look(self, project: ProjectKey, identity: str) -> Standing | None:
        """What stands there now."""
        ...

    def claim(
        self, project: ProjectKey, identity: str, flight: Flight, *, over: Standing | None = None
    ) -> Standing | None:
        """Take off where nothing stands, or a flight that is over, or `over`, an answer that the caller cannot use.

        None on success; what stands there instead when somebody was faster, or belongs to a later generation.
        """
        ...

    def land(self, project: ProjectKey, identity: str, holder: str) -> None:
        """End a flight that brought nothing to keep; one that was taken over meanwhile stays."""
        ...

    def keep(self, project: ProjectKey, identity: str, answer: KeptAnswer) -> None:
        """Put the answer in the place of whatever stands there, unless that is of a later generation."""
        ...

    def body(self, project: ProjectKey, answer: KeptAnswer) -> bytes | None:
        """The packed answer, from wherever it lies; None when it is gone."""
        ...
