"""The one TLS context of an execution environment: always verifying, made when the first https connection needs it."""

import ssl
import threading
from pathlib import Path

import certifi


class TlsContext:
    """A context that costs nothing until it is used: reading the certificate bundle takes tens of milliseconds."""

    def __init__(self, extra_ca_file: Path | None = None) -> None:
        self._extra_ca_file = extra_ca_file
        self._lock = threading.Lock()
        self._context: ssl.SSLContext | None = None

    def context(self) -> ssl.SSLContext:
        with self._lock:
            if self._context is None:
                self._context = self._make()
            return self._context

    def _make(self) -> ssl.SSLContext:
        """Not `ssl.create_default_context`, which takes a bundle and a key log from environment variables."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        context.load_verify_locations(certifi.where())
        if self._extra_ca_file is not None:
            context.load_verify_locations(self._extra_ca_file)
        context.set_alpn_protocols(["http/1.1"])
        return context
