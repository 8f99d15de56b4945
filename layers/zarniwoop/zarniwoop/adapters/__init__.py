"""The built-in protocols: one file each, a declaration and a generator that never touches the network."""

from zarniwoop.adapters import arxiv, hackernews, openalex, openlibrary, pubmed, serper, wikipedia
from zarniwoop.wire.driver import WireProtocol

BUILTIN: tuple[WireProtocol, ...] = (
    serper.PROTOCOL,
    wikipedia.PROTOCOL,
    openalex.PROTOCOL,
    arxiv.PROTOCOL,
    pubmed.PROTOCOL,
    openlibrary.PROTOCOL,
    hackernews.PROTOCOL,
)
"""Every built-in, named here and nowhere else. Add-ons come by the entry point group `zarniwoop.protocols`."""
