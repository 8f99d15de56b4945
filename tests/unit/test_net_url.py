"""Which URLs may be asked."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from zarniwoop.contract.failure import Cause, ProviderUnavailable
from zarniwoop.net.address import AllowedNetworks, is_public, number_of
from zarniwoop.net.url import Target, parse

_CORPUS = Path(__file__).resolve().parents[3] / "shared" / "ssrf_cases.tsv"
_NOT_PARSED = ("[xfer]", "[redir]", "[browser]", "[rebind]")
_NOTHING = AllowedNetworks()


def _refused(url: str, allowed: AllowedNetworks = _NOTHING, *, plain_http: bool = False) -> bool:
    try:
        parse(url, allowed=allowed, plain_http=plain_http)
    except ProviderUnavailable as failure:
        assert failure.cause is Cause.ADDRESS
        return True
    return False


def test_a_url_is_taken_apart_and_written_anew() -> None:
    target = parse("HTTPS://Api.Example.com:443/v1/search?q=1#top", allowed=_NOTHING)
    assert target == Target(scheme="https", host="api.example.com", port=443, path_and_query="/v1/search?q=1")
    assert target.url() == "https://api.example.com/v1/search?q=1"
    assert target.authority == "api.example.com"


def test_an_unusual_port_stays_in_the_host_header() -> None:
    assert parse("https://api.example.com:8443", allowed=_NOTHING).authority == "api.example.com:8443"


def test_an_ipv6_host_loses_its_brackets_and_gets_its_short_spelling() -> None:
    target = parse("https://[2606:2800:0220:0001:0:0:0:1]/", allowed=_NOTHING)
    assert target.host == "2606:2800:220:1::1"
    assert target.authority == "[2606:2800:220:1::1]"


def test_what_is_written_anew_parses_to_itself() -> None:
    for url in (
        "https://bücher.example/käse?q=ü#x",
        "https://example.com.",
        "https://example.com:8443?q",
        "https://1.1.1.1",
    ):
        once = parse(url, allowed=_NOTHING)
        assert parse(once.url(), allowed=_NOTHING) == once
        assert once.url().isascii()


def test_plain_http_is_for_allowed_hosts_and_for_pages_only() -> None:
    assert _refused("http://api.example.com/")
    assert not _refused("http://api.example.com/", plain_http=True)
    assert not _refused("http://searxng:8888/search", AllowedNetworks.parse("searxng:8888"))
    assert not _refused("http://127.0.0.1:5000/", AllowedNetworks.parse("127.0.0.1/32"))


def test_an_allowance_for_one_port_is_none_for_another() -> None:
    assert _refused("http://127.0.0.1:9001/", AllowedNetworks.parse("127.0.0.1:8080"))


def test_our_own_api_is_not_asked() -> None:
    with pytest.raises(ProviderUnavailable):
        parse("https://api.zarniwoop.test/", allowed=_NOTHING, refused_hosts=frozenset(("api.zarniwoop.test",)))


@pytest.mark.parametrize(
    "url",
    [
        "https://user:secret@example.com/",
        "https://example.com\\@127.0.0.1/",
        "https://example.com%2f@127.0.0.1/",
        "https://example.com/a\r\nX-Injected: 1",
        "https://example.com:8_0/",
        "https://example.com:22/",
        "https://0x7f.1/",
        "https://127.0.0.1/",
        "https://[::1]/",
        "https://intranet/",
        "https://printer.local/",
        "https://bü\u00adcher.example/",
        "https://straße.example/",
        "https://examp\ufe0fle.com/",
        "https://xn--example-7573b.com/",
        "http\u017f://example.com/",
        "http\u017f://[::1]:80/",
        "https://xn--/",
        "https://xn--zz/",
        "https://xn--bcher-kva0.example/",
        "https://xn--BCHER-KVA.xn--a-ecp.example/",
        "https://[1:2:3]/",
        "https://1.2.3.4.5/",
        "https://example..com/",
        "ftp://example.com/",
        "https://" + "a" * 64 + ".example/",
        "https://example.com/" + "a" * 9000,
        "",
    ],
)
def test_a_url_with_two_readings_or_a_private_goal_is_refused(url: str) -> None:
    assert _refused(url, plain_http=True)


def test_a_refusal_names_no_address() -> None:
    """The words would otherwise tell an agent what internal names resolve to."""
    with pytest.raises(ProviderUnavailable) as caught:
        parse("https://10.11.12.13/", allowed=_NOTHING)
    assert "10.11" not in str(caught.value)


def _rows() -> Iterator[tuple[str, str, str, str]]:
    if not _CORPUS.is_file():
        return
    for line in _CORPUS.read_text(encoding="utf-8").splitlines()[2:]:
        url, expected, why, resolver = line.split("\t")[:4]
        if not why.startswith(_NOT_PARSED):
            yield json.loads(f'"{url}"'), expected, why, resolver


def _answers(resolver: str, host: str) -> list[str]:
    """What the scripted resolver says first for a host; nothing for a lookup that fails."""
    if number_of(host):
        return [host]
    if not resolver.startswith("dns: "):
        return []
    name, _, answers = resolver.removeprefix("dns: ").partition(";")[0].partition("=")
    first = answers.partition(" then ")[0].strip()
    return first.split(",") if name == host and first else []


def test_the_attack_corpus_is_decided_right_by_parser_and_address_policy() -> None:
    """Every row that needs no server: no internal target gets through, no public one is refused."""
    rows = list(_rows())
    if not rows:
        pytest.skip("no attack corpus beside the project")
    own = frozenset(("api.zarniwoop.test",))
    wrong = []
    for url, expected, why, resolver in rows:
        try:
            target = parse(url, allowed=_NOTHING, plain_http=True, refused_hosts=own)
            answers = _answers(resolver, target.host)
            verdict = "allow" if answers and all(map(is_public, answers)) else "deny"
        except ProviderUnavailable:
            verdict = "deny"
        if verdict != expected:
            wrong.append((url, expected, why))
    assert not wrong
    assert len(rows) > 300
