"""The attack corpus, every row of it, through the public entry point.

What the server of a row does is played on loopback; every connection is recorded before it is made, and one to an
address that is not public ends at a canary.
"""

import json
import re
import ssl
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.fakes.certificates import certificate
from tests.fakes.fetching import Fetched, FetchPage, environment_on, through_page_fetcher
from tests.fakes.origin import Act
from tests.fakes.transfers import CONTENT_ENDS, CONTENTS, ENDS, REDIRECTED, TRANSFERS, End
from tests.fakes.web import HANG, PUBLIC, Names, Web, moved
from zarniwoop.contract.page import PageOutcome
from zarniwoop.net.address import is_public
from zarniwoop.net.exchange import Limits
from zarniwoop.pages.fetcher import PageReader
from zarniwoop.pages.reasons import FetchReason
from zarniwoop.wiring import Environment

_CORPUS = Path(__file__).resolve().parents[3] / "shared" / "ssrf_cases.tsv"
_DNS = re.compile(r"dns: ([^=;]+)=([^;]*?)\s*(?=;|$)")
_LOCATION = re.compile(r'server (\S+): (30\d) Location: ("(?:[^"\\]|\\.)*"|\S+)')
_OWN = re.compile(r"config: self_hosts=(\S+)")
_SERVED = {**TRANSFERS, **CONTENTS, **REDIRECTED}
_SECURE_HOSTS = ("example.com", "foo_bar.example.com", "xn--bcher-kva.example", "dual.example", "rebind2.evil.test")
_LIMITS = Limits(lookup=0.3, connect=0.3, handshake=1.0, read=0.3)
_REFUSED: End = (PageOutcome.ADDRESS_REFUSED, "address_refused")
_MISSPELT = (FetchReason.NOT_A_URL, FetchReason.SCHEME_REFUSED)
_READ: End = (PageOutcome.OK, None)
_TOO_MANY: End = (PageOutcome.UNAVAILABLE, "too_many_redirects")
_SENT: Mapping[str, End] = {
    **ENDS,
    **CONTENT_ENDS,
    **dict.fromkeys(("tls-selfsigned", "tls-wronghost", "tls-expired"), (PageOutcome.UNAVAILABLE, "tls")),
    "syn-drop": (PageOutcome.UNAVAILABLE, "timeout"),
    "cl-lie-long": (PageOutcome.EMPTY, "too_little_text"),
}
"""What becomes of a row by what its server sends; whether such a row is allowed says whether it may be asked at all."""
_UNKNOWN_NAMES = ("nx.evil.test", "empty.evil.test", "slowdns.evil.test")
SLOW = ("html-deep", "html-wide", "json-deep", "json-bigint")
"""Pages that are not read to their end in the little time that they are given here."""


@dataclass(frozen=True)
class Row:
    """One line of the corpus."""

    url: str
    expected: str
    category: str
    resolver: str

    @property
    def path(self) -> str:
        """The last part of the path, which names the act of a row with a server."""
        return self.url.rpartition("/")[2]


def _rows() -> Iterator[Row]:
    if not _CORPUS.is_file():
        return
    for line in _CORPUS.read_text(encoding="utf-8").splitlines()[2:]:
        url, expected, why, resolver = line.split("\t")[:4]
        category = why[1 : why.index("]")]
        yield Row(json.loads(f'"{url}"', strict=False), expected, category, resolver)


ROWS = list(_rows())


@dataclass(frozen=True)
class Certificates:
    """What a server of the corpus shows on its secure ports."""

    good: tuple[Path, ssl.SSLContext]
    of_nobody: tuple[Path, ssl.SSLContext]
    of_another: tuple[Path, ssl.SSLContext]
    expired: tuple[Path, ssl.SSLContext]

    def shown(self, row: Row) -> tuple[Path, ssl.SSLContext]:
        """The authorities that we believe, and what the server shows."""
        if row.path == "tls-selfsigned":
            return self.good[0], self.of_nobody[1]
        return {"tls-wronghost": self.of_another, "tls-expired": self.expired}.get(row.path, self.good)


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    folder = tmp_path_factory.mktemp("certificates")
    return Certificates(
        good=certificate(folder, *_SECURE_HOSTS),
        of_nobody=certificate(folder, "t.evil.test"),
        of_another=certificate(folder, "other.test"),
        expired=certificate(folder, "t.evil.test", expired=True),
    )


@pytest.fixture(scope="module")
def reader() -> Iterator[PageReader]:
    """One reader's process for the whole corpus, as an environment keeps it."""
    with Environment({})._page_reader as made:
        yield made


def _names(resolver: str) -> Names:
    """The successive answers of the row's resolver by host."""
    names: Names = {}
    for host, answers in _DNS.findall(resolver):
        if answers in ("NXDOMAIN", ""):
            names[host.rstrip(".")] = [] if answers else [()]
        elif answers.startswith("HANG"):
            names[host.rstrip(".")] = [HANG]
        else:
            names[host.rstrip(".")] = [part.strip().split(",") for part in answers.split(" then ")]
    return names


def _pages(row: Row) -> dict[str, Act]:
    """The acts of the row's servers; a row whose server is not known here fails."""
    pages: dict[str, Act] = {f"/{name}": act for name, act in _SERVED.items()}
    for host, status, written in _LOCATION.findall(row.resolver):
        location = json.loads(written, strict=False) if written.startswith('"') else written
        path = "/" if host != "r.evil.test" else f"/{row.path}"
        pages[host + path] = moved(location.encode(), status=int(status))
    if row.path.startswith("tls-"):
        pages[f"/{row.path}"] = moved(f"https://t.evil.test/{row.path}")
    if "server" in row.resolver and row.path != "syn-drop":
        assert f"/{row.path}" in pages or f"r.evil.test/{row.path}" in pages, row
    return pages


def _web(row: Row, certificates: Certificates) -> Web:
    authorities, shown = certificates.shown(row)
    web = Web(
        names=_names(row.resolver),
        pages=_pages(row),
        limits=_LIMITS,
        tls=shown,
        extra_ca_file=authorities,
    )
    if row.path == "syn-drop":
        web.silent.add(PUBLIC)
    return web


def _ends(row: Row) -> End:
    """The outcome that the row demands, and its reason."""
    if row.category == "xfer":
        return _SENT[row.path]
    if row.expected == "allow" or row.category == "browser":
        return _READ
    if row.path in ("x11", "rebind-hop"):
        return _TOO_MANY
    return (PageOutcome.UNAVAILABLE, "dns") if row.url.rstrip("/").endswith(_UNKNOWN_NAMES) else _REFUSED


def _is_end_of(row: Row, fetched: Fetched) -> bool:
    """As demanded. robots.txt meets a fault first; and what can be no URL is already told of as an argument."""
    outcome, reason = _ends(row)
    ends = {(outcome, reason)}
    if outcome is PageOutcome.UNAVAILABLE:
        ends.add((outcome, FetchReason.ROBOTS_UNREACHABLE))
    if outcome is PageOutcome.ADDRESS_REFUSED:
        ends |= {(outcome, reason) for reason in ("invalid_argument", *_MISSPELT)}
    if row.path in SLOW:
        ends.add((PageOutcome.OUT_OF_TIME, "takes_too_long"))
    return (fetched.outcome, fetched.reason) in ends


def _check(row: Row, web: Web, fetched: Fetched) -> None:
    """Whether the row ended as it should, whatever else is true of it."""
    assert _is_end_of(row, fetched), (fetched.outcome, fetched.reason)
    assert web.canary_connections == 0
    assert not web.forbidden
    assert all(is_public(address) for address, _ in web.dialled)
    for request in web.requests + web.robots_requests:
        assert not {"cookie", "authorization", "x-api-key", "proxy-authorization"} & request.headers.keys()
    if row.expected == "allow":
        assert web.requests, "a row that is allowed was not asked for"
    if row.category == "browser":
        assert [request.target for request in web.requests] == [f"/{row.path}"], "a frame was asked for"
        assert set(web.looked_up) == {"r.evil.test"}
    addresses = [answer for answers in _names(row.resolver).values() for answer in answers]
    for address in {each for answer in addresses if isinstance(answer, list) for each in answer}:
        if address not in row.url and not any(address in request.target for request in web.requests):
            assert address not in fetched.told, "an answer tells what a name resolves to"


@pytest.mark.skipif(not ROWS, reason="no attack corpus beside the project")
@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.category} {ascii(row.url)[:60]}")
@pytest.mark.parametrize("honour_robots", [True, False], ids=["robots", "no robots"])
def test_every_row_of_the_corpus_ends_as_it_should(
    row: Row, honour_robots: bool, certificates: Certificates, reader: PageReader
) -> None:
    """Refused or fetched as the corpus says, by a typed outcome, and nothing but public addresses is ever dialled."""
    own = _OWN.search(row.resolver)
    host = own[1] if own else ""
    with _web(row, certificates) as web, environment_on(web, reader, {"OWN_API_HOST": host}) as environment:
        seconds = 3.0 if row.path in SLOW else 20.0
        fetch_page: FetchPage = through_page_fetcher(environment, honour_robots=honour_robots, seconds=seconds)
        _check(row, web, fetch_page(row.url))


@pytest.mark.skipif(not ROWS, reason="no attack corpus beside the project")
def test_no_row_of_the_corpus_is_left_out() -> None:
    """As many as there are lines."""
    assert len(ROWS) == len(_CORPUS.read_text(encoding="utf-8").splitlines()) - 2
    assert len(ROWS) >= 390
