"""A transport on httpx: for adapters against the simulator or an `httpx.MockTransport`, without the guard of `net`."""

from types import TracebackType

import httpx

from zarniwoop.contract.deadline import Deadline
from zarniwoop.contract.failure import Cause, MalformedAnswer, ProviderUnavailable
from zarniwoop.contract.transport import Authentication, HeaderKey, HttpAnswer, HttpRequest, Secret


class HttpxTransport:
    """`contract.transport.Transport` over one `httpx.Client`; `through` replaces its sockets.

    A body is read whole before its size is looked at, so `max_bytes` saves no memory here.
    """

    def __init__(self, through: httpx.BaseTransport | None = None) -> None:
        self._client = httpx.Client(transport=through, headers={"User-Agent": "Zarniwoop/tests"}, trust_env=False)

    def __enter__(self) -> "HttpxTransport":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._client.close()

    def send(
        self,
        request: HttpRequest,
        *,
        deadline: Deadline,
        authentication: Authentication | None = None,
        secret: Secret | None = None,
    ) -> HttpAnswer:
        params, headers = dict(request.params), dict(request.headers)
        if authentication is not None and secret is not None:
            if isinstance(authentication, HeaderKey):
                headers[authentication.name] = authentication.value_of(secret.reveal())
            else:
                params[authentication.name] = secret.reveal()
        response = self._head(request, params, headers, deadline.remaining())
        try:
            response.read()
        except httpx.TimeoutException:
            raise ProviderUnavailable("the answer does not end", cause=Cause.TIMEOUT) from None
        except httpx.DecodingError:
            raise MalformedAnswer("the content coding is broken", cause=Cause.ENCODING) from None
        except httpx.TransportError:
            raise MalformedAnswer("the answer is cut short", cause=Cause.TRUNCATED) from None
        finally:
            response.close()
        if request.max_bytes is not None and len(response.content) > request.max_bytes:
            raise MalformedAnswer("the body is too large", cause=Cause.TOO_LARGE)
        return HttpAnswer(
            status=response.status_code,
            headers={name.lower(): value for name, value in response.headers.items()},
            body=response.content,
            url=str(response.url),
        )

    def _head(
        self, request: HttpRequest, params: dict[str, str], headers: dict[str, str], seconds: float
    ) -> httpx.Response:
        asked = self._client.build_request(
            request.method,
            request.url,
            params=params or None,
            headers=headers,
            json=request.json,
            data=dict(request.form) if request.form is not None else None,
            timeout=seconds,
        )
        try:
            return self._client.send(asked, stream=True, follow_redirects=request.max_redirects > 0)
        except httpx.TimeoutException:
            raise ProviderUnavailable("no answer in time", cause=Cause.TIMEOUT) from None
        except httpx.TooManyRedirects:
            raise ProviderUnavailable("redirects do not end", cause=Cause.ENDLESS_REDIRECTS) from None
        except httpx.TransportError:
            raise ProviderUnavailable("the connection broke", cause=Cause.RESET) from None
