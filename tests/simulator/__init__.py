"""The provider simulator: one loopback server that answers in the wire formats of its providers, and serves pages.

It matches queries for real over a small bundled corpus, pages, and breaks on demand. `Simulator` runs it in process,
`python -m tests.simulator` as a process of its own.
"""

from tests.simulator.server import Simulator

__all__ = ["Simulator"]
