"""The model gateway: wire formats of models, sans I/O, and what asks them, checks them and accounts for them."""
