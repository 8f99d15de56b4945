"""Operators in a query: told apart from words once, and put to each provider as it declares."""

from datetime import date

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from zarniwoop.contract.hit import SearchHit
from zarniwoop.contract.modality import SearchModality
from zarniwoop.contract.request import DateRange, ExpertParams, SearchRequest
from zarniwoop.contract.result import FilterHandling
from zarniwoop.text.operators import Kind, day_before, first_day, has_marks, tokens_of
from zarniwoop.wire.format import Found
from zarniwoop.wire.operators import Meant, meaning_of

NONE = frozenset[Kind]()
WRITTEN = {
    "site:nature.com": (Kind.SITE, "nature.com"),
    "SITE:Nature.com/Articles": (Kind.SITE, "nature.com/Articles"),
    "site:.gov": (Kind.SITE, "gov"),
    'site:"nature.com"': (Kind.SITE, "nature.com"),
    "site:https://nature.com/x": (Kind.SITE, "nature.com/x"),
    "site:*.edu": (Kind.SITE, "edu"),
    "site:bücher.example": (Kind.SITE, "xn--bcher-kva.example"),
    "(site:nature.com": (Kind.SITE, "nature.com"),
    '("church bells")': (Kind.PHRASE, "church bells"),
    "-site:pinterest.com": (Kind.NOT_SITE, "pinterest.com"),
    "filetype:.PDF": (Kind.FILETYPE, "pdf"),
    "ext:csv": (Kind.FILETYPE, "csv"),
    "intitle:bells": (Kind.INTITLE, "bells"),
    'intitle:"church bells"': (Kind.INTITLE, "church bells"),
    "before:2024": (Kind.BEFORE, "2024"),
    "after:2024-02-29": (Kind.AFTER, "2024-02-29"),
    '"church  bells"': (Kind.PHRASE, "church bells"),
}
ONLY_WORDS = [
    "https://example.com/a?b=site:c",
    "http://site:80/",
    "12:30",
    "site: nature.com",
    "site://nature.com",
    "site:",
    "std::vector",
    "filetype:",
    "intitle:",
    "cache::get",
    "hyperlink:a",
    "around(3)",
    'a"b"',
    '"never closed',
    '""',
    "OR",
    "to be OR",
    "OR not to be",
    "or",
    "doi:10.1000/182",
    "website:nature.com",
    "4:3 OR",
    "(bells)",
]
NOT_KNOWN = "not known here: asked for as a word"
UNREAD = {
    "after:lunch": ("after", "lunch", "not a day: asked for as a word"),
    "after:12:30": ("after", "12:30", "not a day: asked for as a word"),
    "before:2008-99-01": ("before", "2008-99-01", "not a day: asked for as a word"),
    "(After:2023-02-29)": ("after", "2023-02-29", "not a day: asked for as a word"),
    "site:https://": ("site", "https://", "not a site: asked for as a word"),
    "-site:a_b": ("site", "a_b", "not a site: asked for as a word"),
    "filetype:a/b": ("filetype", "a/b", "not a file type: asked for as a word"),
    "ext:a/b": ("ext", "a/b", "not a file type: asked for as a word"),
    "intitle:/bells?/": ("intitle", "/bells?/", "not a word of a title: asked for as a word"),
    "-intitle:bells": ("-intitle", "bells", NOT_KNOWN),
    "-filetype:pdf": ("-filetype", "pdf", NOT_KNOWN),
    "inurl:x": ("inurl", "x", NOT_KNOWN),
    'intext:"church bells"': ("intext", "church bells", NOT_KNOWN),
    "allintitle:": ("allintitle", "", NOT_KNOWN),
    "allintitle:bells": ("allintitle", "bells", NOT_KNOWN),
    "related:a.example": ("related", "a.example", NOT_KNOWN),
    "cache:a.example": ("cache", "a.example", NOT_KNOWN),
    "link:a.example": ("link", "a.example", NOT_KNOWN),
    "AROUND(3)": ("around", "3", NOT_KNOWN),
}
PIECES = st.one_of(
    st.sampled_from([*WRITTEN, *ONLY_WORDS, *UNREAD, "OR", "bells", "-music"]),
    st.text(st.characters(exclude_categories=("Cs", "Cc", "Z")), min_size=1, max_size=12),
)
QUERIES = st.lists(PIECES, max_size=8).map(" ".join)
UNDERSTOOD = st.frozensets(st.sampled_from(list(Kind)))


def _meant(query: str, understood: frozenset[Kind] = NONE, **more: object) -> Meant:
    return meaning_of(SearchRequest(query=query, modality=SearchModality.WEB, **more), understood)  # type: ignore[arg-type]


def _told(meant: Meant) -> list[tuple[str, str, FilterHandling]]:
    return [(each.name, each.value, each.handling) for each in meant.applied]


@pytest.mark.parametrize(("text", "read"), WRITTEN.items())
def test_an_operator_is_told_with_what_it_is_about(text: str, read: tuple[Kind, str]) -> None:
    """Among words, as it was written."""
    (_, token, _) = tokens_of(f"bells {text} tower")
    assert (token.text, token.kind, token.value) == (text, *read)


@pytest.mark.parametrize("query", ONLY_WORDS)
def test_what_only_looks_like_an_operator_is_a_word(query: str) -> None:
    """And the query is put as it was written."""
    assert not [token for token in tokens_of(query) if token.kind]
    assert (_meant(query).request.query, _meant(query).applied) == (query, ())


@pytest.mark.parametrize(("text", "told"), UNREAD.items())
@pytest.mark.parametrize("query", ["{}", "bells {} tower", "bells site:a.example {}"])
def test_what_cannot_be_read_is_asked_for_as_it_was_written_and_told(
    text: str, told: tuple[str, str, str], query: str
) -> None:
    """So that nobody believes that it narrowed anything."""
    meant = _meant(query.format(text))
    assert meant.request.query == query.format(text).replace(" site:a.example", "")
    assert [(each.name, each.value, each.handling, each.reason) for each in meant.applied] == [
        (*told[:2], FilterHandling.IGNORED, told[2])
    ]


def test_an_or_stands_between_two_things() -> None:
    """Whatever these are."""
    assert [token.kind for token in tokens_of("bells OR site:a.example")] == [None, Kind.OR, Kind.SITE]


@given(query=QUERIES)
def test_a_query_taken_apart_is_the_query_again(query: str) -> None:
    """Nothing is lost, and reading it again finds the same."""
    tokens = tokens_of(query)
    whole = " ".join(token.text for token in tokens)
    assert whole.split() == query.split()
    assert tokens_of(whole) == tokens


@given(query=QUERIES)
def test_a_query_without_marks_holds_no_operator(query: str) -> None:
    """So it need not be taken apart."""
    assert has_marks(query) or not any(token.kind or token.unread for token in tokens_of(query))


@given(query=QUERIES, understood=UNDERSTOOD)
@example(query="site:a.example OR site:b.example bells", understood=NONE)
@example(query='"never closed site:a.example', understood=frozenset((Kind.PHRASE,)))
def test_every_operator_is_left_in_or_told_and_no_word_is_lost(query: str, understood: frozenset[Kind]) -> None:
    """What is put to the provider has no operator that it does not understand, unless words happen to spell one."""
    tokens = tokens_of(query)
    meant = _meant(query, understood)
    asked = [word.strip("()") for word in meant.request.query.split()]
    for token in tokens:
        if token.kind is None or (token.kind in understood and token.kind is not Kind.OR):
            assert all(part.strip("()") in asked for part in token.text.split() if part.strip("()"))
    given_filters = dict(meant.request.expert_params.given())
    named = {each.name for each in meant.applied} | set(given_filters)
    told_as = {Kind.BEFORE: {"before", "date_to"}, Kind.AFTER: {"after", "date_from"}}
    for token in tokens:
        if token.kind is not None:
            assert named & told_as.get(token.kind, {str(token.kind)})
    assert bool(asked) == any(token.value and token.kind is not Kind.OR for token in tokens)


def test_filters_become_filters() -> None:
    """One site, one file type, days: `before` means the days before it."""
    meant = _meant("bells site:a.example/x filetype:pdf after:2020 before:2024-02")
    assert meant.request.query == "bells"
    assert dict(meant.request.expert_params.given()) == {
        "site": "a.example/x",
        "filetype": "pdf",
        "date_from": "2020-01-01",
        "date_to": "2024-01-31",
    }
    assert meant.request.published == DateRange(earliest=date(2020, 1, 1), latest=date(2024, 1, 31))
    assert meant.applied == ()


def test_what_the_request_says_stands() -> None:
    """A filter is never widened by a query, and days that contradict it are told as ignored."""
    window = DateRange(earliest=date(2023, 1, 1))
    expert = ExpertParams(filetype="html", date_from=date(2023, 1, 1))
    meant = _meant("bells filetype:pdf before:2020", expert_params=expert, published=window)
    assert (meant.request.expert_params, meant.request.published) == (expert, window)
    assert _told(meant) == [("filetype", "pdf", FilterHandling.IGNORED), ("before", "2020", FilterHandling.IGNORED)]
    wider = _meant("bells after:2020", expert_params=expert, published=window)
    assert (wider.request.published, wider.request.expert_params.date_from) == (window, date(2023, 1, 1))


def test_what_a_provider_does_not_understand_is_asked_for_as_words() -> None:
    """And said to be so."""
    meant = _meant('intitle:history "church bells" OR carillon')
    assert meant.request.query == "history church bells carillon"
    assert {handling for _, _, handling in _told(meant)} == {FilterHandling.IGNORED}
    assert [name for name, _, _ in _told(meant)] == ["intitle", "phrase", "or"]


def test_what_it_understands_stays_in_the_query() -> None:
    """Letter by letter."""
    query = 'intitle:history "church bells" OR carillon -site:a.example'
    meant = _meant(query, frozenset(Kind))
    assert (meant.request.query, {told[2] for told in _told(meant)}) == (query, {FilterHandling.PROVIDER})


def test_several_sites_and_unwanted_ones_are_seen_to_here() -> None:
    """By the hits' addresses, which every provider tells."""
    meant = _meant("bells site:a.example OR site:b.example/x -site:no.a.example")
    assert meant.request.query == "bells"
    urls = ["https://www.a.example/", "https://no.a.example/", "https://b.example/x/1", "https://b.example/y"]
    hits = tuple(SearchHit(title="Bells", url=url, modality=SearchModality.WEB) for url in urls)
    narrowed = meant.narrowed(Found(hits=hits))
    assert [hit.url for hit in narrowed.hits] == [urls[0], urls[2]]
    assert narrowed.dropped_count == 2
    assert [told for told in _told(meant) if told[2] is FilterHandling.HERE] == [
        ("site", "a.example", FilterHandling.HERE),
        ("site", "b.example/x", FilterHandling.HERE),
        ("-site", "no.a.example", FilterHandling.HERE),
    ]


def test_a_provider_that_takes_lists_of_sites_is_sent_them() -> None:
    """Whole hosts are its own to heed; what lies below a path is looked at in the hits as well."""
    asked = SearchRequest(
        query="(site:a.example OR site:b.example/x) bells -site:c.example -site:d.example/y",
        modality=SearchModality.WEB,
    )
    meant = meaning_of(asked, NONE, site_lists=True)
    assert meant.request.query == "bells"
    assert (meant.request.sites, meant.request.unwanted_sites) == (("a.example", "b.example"), ("c.example",))
    assert {value: handling for name, value, handling in _told(meant) if "site" in name} == {
        "a.example": FilterHandling.PROVIDER,
        "b.example/x": FilterHandling.HERE,
        "c.example": FilterHandling.PROVIDER,
        "d.example/y": FilterHandling.HERE,
    }


@pytest.mark.parametrize(
    "query", ["bells OR", "bells", "site:c.example bells", '"bells', "(bells", "bells OR site:c.example", "a OR b"]
)
@pytest.mark.parametrize("understood", [NONE, frozenset((Kind.OR,)), frozenset((Kind.SITE,)), frozenset(Kind)])
@pytest.mark.parametrize("lists", [True, False])
def test_nothing_in_a_query_undoes_the_sites_of_the_request(
    query: str, understood: frozenset[Kind], lists: bool
) -> None:
    """Whatever a provider understands: it is told them where it takes them, and hits of elsewhere are dropped."""
    sites = ("a.example", "b.example")
    asked = SearchRequest(query=query, modality=SearchModality.WEB, sites=sites)
    meant = meaning_of(asked, understood, site_lists=lists)
    urls = ["https://www.a.example/", "https://b.example/x", "https://c.example/", "https://nota.example/"]
    hits = tuple(SearchHit(title="Bells", url=url, modality=SearchModality.WEB) for url in urls)
    assert {hit.url for hit in meant.narrowed(Found(hits=hits)).hits} <= {urls[0], urls[1]}
    assert meant.request.sites == sites
    assert meant.applied[0].name == "domains"
    in_query = meant.request.query.startswith("site:a.example OR site:b.example ")
    assert in_query is (not lists and understood.issuperset((Kind.SITE, Kind.OR)))


def test_sites_that_leave_a_query_no_room_are_looked_at_in_the_hits() -> None:
    """A provider cuts the query at its end, where the words are."""
    sites = tuple(f"{'long' * 10}{number}.example" for number in range(10))
    meant = meaning_of(SearchRequest(query="bells", modality=SearchModality.WEB, sites=sites), frozenset(Kind))
    assert (meant.request.query, meant.within) == ("bells", sites)
    assert meant.applied[0].handling is FilterHandling.HERE


def test_a_place_that_the_request_names_is_not_widened_by_a_list() -> None:
    """The query's own site is looked at in the hits."""
    asked = SearchRequest(
        query="bells site:a.example", modality=SearchModality.WEB, expert_params=ExpertParams(site="b.example")
    )
    meant = meaning_of(asked, NONE, site_lists=True)
    assert (meant.request.sites, meant.sites) == ((), ("a.example",))
    assert _told(meant) == [("site", "a.example", FilterHandling.HERE)]


@pytest.mark.parametrize(
    ("query", "understood", "asked"),
    [
        ("cats OR site:b.example", NONE, "cats"),
        ("(cats OR site:b.example) dogs", frozenset((Kind.OR,)), "cats dogs"),
        ("x OR site:a.example OR y", frozenset((Kind.OR,)), "x y"),
        ("cats OR filetype:pdf", frozenset((Kind.OR, Kind.SITE)), "cats"),
    ],
)
def test_what_would_narrow_beside_an_or_is_left_out_and_told(
    query: str, understood: frozenset[Kind], asked: str
) -> None:
    """Cats, or whatever that site has, is not cats on that site; an OR that lost its other side is none either."""
    meant = _meant(query, understood)
    assert (meant.request.query, meant.sites, list(meant.request.expert_params.given())) == (asked, (), [])
    assert {handling for _, _, handling in _told(meant)} == {FilterHandling.IGNORED}
    assert all(entry.reason for entry in meant.applied)


def test_a_bracketed_or_that_is_understood_stays_as_it_is() -> None:
    """Letter by letter."""
    query = "(site:a.example OR site:b.example) bells"
    assert _meant(query, frozenset((Kind.OR, Kind.SITE))).request.query == query


def test_several_file_types_contradict_each_other() -> None:
    """Nobody is told that the request says otherwise, which it does not."""
    (first, second) = _meant("bells filetype:pdf filetype:doc").applied
    assert (first.handling, second.handling) == (FilterHandling.IGNORED, FilterHandling.IGNORED)
    assert "contradicts another one" in (first.reason or "")


def test_a_query_of_operators_alone_asks_for_what_they_are_about() -> None:
    """An empty query is none; of one that only says what is not wanted, all that is found there is left out."""
    assert _meant("site:a.example filetype:pdf").request.query == "a.example pdf"
    unwanted = _meant("-site:a.example -site:b.example/x")
    assert (unwanted.request.query, unwanted.unwanted) == ("a.example b.example/x", ("a.example", "b.example/x"))


@pytest.mark.parametrize(
    ("query", "asked"),
    [
        ('"site:a.example bells"', "a.example bells"),
        ('"bells OR gongs"', "bells gongs"),
        ('intitle:"filetype:pdf bells" tower', "pdf bells tower"),
        ('bells "OR" gongs', "bells gongs"),
        ("intitle:intitle:bells", "bells"),
        ('"-site:a.example"', "a.example"),
    ],
)
def test_what_stood_in_quotes_is_no_operator_without_them(query: str, asked: str) -> None:
    """It is words, as it was within them; to a provider that knows sites as well."""
    understood = frozenset((Kind.SITE, Kind.NOT_SITE, Kind.FILETYPE))
    assert _meant(query).request.query == _meant(query, understood).request.query == asked


@given(query=QUERIES.filter(str.strip), understood=UNDERSTOOD)
def test_no_operator_is_left_that_is_not_understood(query: str, understood: frozenset[Kind]) -> None:
    """Not even one that only shows when another is gone; and something is always asked for."""
    asked = _meant(query, understood).request.query
    assert {token.kind for token in tokens_of(asked)} - {None} <= understood
    assert asked.strip()


def test_a_year_a_month_and_a_day_begin_somewhere() -> None:
    """Or are none."""
    assert [first_day(text) for text in ("2024", "2024-02", "2024-02-30")] == [date(2024, 1, 1), date(2024, 2, 1), None]
    assert (day_before("2024-03"), day_before("soon")) == (date(2024, 2, 29), None)
