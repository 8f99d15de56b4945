"""`authorizer`: who the bearer of a token is, and what the token is good for."""

from zarniwoop.entry.authorizer import authorizer

handler = authorizer()
