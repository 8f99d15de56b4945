"""The `zarniwoop` command: a person's or a script's way to a stack, over HTTP only and on top of `zarniwoop_client`."""
