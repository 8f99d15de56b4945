"""Which of several instances that search one language each is asked first: the one of the request's language.

That is the locale's; without a locale it is what the query is written in, as far as its script says. Instances that
search every language keep their places.
"""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from zarniwoop.contract.request import SearchRequest
from zarniwoop.text.languages import languages_written, primary_language

if TYPE_CHECKING:
    from zarniwoop.dispatch.candidates.selection import Candidate


def wanted_languages(request: SearchRequest) -> frozenset[str]:
    """The languages that fit; none when nothing is known of it."""
    if request.locale is not None:
        return frozenset((primary_language(request.locale.language),))
    return languages_written(request.query)


def in_language(candidates: "Iterable[Candidate]", languages: frozenset[str]) -> "tuple[Candidate, ...]":
    """The order that is given, but whoever searches another language comes last."""
    return tuple(sorted(candidates, key=lambda each: _is_foreign(each, languages)) if languages else candidates)


def with_siblings(
    named: "Sequence[Candidate]", others: "Sequence[Candidate]", languages: frozenset[str]
) -> "list[Candidate]":
    """With those of the wanted language before a named one of the same protocol that searches another."""
    found: list[Candidate] = []
    spoken = {each.endpoint.protocol for each in named if each.language in languages}
    for candidate in named:
        protocol = candidate.endpoint.protocol
        if _is_foreign(candidate, languages) and protocol not in spoken:
            spoken.add(protocol)
            found += [each for each in others if each.endpoint.protocol == protocol and _may_step_in(each, languages)]
        found.append(candidate)
    return found


def _is_foreign(candidate: "Candidate", languages: frozenset[str]) -> bool:
    return candidate.language is not None and candidate.language not in languages


def _may_step_in(candidate: "Candidate", languages: frozenset[str]) -> bool:
    endpoint = candidate.endpoint
    return candidate.language in languages and endpoint.enabled and endpoint.may_be_asked_unnamed
