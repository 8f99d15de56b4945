"""The webhook: where it may go, how it is signed, and what becomes of one that is not delivered."""

import hashlib
import hmac
import shutil
import subprocess
from dataclasses import replace

import orjson
import pytest

from tests.contract.test_run_store import run
from tests.fakes.asking import Make, always, transports
from tests.fakes.clock import FakeClock
from tests.fakes.cloud import cloud
from tests.fakes.environment import FakeEnvironment
from tests.fakes.origin import Origin, reply
from tests.fakes.transport import ScriptedTransport, answer
from zarniwoop.contract.deadline import Deadline
from zarniwoop.contract.failure import Cause, MalformedAnswer, ProviderError, ProviderUnavailable
from zarniwoop.contract.problem import InvalidArgument
from zarniwoop.net.address import AllowedNetworks
from zarniwoop.observe.clock import SystemClock
from zarniwoop.pipelines.webhook import (
    SIGNATURE_HEADER,
    WebhookSender,
    WebhookUndelivered,
    checked_target,
    signature,
    webhook_secret,
)
from zarniwoop.stores.runs import RunState

KEY = b"h" * 64
URL = "https://hooks.example.com/zarniwoop"
ENDED = replace(run(), ended_at=1_800_000_009.0, ended_as=RunState.SUCCEEDED, outcome="success", counts={"hits": 7})
make = pytest.fixture(transports)


def _send(*script: object, key: bytes | None = KEY) -> ScriptedTransport:
    clock = FakeClock()
    transport = ScriptedTransport(*script)  # type: ignore[arg-type]
    WebhookSender(transport, clock, lambda: key).send(ENDED, URL, Deadline.after(20, clock))
    return transport


@pytest.mark.parametrize(
    ("url", "sent_to"),
    [
        (URL, URL),
        ("HTTPS://Hooks.Example.COM:443/a?b=c#d", "https://hooks.example.com/a?b=c"),
        ("https://hooks.example.com:8443", "https://hooks.example.com:8443/"),
        ("https://8.8.8.8/", "https://8.8.8.8/"),
    ],
)
def test_a_public_https_address_may_be_told(url: str, sent_to: str) -> None:
    """In its one spelling, which is the one that is asked."""
    assert checked_target(url) == sent_to


@pytest.mark.parametrize(
    "url",
    [
        "http://hooks.example.com/",
        "ftp://hooks.example.com/",
        "hooks.example.com",
        "https://",
        "https://user:password@hooks.example.com/",
        "https://hooks.example.com:22/",
        "https://localhost/",
        "https://10.0.0.1/",
        "https://127.0.0.1/",
        "https://127.1/",
        "https://0x7f000001/",
        "https://2130706433/",
        "https://169.254.169.254/latest/meta-data/",
        "https://[::1]/",
        "https://[::ffff:10.0.0.1]/",
        "https://[fd00:ec2::254]/",
        "https://metadata.google.internal/",
        "https://intranet/",
        "https://hooks.example.com\\@10.0.0.1/",
        "https://hooks.example.com/\nx",
    ],
)
def test_no_other_address_may(url: str) -> None:
    """The argument is named, and the address is not repeated."""
    with pytest.raises(InvalidArgument) as refused:
        checked_target(url)
    assert (refused.value.field, refused.value.status) == ("webhook_url", 400)
    assert url not in refused.value.detail


def test_a_receiver_can_verify_what_arrives(make: Make) -> None:
    """With the tenant's secret, over the bytes that came, as the module says."""
    with Origin(reply(b"ok")) as origin:
        sender = WebhookSender(make(), FakeClock(1_800_000_123.9), lambda: KEY)
        sender.send(ENDED, f"{origin.url}/hook", Deadline.after(5, SystemClock()))
    (received,) = origin.requests
    told = dict(part.split("=", 1) for part in received.headers[SIGNATURE_HEADER.lower()].split(","))
    secret = hmac.new(KEY, b"zarniwoop-webhook-v1:acme", hashlib.sha256).hexdigest().encode()
    signed = f"{told['t']}.".encode() + received.body
    assert told["t"] == "1800000123"
    assert hmac.compare_digest(told["v1"], hmac.new(secret, signed, hashlib.sha256).hexdigest())
    assert (received.method, received.target, received.headers["content-type"]) == ("POST", "/hook", "application/json")


@pytest.mark.skipif(shutil.which("openssl") is None, reason="there is no openssl here")
def test_the_secret_is_what_the_documented_command_prints() -> None:
    """An operator makes it with openssl and nothing of ours."""
    made = subprocess.run(  # noqa: S603 - a key of the test
        ["openssl", "dgst", "-sha256", "-hmac", KEY.decode()],
        input=b"zarniwoop-webhook-v1:acme",
        capture_output=True,
        check=True,
    )
    assert made.stdout.decode().strip().rpartition(" ")[2] == webhook_secret(KEY, "acme")


def test_tenants_have_secrets_of_their_own() -> None:
    """One receiver cannot sign for another tenant; another second and another body are another signature."""
    assert webhook_secret(KEY, "acme") != webhook_secret(KEY, "other")
    signatures = {signature("s", 1, b"a"), signature("s", 2, b"a"), signature("s", 1, b"b"), signature("t", 1, b"a")}
    assert len(signatures) == 4


def test_it_tells_that_the_run_has_ended_and_how() -> None:
    """Not what was asked, nor what was found: those are fetched with a token."""
    (sent,) = _send(answer()).sent
    told = sent.request.json
    assert (told["type"], told["run_id"], told["project_id"]) == ("run.ended", ENDED.run_id, "demo")
    assert (told["state"], told["outcome"], told["counts"], told["ended_at"]) == (
        "succeeded",
        "success",
        {"hits": 7},
        1_800_000_009.0,
    )
    assert told["status_url"] == f"/v1/runs/{ENDED.run_id}?project_id=demo"
    assert "acme" not in orjson.dumps(told).decode()
    assert (sent.request.max_redirects, sent.authentication) == (0, None)


@pytest.mark.parametrize("status", [200, 202, 204])
def test_any_status_of_success_is_delivered(status: int) -> None:
    """The body of the answer means nothing."""
    assert len(_send(answer("<html>", status=status)).sent) == 1


@pytest.mark.parametrize(
    ("step", "reason", "retryable"),
    [
        (answer(status=302), "status_302", False),
        (answer(status=401), "status_401", False),
        (answer(status=410), "status_410", False),
        (answer(status=408), "status_408", True),
        (answer(status=429), "status_429", True),
        (answer(status=503), "status_503", True),
        (ProviderUnavailable("slow", cause=Cause.TIMEOUT), "timeout", True),
        (ProviderUnavailable("private", cause=Cause.ADDRESS), "address_refused", False),
        (MalformedAnswer("large", cause=Cause.TOO_LARGE), "body_too_large", True),
        (ProviderError("whatever"), "provider_error", True),
    ],
)
def test_an_undelivered_webhook_says_why_and_whether_it_may_yet_work(
    step: object, reason: str, retryable: bool
) -> None:
    """In a word that is kept with the run."""
    with pytest.raises(WebhookUndelivered) as failed:
        _send(step)
    assert (failed.value.reason, failed.value.retryable) == (reason, retryable)


def test_without_the_stacks_key_nothing_is_sent() -> None:
    """A signature under a key of the moment would be refused by every receiver."""
    with pytest.raises(WebhookUndelivered, match="no_signing_key"):
        _send(key=None)


def test_the_wired_sender_signs_with_the_stacks_key_or_not_at_all() -> None:
    """Read from Parameter Store for each webhook; in this environment there is none."""
    environment = FakeEnvironment()
    with pytest.raises(WebhookUndelivered, match="no_signing_key"):
        environment.webhooks.send(ENDED, URL, Deadline.after(5, environment.clock))


def test_what_the_operator_opened_for_search_servers_is_closed_to_webhooks() -> None:
    """Loopback is allowed to this stack's searches, and the address is checked where it is dialled."""
    with cloud() as account, Origin() as origin:
        environment = account.environment()
        with pytest.raises(WebhookUndelivered, match="address_refused"):
            environment.webhooks.send(ENDED, origin.url, Deadline.after(5, environment.clock))
        assert origin.requests == []


def test_a_name_that_leads_inside_is_refused_when_it_is_sent(make: Make) -> None:
    """It was public when the run was started."""
    inside = make(allowed=AllowedNetworks(), resolve=always("10.0.0.7"))
    with pytest.raises(WebhookUndelivered, match="address_refused"):
        WebhookSender(inside, FakeClock(), lambda: KEY).send(ENDED, URL, Deadline.after(5, SystemClock()))
