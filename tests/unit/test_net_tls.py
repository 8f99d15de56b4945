"""TLS: always verified, by certificates that nobody but the operator adds to."""

import os
import socket
import struct
import threading
from pathlib import Path

import pytest

from tests.fakes.asking import Make, ask, broken_off, failure_of, transports
from tests.fakes.certificates import certificate
from tests.fakes.origin import Conversation, Origin, hang, reply
from zarniwoop.contract.failure import Cause, ProviderUnavailable
from zarniwoop.net.exchange import Limits

make = pytest.fixture(transports)


def test_a_certificate_that_nobody_vouches_for_is_refused(make: Make, tmp_path: Path) -> None:
    _, server = certificate(tmp_path, "127.0.0.1")
    with Origin(reply(), tls=server) as origin:
        assert failure_of(make(), origin.url).cause is Cause.TLS
        assert not origin.requests


@pytest.mark.parametrize(("name", "expired"), [("other.example", False), ("127.0.0.1", True)])
def test_a_certificate_for_another_name_or_time_is_refused(
    make: Make, tmp_path: Path, name: str, expired: bool
) -> None:
    file, server = certificate(tmp_path, name, expired=expired)
    with Origin(reply(), tls=server) as origin:
        assert failure_of(make(extra_ca_file=file), origin.url).cause is Cause.TLS


def test_an_operators_own_certificate_authority_is_trusted(make: Make, tmp_path: Path) -> None:
    file, server = certificate(tmp_path, "127.0.0.1")
    with Origin(reply(), reply(), tls=server) as origin:
        transport = make(extra_ca_file=file)
        assert ask(transport, origin.url, method="POST").status == 200
        assert ask(transport, origin.url, method="POST").status == 200
        assert origin.connections == 1
        transport.close()


def test_an_encrypted_exchange_can_be_broken_off_from_outside(make: Make, tmp_path: Path) -> None:
    """Beneath the encryption, so that the thread that reads sees an end and nothing in the clear."""
    file, server = certificate(tmp_path, "127.0.0.1")
    with Origin(hang, tls=server) as origin:
        failure = broken_off(make(extra_ca_file=file), origin.url, when=lambda: bool(origin.requests))
        assert failure.cause in (Cause.RESET, Cause.TLS, Cause.DEADLINE)


def test_a_handshake_with_a_server_that_speaks_no_tls_fails_in_time(make: Make) -> None:
    with Origin(hang) as origin:
        url = origin.url.replace("http:", "https:")
        assert failure_of(make(), url, seconds=0.1).cause is Cause.DEADLINE
        assert failure_of(make(limits=Limits(handshake=0.05)), url).cause is Cause.TIMEOUT


def test_a_handshake_that_is_broken_off_is_a_tls_failure(make: Make) -> None:
    listener = socket.create_server(("127.0.0.1", 0))

    def break_off() -> None:
        connection, _ = listener.accept()
        connection.recv(10)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        connection.close()

    server = threading.Thread(target=break_off)
    server.start()
    with listener:
        assert failure_of(make(), f"https://127.0.0.1:{listener.getsockname()[1]}/").cause is Cause.TLS
        server.join(2)


def test_certificates_named_in_the_environment_have_no_say(
    make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, server = certificate(tmp_path, "127.0.0.1")
    monkeypatch.setenv("SSL_CERT_FILE", str(file))
    with Origin(reply(), tls=server) as origin:
        assert failure_of(make(), origin.url).cause is Cause.TLS


def test_https_never_becomes_http(make: Make, tmp_path: Path) -> None:
    file, server = certificate(tmp_path, "127.0.0.1")
    with Origin(reply()) as plain:
        act = reply(status=302, headers={"Location": plain.url})
        with Origin(act, tls=server) as origin, pytest.raises(ProviderUnavailable) as caught:
            ask(make(extra_ca_file=file), origin.url, max_redirects=5)
        assert caught.value.cause is Cause.REDIRECT
        assert not plain.requests


def test_a_connection_that_is_tampered_with_is_a_tls_failure(make: Make, tmp_path: Path) -> None:
    file, server = certificate(tmp_path, "127.0.0.1")

    def tamper(conversation: Conversation) -> None:
        os.write(conversation.connection.fileno(), b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        conversation.pause(0.1)

    with Origin(tamper, tls=server) as origin:
        assert failure_of(make(extra_ca_file=file), origin.url).cause is Cause.TLS
