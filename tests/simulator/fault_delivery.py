"""Faults in how an answer leaves: late, in drops, cut off, far too much of it, or not at all."""

import struct
import zlib
from collections.abc import Iterator, Mapping
from functools import cache

from tests.simulator.connection import head_of
from tests.simulator.fault_answers import ANSWERS, FaultyAnswer
from tests.simulator.faults import Exchange, Fault, Options
from tests.simulator.messages import Answer

_MEGABYTE = 1024 * 1024
_GZIP_HEAD = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\xff"


def _delivered(make: FaultyAnswer) -> Fault:
    """With `delay_ms`, later than at once."""

    def deliver(exchange: Exchange, options: Options) -> None:
        exchange.connection.wait(float(options.get("delay_ms", 0)) / 1000)
        exchange.connection.send(make(exchange, options))

    return deliver


def _hang(exchange: Exchange, options: Options) -> None:
    exchange.connection.wait(float(options.get("seconds", 60)))
    exchange.connection.close()


def _slow(exchange: Exchange, options: Options) -> None:
    exchange.connection.wait(float(options.get("delay_ms", 1000)) / 1000)
    exchange.connection.send(exchange.answer())


def _drip(exchange: Exchange, options: Options) -> None:
    answer = exchange.answer()
    exchange.connection.write(head_of(answer))
    _drop_by_drop(exchange, answer.body, options)


def _drip_headers(exchange: Exchange, options: Options) -> None:
    answer = exchange.answer()
    _drop_by_drop(exchange, head_of(answer), options)
    exchange.connection.write(answer.body)


def _drop_by_drop(exchange: Exchange, data: bytes, options: Options) -> None:
    interval = float(options.get("interval", 0.1))
    for position in range(len(data)):
        exchange.connection.write(data[position : position + 1])
        exchange.connection.wait(interval)


def _truncated(exchange: Exchange, options: Options) -> None:
    answer = exchange.answer()
    exchange.connection.write(head_of(answer) + answer.body[: len(answer.body) // 2])
    exchange.connection.close()


def _reset(exchange: Exchange, options: Options) -> None:
    exchange.connection.reset()


def _close_idle(exchange: Exchange, options: Options) -> None:
    exchange.connection.send(exchange.answer())
    exchange.connection.wait(float(options.get("after_ms", 0)) / 1000)
    exchange.connection.close()


def _early_hints(exchange: Exchange, options: Options) -> None:
    while True:
        exchange.connection.write(b"HTTP/1.1 103 Early Hints\r\nLink: </style.css>; rel=preload\r\n\r\n")
        exchange.connection.wait(float(options.get("interval", 0.01)))


def _gzip_bomb(exchange: Exchange, options: Options) -> None:
    megabytes = int(options.get("megabytes", 200))
    length = sum(len(piece) for piece in _bomb(megabytes))
    exchange.connection.write(head_of(Answer(headers={"Content-Encoding": "gzip"}), length=length))
    for piece in _bomb(megabytes):
        exchange.connection.write(piece)


def _bomb(megabytes: int) -> Iterator[bytes]:
    """One gzip member that unpacks to so many megabytes of zeros: the same compressed megabyte again and again."""
    yield _GZIP_HEAD
    yield from (_compressed_megabyte() for _ in range(megabytes))
    yield zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS).flush(zlib.Z_FINISH)
    yield struct.pack("<II", _checksum(megabytes), megabytes * _MEGABYTE & 0xFFFFFFFF)


@cache
def _compressed_megabyte() -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    return packer.compress(bytes(_MEGABYTE)) + packer.flush(zlib.Z_FULL_FLUSH)


@cache
def _checksum(megabytes: int) -> int:
    checksum, zeros = 0, bytes(_MEGABYTE)
    for _ in range(megabytes):
        checksum = zlib.crc32(zeros, checksum)
    return checksum


def _big_body(exchange: Exchange, options: Options) -> None:
    megabytes = int(options.get("megabytes", 32))
    start, piece, end = b'{"filler":"', b"x" * _MEGABYTE, b'"}'
    exchange.connection.write(head_of(Answer(), length=len(start) + megabytes * _MEGABYTE + len(end)) + start)
    for _ in range(megabytes):
        exchange.connection.write(piece)
    exchange.connection.write(end)


FAULTS: Mapping[str, Fault] = {
    **{name: _delivered(make) for name, make in ANSWERS.items()},
    "hang": _hang,
    "slow": _slow,
    "drip": _drip,
    "drip-headers": _drip_headers,
    "truncated": _truncated,
    "reset": _reset,
    "close-idle": _close_idle,
    "early-hints": _early_hints,
    "gzip-bomb": _gzip_bomb,
    "big-body": _big_body,
}
"""Every fault by its name."""
