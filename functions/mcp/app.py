"""`mcp`: all tools over the Model Context Protocol."""

from zarniwoop.entry.mcp import mcp

handler = mcp()
