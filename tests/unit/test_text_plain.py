"""Markup to plain text, and cutting at words."""

import pytest

from zarniwoop.text.plain import clip, plain, plain_title, verbatim


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("plain", "plain"),
        ("<b>bold</b> H<sub>2</sub>O", "bold H2O"),
        ("one<br>two<p class='x'>three</p><li>four", "one two three four"),
        ("Tom &amp; Jerry&#39;s &quot;house&quot;", 'Tom & Jerry\'s "house"'),
        ("&lt;b&gt; stays", "<b> stays"),
        ("&amp;lt; once", "&lt; once"),
        ("p < 0.05 and n > 20", "p < 0.05 and n > 20"),
        ("a <!-- note --> b", "a b"),
        ("  many \t\r\n spaces\u00a0\u2003here ", "many spaces here"),
        ("soft\u00adhyphen zero\u200bwidth \u202eright-to-left\ufeff", "softhyphen zerowidth right-to-left"),
        ("form\x0cfeed and next\x85line", "form feed and next line"),
        ("nul\x00bell\x07", "nulbell"),
        ("tag\U000e0041characters", "tagcharacters"),
        ("lone \ud800 surrogate", "lone surrogate"),
        ("Grüße, 莴笋 🎉", "Grüße, 莴笋 🎉"),
        ("unclosed <b", "unclosed <b"),
    ],
)
def test_what_is_shown_is_text(markup: str, text: str) -> None:
    """No tags, no entities, nothing invisible, single spaces; what only looks like a tag stays."""
    assert plain(markup) == text


@pytest.mark.parametrize("markup", [None, "", " \n", "<br/>", "\u200b", "<i></i> "])
def test_nothing_left_is_none(markup: str | None) -> None:
    """A blank title or snippet is no title and no snippet."""
    assert plain(markup) is None


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("lasers and<mml:math><mml:mi>Z</mml:mi></mml:math>pinches", "lasers and Z pinches"),
        ("the <math><mi>x</mi></math>-axis", "the x-axis"),
        ('of<math display="inline"><mi>n</mi></math>', "of n"),
    ],
)
def test_a_formula_does_not_stick_to_words(markup: str, text: str) -> None:
    """Publishers leave the spaces out; a hyphen or a full stop keeps its place."""
    assert plain(markup) == text


def test_hostile_markup_takes_no_more_than_linear_time() -> None:
    """A megabyte of opening brackets is through at once."""
    assert plain("<" * 1_000_000) == "<" * 1_000_000
    assert plain("<a" * 500_000) is not None


@pytest.mark.parametrize(
    ("text", "limit", "cut"),
    [
        ("short", 5, "short"),
        ("cathedral bells", 11, "cathedral…"),
        ("cathedralbells", 12, "cathedralbe…"),
        ("a cathedralbells", 12, "a cathedral…"),
    ],
)
def test_a_text_is_cut_at_a_word_where_one_ends_late_enough(text: str, limit: int, cut: str) -> None:
    """And never longer than the limit, ellipsis included."""
    assert clip(text, limit) == cut
    assert len(clip(text, limit)) <= limit


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("Bells &amp; chimes", "Bells & chimes"),
        ("Bells &amp;amp; chimes", "Bells & chimes"),
        ("coupling and&amp;nbsp;BOLD", "coupling and BOLD"),
        ("&lt;title&gt;Noise&lt;/title&gt;", "Noise"),
        ("variants in &lt;i&gt;ATM&lt;/i&gt; and H&lt;sub&gt;2&lt;/sub&gt;O", "variants in ATM and H2O"),
        ("&lt;mml:math display=&quot;block&quot;&gt;x&lt;/mml:math&gt;", "x"),
        ("<i>p</i> &lt; 0.05 &amp;lt; q", "p < 0.05 < q"),
        ("for x &lt;y&gt; z", "for x <y> z"),
        ("plain", "plain"),
        ("&lt;i&gt;&lt;/i&gt;", None),
        (None, None),
    ],
)
def test_a_title_may_be_escaped_twice(markup: str | None, text: str | None) -> None:
    """Known inline markup goes, whatever else looks like a tag stays."""
    assert plain_title(markup) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\n    if a <b> c &amp;\r\n\treturn\n", "    if a <b> c &amp;\n\treturn"),
        ("a\u202eb\x00", "ab"),
        (" \u200b\n", None),
        ("", None),
        (None, None),
        (7, None),
    ],
)
def test_source_code_keeps_lines_indents_and_whatever_looks_like_markup(text: object, shown: str | None) -> None:
    """Only what nobody could see goes."""
    assert verbatim(text) == shown
