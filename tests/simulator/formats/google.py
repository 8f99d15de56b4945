"""Google's query language as far as Serper's users lean on it: operators in `q`, windows in `tbs`, dates in words."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TypeVar
from urllib.parse import urlsplit

from tests.simulator.index import Matches, Shelf

Item = TypeVar("Item")

_OPERATOR = re.compile(r'(?<!\S)(-?)(site|filetype|ext):("?)([^\s"]+)\3(?!\S)', re.IGNORECASE)
_EXCLUDED_WORD = re.compile(r"(?<!\S)-(\w[\w-]*)(?!\S)")
_ALTERNATIVE = re.compile(r"(?<!\S)(OR|\|)(?!\S)")
_CUSTOM_END = re.compile(r"cd_(min|max):(\d{1,2})/(\d{1,2})/(\d{4})")
_RECENT = re.compile(r"qdr:([hdwmy])(\d*)")
_SPANS = {
    "h": timedelta(hours=1),
    "d": timedelta(days=1),
    "w": timedelta(weeks=1),
    "m": timedelta(days=31),
    "y": timedelta(days=366),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """A query taken apart. Several `sites` are alternatives; the window's latest end is exclusive."""

    words: str
    sites: tuple[str, ...] = ()
    excluded_sites: tuple[str, ...] = ()
    filetypes: tuple[str, ...] = ()
    excluded_filetypes: tuple[str, ...] = ()
    earliest: datetime | None = None
    latest: datetime | None = None

    def on(
        self,
        shelf: Shelf[Item],
        link_of: Callable[[Item], str],
        date_of: Callable[[Item], datetime | None],
        start: int,
        count: int,
    ) -> Matches[Item]:
        """The page of hits on a shelf; a query of operators alone finds all that they let pass."""

        def keep(item: Item) -> bool:
            return self._lets_pass(link_of(item)) and self._covers(date_of(item))

        words = _EXCLUDED_WORD.sub(" ", self.words)
        unwanted = {id(shelf.items[row]) for word in _EXCLUDED_WORD.findall(self.words) for row in shelf.holding(word)}
        if not words.strip():
            return shelf.page(range(len(shelf.items)), keep=keep, start=start, count=count)
        if not unwanted:
            return shelf.search(words, keep=keep, start=start, count=count)
        return shelf.search(words, keep=lambda item: id(item) not in unwanted and keep(item), start=start, count=count)

    def _lets_pass(self, link: str) -> bool:
        if self.sites and not any(_lies_on(link, site) for site in self.sites):
            return False
        if any(_lies_on(link, site) for site in self.excluded_sites):
            return False
        ending = urlsplit(link).path.rpartition(".")[2].lower()
        return (not self.filetypes or ending in self.filetypes) and ending not in self.excluded_filetypes

    def _covers(self, date: datetime | None) -> bool:
        if self.earliest is None and self.latest is None:
            return True
        if date is None:
            return False
        return (self.earliest is None or date >= self.earliest) and (self.latest is None or date < self.latest)


def read_search(query: str, tbs: str) -> Search:
    query = query.replace("(", " ").replace(")", " ")
    named: dict[str, list[str]] = {"site": [], "-site": [], "filetype": [], "-filetype": []}
    for minus, operator, _, value in _OPERATOR.findall(query):
        named[minus + operator.lower().replace("ext", "filetype")].append(value.lower())
    words = _ALTERNATIVE.sub(" ", _OPERATOR.sub(" ", query))
    earliest, latest = _window(tbs)
    return Search(
        words=" ".join(words.split()),
        sites=tuple(named["site"]),
        excluded_sites=tuple(named["-site"]),
        filetypes=tuple(named["filetype"]),
        excluded_filetypes=tuple(named["-filetype"]),
        earliest=earliest,
        latest=latest,
    )


def free_date(date: datetime) -> str:
    """A date as Google shows it: "5 mins ago", "3 hours ago", "2 weeks ago", "Jan 29, 2023"."""
    age = datetime.now(UTC) - date
    if age < timedelta(hours=1):
        return f"{max(1, int(age.total_seconds() // 60))} mins ago"
    if age < timedelta(days=1):
        return _ago(int(age.total_seconds() // 3600), "hour")
    if age < timedelta(weeks=1):
        return _ago(age.days, "day")
    if age < timedelta(days=30):
        return _ago(age.days // 7, "week")
    return f"{date:%b} {date.day}, {date.year}"


def _ago(number: int, unit: str) -> str:
    return f"{number} {unit}{'' if number == 1 else 's'} ago"


def _window(tbs: str) -> tuple[datetime | None, datetime | None]:
    recent = _RECENT.search(tbs)
    if recent:
        return datetime.now(UTC) - _SPANS[recent[1]] * int(recent[2] or 1), None
    ends = {end: _day(int(year), int(month), int(day)) for end, month, day, year in _CUSTOM_END.findall(tbs)}
    latest = ends.get("max")
    return ends.get("min"), latest + timedelta(days=1) if latest else None


def _day(year: int, month: int, day: int) -> datetime | None:
    try:
        return datetime(year, month, day, tzinfo=UTC)
    except ValueError:
        return None


def _lies_on(link: str, site: str) -> bool:
    parts = urlsplit(link)
    host, slash, path = site.partition("/")
    name = (parts.hostname or "").lower()
    return (name == host or name.endswith("." + host)) and (parts.path or "/").startswith(slash + path)
