"""From the bytes of a page to what is kept of it: every kind of page, its metadata, the chain, and the same twice."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fakes.document_files import docx, pdf
from tests.fakes.web_pages import ARTICLE_TEXT, article, bare
from zarniwoop.contract.hit import DatePrecision, PublishedAt
from zarniwoop.contract.page import ExtractedPage, PageOutcome
from zarniwoop.extract import html_chain
from zarniwoop.extract import page as page_module
from zarniwoop.extract.outcome import Extraction
from zarniwoop.extract.page import extract_page

URL = "https://www.example.org/bells/old"


def read(body: str | bytes, media_type: str | None = "text/html", **more: object) -> Extraction:
    raw = body if isinstance(body, bytes) else body.encode()
    return extract_page(raw, **{"url": URL, "media_type": media_type, "charset": None, **more})  # type: ignore[arg-type]


def page(body: str | bytes, media_type: str | None = "text/html", **more: object) -> ExtractedPage:
    found = read(body, media_type, **more)
    assert found.outcome is PageOutcome.OK
    assert found.page
    return found.page


def test_an_article_is_read_without_what_surrounds_it() -> None:
    """By the first extractor that finds it whole; nothing else is tried."""
    found = read(article("Bells of bronze", paragraphs=8))
    assert found.page
    assert [(step.name, step.outcome) for step in found.steps] == [("trafilatura", PageOutcome.OK)]
    assert (found.media_type, found.charset, found.page.extractor) == ("text/html", "utf-8", "trafilatura")
    assert all(text in found.page.markdown for text in ARTICLE_TEXT)
    assert "All rights reserved" not in found.page.markdown
    assert "Imprint" not in found.page.markdown
    assert found.page.html is None
    assert "<p>" in (page(article("Bells of bronze"), want_html=True).html or "")


HEAD = """<meta property="og:title" content="Bells of bronze"><meta property="og:site_name" content="Foundry News">
<meta name="author" content="Ada Smith"><meta property="article:published_time" content="2023-05-06T10:00:00+02:00">
<meta property="article:modified_time" content="2024-01"><link rel="canonical" href="/bells"><base href="https://www.example.org/x/">"""
JSON_LD = """<script type="application/ld+json">[{"@type":"WebSite","name":"News"},{"@graph":[{"@type":["NewsArticle"],
"headline":"Bells, told again","author":[{"@type":"Person","name":"Ben Ode"},{"name":"Cem Oz"}],"datePublished":"2022",
"dateModified":"2022-03-04","publisher":{"name":"The Foundry"},"inLanguage":"en",
"articleBody":"HIDDEN BODY"}]}]</script>"""


def test_metadata_is_what_the_head_states() -> None:
    """Dates no more exact than they are written."""
    found = page(article("Of bells", head=HEAD))
    assert (found.title, found.byline, found.site_name) == ("Bells of bronze", "Ada Smith", "Foundry News")
    assert found.published_at == PublishedAt(value="2023-05-06T08:00:00Z", precision=DatePrecision.SECOND)
    assert found.modified_at == PublishedAt(value="2024-01", precision=DatePrecision.MONTH)
    assert (found.language, found.canonical_url) == ("en", "https://www.example.org/bells")


def test_linked_data_comes_before_the_head_and_its_body_is_not_read() -> None:
    """No reader sees that body."""
    found = page(article("Of bells", head=HEAD + JSON_LD))
    assert (found.title, found.byline) == ("Bells, told again", "Ben Ode, Cem Oz")
    assert found.published_at == PublishedAt(value="2022", precision=DatePrecision.YEAR)
    assert found.modified_at == PublishedAt(value="2022-03-04", precision=DatePrecision.DAY)
    assert "HIDDEN" not in found.markdown


@pytest.mark.parametrize(
    ("head", "body", "title", "published", "byline"),
    [
        ("", "", "Bells", None, None),
        ('<meta name="date" content="2023/05/06">', "", "Bells", "2023-05-06", None),
        ('<meta name="citation_publication_date" content="2023">', "", "Bells", "2023", None),
        ('<meta name="pubdate" content="20230506">', "", "Bells", "2023-05-06", None),
        ('<meta name="date" content="2023年5月6日">', "", "Bells", "2023-05-06", None),
        ('<meta name="date" content="soon">', "", "Bells", None, None),
        ("", '<time datetime="2023-05-06">May</time>', "Bells", "2023-05-06", None),
        ('<meta name="author" content="https://foundry.example/ada">', "", "Bells", None, None),
        ('<meta name="author" content="By Ada &amp;amp; Ben">', "", "Bells", None, "Ada & Ben"),
        ('<script type="application/ld+json">{broken</script><script '
         'type="application/ld+json">7</script>', "", "Bells", None, None),
        ('<script type="application/ld+json">{"@type":"Article","headline":{"x":1},"author":[["a"],{"name'
         '":{}}]}</script>', "", "Bells", None, None),
        ('<meta name="twitter:title" content="Bells again">', "", "Bells again", None, None),
    ],
)  # fmt: skip
def test_metadata_is_taken_from_wherever_it_is_stated(
    head: str, body: str, title: str, published: str | None, byline: str | None
) -> None:
    """And what states nothing is nothing."""
    found = page(article("Bells", head=head, after=body))
    assert found.title == title
    assert (found.published_at.value if found.published_at else None) == published
    assert found.byline == byline


@pytest.mark.parametrize(
    ("canonical", "believed"),
    [
        ("/bells", "https://www.example.org/bells"),
        ("https://example.org/bells", "https://example.org/bells"),
        (URL, URL),
        ("https://bank.example/login", None),
        ("javascript:alert(1)", None),
        ("http://[", None),
    ],
)
def test_a_canonical_url_is_believed_on_its_own_site_alone(canonical: str, believed: str | None) -> None:
    """Else anybody's page could pass for another's."""
    assert page(article("Bells", head=f'<link rel="canonical" href="{canonical}">')).canonical_url == believed


def test_links_are_absolute_distinct_and_bounded() -> None:
    """The longest text of those to one target; none to the page itself."""
    links = '<a href="../x">x</a><a href="/x" rel="nofollow">longer</a><a href="#top">top</a>' + "".join(
        f'<a href="/{number}">n</a>' for number in range(700)
    )
    found = page(article("Bells", after=links)).links
    assert len(found) == 500
    assert len({link.url for link in found}) == 500
    assert [(link.text, link.rel) for link in found if link.url == "https://www.example.org/x"] == [
        ("longer", "nofollow")
    ]
    based = page(article("Bells", after='<base href="//cdn.example/"><a href="y">y</a>')).links
    assert "https://cdn.example/y" in {link.url for link in based}


def test_a_table_that_an_extractor_loses_is_found_again() -> None:
    """trafilatura drops what it takes for boilerplate; the step says so."""
    table = "<table><tr><th>Bell</th><th>Year</th></tr><tr><td>Big</td><td>1858</td></tr></table>"
    found = read(bare("Bells", f"<main><h1>Bells</h1><p>{ARTICLE_TEXT[0]}</p>{table}<p>{ARTICLE_TEXT[1]}</p></main>"))
    assert found.page
    assert "| Big | 1858 |" in found.page.markdown
    assert found.steps[-1].outcome is PageOutcome.OK


def test_the_chain_goes_on_when_a_step_fails_or_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever a library raises is its own affair."""

    def fails(_markup: str, _url: str) -> str:
        raise KeyError("secret text of the page")

    markup = article("Bells")
    monkeypatch.setattr(html_chain, "by_trafilatura", fails)
    found = read(markup)
    assert [(step.name, step.reason) for step in found.steps] == [("trafilatura", "failed"), ("readability", None)]
    assert found.outcome is PageOutcome.OK
    left = read(markup, without=frozenset({"trafilatura", "readability", "metadata"}))
    assert [step.name for step in left.steps] == ["text"]
    assert left.page
    assert all(text in left.page.markdown for text in ARTICLE_TEXT)


def test_memory_that_is_spent_is_the_process_s_affair(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing in it is to be relied on."""

    def fails(_markup: str, _url: str) -> str:
        raise MemoryError

    monkeypatch.setattr(html_chain, "by_trafilatura", fails)
    with pytest.raises(MemoryError):
        read(article("Bells"))


@pytest.mark.parametrize(
    ("markup", "reason"),
    [
        ("<p>" + "<b>x</b> " * 21_000, "too_many_tags"),
        ("<div>" * 600 + ARTICLE_TEXT[0], "too_deep"),
        (f"<p>{ARTICLE_TEXT[0] * 13_000}", "too_long"),
    ],
)
def test_a_page_beyond_measure_is_read_by_the_linear_reader_alone(markup: str, reason: str) -> None:
    """And says so: what it found is marked as cut."""
    found = read(markup)
    assert found.outcome is PageOutcome.OK
    assert found.page
    assert [(step.name, step.reason) for step in found.steps] == [
        ("trafilatura", reason),
        ("readability", reason),
        ("text", None),
    ]
    assert (found.page.extractor, found.page.truncated) == ("text", True)
    assert found.reason == reason


def test_a_pdf_has_anchors_where_its_pages_begin() -> None:
    """A quote can be pointed at by its page."""
    found = read(pdf(["First page of bells", "A bro-\nken word", "Third"], title="Bells"), "text/html")
    assert found.page
    text = found.page.markdown
    assert [(anchor.name, text[anchor.start :][:5]) for anchor in found.page.anchors] == [
        ("page=1", "First"),
        ("page=2", text[found.page.anchors[1].start :][:5]),
        ("page=3", "Third"),
    ]
    assert (found.page.title, found.page.extractor, found.media_type) == ("Bells", "pdf", "application/pdf")
    assert found.page.modified_at == PublishedAt(value="2024-01-02", precision=DatePrecision.DAY)


@pytest.mark.parametrize(
    ("body", "outcome", "reason"),
    [
        (b"", PageOutcome.EMPTY, "empty"),
        (b" \n ", PageOutcome.EMPTY, "empty"),
        (pdf(["", ""]), PageOutcome.EMPTY, "scanned"),
        (pdf(["secret"], password="secret"), PageOutcome.UNSUPPORTED, "encrypted"),
        (b"%PDF-1.7 and then nothing", PageOutcome.MALFORMED, "damaged"),
        (b"PK\x03\x04 and then nothing", PageOutcome.MALFORMED, "damaged"),
        (docx("x", extra={"word/media/zeros": bytes(20_000_000)}), PageOutcome.TOO_LARGE, "expands_too_much"),
        (docx("x", main="y.xml"), PageOutcome.UNSUPPORTED, "wrong_extension"),
        (docx(" "), PageOutcome.EMPTY, "empty"),
        (b"\x89PNG\r\n\x1a\n", PageOutcome.UNSUPPORTED, "unsupported_type"),
        (b"<?xml version='1.0'?><rss><channel>", PageOutcome.MALFORMED, "damaged"),
        (b"<?xml version='1.0'?><rss><channel></channel></rss>", PageOutcome.EMPTY, "empty"),
    ],
)
def test_what_cannot_be_read_says_why(body: bytes, outcome: PageOutcome, reason: str) -> None:
    """One word of a closed set, and never a parser's."""
    found = read(body, None)
    assert (found.outcome, found.reason, found.page) == (outcome, reason, None)
    assert found.steps[-1].reason == reason


def test_a_word_file_keeps_its_headings_lists_and_tables() -> None:
    """By the styles that Word gives them, in any of its languages."""
    body = (
        '<w:p><w:pPr><w:pStyle w:val="Heading1"/></w:pPr><w:r><w:t>Bells</w:t></w:r></w:p>'
        '<w:p><w:pPr><w:pStyle w:val="berschrift2"/></w:pPr><w:r><w:t>Glocken</w:t></w:r></w:p>'
        "<w:p><w:r><w:t>Text &lt;b&gt;</w:t><w:br/><w:t>next</w:t></w:r></w:p>"
        "<w:p><w:pPr><w:numPr/></w:pPr><w:r><w:t>one</w:t></w:r></w:p><w:p><w:pPr><w:numPr/></w:pPr><w:r><w:t"
        ">two</w:t></w:r></w:p>"
        "<w:tbl><w:tr><w:tc><w:p><w:r><w:t>A</w:t></w:r></w:p></w:tc><w:tc><w:p><w:r><w:t>B</w:t></w:r></w:p></w"
        ":tc></w:tr>"
        "<w:tr><w:tc><w:p><w:r><w:t>1</w:t></w:r></w:p></w:tc><w:tc><w:p><w:r><w:t>2</w:t></w:r></w:p></w:tc></w"
        ":tr></w:tbl>"
    )
    found = page(docx(body=body), "application/octet-stream")
    assert found.markdown == (
        "# Bells\n\n## Glocken\n\nText <b>\nnext\n\n- one\n- two\n\n| A | B |\n| --- | --- |\n| 1 | 2 |"
    )
    assert (found.title, found.modified_at) == ("Bells", PublishedAt(value="2025-03-04", precision=DatePrecision.DAY))


def test_json_is_shown_indented_as_deep_as_can_be_read() -> None:
    """In a block that nothing in it can close."""
    found = page('{"title": "Bells", "text": "```\\u200b", "n": [1, 2.5, null]}', "application/json")
    assert found.markdown.startswith("````json\n{\n") or found.markdown.startswith("```json\n{\n")
    assert (found.title, found.truncated, found.hidden) == ("Bells", False, {"zero_width": 1})
    deep = page("[" * 60 + "1" + "]" * 60, "application/json")
    assert deep.truncated
    assert "…" in deep.markdown
    assert read("[" * 5_000 + "]" * 5_000, "application/json").media_type == "text/plain"


FEED = """<?xml version="1.0"?><rss version="2.0"><channel>
<title>Foundry</title><link>/</link><description>Of bells</description>
<language>en-gb</language><item><title>A &amp; B</title><link>/a</link>
<pubDate>Mon, 10 Feb 2025 05:00:00 GMT</pubDate>
<description>&lt;p&gt;Said &lt;b&gt;so&lt;/b&gt;&lt;/p&gt;</description></item>
<item><guid>https://foundry.example/g</guid></item></channel></rss>"""
ATOM = """<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="de"><title>Gießerei</title>
<entry><title type="html">Gu&amp;szlig;</title>
<link rel="self" href="/self"/><link href="/g"/><updated>2025-02-10</updated>
<content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml">So <b>war</b> es</div></content>
</entry></feed>"""


def test_a_feed_is_a_list_of_its_entries() -> None:
    """Each with its link, its day and what it says."""
    found = page(FEED, "text/html")
    assert found.markdown == (
        "# Foundry\n\nOf bells\n\n- [A & B](https://www.example.org/a) (2025-02-10T05:00:00Z)\n  Said so\n\n"
        "- […](https://foundry.example/g)"
    )
    assert (found.title, found.language, found.extractor) == ("Foundry", "en", "feed")
    assert [link.url for link in found.links] == ["https://www.example.org/a", "https://foundry.example/g"]
    atom = page(ATOM, "application/atom+xml")
    assert atom.markdown == "# Gießerei\n\n- [Guß](https://www.example.org/g) (2025-02-10)\n  So war es"
    assert atom.language == "de"
    many = FEED.replace("</channel>", "<item><title>x</title></item>" * 300 + "</channel>")
    assert page(many).truncated


def test_other_text_is_kept_as_it_is() -> None:
    """Composed, tidied, and no more."""
    assert page("# Glocken \r\n\r\nGro\u0308\u00dfe", "text/markdown").markdown == "# Glocken\n\nGröße"
    assert page("# Glocken\n\nText", "text/markdown").title == "Glocken"
    assert page("a\n  b\u200bc", "text/plain").hidden == {"zero_width": 1}
    assert page("<?xml version='1.0'?><c><b>one</b><b>two</b></c>", "application/xml").markdown == "one\ntwo"
    assert page("x" * 1_200_000, "text/plain").truncated


@pytest.mark.no_cover
def test_the_same_page_reads_the_same_after_hundreds_of_others() -> None:
    """Libraries remember what they have seen, and some leave out what they have seen too often."""
    measured = [
        article("Bells of bronze", paragraphs=7, head=HEAD),
        bare("Bells", f"<p>{ARTICLE_TEXT[0]}</p>" * 3),
        FEED,
    ]
    cold = [read(each) for each in measured]
    dice = random.Random(6)  # noqa: S311 - a page, not a secret
    for number in range(300):
        paragraphs = "".join(f"<p>{dice.choice(ARTICLE_TEXT)} {number % 7}</p>" for _ in range(3))
        read(bare(f"Bell {number}", f"<article>{paragraphs}<p>{ARTICLE_TEXT[0]}</p></article>"))
    assert [read(each) for each in measured] == cold


@settings(max_examples=150, deadline=None)
@given(
    st.one_of(
        st.binary(max_size=300),
        st.binary(max_size=200).map(lambda raw: b"%PDF-1.4\n" + raw),
        st.binary(max_size=200).map(lambda raw: b"PK\x03\x04" + raw),
        st.binary(max_size=200).map(lambda raw: b"<!doctype html><html>" + raw),
        st.binary(max_size=200).map(lambda raw: b"<?xml version='1.0'?><rss>" + raw),
        st.text(max_size=200).map(lambda text: f"<html><body><p>{text}</p></body></html>".encode()),
    ),
    st.sampled_from([None, "text/html", "application/json", "text/markdown", "application/pdf", "nonsense"]),
    st.one_of(st.none(), st.text(max_size=10)),
    st.sampled_from([200, 202, 403, 404, 503, 999]),
)
def test_whatever_the_bytes_are_the_end_is_typed(
    body: bytes, media_type: str | None, charset: str | None, status: int
) -> None:
    """Never another exception; and what is kept can be stored."""
    found = extract_page(body, url=URL, media_type=media_type, charset=charset, status=status, want_html=True)
    assert found.outcome in PageOutcome
    assert found.steps
    if found.outcome is PageOutcome.OK:
        assert found.page
        assert found.page.markdown.encode("utf-8")


@settings(max_examples=80, deadline=None)
@given(st.integers(min_value=0), st.binary(min_size=1, max_size=12), st.sampled_from(["pdf", "docx", "html", "feed"]))
def test_a_spoilt_file_is_read_or_refused(place: int, bytes_: bytes, kind: str) -> None:
    """Wherever the spoiling is."""
    whole = {
        "pdf": pdf(["text of the page"]),
        "docx": docx("text"),
        "html": article("Bells").encode(),
        "feed": FEED.encode(),
    }
    body = bytearray(whole[kind])
    start = place % len(body)
    body[start : start + len(bytes_)] = bytes_
    assert extract_page(bytes(body), url=URL).outcome in PageOutcome


def test_whatever_a_reader_raises_is_damage(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its own words stay inside."""

    def fails(_raw: bytes) -> ExtractedPage:
        raise KeyError("/Root of a secret")

    monkeypatch.setattr(page_module, "read_pdf_page", fails)
    found = read(b"%PDF-1.7")
    assert (found.outcome, found.reason) == (PageOutcome.MALFORMED, "damaged")


def test_every_shape_that_trafilatura_knows_is_turned_into_markup_again() -> None:
    """It writes a dialect of TEI, in which inline code and blocks of it are one element."""
    body = (
        f"<h1>Bells</h1><h2>Ribs</h2><p>{ARTICLE_TEXT[0]} Use <code>ring()</code>, <b>loudly</b>,<br>or "
        f"<del>not</del>.</p>"
        f"<ol><li>{ARTICLE_TEXT[1]}</li><li>{ARTICLE_TEXT[2]}</li></ol><blockquote><p>{ARTICLE_TEXT[3]}</p"
        f"></blockquote>"
        f"<pre>tin     22 %\ncopper  78 %</pre><pre><code>ring()\ntoll()</code></pre><p>{ARTICLE_TEXT[4]}</p>"
        f"<table><tr><th>Bell</th><th>Year</th></tr><tr><td>Big</td><td>1858</td></tr></table><p>{ARTICLE_TEXT[5]}</p>"
    )
    found = page(bare("Bells", f"<article>{body}</article>"))
    assert found.extractor == "trafilatura"
    for part in (
        "# Bells\n\n## Ribs",
        "`ring()`, loudly,",
        f"1. {ARTICLE_TEXT[1]}\n2. {ARTICLE_TEXT[2]}",
        f"> {ARTICLE_TEXT[3]}",
        "```\ntin     22 %\ncopper  78 %\n```",
        "```\nring()\ntoll()\n```",
        "| Bell | Year |\n| --- | --- |\n| Big | 1858 |",
    ):
        assert part in found.markdown


def test_a_headline_and_a_lead_that_an_extractor_leaves_out_are_put_back() -> None:
    """They often stand in what looks like the page's head."""
    lead = "In the night to Monday a bell has gone from the church of Saint Martin in the old town."
    body = "<br><br>".join(ARTICLE_TEXT)
    found = page(
        bare("Bell stolen", f'<div class="a"><h1>Bell stolen</h1><div>{lead}</div><div><p>{body}</p></div></div>')
    )
    assert found.markdown.startswith(f"# Bell stolen\n\n{lead}")
    assert found.markdown.count(lead) == 1
    assert found.markdown.count("# Bell stolen") == 1


def test_teasers_of_other_pages_are_not_the_page() -> None:
    """Each begins with a headline that leads away."""
    teasers = "".join(
        f'<div><h3><a href="/{n}">Another story</a></h3><p>What happened there is told in so many words, and '
        f"more.</p></div>"
        for n in range(3)
    )
    texts = "".join(f"<p>{text}</p>" for text in ARTICLE_TEXT)
    found = page(bare("Bells", f"<h1>Bells</h1>{texts}{teasers}"), without=frozenset({"trafilatura", "readability"}))
    assert "Another story" not in found.markdown
    assert ARTICLE_TEXT[-1] in found.markdown


def test_two_extractors_that_agree_are_believed_on_a_page_full_of_other_things(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The page's own text is then mostly something else."""
    others = "".join(
        f"<div>Something else entirely that is not linked, number {n}, said in a division.</div>" for n in range(40)
    )
    article_markup = "".join(f"<p>{text}</p>" for text in (*ARTICLE_TEXT, *ARTICLE_TEXT))
    for name in ("by_trafilatura", "by_readability"):
        monkeypatch.setattr(html_chain, name, lambda _markup, _url: article_markup)
    monkeypatch.setattr(html_chain, "_has_lost_structure", lambda _text, _own: False)
    found = read(bare("Bells", article_markup + others))
    assert found.page
    assert [(step.outcome, step.reason) for step in found.steps] == [
        (PageOutcome.OK, None),
        (PageOutcome.EMPTY, "too_little_text"),
    ]
    assert (found.page.extractor, "Something else" in found.page.markdown) == ("trafilatura", False)


def test_what_a_page_has_too_much_of_is_not_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is read up to there, and marked."""
    monkeypatch.setattr("zarniwoop.extract.hygiene.MOST_EVENTS", 60)
    found = page(article("Bells", paragraphs=60))
    assert found.truncated
    assert ARTICLE_TEXT[0] in found.markdown


def test_markup_without_any_is_empty() -> None:
    """libxml2 calls that an error."""
    assert read("<!-- -->").outcome is PageOutcome.EMPTY
    assert read("<html>").outcome is PageOutcome.EMPTY
    assert read(bare("Bells", f"<dialog open><p>{ARTICLE_TEXT[0]}</p></dialog><script>x")).outcome is PageOutcome.OK


def test_the_markup_that_is_handed_out_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """In bytes, where characters end."""
    monkeypatch.setattr("zarniwoop.extract.html_page.MOST_HTML_BYTES", 101)
    html = page(article("Glocken", topic="ä" * 200), want_html=True).html
    assert html
    assert 90 < len(html.encode()) <= 101
