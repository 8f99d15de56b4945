"""A dry run of the chain: which steps would be taken for a URL, and what they could take at most.

Nobody is asked and nothing is written: settings, and one look at the shared state. Steps behind the first are taken
only when those before them do not read the page.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from zarniwoop.contract.failure import ProviderUnavailable
from zarniwoop.contract.request import SearchScope
from zarniwoop.dispatch.calls.bodies import Body
from zarniwoop.dispatch.candidates.credit import quota_in_force
from zarniwoop.dispatch.candidates.gate import Skip, judge
from zarniwoop.dispatch.dispatcher import Survey
from zarniwoop.dispatch.plan import NOTHING, WorstCase, price_of, sum_of
from zarniwoop.net.address import AllowedNetworks
from zarniwoop.net.url import Target, parse
from zarniwoop.pages import archive
from zarniwoop.pages.answers import FETCH
from zarniwoop.pages.hosted import HostedReader
from zarniwoop.pages.reasons import BROWSER, NOT_PUBLIC, of_failure, of_spelling
from zarniwoop.pages.rendering import is_named
from zarniwoop.pages.site_turns import site_of
from zarniwoop.settings.fetching import FetchSettings

Parse = Callable[[str], Target]
"""Raises ProviderUnavailable for a URL that is not fetched, whatever its name leads to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeseenStep:
    """`skipped` says why a step would not be taken. `turn_every` is the pause of its site in seconds."""

    name: str
    site: str | None = None
    turn_every: float | None = None
    skipped: str | None = None
    worst_case: WorstCase = NOTHING


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeseenPage:
    """The steps for one URL, in their order."""

    url: str
    steps: tuple[ForeseenStep, ...]


def foreseen(
    urls: Sequence[str],
    target_of: Parse,
    rules: FetchSettings,
    readers: Sequence[HostedReader],
    survey: Survey,
    scope: SearchScope,
    *,
    free_only: bool,
) -> tuple[ForeseenPage, ...]:
    hosted = tuple(_hosted_step(reader, survey, scope, free_only=free_only) for reader in readers)
    return tuple(ForeseenPage(url=url, steps=tuple(_steps(url, target_of, rules, hosted))) for url in urls)


def worst_of_pages(pages: Sequence[ForeseenPage]) -> WorstCase:
    """Every step of every page."""
    return sum_of(step.worst_case for page in pages for step in page.steps)


def _steps(url: str, target_of: Parse, rules: FetchSettings, hosted: Sequence[ForeseenStep]) -> Iterator[ForeseenStep]:
    """What a URL itself tells of them; names are looked up by nobody. Nobody else is asked for what is refused."""
    refused = _refusal(url, target_of)
    if refused is not None:
        yield ForeseenStep(name=FETCH, skipped=refused)
        return
    yield ForeseenStep(name=FETCH, site=site_of(url), turn_every=rules.site_interval)
    if is_named(url, rules.browser_domains):
        yield ForeseenStep(name=BROWSER, site=site_of(url))
    others = list(hosted)
    if rules.archive:
        others.append(ForeseenStep(name=archive.STEP, site="archive.org", turn_every=rules.site_interval))
    if _refusal(url, _public_target) is None:
        yield from others
    else:
        yield from (ForeseenStep(name=step.name, skipped=step.skipped or NOT_PUBLIC) for step in others)


def _public_target(url: str) -> Target:
    """Raises ProviderUnavailable for a URL that is named to nobody."""
    return parse(url, allowed=AllowedNetworks(), plain_http=True)


def _refusal(url: str, target_of: Parse) -> str | None:
    try:
        target_of(url)
    except ProviderUnavailable as failure:
        return (of_spelling(url) or of_failure(failure))[1]
    return None


def _hosted_step(reader: HostedReader, survey: Survey, scope: SearchScope, *, free_only: bool) -> ForeseenStep:
    body = reader.body("")
    if body is None:
        return ForeseenStep(name=reader.instance_id, skipped=reader.missing)
    skipped = _skip(body, survey, scope, free_only=free_only)
    worst = NOTHING if skipped else price_of(body.candidate.endpoint, 1)
    return ForeseenStep(name=reader.instance_id, skipped=skipped, worst_case=worst)


def _skip(body: Body, survey: Survey, scope: SearchScope, *, free_only: bool) -> str | None:
    endpoint = body.candidate.endpoint
    if free_only and endpoint.cost_per_call > 0:
        return Skip.METERED
    now = scope.deadline.clock.now()
    quota = quota_in_force(endpoint, body.subject, survey.snapshot, now)
    verdict = judge(body.candidate, survey.snapshot.cooldowns.get(body.subject), quota, scope, now)
    if verdict.probe is not None:
        return Skip.COOLDOWN
    return str(verdict.skip) if verdict.skip else None
