"""`evidence`: what a project has read, and whether it still says so."""

from zarniwoop.entry.evidence import evidence

handler = evidence()
