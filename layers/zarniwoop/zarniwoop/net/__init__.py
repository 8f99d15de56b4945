"""The only package with sockets."""
