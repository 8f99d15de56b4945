"""The webhook: one signed POST to the address that whoever started a run left, when the run has ended.

The body is JSON. The header `X-Zarniwoop-Signature: t=<epoch seconds>,v1=<hex>` holds the HMAC-SHA-256 of `<t>.<body>`
under the tenant's webhook secret. That secret is the lower-case hexadecimal text of HMAC-SHA-256(stack's hash key,
`zarniwoop-webhook-v1:<tenant id>`), which an operator makes once and gives to the receiver:

    printf 'zarniwoop-webhook-v1:acme' | openssl dgst -sha256 -hmac "$KEY"       # KEY: …/_stack/queryHashKey

A receiver makes the HMAC of `<t>.<raw body>` with it, compares it to `v1` in constant time, refuses a `t` that is more
than five minutes off, and takes a run id that it has seen before for a repetition: delivery is at least once.

Quirk: the address comes from a caller, so it is asked through a transport of its own, which knows no private network
that the operator opened for search servers. No redirect is followed, and of an answer only the status counts.
"""

import hashlib
import hmac
from collections.abc import Callable, Mapping
from typing import Any

import orjson

from zarniwoop.contract.deadline import Clock, Deadline
from zarniwoop.contract.failure import Cause, ProviderError, ProviderUnavailable, ZarniwoopError
from zarniwoop.contract.problem import InvalidArgument
from zarniwoop.contract.transport import HttpRequest, Transport
from zarniwoop.net.address import AllowedNetworks
from zarniwoop.net.url import parse
from zarniwoop.stores.runs import Run
from zarniwoop.tools.run_report import status_url

SIGNATURE_HEADER = "X-Zarniwoop-Signature"
DELIVERED = "delivered"
_SECONDS = 10.0
_MAX_ANSWER_BYTES = 64_000
_PURPOSE = "zarniwoop-webhook-v1:"


class WebhookUndelivered(ZarniwoopError):  # noqa: N818 - named by its consequence
    """The receiver was not reached or did not say yes. `reason` is a word; `retryable` whether it may yet work."""

    def __init__(self, reason: str, *, retryable: bool) -> None:
        super().__init__(f"the webhook was not delivered: {reason}")
        self.reason = reason
        self.retryable = retryable


def checked_target(url: str) -> str:
    """The address in its canonical spelling. Raises InvalidArgument when no webhook may go there.

    Names are looked up, and what they lead to is checked, when the webhook is sent: they may lead elsewhere by then.
    """
    try:
        return parse(url, allowed=AllowedNetworks()).url()
    except ProviderUnavailable as refusal:
        raise InvalidArgument(
            f"'webhook_url' cannot be used: {refusal.message}",
            field="webhook_url",
            suggested_action="give a public https address on port 443 or 8443 without a user or password in it",
        ) from None


def webhook_secret(stack_key: bytes, tenant_id: str) -> str:
    """The tenant's own secret, out of which nobody learns the stack's or another tenant's."""
    return hmac.new(stack_key, (_PURPOSE + tenant_id).encode(), hashlib.sha256).hexdigest()


def signature(secret: str, timestamp: int, body: bytes) -> str:
    """The value of the signature header."""
    mac = hmac.new(secret.encode(), f"{timestamp}.".encode() + body, hashlib.sha256).hexdigest()
    return f"t={timestamp},v1={mac}"


def payload(run: Run) -> dict[str, Any]:
    """What the receiver is told: that the run has ended and how. The hits are fetched with a token of his own."""
    return {
        "type": "run.ended",
        "run_id": run.run_id,
        "project_id": run.project.project_id,
        "tool": run.tool,
        "state": run.state,
        "outcome": run.outcome,
        "error": run.error,
        "counts": dict(run.counts),
        "cost": run.cost,
        "created_at": run.created_at,
        "ended_at": run.ended_at,
        "status_url": status_url(run),
    }


class WebhookSender:
    """Signs and sends. `stack_key` brings None when the stack's key cannot be read: nothing is sent unsigned."""

    def __init__(self, transport: Transport, clock: Clock, stack_key: Callable[[], bytes | None]) -> None:
        self._transport = transport
        self._clock = clock
        self._stack_key = stack_key

    def send(self, run: Run, url: str, deadline: Deadline) -> None:
        """Deliver it once. Raises WebhookUndelivered."""
        key = self._stack_key()
        if key is None:
            raise WebhookUndelivered("no_signing_key", retryable=True)
        told = payload(run)
        headers = self._signed(told, webhook_secret(key, run.project.tenant_id))
        request = HttpRequest(url=url, method="POST", json=told, headers=headers, max_bytes=_MAX_ANSWER_BYTES)
        try:
            status = self._transport.send(request, deadline=deadline.within(_SECONDS)).status
        except ProviderError as failure:
            reason = failure.cause.value if failure.cause else failure.reason
            raise WebhookUndelivered(reason, retryable=failure.cause is not Cause.ADDRESS) from failure
        if not 200 <= status <= 299:
            raise WebhookUndelivered(f"status_{status}", retryable=status >= 500 or status in (408, 425, 429))

    def _signed(self, told: Mapping[str, Any], secret: str) -> dict[str, str]:
        """The transport writes JSON as orjson does, so these are the bytes that go out."""
        return {SIGNATURE_HEADER: signature(secret, int(self._clock.now()), orjson.dumps(told))}
