"""What verdicts look at, each made once: an answer's words, titles, links and buttons. Everything is bounded."""

import re
from html import unescape

from zarniwoop.extract import walls
from zarniwoop.extract.facts import PageFacts
from zarniwoop.extract.markdown import Written
from zarniwoop.extract.weigh import text_weight, words_of

_RAW_CHARS = 400_000
_SEEN_CHARS = 60_000
_WORD_CHARS = 20_000
_TAGS = re.compile(r"<[^<>]{0,3000}>")
_SEGMENT = re.compile(r"\s{1,4}[|·•–—:»-]{1,3}\s{1,4}|\s{0,4}\|\s{0,4}")
_LINK = re.compile(r"\[[^\[\]\n]{0,400}\]\([^()\s]{0,2100}\)")
_LISTED = re.compile(r"\s{0,40}(?:[-|]|\d{1,7}\.) ")
_SHORT_NODE = re.compile(r">([^<>]{2,60})<|\bvalue=[\"']([^\"'<>]{2,60})[\"']")
_ABOUT = re.compile(
    r"(?:^|[:–—-] ?)what\b"
    r"|\b(?:how|why|guide|fix(?:ing)?|understanding|history|design(?:ing)?|best|examples?|tutorial|handling|handlers?"
    r"|custom(?:i[sz]\w+)?|explained|troubleshoot\w*|debugging|preventing|implementing|creating|configuring"
    r"|detecting|measuring|errors|banners|pages|walls|laws?|rules|ruling|court|directive|documentation|vs\.?|versus"
    r"|wie|warum|was ist|anleitung|ratgeber|gestalten|behandeln|einrichten|gesetz|urteil|richtlinie"
    r"|comment (?:\w+er|faire)|pourquoi|gérer|cómo|por qué|guía|perché|guida|por que|guia|hoe|waarom|handleiding"
    r"|jak|dlaczego|poradnik|как|почему)\b"
    r"|とは|方法|作り方|対処|解説|使い方|仕組み|如何|为什么|كيف|لماذا|دليل",
    re.IGNORECASE,
)
_SITE = re.compile(
    r"\b(?:we|us|our|wir|uns\w*|nous|nos|notre|nosotros|nuestr\w+|noi|nostr\w+|nós|noss\w+|wij|ons|onze|nasz\w*"
    r"|мы|наш\w*)\b|当社|我们",
    re.IGNORECASE,
)
_READER = re.compile(
    r"\b(?:your?|sie|ihre?\w*|dein\w*|vous|vos|votre|usted|voi|vostr\w+|tuoi?|você|seus?|jouw?|uw|twoj\w*|вы|вас"
    r"|ваш\w*)\b|お客様|您",
    re.IGNORECASE,
)
_ASKER = re.compile(r"\b(?:I|I'[a-z]{1,2}|my|My|ich|mein\w*|j'ai|mon|yo|mío?|io|mio|eu|meu|ik|mijn|мой|моя)\b")
_SORRY = re.compile(
    r"\b(?:sorry|unfortunately|leider|désolée?s?|malheureusement|lo sentimos|purtroppo|siamo spiacenti|helaas|niestety"
    r"|przepraszamy|infelizmente|lamentamos|к сожалению|извините)\b|申し訳|抱歉|عذر",
    re.IGNORECASE,
)
_OPENING = 300
_PARAGRAPH = 90
_LEAST_PARAGRAPHS = 3
_LEAST_HEADINGS = 2


class Judged:
    """An answer that may be a page. `weight` counts all of its text, `said` what is no link."""

    def __init__(
        self, *, status: int, url: str, raw: str, markup: str, facts: PageFacts, article: Written, free: bool | None
    ) -> None:
        self.status = status
        self.url = url
        self.facts = facts
        self.article = article
        self.free = free
        self.raw = raw if len(raw) <= _RAW_CHARS else raw[: _RAW_CHARS // 2] + raw[-_RAW_CHARS // 2 :]
        self.shown = markup[:_SEEN_CHARS]
        self.words = _plain(words_of(article.text[:_WORD_CHARS]))
        self.weight = text_weight(words_of(article.text))
        self.said = max(0, self.weight - article.link_chars)
        self.seen = _plain(" ".join(unescape(_TAGS.sub(" ", self.shown)).split()))
        self.titles = [
            _plain(part.strip()) for part in (*_SEGMENT.split(facts.title[:300]), facts.headline[:200]) if part.strip()
        ]

    def titled(self, pattern: re.Pattern[str]) -> bool:
        return any(pattern.search(title) and not _ABOUT.search(title) for title in self.titles)

    @property
    def seen_weight(self) -> int:
        return text_weight(self.seen)

    @property
    def spoken(self) -> str:
        """Its sentences without links and lists: what is said, and not where else to go."""
        text = _LINK.sub("", self.article.text[:_WORD_CHARS])
        return _plain(words_of("\n".join(line for line in text.split("\n") if not _LISTED.match(line))))

    @property
    def has_code(self) -> bool:
        return "<pre" in self.shown or "```" in self.article.text[:_WORD_CHARS]

    @property
    def is_essay(self) -> bool:
        """Somebody wrote it to be read: several paragraphs, code, parts with headings, or one who says `I`."""
        text, paragraphs = self.article.text[:_WORD_CHARS], self._paragraphs
        if "```" in text or len(paragraphs) >= _LEAST_PARAGRAPHS or any(map(_ASKER.search, paragraphs)):
            return True
        headings = [line for line in text.split("\n") if line.startswith(("## ", "### ")) and "](" not in line]
        return len(headings) >= _LEAST_HEADINGS

    @property
    def speaks_to_reader(self) -> bool:
        """From its first words on, or it is sorry: an error does, and what explains errors seldom."""
        opening = self.spoken[:_OPENING]
        return _READER.search(opening) is not None or _SORRY.search(opening) is not None

    @property
    def is_told(self) -> bool:
        """An essay that seldom speaks to its reader, as a wall does in every sentence."""
        return self.is_essay and _mostly_without(self._paragraphs, _READER)

    @property
    def is_report(self) -> bool:
        """Its paragraphs speak of others than of us and you, as those of a question do."""
        return _mostly_without(self._paragraphs, _SITE, _READER)

    @property
    def _paragraphs(self) -> list[str]:
        return _long_paragraphs(self.article.text[:_WORD_CHARS])

    @property
    def asks_for_consent(self) -> bool:
        """By what stands for itself, as on a button; a sentence about buttons does not ask."""
        return any(
            walls.CONSENT_ASKS.search(_plain(unescape(node[1] or node[2]))) for node in _SHORT_NODE.finditer(self.shown)
        )


def _plain(text: str) -> str:
    """With the apostrophes that patterns are written with."""
    return text.replace("\u2019", "'").replace("\u00a0", " ")


def _long_paragraphs(text: str) -> list[str]:
    return [line for line in text.split("\n") if line[:1] not in ("#", "|", "-") and text_weight(line) >= _PARAGRAPH]


def _mostly_without(paragraphs: list[str], *patterns: re.Pattern[str]) -> bool:
    without = sum(not any(pattern.search(each) for pattern in patterns) for each in paragraphs)
    return without * 2 > max(1, len(paragraphs))
