"""Who is asked when: one after the other, beside one that hangs, several at once."""
