"""The built-in protocols: one file each, a declaration and a generator that never touches the network."""

from zarniwoop.wire.driver import WireProtocol

BUILTIN: tuple[WireProtocol, ...] = ()
"""Every built-in, named here and nowhere else. Add-ons come by the entry point group `zarniwoop.protocols`."""
