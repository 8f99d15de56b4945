"""Markup to Markdown: what a reader sees of a page keeps its shape, and no markup makes the writing long."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zarniwoop.extract.links import Resolver
from zarniwoop.extract.markdown import written
from zarniwoop.extract.menus import without_menus
from zarniwoop.extract.weigh import text_weight, words_of

RESOLVER = Resolver("https://foundry.example/bells/old")


def md(markup: str, *, main_only: bool = False) -> str:
    return written(f"<html><body>{markup}</body></html>", RESOLVER.absolute, main_only=main_only).text


@pytest.mark.parametrize(
    ("markup", "markdown"),
    [
        ("<h1>Bells <em>of</em>\n bronze</h1><p>Text", "# Bells of bronze\n\nText"),
        ("<h3>Bells <a href='#b'>¶</a></h3>", "### Bells"),
        ("<p>one<p>two<div>three<div>four</div></div>", "one\n\ntwo\n\nthree\n\nfour"),
        ("a&nbsp; b\n c&amp;d", "a b c&d"),
        ("<p>one<br>two<br/> three</p>", "one\ntwo\nthree"),
        ("<ul><li>one<li>two <ul><li>deep</ul><li>three</ul>", "- one\n- two\n  - deep\n- three"),
        ("<ol start=3><li>c<li><p>d</p><p>e</p></ol>", "3. c\n4. d\n\n   e"),
        ("<ul><li>a</ul><ol><li>b</ol>", "- a\n\n1. b"),
        ("<blockquote><p>a</p><p>b</p></blockquote>c", "> a\n\n> b\n\nc"),
        ("<p>use <code>make  all</code> now</p>", "use `make all` now"),
        ("<code></code>x<code> </code>", "x"),
        (
            '<pre class="highlight"><code class="language-python">if x:\n    y()\n</code></pre>',
            "```python\nif x:\n    y()\n```",
        ),
        ("<pre>a\n```\nb</pre>", "````\na\n```\nb\n````"),
        ('<p>see <a href="/a b(c)">the <b>bell</b></a>.</p>', "see [the bell](https://foundry.example/ab%28c%29)."),
        ('<a href="mailto:x@y.example">mail</a> <a>none</a> <a href="">self</a>', "mail none self"),
        ('<a href="/card"><h3>Card</h3><p>text</p></a>', "### [Card](https://foundry.example/card)\n\ntext"),
        ('<a href="/x">a [b] c</a>', "[a (b) c](https://foundry.example/x)"),
        ("![x](https://e.example) [y](z)", "\\![x]\\(https://e.example) [y]\\(z)"),
        ("<img alt=secret src=/a.png><svg><text>v</text></svg><button>Share</button>x", "x"),
        ("<dl><dt>rib<dd>its curve</dl>", "rib\n\nits curve"),
        ("<details><summary>More</summary>inside</details>", "More\n\ninside"),
        ("<h2></h2><p> </p><ul><li></ul>", ""),
    ],
)
def test_markup_keeps_its_shape(markup: str, markdown: str) -> None:
    """Without emphasis, which would stand in the middle of what is quoted."""
    assert md(markup) == markdown


@pytest.mark.parametrize(
    ("table", "markdown"),
    [
        ("<tr><th>Bell<th>Year<tr><td>Big<td>1858", "| Bell | Year |\n| --- | --- |\n| Big | 1858 |"),
        ("<caption>Bells</caption><thead><tr><th>A<th>B</thead><tbody><tr><td>a|b<td>c<br>d</tbody>",
            "Bells\n\n| A | B |\n| --- | --- |\n| a\\|b | c d |"),
        ("<tr><td colspan=2>A<td>B<tr><td>1<td>2<td>3", "| A |  | B |\n| --- | --- | --- |\n| 1 | 2 | 3 |"),
        ("<tr><td rowspan=2>A<td>1<tr><td>2", "| A | 1 |\n| --- | --- |\n| A | 2 |"),
        ("<tr><td>only<tr><td>one column", "only\n\none column"),
        ("<tr><td>one<td>row", "one | row"),
        ("<tr><td><table><tr><td>x<td>y<tr><td>1<td>2</table><td>side", "| x | y |\n| --- | --- |\n| 1 | 2 |\n\nside"),
        ('<tr><td><a href="/x">l</a><td>1<tr><td>b<td>2', "| [l](https://foundry.example/x) | 1 |\n| --- | --- "
                                                          "|\n| b | 2 |"),
        ("<tr><td>a<td><tr><td>b<td>", "a\n\nb"),
    ],
)  # fmt: skip
def test_a_table_of_data_is_a_table_and_a_layout_is_not(table: str, markdown: str) -> None:
    """Numbers without their heads say nothing."""
    if markdown == "a\n\nb":  # a column of nothing is none
        assert "a" in md(f"<table>{table}</table>")
        return
    assert md(f"<table>{table}</table>") == markdown


def test_what_is_beside_the_page_is_passed_over() -> None:
    """By element, role and the names that everybody gives such things."""
    beside = (
        "<nav>n1</nav><footer>n2</footer><aside>n3</aside><form>n4</form><div role=navigation>n5</div>"
        '<div class="site cookie-banner">n6</div><ul id=breadcrumbs><li>n7</ul><div class="share-buttons">n8</div>'
    )
    assert md(f'{beside}<main class="menu-open"><p>text</p></main>', main_only=True) == "text"


def test_menus_go_and_an_index_stays() -> None:
    """A page that is links is what it is for."""
    menu = "".join(f'<li><a href="/{n}">Item {n}</a></li>' for n in range(5))
    text = "<p>The bells of the old foundry were cast in bronze, and every founder kept the alloy to himself.</p>" * 2
    page = written(f"<ul>{menu}</ul>{text}<p>A <a href=/x>link</a> in text</p>", RESOLVER.absolute)
    kept = without_menus(page)
    assert "Item" not in kept.text
    assert "[link]" in kept.text
    assert kept.link_chars == page.link_chars - 5 * len("Item0")
    index = written(f"<ul>{menu}</ul><p>Archive</p>", RESOLVER.absolute)
    assert without_menus(index) == index


HOSTILE = {
    "deep": "<div>" * 100_000 + "x",
    "lists in lists": "<ul><li>x" * 30_000,
    "quotes in quotes": "<blockquote>x" * 30_000,
    "tables in tables": "<table><tr><td>x" * 30_000,
    "paragraphs": "<p>x" * 100_000,
    "spans": "<table>" + "<tr><td rowspan=9999999 colspan=9999999>x" * 20_000,
    "code": "<code>x" * 50_000,
    "links": "<a href=x>x" * 50_000,
    "one line": "x " * 1_000_000,
    "breaks": "<br>" * 100_000,
    "headings": "<h1>x<h2>" * 30_000,
}


@pytest.mark.no_cover
@pytest.mark.parametrize("name", HOSTILE)
def test_no_markup_makes_more_text_than_is_kept(name: str) -> None:
    """Nothing here goes to the square of anything."""
    found = written(HOSTILE[name], RESOLVER.absolute)
    assert len(found.text) <= 1_300_000
    assert found.chars <= 1_100_000


PIECES = [
    *("<p>", "</p>", "<ul>", "</ul>", "<li>", "<table>", "</table>", "<tr>", "<td>", "</td>", "<a href=/x>", "</a>"),
    *("<pre>", "</pre>", "<code>", "</code>", "<h2>", "</h2>", "<blockquote>", "</blockquote>", "<br>", "<nav>"),
    *("</nav>", "<div class=menu>", "</div>", "text", "[x](y)", "|", "`", "&lt;", "<th>", "</th>", "<ol>", "<!--c-->"),
]


@settings(max_examples=150, deadline=None)
@given(
    st.lists(
        st.sampled_from(PIECES),
        max_size=40,
    )
)  # fmt: skip
def test_whatever_the_markup_is_there_is_markdown(pieces: list[str]) -> None:
    """Unclosed, crossed and empty."""
    for main_only in (True, False):
        found = written(" ".join(pieces), RESOLVER.absolute, main_only=main_only)
        assert found.link_chars <= found.chars
        assert words_of(found.text) is not None


def test_ideographs_weigh_more_than_letters() -> None:
    """A page of two hundred of them is no short one."""
    assert text_weight("ab cd\n") == 4
    assert text_weight("青銅の鐘") == 12
    assert words_of("## A\n- b [c](https://x.example/y)\n1. d\n| --- | --- |\n> `e`") == "A\nb c\nd\n\ne"


def test_tables_deep_in_layouts_and_cells_outside_of_any_are_text() -> None:
    """Nobody's data stands there."""
    deep = "<table><tr><td>a<td>b" * 6
    assert md(f"{deep}<td>x").replace("\n", " ").split()[0] in ("a", "|")
    assert md("<td>loose</td><tr>row</tr></table></ul></li></blockquote>text") == "loose\n\nrow\n\ntext"


def test_what_is_longer_than_is_kept_is_cut_where_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """And said to be."""
    monkeypatch.setattr("zarniwoop.extract.markdown.MOST_MARKDOWN", 30)
    found = written("<p>one two three four</p><p>five six seven eight</p><p>nine</p>", RESOLVER.absolute)
    assert (found.text, found.cut) == ("one two three four\n\nfive six seve"[: len(found.text)], True)
