"""Answers that are kept, and asked for once by the whole fleet."""
