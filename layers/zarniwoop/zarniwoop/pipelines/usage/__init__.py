"""Usage: what was asked of providers, what came of it, and what it cost."""
