"""What a status means when the provider has no reading of its own."""

import pytest

from tests.fakes.transport import answer
from zarniwoop.contract.failure import (
    AccessRefused,
    Cause,
    CredentialsRejected,
    MalformedAnswer,
    ProviderError,
    ProviderUnavailable,
    QueryRejected,
    QuotaExhausted,
    RateLimited,
)
from zarniwoop.wire.status import failure_of

NOW = 1_800_000_000.0


@pytest.mark.parametrize("status", [200, 201, 204, 206, 299])
def test_a_success_is_no_failure(status: int) -> None:
    """Whatever its body says; that is the adapter's to read."""
    assert failure_of(answer(b"quota exceeded", status=status), NOW) is None


@pytest.mark.parametrize(
    ("status", "body", "failure"),
    [
        (400, b"", QueryRejected),
        (400, b'{"message":"Not enough credits"}', QuotaExhausted),
        (401, b"", CredentialsRejected),
        (402, b"", CredentialsRejected),
        (402, b'{"tag":"NO_MORE_CREDITS","requestId":"1"}', QuotaExhausted),
        (403, b"", AccessRefused),
        (403, b"<html>bot wall</html>", AccessRefused),
        (
            403,
            b'{"error":{"code":"forbidden","message":"Your plan\'s Invalid API key isn\'t known"}}',
            CredentialsRejected,
        ),
        (403, b'{"detail":[{"msg":"Invalid API key"}]}', CredentialsRejected),
        (403, b'{"message":"Unauthorized."}', CredentialsRejected),
        (403, b'{"errors":[{"title":"Quota exceeded"}]}', QuotaExhausted),
        (403, b"Invalid API key", AccessRefused),
        (403, b"Quota exceeded", AccessRefused),
        (403, b"<html><title>Forbidden</title>api_key</html>", AccessRefused),
        (403, b'["Invalid API key"]', AccessRefused),
        (400, b'{"message":"bad query","query":"quota exceeded"}', QueryRejected),
        (400, b'{"message":"cannot read \'quota exceeded\' in \\"out of credits\\""}', QueryRejected),
        (400, b"<p>No result for quota exceeded</p>", QueryRejected),
        (403, b"API rate limit exceeded for this API key", RateLimited),
        (404, b"", QueryRejected),
        (408, b"", ProviderUnavailable),
        (410, b"", QueryRejected),
        (414, b"", QueryRejected),
        (422, b"", QueryRejected),
        (429, b"", RateLimited),
        (451, b"", AccessRefused),
        (500, b"", ProviderUnavailable),
        (503, b"", ProviderUnavailable),
        (503, b"Request was throttled", RateLimited),
        (529, b"", ProviderUnavailable),
        (301, b"", ProviderUnavailable),
        (307, b"", ProviderUnavailable),
        (100, b"", MalformedAnswer),
        (700, b"", MalformedAnswer),
    ],
)
def test_the_class_is_the_consequence(status: int, body: bytes, failure: type[ProviderError]) -> None:
    """The status decides, and where one status means several things the body's words do."""
    found = failure_of(answer(body, status=status), NOW)
    assert type(found) is failure
    assert found.status == status


@pytest.mark.parametrize(
    ("status", "body", "failure"),
    [
        (401, b"", AccessRefused),
        (402, b'{"message":"Not enough credits"}', AccessRefused),
        (403, b'{"error":"Invalid API key"}', AccessRefused),
        (400, b'{"error":"quota exceeded"}', QueryRejected),
        (429, b"", RateLimited),
    ],
)
def test_without_a_key_no_key_is_at_fault(status: int, body: bytes, failure: type[ProviderError]) -> None:
    """Whatever the words say: such an endpoint would be benched until somebody changed settings that are right."""
    assert type(failure_of(answer(body, status=status), NOW, keyed=False)) is failure


@pytest.mark.parametrize("status", [403, 429, 451, 500, 503])
def test_a_stated_wait_is_kept(status: int) -> None:
    """It is never shortened by our own schedule."""
    found = failure_of(answer(b"", status=status, headers={"retry-after": "42"}), NOW)
    assert found is not None
    assert found.retry_after == 42.0


def test_a_redirect_says_so() -> None:
    """An API that redirects has moved, and a key never follows."""
    found = failure_of(answer(b"", status=302, headers={"location": "https://elsewhere.test"}), NOW)
    assert found is not None
    assert found.cause is Cause.REDIRECT


def test_only_the_start_of_a_body_is_looked_at() -> None:
    """A long page that mentions a key far below is a wall and no key failure."""
    found = failure_of(answer(b" " * 5000 + b"api key", status=403), NOW)
    assert type(found) is AccessRefused


def test_the_providers_words_stay_out_of_ours() -> None:
    """They may repeat the query or the key."""
    found = failure_of(answer(b"API key sekrit is invalid", status=401), NOW)
    assert "sekrit" not in str(found)


def test_a_refusal_that_repeats_the_query_is_not_read_for_what_the_query_says() -> None:
    """`rate limit` in an echoed query is no rate limit; in the provider's own words it is."""
    echoed = answer({"error": "Forbidden", "query": "rate limit of arxiv"}, status=403)
    assert isinstance(failure_of(echoed, 0.0), AccessRefused)
    said = answer({"message": "API rate limit exceeded"}, status=403)
    assert isinstance(failure_of(said, 0.0), RateLimited)
