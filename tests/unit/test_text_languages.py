"""The tables of codes: whole, well-formed, and read in both directions."""

import re

import pytest

from zarniwoop.text.languages import (
    LANGUAGE_OF_MARC,
    LANGUAGES,
    MARC_CODES,
    REGIONS,
    languages_written,
    primary_language,
)


def test_the_standards_are_whole() -> None:
    """184 languages of two letters, 249 regions; nothing is in there twice by a slip."""
    assert sum(len(code) == 2 for code in LANGUAGES) == 184
    assert len(REGIONS) == 249
    assert all(re.fullmatch("[a-z]{2,3}", code) for code in LANGUAGES)
    assert all(re.fullmatch("[A-Z]{2}", code) for code in REGIONS)


def test_no_private_or_unassigned_code_is_known() -> None:
    """What means nothing to anybody would only be sent on."""
    assert LANGUAGES.isdisjoint({"xx", "qq", "qaa", "und", "deu", "ger"})
    assert REGIONS.isdisjoint({"QQ", "ZZ", "XA", "XZ", "AA", "UK", "EU"})


def test_what_catalogues_call_a_language_leads_back_to_it() -> None:
    """Both kinds of Norwegian are one to them."""
    assert set(MARC_CODES) <= LANGUAGES
    assert all(re.fullmatch("[a-z]{3}", code) for code in MARC_CODES.values())
    back = {language: LANGUAGE_OF_MARC[code] for language, code in MARC_CODES.items()}
    assert {language: found for language, found in back.items() if language != found} == {"nb": "no"}


@pytest.mark.parametrize(("language", "code"), [("de", "ger"), ("fr", "fre"), ("nl", "dut"), ("el", "gre")])
def test_the_bibliographic_code_is_taken(language: str, code: str) -> None:
    """Where there are two."""
    assert MARC_CODES[language] == code


@pytest.mark.parametrize(
    ("text", "languages"),
    [
        ("cathedral bells", set()),
        ("Glockenläuten", set()),
        ("2026 — !", set()),
        ("κωδωνοκρουσία", {"el", "pnt"}),
        ("お寺の鐘", {"ja"}),
        ("テンプル", {"ja"}),
        ("종소리", {"ko"}),
        ("פעמון", {"he", "yi"}),
        ("ระฆัง", {"th"}),
    ],
)
def test_a_script_tells_which_languages_a_text_may_be_in(text: str, languages: set[str]) -> None:
    """Latin letters, digits and marks tell nothing."""
    assert languages_written(text) == languages


def test_most_letters_decide() -> None:
    """A name in another script does not make a question foreign; one script may be of many languages."""
    assert languages_written("What does 鐘 mean?") == frozenset()
    assert languages_written("清水寺") == {"zh", "ja"}
    assert {"ru", "uk", "bg"} <= languages_written("колокольный звон DVD")
    assert languages_written("колокол") <= LANGUAGES


@pytest.mark.parametrize(
    ("tag", "language"),
    [("de", "de"), ("pt-BR", "pt"), ("zh-yue", "zh"), ("nb", "no"), ("no", "no"), ("simple", "en")],
)
def test_a_tag_and_a_wiki_s_name_lead_to_a_language(tag: str, language: str) -> None:
    assert primary_language(tag) == language
