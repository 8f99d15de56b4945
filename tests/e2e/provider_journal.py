"""The provider simulator as a test of the deployed stack uses it: faults on demand, and its journal of who asked."""

from typing import Any

import httpx

Seen = dict[str, Any]
"""One request with the moments of `tests.simulator.journal`: of the same clock as a searcher's."""


class Providers:
    """All providers of the stack."""

    def __init__(self, control: httpx.Client) -> None:
        self._control = control

    def fault(self, prefix: str, name: str, *, times: int | None = None, **options: Any) -> None:
        """From now on (or for the next `times` requests) answers at paths that begin so go wrong in this way."""
        told = {"prefix": f"/{prefix}", "fault": name, "times": times, **options}
        self._control.post("/_control/faults", json=told).raise_for_status()

    def heal(self) -> None:
        self._control.request("DELETE", "/_control/faults").raise_for_status()

    def forget(self) -> None:
        """What was asked so far."""
        self._control.request("DELETE", "/_control/requests").raise_for_status()

    def asked(self, provider: str) -> list[Seen]:
        """The provider's requests, in the order in which they came."""
        seen = self._control.get("/_control/requests").raise_for_status().json()
        return sorted((each for each in seen if each["path"].split("/")[1] == provider), key=lambda each: each["at"])
