"""The library: every shelf of the corpus, and an empty twin for providers that are to find nothing."""

import re
from dataclasses import dataclass, fields

from tests.simulator.corpus import (
    Article,
    Book,
    Comment,
    Image,
    NewsItem,
    Page,
    Story,
    Video,
    Work,
    read,
    read_work,
)
from tests.simulator.index import Shelf, Text

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

    def close(self) -> None:
        for field in fields(self):
            shelf = getattr(self, field.name)
            for one in shelf.values() if isinstance(shelf, dict) else (shelf,):
                one.close()


def open_library() -> Library:
    return _shelve(
        works=[read_work(item) for item in read("works")],
        pages=[Page(**item) for name in ("pages", "pdfs") for item in read(name)],
        news=[NewsItem(**item) for item in read("news")],
        images=[Image(**item) for item in read("images")],
        videos=[Video(**item) for item in read("videos")],
        books=[Book(**item) for item in read("books")],
        articles={
            **{language: [Article(**item) for item in read(f"articles_{language}")] for language in ("en", "de")},
            **{language: [] for language in _LANGUAGES_WITHOUT_ARTICLES},
        },
        posts=[*(Story(**item) for item in read("stories")), *(Comment(**item) for item in read("comments"))],
    )


def empty_library() -> Library:
    articles: dict[str, list[Article]] = {language: [] for language in ("en", "de", *_LANGUAGES_WITHOUT_ARTICLES)}
    return _shelve(works=[], pages=[], news=[], images=[], videos=[], books=[], articles=articles, posts=[])


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
    )


def _text_of_work(work: Work) -> Text:
    identifiers = [work.doi or "", work.pmid or "", work.venue, *(work.arxiv.categories if work.arxiv else ())]
    return Text(
        title=plain(work.title),
        authors="; ".join(spoken_name(author) for author in work.authors),
        body=plain(work.abstract),
        subject="; ".join([*work.keywords, *identifiers]),
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
