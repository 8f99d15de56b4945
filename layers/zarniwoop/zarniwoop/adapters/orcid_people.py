"""A person of ORCID as a hit, and all that the record says as text.

Format: https://github.com/ORCID/orcid-model/tree/master/src/main/resources/record_3.0
Quirks: anything may be null, a name too, where its owner shows it to nobody; in a record every value is wrapped in an
object (`{"value": …}`), in a search it is not; institutions are the present and the past ones, in no order, repeated.
Extras: `given_names`, `family_name`, `credit_name` (the one to publish under), `other_names`, `institutions`.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from zarniwoop.contract.hit import ContentInline, ContentReference, SearchHit
from zarniwoop.contract.modality import SearchModality
from zarniwoop.text.identifiers import bare_doi, is_orcid
from zarniwoop.text.plain import clip, plain
from zarniwoop.text.urls import http_url

_MOST_WORKS = 200


def to_hit(found: Mapping[str, Any]) -> SearchHit | None:
    orcid = found["orcid-id"]
    if not is_orcid(orcid):
        return None
    given, family = plain(found.get("given-names")), plain(found.get("family-names"))
    credit, institutions = plain(found.get("credit-name")), tuple(_texts(found.get("institution-name")))
    extras = {
        "given_names": given,
        "family_name": family,
        "credit_name": credit,
        "other_names": tuple(_texts(found.get("other-name"))) or None,
        "institutions": institutions or None,
    }
    return SearchHit(
        title=_name(given, family, credit) or orcid,
        url=f"https://orcid.org/{orcid}",
        modality=SearchModality.ENCYCLOPEDIA,
        snippet=clip("; ".join(institutions), 300) if institutions else None,
        source="ORCID",
        content=ContentReference(inline=ContentInline.STASH_ON_DEMAND, reference=orcid),
        identifiers={"orcid": orcid},
        extras={name: value for name, value in extras.items() if value is not None},
    )


def profile(orcid: str, person: Mapping[str, Any], works: Mapping[str, Any]) -> str:
    """One fact a line; a record that shows nothing is its iD. Raises for what is no record of this person."""
    if person["path"] != f"/{orcid}/person":
        raise ValueError("the record of somebody else")
    return "\n".join((*_of_person(orcid, person), *_of_works(works["group"])))


def _of_person(orcid: str, person: Mapping[str, Any]) -> Iterator[str]:
    name = person.get("name") or {}
    given, family, credit = (_value(name.get(part)) for part in ("given-names", "family-name", "credit-name"))
    yield f"{_name(given, family, credit) or 'A person whose name is not public'} (ORCID {orcid})"
    yield from _line(
        "Also known as", (given and family and credit and f"{given} {family}", *_each(person, "other-name"))
    )
    yield from _line("Countries", _each(person, "address", "country"))
    yield from _line("Keywords", _each(person, "keyword"))
    biography = plain((person.get("biography") or {}).get("content"))
    if biography:
        yield f"Biography: {biography}"
    yield from _line("Links", (http_url(url) for url in _each(person, "researcher-url", "url")))
    for each in _entries(person, "external-identifier"):
        yield from _line(plain(each.get("external-id-type")) or "Other id", (plain(each.get("external-id-value")),))


def _of_works(groups: Any) -> Iterator[str]:
    titles = [line for group in groups if (line := _work((group.get("work-summary") or [{}])[0]))]
    if titles:
        yield f"Works ({len(titles)}{f', the first {_MOST_WORKS} of them' if len(titles) > _MOST_WORKS else ''}):"
        yield from titles[:_MOST_WORKS]


def _work(summary: Mapping[str, Any]) -> str | None:
    """`Title. Journal, 2013. doi:10.…`, as far as it is known."""
    title = _value((summary.get("title") or {}).get("title"))
    if title is None:
        return None
    listed = (summary.get("external-ids") or {}).get("external-id") or ()
    dois = (bare_doi(each.get("external-id-value")) for each in listed if each.get("external-id-type") == "doi")
    doi = next((doi for doi in dois if doi), None)
    where = [_value(summary.get("journal-title")), _value((summary.get("publication-date") or {}).get("year"))]
    parts = [title.rstrip("."), ", ".join(part for part in where if part), f"doi:{doi}" if doi else ""]
    return f"- {'. '.join(part for part in parts if part)}"


def _name(given: str | None, family: str | None, credit: str | None) -> str | None:
    return credit or " ".join(part for part in (given, family) if part) or None


def _line(label: str, values: Any) -> Iterator[str]:
    told = "; ".join(dict.fromkeys(value for value in values if value))
    if told:
        yield f"{label}: {told}"


def _entries(person: Mapping[str, Any], name: str) -> list[Any]:
    """What a section of the record lists: `keyword` in `keywords`, `address` in `addresses`."""
    section = person.get(f"{name}es" if name.endswith("s") else f"{name}s") or {}
    return list(section.get(name) or ())


def _each(person: Mapping[str, Any], name: str, part: str = "content") -> Iterator[str | None]:
    return (_value(entry.get(part)) for entry in _entries(person, name))


def _value(wrapped: Any) -> str | None:
    """The text of `{"value": …}`, or of what is not wrapped."""
    return plain(wrapped.get("value") if isinstance(wrapped, Mapping) else wrapped)


def _texts(listed: Any) -> Iterator[str]:
    """Each text of a list once, in its order."""
    yield from dict.fromkeys(text for each in listed or () if (text := plain(each)))
