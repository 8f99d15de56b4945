"""Zarniwoop: research and search for AI agents, serverless in the user's own AWS account."""

__version__ = "0.1.0"
