"""The library: every shelf of the corpus, and an empty twin for providers that are to find nothing."""

import re
from dataclasses import dataclass, fields

from tests.simulator.corpus import (
    Article,
    Book,
    Comment,
    Document,
    Image,
    Issue,
    NewsItem,
    Page,
    Person,
    Place,
    Repository,
    SourceFile,
    Story,
    Video,
    Work,
    read,
    read_repositories,
    read_work,
)
from tests.simulator.index import Shelf, Text
from tests.simulator.web import pages_to_find

_LANGUAGES_WITHOUT_ARTICLES = ("es", "fr", "it")
_MARKUP = re.compile(r"<[^>]+>")


@dataclass(frozen=True, slots=True, kw_only=True)
class Library:
    """`articles` is by language."""

    works: Shelf[Work]
    pages: Shelf[Page]
    news: Shelf[NewsItem]
    images: Shelf[Image]
    videos: Shelf[Video]
    books: Shelf[Book]
    articles: dict[str, Shelf[Article]]
    posts: Shelf[Story | Comment]
    repositories: Shelf[Repository]
    files: Shelf[SourceFile]
    issues: Shelf[Issue]
    documents: Shelf[Document]
    people: Shelf[Person]
    places: Shelf[Place]

    def close(self) -> None:
        for field in fields(self):
            shelf = getattr(self, field.name)
            for one in shelf.values() if isinstance(shelf, dict) else (shelf,):
                one.close()


def open_library(base_url: str | None = None) -> Library:
    """`base_url` is where the simulator serves pages of its own, for searches to find them."""
    repositories, files, issues = read_repositories()
    return _shelve(
        works=[read_work(item) for item in read("works")],
        pages=[
            *(Page(**item) for name in ("pages", "pdfs") for item in read(name)),
            *(pages_to_find(base_url) if base_url else ()),
        ],
        news=[NewsItem(**item) for item in read("news")],
        images=[Image(**item) for item in read("images")],
        videos=[Video(**item) for item in read("videos")],
        books=[Book(**item) for item in read("books")],
        articles={
            **{language: [Article(**item) for item in read(f"articles_{language}")] for language in ("en", "de")},
            **{language: [] for language in _LANGUAGES_WITHOUT_ARTICLES},
        },
        posts=[*(Story(**item) for item in read("stories")), *(Comment(**item) for item in read("comments"))],
        repositories=repositories,
        files=files,
        issues=issues,
        documents=[Document(**item) for item in read("documents")],
        people=[Person(**item) for item in read("people")],
        places=[Place(**item) for item in read("places")],
    )


def empty_library() -> Library:
    articles: dict[str, list[Article]] = {language: [] for language in ("en", "de", *_LANGUAGES_WITHOUT_ARTICLES)}
    return _shelve(
        works=[],
        pages=[],
        news=[],
        images=[],
        videos=[],
        books=[],
        articles=articles,
        posts=[],
        repositories=[],
        files=[],
        issues=[],
        documents=[],
        people=[],
        places=[],
    )


def plain(markup: str) -> str:
    """Text without its tags."""
    return _MARKUP.sub("", markup)


def spoken_name(author: str) -> str:
    """`Doudna, Jennifer A.` as `Jennifer A. Doudna`; a group keeps its name."""
    last, _, first = author.partition(", ")
    return f"{first} {last}" if first else last


def _shelve(
    *,
    works: list[Work],
    pages: list[Page],
    news: list[NewsItem],
    images: list[Image],
    videos: list[Video],
    books: list[Book],
    articles: dict[str, list[Article]],
    posts: list[Story | Comment],
    repositories: list[Repository],
    files: list[SourceFile],
    issues: list[Issue],
    documents: list[Document],
    people: list[Person],
    places: list[Place],
) -> Library:
    return Library(
        works=Shelf(works, _text_of_work),
        pages=Shelf(pages, lambda page: Text(title=page.title, body=page.snippet, subject=page.link)),
        news=Shelf(news, lambda item: Text(title=item.title, body=item.snippet, subject=item.source)),
        images=Shelf(images, lambda image: Text(title=image.title, subject=image.source)),
        videos=Shelf(videos, lambda video: Text(title=video.title, authors=video.channel, body=video.snippet)),
        books=Shelf(books, _text_of_book),
        articles={language: Shelf(items, _text_of_article) for language, items in articles.items()},
        posts=Shelf(posts, _text_of_post),
        repositories=Shelf(repositories, _text_of_repository),
        files=Shelf(files, lambda file: Text(title=file.path, body=file.text, subject=file.repository.name)),
        issues=Shelf(issues, lambda issue: Text(title=issue.title, authors=issue.author, body=issue.body)),
        documents=Shelf(documents, _text_of_document),
        people=Shelf(people, _text_of_person),
        places=Shelf(places, _text_of_place),
    )


def _text_of_work(work: Work) -> Text:
    identifiers = [work.doi or "", work.pmid or "", work.venue, *(work.arxiv.categories if work.arxiv else ())]
    return Text(
        title=plain(work.title),
        authors="; ".join(spoken_name(author) for author in work.authors),
        body=plain(work.abstract),
        subject="; ".join([*work.keywords, *identifiers]),
    )


def _text_of_repository(repository: Repository) -> Text:
    return Text(
        title=repository.name,
        body=repository.description,
        subject="; ".join([*repository.topics, repository.language]),
    )


def _text_of_document(document: Document) -> Text:
    return Text(
        title=document.title,
        authors="; ".join(document.authors),
        body=plain(document.body),
        subject=document.department,
    )


def _text_of_book(book: Book) -> Text:
    return Text(
        title=book.title,
        authors="; ".join(book.authors),
        body=book.description,
        subject="; ".join([*book.subjects, *book.isbn, book.publisher]),
    )


def _text_of_article(article: Article) -> Text:
    return Text(title=article.title, body=f"{article.extract} {article.rest}", subject=article.description)


def _text_of_post(post: Story | Comment) -> Text:
    if isinstance(post, Comment):
        return Text(title="", authors=post.author, body=plain(post.text))
    return Text(title=post.title, authors=post.author, body=plain(post.text or ""), subject=post.url or "")


def _text_of_person(person: Person) -> Text:
    names = (person.given_names, person.family_name, person.credit_name, *person.other_names)
    return Text(
        title="; ".join(name for name in names if name),
        authors="; ".join(person.institutions),
        body=f"{person.biography or ''} {'; '.join(work['title'] or '' for work in person.works)}",
        subject="; ".join(person.keywords),
    )


def _text_of_place(place: Place) -> Text:
    area = (place.house_number, place.road, place.district, place.city, place.county, place.state, place.postcode)
    return Text(
        title="; ".join(name for name in (place.name, *place.names.values()) if name),
        authors="; ".join(part for part in (*area, place.country, place.country_code) if part),
        subject=f"{place.category}; {place.type}",
    )
