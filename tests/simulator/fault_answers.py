"""Faults that are another answer: refusals, wrong bodies, wrong codings, redirects."""

import gzip
import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from email.utils import formatdate
from time import time

from tests.simulator.faults import Exchange, Options
from tests.simulator.messages import Answer

FaultyAnswer = Callable[[Exchange, Options], Answer]

_LOGIN_PAGE = (
    b"<!DOCTYPE html><html><head><title>Sign in</title></head><body><form method=post action=/login>"
    b"<input name=user><input name=password type=password><button>Sign in</button></form></body></html>"
)
_WALL = b"<!DOCTYPE html><html><head><title>Just a moment...</title></head><body>Checking your browser.</body></html>"


def _refusal(status: int) -> FaultyAnswer:
    def refuse(exchange: Exchange, options: Options) -> Answer:
        refusal = exchange.refusal(status)
        if "retry_after" not in options:
            return refusal
        return _with_headers(refusal, {"Retry-After": str(options["retry_after"])})

    return refuse


def _slow_down_until(exchange: Exchange, options: Options) -> Answer:
    moment = formatdate(time() + float(options.get("retry_after", 120)), usegmt=True)
    return _with_headers(exchange.refusal(429), {"Retry-After": moment})


def _html(exchange: Exchange, options: Options) -> Answer:
    return Answer(body=_LOGIN_PAGE, media_type="text/html; charset=utf-8")


def _wall(exchange: Exchange, options: Options) -> Answer:
    return Answer(status=403, body=_WALL, media_type="text/html; charset=utf-8")


def _empty(exchange: Exchange, options: Options) -> Answer:
    """None of the seven formats can say that it is empty because its own sources failed, so this serves both names."""
    return exchange.empty()


def _wrong_charset(exchange: Exchange, options: Options) -> Answer:
    """`zlib` is no charset but a codec that Python would run on the body; `utf-16` is one that fits no byte of it."""
    answer = exchange.answer()
    media_type = answer.media_type.partition(";")[0]
    return replace(answer, media_type=f"{media_type}; charset={options.get('charset', 'zlib')}")


def _wrong_type(exchange: Exchange, options: Options) -> Answer:
    return Answer(body=json.dumps(options.get("body", {"surprise": [1, [2], {"three": None}]})).encode())


def _truncated_json(exchange: Exchange, options: Options) -> Answer:
    answer = exchange.answer()
    return replace(answer, body=answer.body[: len(answer.body) // 2])


def _gzip(exchange: Exchange, options: Options) -> Answer:
    answer = exchange.answer()
    return _with_headers(replace(answer, body=gzip.compress(answer.body)), {"Content-Encoding": "gzip"})


def _truncated_gzip(exchange: Exchange, options: Options) -> Answer:
    whole = _gzip(exchange, options)
    return replace(whole, body=whole.body[: len(whole.body) // 2])


def _double_encoding(exchange: Exchange, options: Options) -> Answer:
    once = _gzip(exchange, options)
    return _with_headers(replace(once, body=gzip.compress(once.body)), {"Content-Encoding": "gzip, gzip"})


def _redirect_loop(exchange: Exchange, options: Options) -> Answer:
    return Answer(status=302, headers={"Location": exchange.request.target})


def _redirect_out(exchange: Exchange, options: Options) -> Answer:
    location = str(options.get("location", "http://169.254.169.254/latest/meta-data/"))
    return Answer(status=int(options.get("status", 302)), headers={"Location": location})


def _many_headers(exchange: Exchange, options: Options) -> Answer:
    headers = {f"X-Filler-{number}": "x" * 16 for number in range(int(options.get("count", 1000)))}
    return _with_headers(exchange.answer(), headers)


def _big_header(exchange: Exchange, options: Options) -> Answer:
    return _with_headers(exchange.answer(), {"X-Filler": "x" * (1024 * int(options.get("kilobytes", 256)))})


def _with_headers(answer: Answer, headers: Mapping[str, str]) -> Answer:
    return replace(answer, headers={**answer.headers, **headers})


ANSWERS: Mapping[str, FaultyAnswer] = {
    **{str(status): _refusal(status) for status in (400, 401, 402, 403, 404, 429, 500, 503)},
    "429-date": _slow_down_until,
    "html": _html,
    "wall": _wall,
    "empty": _empty,
    "degraded-empty": _empty,
    "wrong-charset": _wrong_charset,
    "wrong-type": _wrong_type,
    "truncated-json": _truncated_json,
    "gzip": _gzip,
    "truncated-gzip": _truncated_gzip,
    "double-encoding": _double_encoding,
    "redirect-loop": _redirect_loop,
    "redirect-out": _redirect_out,
    "many-headers": _many_headers,
    "big-header": _big_header,
}
