"""`usage`: what a project asked of which provider, and what that cost."""

from zarniwoop.entry.usage import usage

handler = usage()
