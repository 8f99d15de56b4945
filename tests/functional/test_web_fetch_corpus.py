"""The attack corpus, every row of it, through the tool that agents call, `web_fetch`, with its fetching function.

The rows, their servers and what is right of each are those of `test_web_corpus`; stores are in memory.
"""

from collections.abc import Iterator

import pytest

from tests.fakes.environment import FakeEnvironment
from tests.fakes.fetching import environment_on
from tests.fakes.page_reader import FakePageReader
from tests.fakes.web import PUBLIC, Names, Web
from tests.fakes.web_tools import InProcessLambda, through_web_fetch
from tests.functional.test_web_corpus import _OWN, ROWS, SLOW, Certificates, Row, _check, _web, certificates
from zarniwoop.pages.fetcher import PageReader
from zarniwoop.pages.remote import RemoteFetcher
from zarniwoop.wiring import Environment

__all__ = ["certificates"]


@pytest.fixture(scope="module")
def reader() -> Iterator[PageReader]:
    """One reader's process for the whole corpus, as an environment keeps it."""
    with Environment({})._page_reader as made:
        yield made


def asking(fetching: Environment) -> FakeEnvironment:
    """The environment of `web_fetch` whose fetching function is this one's."""
    made = FakeEnvironment()
    fetcher = InProcessLambda(fetching)
    made.__dict__["page_fetcher"] = RemoteFetcher(lambda _seconds: fetcher, "page-fetcher")
    return made


@pytest.mark.skipif(not ROWS, reason="no attack corpus beside the project")
@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.category} {ascii(row.url)[:60]}")
def test_every_row_of_the_corpus_ends_as_it_should(row: Row, certificates: Certificates, reader: PageReader) -> None:
    """Refused or fetched as the corpus says, by a typed outcome, and nothing but public addresses is ever dialled."""
    own = _OWN.search(row.resolver)
    variables = {"OWN_API_HOST": own[1] if own else ""}
    with _web(row, certificates) as web, environment_on(web, reader, variables) as fetching:
        milliseconds = 6_500 if row.path in SLOW else 26_000
        _check(row, web, through_web_fetch(asking(fetching), milliseconds=milliseconds)(row.url))


@pytest.mark.parametrize("url", ["", " ", "\ud800", "http://example.org/\ud800", "x" * 9_000, "\x00", "http://"])
def test_what_no_client_would_send_is_refused_with_a_typed_answer(url: str) -> None:
    """By invocation everything that a Python string can hold may come."""
    names: Names = {"example.org": [(PUBLIC,)]}
    with Web(names=names) as web, environment_on(web, FakePageReader()) as fetching:
        fetched = through_web_fetch(asking(fetching))(url)
        assert fetched.outcome == "address_refused"
        assert web.dialled == []
