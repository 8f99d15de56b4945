"""The corpus: what the simulator's providers know, read from `corpus/*.json`.

Titles, authors, DOIs, arXiv ids, PMIDs, ISBNs and addresses are real as far as the authors know them; abstracts,
snippets, counts and comments are our own words. Identifiers that a provider hands out (OpenAlex and Open Library
numbers, Hacker News ids, objects of OpenStreetMap) lie in a range of our own wherever the real one was not known. The
people of the directory are invented, with iDs that ORCID does not give out.
Quirk: an item with `age_hours` instead of a date is always that old, so that "the last week" is never empty.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "corpus"


@dataclass(frozen=True, slots=True, kw_only=True)
class ArxivEntry:
    """A work's life on arXiv; the moments are RFC 3339 in UTC."""

    id: str
    version: int
    submitted: str
    updated: str
    categories: Sequence[str]
    comment: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """An academic work. `published` is as exact as known (`1984`, `2007-03`, `2017-06-12`); `abstract` keeps markup."""

    number: int
    title: str
    authors: Sequence[str]
    published: str
    language: str
    type: str
    venue: str
    venue_abbreviation: str | None
    issn: str | None
    volume: str | None
    issue: str | None
    pages: str | None
    doi: str | None
    pmid: str | None
    pmcid: str | None
    arxiv: ArxivEntry | None
    pdf_url: str | None
    cited_by: int
    is_open_access: bool
    is_retracted: bool
    keywords: Sequence[str]
    abstract: str
    sections: Sequence[Sequence[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A web page or a PDF."""

    title: str
    link: str
    snippet: str
    date: str | None
    language: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NewsItem:
    title: str
    link: str
    snippet: str
    source: str
    date: str | None
    age_hours: float | None
    has_image: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Image:
    title: str
    image_url: str
    width: int
    height: int
    link: str
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Video:
    title: str
    link: str
    image_url: str
    snippet: str
    channel: str
    date: str
    duration: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Book:
    """A work of Open Library; `description_is_object` picks one of the two shapes in which it sends descriptions."""

    work: str
    title: str
    authors: Sequence[str]
    first_publish_year: int
    isbn: Sequence[str]
    publisher: str
    subjects: Sequence[str]
    languages: Sequence[str]
    description: str
    description_is_object: bool
    pages: int | None
    cover: int | None
    editions: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Article:
    """An encyclopedia article: `extract` is the lead, `rest` what follows it."""

    pageid: int
    title: str
    description: str
    extract: str
    rest: str
    size: int
    timestamp: str
    redirects: Sequence[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Story:
    """A Hacker News story; without `url` it is an Ask HN whose HTML is in `text`."""

    id: int
    title: str
    author: str
    points: int
    num_comments: int
    created: str | None
    age_hours: float | None
    url: str | None
    text: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Comment:
    id: int
    story_id: int
    parent_id: int
    author: str
    text: str
    created: str | None
    age_hours: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Repository:
    """A repository of source code; `language` is one of programming."""

    number: int
    name: str
    description: str
    language: str
    topics: Sequence[str]
    stars: int
    forks: int
    created: str
    pushed: str
    license: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceFile:
    """A file at the head of a repository's only branch."""

    repository: Repository
    path: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Issue:
    repository: Repository
    number: int
    title: str
    body: str
    state: str
    author: str
    created: str
    labels: Sequence[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """Something written inside the house; not every one has an address. `body` may hold markup."""

    id: str
    title: str
    body: str
    link: str | None
    date: str
    authors: Sequence[str]
    department: str
    language: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """Who stands in a directory; whoever shows nothing to anybody has not even a name."""

    orcid: str
    given_names: str | None
    family_name: str | None
    credit_name: str | None
    other_names: Sequence[str]
    institutions: Sequence[str]
    keywords: Sequence[str]
    biography: str | None
    country: str | None
    links: Sequence[Mapping[str, str]]
    works: Sequence[Mapping[str, str | None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A place on the map; `names` are those in other languages, by language, and a house has none at all.

    A postcode is no object of the map and has no `osm_type`.
    """

    osm_type: str
    osm_id: int
    latitude: float
    longitude: float
    half_degrees: float
    category: str
    type: str
    layer: str
    name: str
    names: Mapping[str, str]
    house_number: str | None
    road: str | None
    district: str | None
    city: str | None
    county: str | None
    state: str | None
    country: str
    country_code: str
    postcode: str | None
    importance: float
    website: str | None
    wikipedia: str | None

    def name_in(self, language: str) -> str:
        """What it is called in a language; where it has no name there, as it is called on the spot."""
        return self.names.get(language, self.name)

    def distance(self, latitude: float, longitude: float) -> float:
        """In degrees, good enough to tell what is nearest."""
        return float(((self.latitude - latitude) ** 2 + (self.longitude - longitude) ** 2) ** 0.5)


def moment(date: str | None, age_hours: float | None) -> datetime | None:
    """When an item came out: its date, or `age_hours` before now; None for an undated one."""
    if age_hours is not None:
        return datetime.now(UTC).replace(microsecond=0) - timedelta(hours=age_hours)
    if date is None:
        return None
    parsed = datetime.fromisoformat(date)
    return parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)


def first_day(published: str) -> str:
    """`1984` as `1984-01-01`, `2007-03` as `2007-03-01`: what a provider makes of a date that is not exact."""
    return published + "-01-01"[len(published) - 4 :]


def initials(first_names: str) -> str:
    """`Jennifer A.` as `JA`."""
    return "".join(name[0] for name in first_names.replace(".", " ").split())


def read(name: str) -> list[dict[str, Any]]:
    """The items of `corpus/<name>.json`."""
    items: list[dict[str, Any]] = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    return items


def read_work(item: Mapping[str, Any]) -> Work:
    arxiv = item["arxiv"]
    return Work(**{**item, "arxiv": ArxivEntry(**arxiv) if arxiv else None})


def read_repositories() -> tuple[list[Repository], list[SourceFile], list[Issue]]:
    """The repositories, and what lies in them."""
    repositories, files, issues = list[Repository](), list[SourceFile](), list[Issue]()
    for item in read("repositories"):
        own = {name: value for name, value in item.items() if name not in ("files", "issues")}
        repository = Repository(**own)
        repositories.append(repository)
        files += [SourceFile(repository=repository, **each) for each in item["files"]]
        issues += [Issue(repository=repository, **each) for each in item["issues"]]
    return repositories, files, issues
