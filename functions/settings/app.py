"""`settings`: what is in force and where it stands, changed by whoever may, tried out before it is saved."""

from zarniwoop.entry.settings import settings

handler = settings()
