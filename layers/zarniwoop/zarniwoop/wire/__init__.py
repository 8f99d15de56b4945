"""The sans-I/O machinery behind the built-in adapters: a format is declared, a driver carries it out."""
