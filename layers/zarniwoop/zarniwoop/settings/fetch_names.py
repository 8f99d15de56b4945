"""The names of the settings that fetching goes by, beside `settings.names`, which is full. By whole key."""

from zarniwoop.settings.names import Suffix

PREFIX_FETCH = "fetch."
ROBOTS = "fetch.robots"
SITE_INTERVAL = "fetch.site.intervalMs"
BROWSER_DOMAINS = "fetch.browser.domains"
HOSTED_ORDER = "fetch.hosted.order"
ARCHIVE = "fetch.archive.enabled"
READERS = frozenset(("exa", "firecrawl", "tavily"))
"""Protocols that read any page. Others have bodies too, but only behind their own hits."""
NO_DEFAULT = "none"
"""Of a list: it names nothing."""
LONGEST_INTERVAL = 60_000
MOST_DOMAINS = 100

FETCH = (
    Suffix(
        name=ROBOTS,
        kind="bool",
        expects="true or false",
        default="true",
        documentation="`false` fetches pages that their host's robots.txt forbids, for hosts that are your own.",
    ),
    Suffix(
        name=SITE_INTERVAL,
        kind="int",
        expects=f"a whole number from 0 to {LONGEST_INTERVAL}",
        default="1000",
        documentation="Milliseconds that a site is left alone after a page, whoever of the stack asks; one at a time.",
    ),
    Suffix(
        name=BROWSER_DOMAINS,
        kind="string",
        expects=f"up to {MOST_DOMAINS} domains, separated by commas",
        default=NO_DEFAULT,
        documentation="Domains whose pages may be rendered in a browser when scripts make them, separated by commas.",
    ),
    Suffix(
        name=HOSTED_ORDER,
        kind="string",
        expects="ids of endpoints, separated by commas",
        default=NO_DEFAULT,
        documentation="Ids of endpoints of `firecrawl`, `tavily` or `exa` that read what we cannot, in order.",
    ),
    Suffix(
        name=ARCHIVE,
        kind="bool",
        expects="true or false",
        default="false",
        documentation="`true` looks a page up in the Wayback Machine when nobody could read it.",
    ),
)
