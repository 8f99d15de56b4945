"""The closed words of a search: what kind of thing is looked for, how, and in which field."""

from enum import StrEnum


class SearchModality(StrEnum):
    """What kind of thing a search looks for. Closed: tool schemas enumerate the values (seed 1, section 4.2)."""

    WEB = "WEB"
    IMAGE = "IMAGE"
    VIDEO = "VIDEO"
    PDF = "PDF"
    NEWS = "NEWS"
    ACADEMIC = "ACADEMIC"
    ENCYCLOPEDIA = "ENCYCLOPEDIA"
    BOOK = "BOOK"
    MAP = "MAP"
    CODE = "CODE"
    INTERNAL_DOC = "INTERNAL_DOC"
    RAG = "RAG"

    @classmethod
    def _missing_(cls, value: object) -> "SearchModality | None":
        """Accept any letter case, since settings write modalities in lower case."""
        return cls.__members__.get(value.upper()) if isinstance(value, str) else None


class SearchTier(StrEnum):
    """NORMAL: the standard cascade. EXPERT: filters, and a pinned instance that is never replaced."""

    NORMAL = "NORMAL"
    EXPERT = "EXPERT"

    @classmethod
    def _missing_(cls, value: object) -> "SearchTier | None":
        return cls.__members__.get(value.upper()) if isinstance(value, str) else None


class SearchDomain(StrEnum):
    """The field of knowledge that an instance is at home in; a planner chooses by it."""

    WEB = "WEB"
    ACADEMIC = "ACADEMIC"
    NEWS = "NEWS"
    BOOKS = "BOOKS"
    ENCYCLOPEDIA = "ENCYCLOPEDIA"
    CODE = "CODE"
    PLACES = "PLACES"
    PEOPLE = "PEOPLE"
    INTERNAL = "INTERNAL"
