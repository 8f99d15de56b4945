"""What a query's operators become at one provider: its own, a filter, something done here, or plain words.

Those that the wire format declares stay in the query. One site, one file type and days are filters, and go the way of
the filters that a request carries. Sites that are unwanted, or several of them, are looked at in the hits' addresses,
and sent as lists where a provider takes such. Of the others only the words are asked for: a phrase without its quotes,
a title's word anywhere. What would narrow, and stands beside an OR, is left out. All of it is told, and so is what was
meant as an operator and cannot be read.
The sites that the caller names beside the query hold whatever stands in it: they are sent as a list, or put before the
query where a provider understands them, and hits of elsewhere are dropped in any case.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any, NamedTuple

from zarniwoop.contract.hit import SearchHit
from zarniwoop.contract.request import DateRange, SearchRequest
from zarniwoop.contract.result import AppliedFilter, FilterHandling
from zarniwoop.text.operators import Kind, Token, day_before, first_day, has_marks, tokens_of
from zarniwoop.text.pairs import behind
from zarniwoop.text.urls import is_on_site
from zarniwoop.wire.format import Found

_SAID_AS = {Kind.SITE: "site", Kind.FILETYPE: "filetype", Kind.BEFORE: "date_to", Kind.AFTER: "date_from"}
_SITES = (Kind.SITE, Kind.NOT_SITE)
_NARROWING = (*_SITES, Kind.FILETYPE, Kind.BEFORE, Kind.AFTER)
_WORDS_ONLY = "this provider has no such operator; its words were asked for"
_CONTRADICTED = "it contradicts another one, or what the request says"
_BESIDE_OR = "it stands beside an OR, and this provider cannot be asked for either of the two"
_NOTHING_BESIDE = "what it stood beside was taken out of the query"
_ROOM_FOR_SITES = 200
"""In characters: more of them would leave a query of few words none."""


class Meant(NamedTuple):
    """The request as it is put to one provider, and the account of operators that are no filters of it."""

    request: SearchRequest
    applied: tuple[AppliedFilter, ...] = ()
    sites: tuple[str, ...] = ()
    unwanted: tuple[str, ...] = ()
    within: tuple[str, ...] = ()

    def narrowed(self, found: Found) -> Found:
        """Without the hits that lie where the caller, or operators that are seen to here, do not want them: counted."""
        if not self.sites and not self.unwanted and not self.within:
            return found
        kept = tuple(hit for hit in found.hits if self._passes(hit))
        return replace(found, hits=kept, dropped_count=found.dropped_count + len(found.hits) - len(kept))

    def _passes(self, hit: SearchHit) -> bool:
        if any(is_on_site(hit.url, site) for site in self.unwanted):
            return False
        lists = filter(None, (self.sites, self.within))
        return all(any(is_on_site(hit.url, site) for site in sites) for sites in lists)


def heeded(understood: frozenset[Kind], filters: frozenset[str], *, site_lists: bool = False) -> frozenset[str]:
    """The operators that a provider itself heeds: in a query, or as its filters."""
    listed = _SITES if site_lists else ()
    return frozenset(map(str, (*understood, *listed, *(kind for kind, name in _SAID_AS.items() if name in filters))))


def meaning_of(request: SearchRequest, understood: frozenset[Kind], *, site_lists: bool = False) -> Meant:
    """Nothing is changed about a query without operators. `site_lists`: the exchange sends lists of hosts."""
    meant = _read(request, understood, site_lists=site_lists)
    return _within(meant, request, understood, site_lists=site_lists) if request.sites else meant


def _within(meant: Meant, request: SearchRequest, understood: frozenset[Kind], *, site_lists: bool) -> Meant:
    """What the query means, on the caller's sites only. One that is a filter too is told of as that."""
    held = meant._replace(within=request.sites)
    if request.expert_params.domain is not None:
        return held
    named = " OR ".join(f"site:{site}" for site in request.sites)
    in_query = understood.issuperset((Kind.SITE, Kind.OR)) and not site_lists and len(named) <= _ROOM_FOR_SITES
    listed = site_lists and meant.request.expert_params.site is None
    handling = FilterHandling.PROVIDER if listed or in_query else FilterHandling.HERE
    told = AppliedFilter(name="domains", value=", ".join(request.sites), handling=handling)
    held = held._replace(applied=(told, *meant.applied))
    query = behind([named], meant.request.query) if in_query else meant.request.query
    return held._replace(request=replace(meant.request, query=query)) if in_query else held


def _read(request: SearchRequest, understood: frozenset[Kind], *, site_lists: bool) -> Meant:
    if not has_marks(request.query):
        return Meant(request=request)
    tokens = tokens_of(request.query)
    if not any(token.kind or token.unread for token in tokens):
        return Meant(request=request)
    loose = _beside_or(tokens, understood)
    rest = [token for at, token in enumerate(tokens) if token.kind and token.kind not in understood and at not in loose]
    narrowed, filters = _as_filters(request, rest)
    sites = tuple(token.value for token in rest if token.kind is Kind.SITE and token not in filters)
    unwanted = tuple(token.value for token in rest if token.kind is Kind.NOT_SITE)
    listed = _listed(narrowed) if site_lists else frozenset[Kind]()
    narrowed = replace(
        narrowed,
        sites=_hosts(sites) if Kind.SITE in listed else request.sites,
        unwanted_sites=_whole_hosts(unwanted) if Kind.NOT_SITE in listed else (),
    )
    account = _Account(tokens=tokens, understood=understood, loose=loose, filters=filters, listed=listed)
    return Meant(
        request=replace(narrowed, query=_without(request.query, tokens, understood)),
        applied=tuple(account.told()),
        sites=sites,
        unwanted=unwanted,
    )


def _listed(request: SearchRequest) -> frozenset[Kind]:
    """Where the request names a place already, that is what the list is made of."""
    expert = request.expert_params
    return frozenset((Kind.NOT_SITE,)) if expert.site or expert.domain or request.sites else frozenset(_SITES)


def _hosts(sites: Iterable[str]) -> tuple[str, ...]:
    """A path is looked at in the hits."""
    return tuple(dict.fromkeys(site.partition("/")[0] for site in sites))


def _whole_hosts(unwanted: Iterable[str]) -> tuple[str, ...]:
    """Of an unwanted site with a path the rest of the host is wanted."""
    return tuple(site for site in unwanted if "/" not in site)


def _beside_or(tokens: Sequence[Token], understood: frozenset[Kind]) -> frozenset[int]:
    """Where operators stand that narrow, beside an OR: taken as filters, they would narrow what they were to widen.

    Several sites with nothing else between them are one list, and a chain that is understood stays in the query.
    """
    loose: set[int] = set()
    for chain in _chains(tokens):
        kinds = [tokens[at].kind for at in chain]
        if set(kinds) != {Kind.SITE} and not understood.issuperset({Kind.OR, *filter(None, kinds)}):
            loose.update(at for at in chain if tokens[at].kind in _NARROWING and tokens[at].kind not in understood)
    return frozenset(loose)


def _chains(tokens: Sequence[Token]) -> Iterator[list[int]]:
    """Where the things of `a OR b OR c` stand."""
    chain: list[int] = []
    for at, token in enumerate(tokens):
        if token.kind is not Kind.OR:
            continue
        if not chain or chain[-1] != at - 1:
            if chain:
                yield chain
            chain = [at - 1]
        chain.append(at + 1)
    if chain:
        yield chain


def _without(query: str, tokens: Sequence[Token], understood: frozenset[Kind]) -> str:
    """The query without any operator that is not understood, also none that only shows when others are gone."""
    while any(token.kind and token.kind not in understood for token in tokens):
        query = _words(tokens, understood) or _about(tokens)
        tokens = tokens_of(query)
    return query


def _words(tokens: Sequence[Token], understood: frozenset[Kind]) -> str:
    """What is left of the query; brackets that have lost their other half go too."""
    told = [_said(token, understood) for token in tokens]
    words = " ".join(text for at, text in enumerate(told) if text and _stands(at, tokens, understood))
    whole = "".join(token.text for token in tokens)
    if whole.count("(") == whole.count(")") and words.count("(") != words.count(")"):
        words = " ".join(filter(None, (word.lstrip("(").rstrip(")") for word in words.split())))
    return words


def _stands(at: int, tokens: Sequence[Token], understood: frozenset[Kind]) -> bool:
    """An OR between what was taken out goes too."""
    if tokens[at].kind is not Kind.OR:
        return True
    return bool(_said(tokens[at - 1], understood) and _said(tokens[at + 1], understood))


def _about(tokens: Iterable[Token]) -> str:
    """What a query of operators alone is about; where it says only what is not wanted, that."""
    things = [token for token in tokens if token.kind is not Kind.OR]
    wanted = [token for token in things if token.kind is not Kind.NOT_SITE]
    return " ".join(_plain(token.value) for token in wanted or things)


def _plain(value: str) -> str:
    """What an operator is about, in words alone: what stands in quotes may look like an operator without them."""
    tokens = tokens_of(value)
    if not any(token.kind for token in tokens):
        return value
    return " ".join(_plain(token.value) for token in tokens if token.kind is not Kind.OR)


def _said(token: Token, understood: frozenset[Kind]) -> str:
    if token.kind is None or token.kind in understood:
        return token.text
    if token.kind not in (Kind.PHRASE, Kind.INTITLE):
        return ""
    return f"{token.opening}{_plain(token.value)}{token.closing}"


def _as_filters(request: SearchRequest, rest: Sequence[Token]) -> tuple[SearchRequest, list[Token]]:
    """The request with further filters, and the operators that became these; none over what it says already."""
    by_kind = {kind: [token for token in rest if token.kind is kind] for kind in Kind}
    expert, changes, taken = request.expert_params, dict[str, Any](), list[Token]()
    for kind, name in ((Kind.SITE, "site"), (Kind.FILETYPE, "filetype")):
        if len({token.value for token in by_kind[kind]}) == 1 and getattr(expert, name) is None:
            changes[name] = by_kind[kind][0].value
            taken += by_kind[kind]
    starts = [day for token in by_kind[Kind.AFTER] if (day := first_day(token.value))]
    ends = [day for token in by_kind[Kind.BEFORE] if (day := day_before(token.value))]
    window = _window(request.published or DateRange(), starts, ends)
    if (starts or ends) and window is not None:
        changes |= {"date_from": _latest([expert.date_from, *starts]), "date_to": _earliest([expert.date_to, *ends])}
        taken += [*by_kind[Kind.AFTER], *by_kind[Kind.BEFORE]]
        request = replace(request, published=window)
    return replace(request, expert_params=replace(expert, **changes)), taken


def _window(given: DateRange, starts: Sequence[date], ends: Sequence[date]) -> DateRange | None:
    """The days that all agree on; None when there are none."""
    first, last = _latest([given.earliest, *starts]), _earliest([given.latest, *ends])
    return None if first and last and first > last else DateRange(earliest=first, latest=last)


def _latest(days: Iterable[date | None]) -> date | None:
    return max((day for day in days if day), default=None)


def _earliest(days: Iterable[date | None]) -> date | None:
    return min((day for day in days if day), default=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Account:
    """Tells of every operator that became no filter of the request, or could not be read."""

    tokens: Sequence[Token]
    understood: frozenset[Kind]
    loose: frozenset[int]
    filters: Sequence[Token]
    listed: frozenset[Kind]

    def told(self) -> Iterator[AppliedFilter]:
        for at, token in enumerate(self.tokens):
            if token.kind and (at in self.loose or token not in self.filters):
                handling, reason = self._handling(at, token)
                yield AppliedFilter(name=str(token.kind), value=token.value, handling=handling, reason=reason)
            elif token.unread:
                name, value, reason = token.unread
                yield AppliedFilter(name=name, value=value, handling=FilterHandling.IGNORED, reason=reason)

    def _handling(self, at: int, token: Token) -> tuple[FilterHandling, str | None]:
        if token.kind in self.understood:
            if _stands(at, self.tokens, self.understood):
                return FilterHandling.PROVIDER, None
            return FilterHandling.IGNORED, _NOTHING_BESIDE
        if at in self.loose:
            return FilterHandling.IGNORED, _BESIDE_OR
        if token.kind in _SITES:
            whole = token.kind in self.listed and "/" not in token.value
            return FilterHandling.PROVIDER if whole else FilterHandling.HERE, None
        return FilterHandling.IGNORED, _CONTRADICTED if token.kind in _NARROWING else _WORDS_ONLY
