"""What is wrong with the settings of fetching only beside others: endpoints that read no pages, a browser not there.

Quirk: such a setting stays in force. What of a list is right still reads pages, and the steps of a page say the rest.
"""

from collections.abc import Iterator
from dataclasses import replace

from zarniwoop.settings.endpoints import ResearchSettings
from zarniwoop.settings.fetch_names import BROWSER_DOMAINS, HOSTED_ORDER, READERS
from zarniwoop.settings.misconfigured import Misconfigured


def with_fetch_faults(settings: ResearchSettings, *, has_browser: bool) -> ResearchSettings:
    """The settings, with what is told of them."""
    faults = tuple(_faults(settings, has_browser=has_browser))
    return replace(settings, misconfigured=(*settings.misconfigured, *faults)) if faults else settings


def _faults(settings: ResearchSettings, *, has_browser: bool) -> Iterator[Misconfigured]:
    readers = [each.id for each in settings.endpoints if each.protocol in READERS]
    told_elsewhere = {each.instance_id for each in settings.misconfigured}
    if set(settings.fetching.hosted_order) - {*readers, *told_elsewhere}:
        there = ", ".join(sorted(readers)) or "none yet"
        protocols = ", ".join(sorted(READERS))
        yield Misconfigured(
            instance_id="",
            setting=HOSTED_ORDER,
            reason=f"must name the ids of endpoints whose protocol reads pages ({protocols}); there are: {there}",
        )
    if settings.fetching.browser_domains and not has_browser:
        yield Misconfigured(
            instance_id="", setting=BROWSER_DOMAINS, reason="has no effect: this stack has no browser (Browser = none)"
        )
