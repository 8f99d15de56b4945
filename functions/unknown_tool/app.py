"""`unknown_tool`: refuses events that ask for a tool that there is not."""

from zarniwoop.entry.unknown_tool import unknown_tool

handler = unknown_tool()
