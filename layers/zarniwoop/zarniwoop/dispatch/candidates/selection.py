"""Which instances may answer a request, in which order (seed 1, section 8.2)."""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace

from zarniwoop.contract.failure import ConfigurationUnavailable
from zarniwoop.contract.modality import SearchModality
from zarniwoop.contract.problem import InvalidArgument, UnknownThing
from zarniwoop.contract.provider import SearchProviderInstance
from zarniwoop.contract.request import SearchRequest
from zarniwoop.contract.transport import KeyPools
from zarniwoop.dispatch.candidates.credit import period_of
from zarniwoop.dispatch.candidates.language import in_language, wanted_languages, with_siblings
from zarniwoop.settings.endpoints import EndpointSettings, ResearchSettings
from zarniwoop.stores.state import Wanted

PINNED = "pinned_provider_id"
"""The argument that pins."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """An instance and the endpoint settings it was made of. `language` is the only one that it searches."""

    instance: SearchProviderInstance
    endpoint: EndpointSettings
    language: str | None = None
    keys: KeyPools | None = field(default=None, repr=False, compare=False)

    def key_count(self) -> int:
        """How many keys the endpoint has, as far as that is known without asking the store."""
        name = self.endpoint.credential_key
        return self.keys.count(name) if self.keys is not None and name is not None else 1

    def most_keys(self) -> int:
        """How many keys it may have: as many as there may be, until they were read."""
        name = self.endpoint.credential_key
        return self.keys.most(name) if self.keys is not None and name is not None else 1

    def read_keys(self) -> None:
        """Have the keys read, which the call that follows needs anyway. Raises ConfigurationUnavailable."""
        name = self.endpoint.credential_key
        if self.keys is not None and name is not None:
            self.keys.secret(name)

    def wanted(self, modality: SearchModality, now: float) -> Wanted:
        """What of the shared state tells whether it may be asked."""
        counted = self.endpoint.credit_limit is not None
        return Wanted(
            subject=(self.endpoint.id, modality),
            fingerprint=self.endpoint.fingerprint,
            credit_period=period_of(self.endpoint, now).name if counted else None,
            credit_shared=counted and self.endpoint.credit_shared,
            keys=self.key_count(),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Lineup:
    """Candidates in order, and what is to be said of the settings that led to it.

    `metered` names the endpoints that were left out because nobody chose to spend money on them; `paid` those that the
    request would have got to, had it not wished for free ones only. `only_the_pin_costs`: without it others would do.
    """

    candidates: tuple[Candidate, ...]
    note: str | None = None
    metered: tuple[str, ...] = ()
    paid: tuple[Candidate, ...] = ()
    only_the_pin_costs: bool = False


def line_up(request: SearchRequest, available: Mapping[str, Candidate], settings: ResearchSettings) -> Lineup:
    """The pinned instance alone; else default, then fallbacks; else all by priority, then id. Each at most once.

    Where nobody is named, or nobody who could serve and is enabled, all others follow; those of them that cost money
    only if their settings allow it. A request for free ones only is answered as if the others were not there.
    Of several instances that search one language each, those of another language than the request's come last; routing
    that names one of them stands for its siblings, too.
    Raises UnknownThing or InvalidArgument for a pinned instance that does not exist or does not serve the modality.
    """
    if request.free_only:
        return _free(request, available, settings)
    if request.pinned_provider_id:
        return Lineup(candidates=(_pinned(request, available),))
    named = _named(request.modality, settings)
    chosen = [available[name] for name in named if name in available and _serves(available[name], request)]
    ignored = [name for name in named if name not in available or not _serves(available[name], request)]
    note = f"routing names {_listed(ignored)}, which cannot serve {request.modality}" if ignored else None
    if not any(candidate.endpoint.enabled for candidate in chosen):
        serving = [each for each in available.values() if _serves(each, request) and each not in chosen]
        others = _by_priority(serving)
        return Lineup(
            candidates=(*chosen, *in_language(others.candidates, wanted_languages(request))),
            note=_joined(note, others.note),
            metered=others.metered,
        )
    languages = wanted_languages(request)
    if languages:
        unnamed = [each for each in available.values() if _serves(each, request) and each not in chosen]
        chosen = with_siblings(chosen, unnamed, languages)
    return Lineup(candidates=in_language(chosen, languages), note=note)


def _free(request: SearchRequest, available: Mapping[str, Candidate], settings: ResearchSettings) -> Lineup:
    """The line-up with those who cost nothing, and beside it those who would have stood in line as well."""
    anyway = line_up(replace(request, free_only=False), available, settings)
    paid = tuple(each for each in anyway.candidates if each.endpoint.cost_per_call > 0)
    if not paid:
        return anyway
    if request.pinned_provider_id:
        others = _free(replace(request, pinned_provider_id=None), available, settings).candidates
        return Lineup(candidates=(), paid=paid, only_the_pin_costs=any(each.endpoint.enabled for each in others))
    free = {name: each for name, each in available.items() if each.endpoint.cost_per_call == 0}
    lineup = line_up(replace(request, free_only=False), free, _without(paid, settings))
    return replace(lineup, note=_joined(lineup.note, anyway.note if anyway.metered else None), paid=paid)


def _without(paid: Iterable[Candidate], settings: ResearchSettings) -> ResearchSettings:
    """Routing that does not name them."""
    names = {each.endpoint.id for each in paid}
    return replace(
        settings,
        defaults={modality: name for modality, name in settings.defaults.items() if name not in names},
        fallbacks={
            modality: tuple(name for name in listed if name not in names)
            for modality, listed in settings.fallbacks.items()
        },
    )


def _joined(*notes: str | None) -> str | None:
    return "; ".join(note for note in notes if note) or None


def _by_priority(serving: Iterable[Candidate]) -> Lineup:
    ordered = sorted(serving, key=lambda each: each.endpoint.rank)
    metered = tuple(each.endpoint.id for each in ordered if not each.endpoint.may_be_asked_unnamed)
    return Lineup(
        candidates=tuple(each for each in ordered if each.endpoint.may_be_asked_unnamed),
        note=f"left out, since they cost money and no routing names them: {_listed(metered)}" if metered else None,
        metered=metered,
    )


def _named(modality: SearchModality, settings: ResearchSettings) -> list[str]:
    default = settings.defaults.get(modality)
    return list(dict.fromkeys([*([default] if default else []), *settings.fallbacks.get(modality, ())]))


def _serves(candidate: Candidate, request: SearchRequest) -> bool:
    return request.modality in candidate.instance.modalities() and request.tier in candidate.instance.tiers()


def _pinned(request: SearchRequest, available: Mapping[str, Candidate]) -> Candidate:
    name = request.pinned_provider_id or ""
    if name not in available:
        raise UnknownThing(
            f"there is no provider instance '{name}' in this project",
            field=PINNED,
            suggested_action=f"pin one of {_listed(available)}, or leave it out",
        )
    if not _serves(available[name], request):
        serving = [each for each, candidate in available.items() if _serves(candidate, request)]
        raise InvalidArgument(
            f"'{name}' does not serve {request.modality}",
            field=PINNED,
            suggested_action=f"pin one of {_listed(serving)}, or leave it out",
        )
    return available[name]


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"'{name}'" for name in sorted(names)) or "none (no endpoint is configured for it)"


def read_keys(lineups: Iterable[Lineup]) -> bool:
    """Whether one turned out to have several. Those that cannot be read stay uncounted, which the plan tells."""
    candidates = {each.endpoint.id: each for lineup in lineups for each in lineup.candidates}
    unread = [each for each in candidates.values() if each.most_keys() > each.key_count()]
    for candidate in unread:
        with suppress(ConfigurationUnavailable):
            candidate.read_keys()
    return any(candidate.key_count() > 1 for candidate in unread)
