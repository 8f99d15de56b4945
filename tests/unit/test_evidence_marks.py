"""Marks of Markdown: what a page says can be quoted as it is read, and what it does not say cannot."""

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fakes.cloud import LambdaContext
from tests.fakes.environment import FakeEnvironment
from tests.fakes.evidence import FakePages, page, read
from tests.fakes.web_tools import NO_PAUSE
from zarniwoop.contract.evidence import Quote
from zarniwoop.entry.tool import tool
from zarniwoop.evidence.folding import Folded, folded
from zarniwoop.evidence.marks import as_read, marks
from zarniwoop.evidence.quotes import QuotedBody, find_quotes
from zarniwoop.extract.markdown import written
from zarniwoop.tools.web_fetch import WEB_FETCH

URL = "https://example.com/bells"
GREAT = "The [great bell](https://example.com/m?a=b_%28c%29) weighs four tonnes"
RAW = "# Bells\n\n" + GREAT + ", says `weigh(bell)`, and [`hum()`](https://example.com/h) agrees.[1] It\nis rung.\n\n"
LISTS = "- cast in `loam`\n- tuned\n\n1. Open the pit.\n2. Close it.\n\n> So it\n> was said.\n\n"
TABLE = "| metal | share |\n| --- | --- |\n| [tin](https://example.com/t) | 22 \\| 23 |\n| copper | `a\\|b` |\n\n"
FENCED = "```python\na[i](https://x) # no `tick`\n- x\n```\n\n"
CODE = "An arr[1]\\(x) of `b[j](https://y)` and [1](see below) c[k](l).\n"
BODY = RAW + LISTS + TABLE + FENCED + CODE


def found(wanted: str, body: str = BODY, *, markdown: bool = True) -> Quote | None:
    return QuotedBody(body, markdown=markdown).find(wanted)


@pytest.mark.parametrize(
    ("wanted", "stands"),
    [
        ("The great bell weighs four tonnes", GREAT),
        (GREAT, GREAT),
        ("The [great bell](https://elsewhere.example/) weighs", GREAT.removesuffix(" four tonnes")),
        ("great bell weighs", "[great bell](https://example.com/m?a=b_%28c%29) weighs"),
        ("The great bell", "The [great bell](https://example.com/m?a=b_%28c%29)"),
        ("great bell", "great bell"),
        ("tonnes, says weigh(bell), and hum() agrees.", None),
        ("tonnes, says `weigh(bell)`, and hum() agrees.", None),
        ("hum() agrees", "[`hum()`](https://example.com/h) agrees"),
        ("agrees. It is rung", "agrees.[1] It\nis rung"),
        ("agrees.[1] It is rung", "agrees.[1] It\nis rung"),
        ("Bells The great bell", None),
        ("cast in loam tuned", "cast in `loam`\n- tuned"),
        ("- cast in `loam`\n- tuned", "- cast in `loam`\n- tuned"),
        ("- cast in loam\n- tuned", "- cast in `loam`\n- tuned"),
        ("Open the pit. Close it.", "Open the pit.\n2. Close it."),
        ("1. Open the pit.\n2. Close it.", "1. Open the pit.\n2. Close it."),
        ("So it was said", "So it\n> was said"),
        ("metal share tin 22 | 23 copper a|b", None),
        ("metal\tshare\ntin", None),
        ("a[i](https://x) # no `tick` - x", "a[i](https://x) # no `tick`\n- x"),
        ("of b[j](https://y) and", "of `b[j](https://y)` and"),
        ("An arr[1](x) of", "An arr[1]\\(x) of"),
        ("[1](see below) c[k](l)", "[1](see below) c[k](l)"),
    ],
)
def test_a_passage_stands_as_it_is_read_and_as_it_is_written(wanted: str, stands: str | None) -> None:
    """Links, code, lists, quotations, notes, tables; what is kept is the body's own, with whole links."""
    quote = found(wanted)
    assert quote is not None
    assert BODY[quote.start : quote.end] == quote.text
    assert stands in (None, quote.text)
    assert found(quote.text) == quote


@pytest.mark.parametrize(
    "wanted",
    [
        "The grand bell weighs",
        "The great bell (https://example.com/m",
        "2. Open the pit. 3. Close it.",
        "agrees.[2] It is rung",
        "ai # no",
        "a[i] # no `tick` x",
        "of bj and",
        "bj",
        "and 1 c",
        "ck.",
        "An arr(x) of b",
        "share --- tin",
        "22 23",
    ],
)
def test_what_only_looks_like_a_link_hides_nothing(wanted: str) -> None:
    """Nor does code; and whoever names the number of an item or a note has to name the right one."""
    assert found(wanted) is None


@pytest.mark.parametrize(
    "wanted", ["The great bell weighs", "says weigh(bell)", "cast in loam tuned", "metal share tin"]
)
def test_of_a_text_that_is_no_markdown_nothing_is_left_out(wanted: str) -> None:
    """What looks like marks there are its words."""
    assert found(wanted) is not None
    assert found(wanted, markdown=False) is None


def test_a_minus_is_no_bullet_and_a_year_no_number_of_a_list() -> None:
    """Where a line begins with one, it is read."""
    for body, wanted in (("It fell to\n- 5 degrees.", "to 5 degrees"), ("Cast in\n1984. Rung.", "Cast in Rung")):
        assert found(wanted, body) is None
        assert found(body, body) is not None


def test_what_comes_closest_to_a_linked_sentence_is_told() -> None:
    """Without being cut within a link."""
    closest = QuotedBody(BODY, markdown=True).closest("The great bell weighed four tonnes")
    assert closest is not None
    assert closest.text.startswith(GREAT)


FORMS = (
    "{}", '<a href="/x_(y)?a=1">{}</a>', "<code>{}</code>", "<a href='/z'><code>{}</code></a>", "<b>{}</b>",
)  # fmt: skip
TEXTS = st.text(st.sampled_from("abc de[]()!|*_#\\1.-é"), min_size=1, max_size=8).map(str.strip).filter(bool)
PIECES = st.lists(st.tuples(st.sampled_from(FORMS), TEXTS), min_size=1, max_size=8)
FRAMES = (
    "<p>{}</p>", "<ul><li>{}</li></ul>", "<h2>{}</h2>",
    "<table><tr><td>{}</td><td>x</td></tr><tr><td>y</td><td>z</td></tr></table>",
)  # fmt: skip


@settings(max_examples=60)
@given(PIECES, st.sampled_from(FRAMES), st.data())
def test_whatever_our_writer_writes_can_be_quoted_as_it_is_read(
    pieces: list[tuple[str, str]], frame: str, data: st.DataObject
) -> None:
    """Any run of what stands there; and the place that is found is read as it was wanted."""
    markup = " ".join(form.format(text) for form, text in pieces)
    markdown = written(
        frame.format(markup), lambda href: f"https://example.com{href}".replace("(", "%28").replace(")", "%29")
    ).text
    words = as_read(markdown).split()
    first = data.draw(st.integers(0, len(words) - 1))
    wanted = " ".join(words[first : data.draw(st.integers(first + 1, len(words)))])
    quote = found(wanted, markdown)
    assert quote is not None
    assert markdown[quote.start : quote.end] == quote.text
    assert find_quotes(markdown, [quote.text], markdown=True)[0].text == quote.text


@pytest.mark.parametrize(
    "hostile",
    ["[", "`", "``a", "[a](", "[a](https://x ", "\\[", "|", "| ", "> ", "- ", "1. ", "#", "(((", "[a](/(", '[a](/ "'],
)
def test_marks_are_found_in_one_pass(hostile: str) -> None:
    """However many of them are left open."""
    text = hostile * 4_000
    assert len(Folded(text, marks(text)).text) <= len(text)


def test_a_page_can_be_quoted_as_it_was_given_out_as_text() -> None:
    """Through `web_fetch`: every line of `format: text` stands; a text that is no Markdown is given out as it is."""

    def asked(markdown: str, extractor: str, lines: Callable[[str], list[str]]) -> list[bool]:
        environment = FakeEnvironment(settings=NO_PAUSE)
        environment.__dict__["page_fetcher"] = FakePages({URL: read(URL, page(markdown, extractor=extractor))})
        handler = tool(WEB_FETCH, lambda: environment)
        quotes: list[str] = []
        for _turn in range(2):
            arguments = {"urls": [URL], "format": "text", "quotes": quotes}
            scope = {"tenant_id": "acme", "project_id": "demo"}
            answer = handler({"scope": scope, "arguments": arguments}, LambdaContext())
            (read_page,) = answer["data"]["pages"]
            quotes = lines(read_page["content"])
        return [quote["stands"] for quote in read_page["quotes"]]

    def inner(content: str) -> list[str]:
        return [line for line in content.split("\n")[1:-1] if line.strip()]

    stands = asked(BODY, "trafilatura", inner)
    assert len(stands) > 12
    assert all(stands)
    assert all(asked(BODY, "plain", lambda content: [GREAT, *inner(content)]))


def test_reading_changes_no_word() -> None:
    """What is not marked is read as it stands."""
    assert folded("a - b").strip() == as_read("a - b")
    assert as_read(TABLE) == "metal\tshare\ntin\t22 | 23\ncopper\ta|b\n\n"
