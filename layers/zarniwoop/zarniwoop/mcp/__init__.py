"""MCP as it is spoken on the wire: JSON-RPC in, JSON-RPC out, for three revisions, with nothing kept in between."""
