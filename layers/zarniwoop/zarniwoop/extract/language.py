"""The language of a page: what it states, unless its letters say otherwise, else what its commonest words say."""

import re

from zarniwoop.text.languages import LANGUAGES, languages_written, primary_language

_TAG = re.compile(r"([A-Za-z]{2,3})(?:[-_][A-Za-z0-9-_]{1,30})?")
_WORD = re.compile(r"[^\W\d_]+")
_COMMON = {
    "en": "the and of to in that is for with was on are this from",
    "de": "der die und das den von ist nicht mit ein dem auf für sich",
    "fr": "le la les et des est dans une pour que qui sur pas du",
    "es": "el la los que del las por una con para es se en como",
    "it": "il di che la per un è una del della con sono non gli",
    "pt": "o que não uma os para com do da em são mais no dos",
    "nl": "de het een van en is dat niet op te zijn met voor die",
    "sv": "och att det som en på är av för med den till inte om",
    "da": "og at det som en på er af for med den til ikke der",
    "pl": "w i na z nie się do że jest to o jak po od",
    "tr": "ve bir bu için ile de da olarak olan çok daha gibi en ne",
}
_SETS = {language: frozenset(words.split()) for language, words in _COMMON.items()}
_OWN_LETTERS = ((frozenset("ٹڈڑے"), "ur"), (frozenset("پچژگ"), "fa"), (frozenset("їєґ"), "uk"))
_LARGEST = ("zh", "ru", "ar", "hi", "bn", "he", "am")
_LEAST_WORDS = 5
_SAMPLE = 5_000


def language_of(*stated: str | None, text: str) -> str | None:
    """A code as BCP 47 writes it, without the region."""
    named = next(filter(None, map(_code, stated)), None)
    written = languages_written(text[:_SAMPLE])
    if not written:
        return named or _by_words(text[:_SAMPLE])
    return named if named in written else _by_letters(text[:_SAMPLE], written)


def _code(tag: str | None) -> str | None:
    found = _TAG.fullmatch((tag or "").strip().partition(",")[0].strip())
    code = primary_language(found[1]) if found else None
    return code if code in LANGUAGES else None


def _by_letters(text: str, written: frozenset[str]) -> str | None:
    """The language whose own letters are in it, or the largest one of its script."""
    if len(written) == 1:
        return next(iter(written))
    own = next((language for letters, language in _OWN_LETTERS if language in written and letters & set(text)), None)
    return own or next((language for language in _LARGEST if language in written), None)


def _by_words(text: str) -> str | None:
    """The language whose commonest words stand in it most often, if one is ahead of all others."""
    words = _WORD.findall(text.lower())
    found = sorted(
        ((sum(word in common for word in words), language) for language, common in _SETS.items()), reverse=True
    )
    (most, language), (second, _other) = found[0], found[1]
    return language if most >= max(_LEAST_WORDS, 1.2 * second) else None
