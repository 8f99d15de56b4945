"""An index of the house's own: which of its fields is the title, the address, the text, and documents read by that.

Quirks: a value is one or a list of several, and lies in objects inside each other or under a name with dots; a document
may have no address, and then gets one from a template, at last its address in the index; moments at midnight are days.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from zarniwoop.contract.hit import ContentInline, ContentReference, PublishedAt, SearchHit
from zarniwoop.contract.modality import SearchModality
from zarniwoop.contract.provider import ProviderInstanceConfig
from zarniwoop.text.dates import from_epoch, parse_date
from zarniwoop.text.plain import clip, plain, plain_title, verbatim
from zarniwoop.text.urls import http_url
from zarniwoop.wire.format import SettingField

_NAME = r"[A-Za-z_@][\w@-]{0,99}(?:\.[\w@-]{1,100}){0,5}"
_NAMES = rf"{_NAME}(?:,{_NAME}){{0,19}}"
_WEIGHED = rf"{_NAME}(?:\^\d{{1,3}}(?:\.\d{{1,3}})?)?"
_PLACEHOLDER = re.compile(r"\{([^{}]*)\}")
_MIDNIGHT = re.compile(r"T00:00:00(?:\.0+)?(?:Z|\+00:00)?$")
_SNIPPET = 400
_LONGEST_TEXT = 20_000
_LONGEST_EXTRA = 500


def _field(name: str, title: str, description: str, default: str | None = None, pattern: str = _NAME) -> SettingField:
    """One that says which fields of the documents are shown or searched: the owner of the key says which."""
    return SettingField(name=name, title=title, description=description, default=default, pattern=pattern, steers=True)


TITLE = _field("titleField", "Title field", "The field that holds a document's title.", "title")
URL = _field("urlField", "URL field", "The field that holds a document's address.", "url")
TEXT = _field("textField", "Text field", "The field that holds a document's text, or a passage's for RAG.", "content")
DATE = _field("dateField", "Date field", "The field that holds a document's date; filters by day ask for it.")
AUTHOR = _field("authorField", "Author field", "The field that holds a document's authors.")
LANGUAGE = _field("languageField", "Language field", "The field that holds a document's language, as `de`.")
EXTRA = _field("extraFields", "Extra fields", "More fields to show of a hit, with commas between.", pattern=_NAMES)
SEARCHED = _field(
    "searchFields",
    "Searched fields",
    "What is searched, with weights: `title^2,content`. Not set: the title twice as much as the text.",
    pattern=rf"{_WEIGHED}(?:,{_WEIGHED}){{0,19}}",
)
TEMPLATE = _field(
    "urlTemplate",
    "URL template",
    "The address of a document that has none: `https://wiki.example/pages/{id}`, with fields in braces.",
    pattern=rf"https?://[^\s{{}}/?#]+/[^\s{{}}]*(?:\{{{_NAME}\}}[^\s{{}}]*)+",
)
MAPPING_FIELDS = (TITLE, URL, TEMPLATE, TEXT, DATE, AUTHOR, LANGUAGE, EXTRA, SEARCHED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """One as an index sends it: its fields, its id, its address there, and the passages in which words were found."""

    fields: Mapping[str, Any]
    id: str | None
    address: str | None
    passages: Sequence[Any] = ()
    score: float | None = None
    source: str | None = None


class FieldMapping:
    """The fields that an endpoint's settings name."""

    def __init__(self, config: ProviderInstanceConfig) -> None:
        settings = config.extras
        self.title = settings.get(TITLE.name) or "title"
        self.text = settings.get(TEXT.name) or "content"
        self.date = settings.get(DATE.name)
        self.language = settings.get(LANGUAGE.name)
        self.searched = tuple((settings.get(SEARCHED.name) or f"{self.title}^2,{self.text}").split(","))
        self._url = settings.get(URL.name) or "url"
        self._author = settings.get(AUTHOR.name)
        self._template = settings.get(TEMPLATE.name) or ""
        self._more = tuple(filter(None, settings.get(EXTRA.name, "").split(",")))

    def shown(self, modality: SearchModality) -> tuple[str, ...]:
        """The fields to ask for: of a whole document not the text, which may be long, but of a passage."""
        named = (self.title, self._url, self.date, self._author, self.language, *self._more)
        text = self.text if modality is SearchModality.RAG else None
        return tuple(dict.fromkeys(filter(None, (*named, *_PLACEHOLDER.findall(self._template), text))))

    def to_hit(self, document: Document, modality: SearchModality) -> SearchHit | None:
        """Named by its id where it has no title; None without either, or without any address."""
        fields = document.fields
        title = next(filter(None, map(plain_title, _texts(fields, self.title))), None) or plain(document.id)
        url = next(filter(None, map(http_url, _texts(fields, self._url))), None) or self._made_up(document)
        if title is None or url is None:
            return None
        text = verbatim("\n".join(_texts(fields, self.text)))
        passages = " … ".join(filter(None, map(plain, document.passages)))
        snippet = passages or plain(text)
        content = ContentReference(inline=ContentInline.EMBED_TEXT, text=clip(text, _LONGEST_TEXT)) if text else None
        return SearchHit(
            title=title,
            url=url,
            modality=modality,
            snippet=clip(snippet, _SNIPPET) if snippet else None,
            source=plain(document.source),
            content=content,
            authors=tuple(name for each in _texts(fields, self._author) if (name := plain(each))),
            published_at=next(filter(None, map(_moment, _values(fields, self.date))), None),
            language=next(filter(None, map(plain, _texts(fields, self.language))), None),
            extras=self._extras(document),
        )

    def _made_up(self, document: Document) -> str | None:
        """The template with every field of it filled in, or the document's address in its index."""
        filled = [self._part(name, document) for name in _PLACEHOLDER.findall(self._template)]
        if not filled or None in filled:
            return http_url(document.address)
        parts = iter(filled)
        return http_url(_PLACEHOLDER.sub(lambda _: next(parts) or "", self._template)) or http_url(document.address)

    def _part(self, name: str, document: Document) -> str | None:
        value = next(_texts(document.fields, name), None) or (document.id if name == "id" else None)
        return quote(value, safe="") if value and value.strip(".") else None

    def _extras(self, document: Document) -> dict[str, Any]:
        extras: dict[str, Any] = {"id": document.id, "score": document.score}
        for name in self._more:
            texts = [clip(text, _LONGEST_EXTRA) for each in _texts(document.fields, name) if (text := plain(each))]
            extras[name] = texts[0] if len(texts) == 1 else texts or None
        return {name: value for name, value in extras.items() if value is not None}


def _values(fields: Mapping[str, Any], name: str | None) -> list[Any]:
    """The values of a field, wherever it lies."""
    if name is None:
        return []
    found: Any = fields.get(name)
    if found is None and "." in name:
        found = fields
        for part in name.split("."):
            found = found.get(part) if isinstance(found, dict) else None
    return found if isinstance(found, list) else [] if found is None else [found]


def _texts(fields: Mapping[str, Any], name: str | None) -> Iterator[str]:
    for value in _values(fields, name):
        if isinstance(value, str):
            yield value
        elif isinstance(value, (int, float)) and not isinstance(value, bool):
            yield str(value)


def _moment(value: Any) -> PublishedAt | None:
    """A date as it was written, or milliseconds since 1970."""
    if isinstance(value, str):
        return parse_date(_MIDNIGHT.sub("", value))
    return from_epoch(value / 1000) if isinstance(value, (int, float)) and not isinstance(value, bool) else None
