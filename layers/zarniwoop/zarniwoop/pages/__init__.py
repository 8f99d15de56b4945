"""Pages of strangers: who opens the connection, by which rules, and in which form question and answer travel."""
