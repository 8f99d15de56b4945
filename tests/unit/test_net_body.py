"""Bodies: bounded while they are decoded."""

import gzip
import tracemalloc
import zlib
from collections.abc import Iterator

import pytest

from zarniwoop.contract.failure import Cause, MalformedAnswer
from zarniwoop.net.body import read_body

_GZIP = {"content-encoding": "gzip"}


def _cause(parts: list[bytes], headers: dict[str, str], max_bytes: int = 1000) -> Cause | None:
    with pytest.raises(MalformedAnswer) as caught:
        read_body(parts, headers, max_bytes)
    return caught.value.cause


def test_a_plain_body_is_joined() -> None:
    assert read_body([b"ab", b"cd"], {}, 4) == b"abcd"
    assert read_body([b"ab"], {"content-encoding": "identity"}, 4) == b"ab"
    assert read_body([], {}, 4) == b""


def test_a_gzip_body_is_decoded_however_it_is_cut() -> None:
    packed = gzip.compress(b"bells " * 50)
    assert read_body([packed[index : index + 1] for index in range(len(packed))], _GZIP, 1000) == b"bells " * 50
    assert read_body([packed], {"content-encoding": "X-GZip"}, 1000) == b"bells " * 50


def test_a_gzip_body_of_several_members_is_read_to_its_end() -> None:
    """A decoder that stops after the first member would give half an answer for a whole one."""
    assert read_body([gzip.compress(b"ab") + gzip.compress(b"cd")], _GZIP, 1000) == b"abcd"
    assert read_body([gzip.compress(b"ab"), gzip.compress(b"cd")], _GZIP, 1000) == b"abcd"


@pytest.mark.parametrize("size", [65_535, 65_536, 65_537, 131_072, 200_001])
def test_a_gzip_body_larger_than_one_piece_is_whole(size: int) -> None:
    packed = gzip.compress(b"x" * size)
    for cut in (7, 100_000):
        parts = [packed[index : index + cut] for index in range(0, len(packed), cut)]
        assert read_body(parts, _GZIP, size) == b"x" * size


def test_an_empty_body_may_call_itself_gzip() -> None:
    assert read_body([], _GZIP, 1000) == b""


def test_a_body_over_the_cap_is_refused() -> None:
    assert _cause([b"x" * 600, b"x" * 600], {}) is Cause.TOO_LARGE
    assert _cause([gzip.compress(b"x" * 1001)], _GZIP) is Cause.TOO_LARGE
    assert read_body([gzip.compress(b"x" * 1000)], _GZIP, 1000) == b"x" * 1000


def test_a_stated_length_over_the_cap_is_refused_before_anything_is_read() -> None:
    def unread() -> Iterator[bytes]:
        raise AssertionError("the body was read")
        yield b""

    with pytest.raises(MalformedAnswer) as caught:
        read_body(unread(), {"content-length": "10737418240"}, 1000)
    assert caught.value.cause is Cause.TOO_LARGE


def test_a_gzip_body_that_stops_early_is_cut_short() -> None:
    packed = gzip.compress(b"bells " * 50)
    assert _cause([packed[:-9]], _GZIP) is Cause.TRUNCATED
    assert _cause([packed[:-1]], _GZIP) is Cause.TRUNCATED


@pytest.mark.parametrize("coding", ["gzip, gzip", "br", "deflate", "compress", "gzip, identity"])
def test_any_other_coding_or_more_than_one_is_refused(coding: str) -> None:
    assert _cause([zlib.compress(b"x")], {"content-encoding": coding}) is Cause.ENCODING


def test_a_body_that_only_claims_to_be_gzip_is_refused() -> None:
    assert _cause([b"{}"], _GZIP) is Cause.ENCODING


def test_a_gzip_bomb_costs_no_more_memory_than_the_cap() -> None:
    """60 MB in 60 KB: the decoder stops one byte after the cap."""
    packer = zlib.compressobj(9, wbits=31)
    bomb = b"".join(packer.compress(bytes(1_000_000)) for _ in range(60)) + packer.flush()
    tracemalloc.start()
    assert _cause([bomb], _GZIP, 5_000_000) is Cause.TOO_LARGE
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 7_000_000
