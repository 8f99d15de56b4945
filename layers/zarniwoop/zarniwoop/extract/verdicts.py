"""What a page turns out to be: the page, or a wall that stands before it. One typed outcome, and a reason for it.

The order is fixed: what was not found is not blocked, and what asks for a login is not blocked either.

    status → not found → bot wall → soft 404 → server's error → notice → login → consent → paywall → script shell
    → empty → cut short
"""

import re
from dataclasses import dataclass

from zarniwoop.contract.page import PageOutcome
from zarniwoop.extract import missing, walls
from zarniwoop.extract.html_chain import LINK_SOUP, TOO_LITTLE, is_link_soup, is_menu
from zarniwoop.extract.judged import Judged
from zarniwoop.extract.limits import LEAST_WEIGHT
from zarniwoop.extract.weigh import words_of
from zarniwoop.text.urls import host_of

TRUNCATED = "truncated"
PAYWALL = "paywall"
_SHORT = 1_500
"""No wall says more than that; what says more is a page, whatever its title is."""
_VERY_SHORT = 600
_HARDLY = 250
_CONSENT = 3_500
_LONG = 4_000
_WORDY = 25
"""Letters of a link on the average that somebody wrote to be read; what leads around in a site is shorter."""
_ENDED = re.compile(r"[.!?。！？…؟।»”\"')\]|`:;]\s*\Z")
_ELLIPSIS = re.compile(r"(?:…|\.\.\.|\[…\]|\[\.\.\.\.\])\s*\Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """`truncated`: the page is one, and not all of it is here."""

    outcome: PageOutcome = PageOutcome.OK
    reason: str | None = None
    truncated: bool = False


def verdict(page: Judged) -> Verdict:
    if by_status := _BY_STATUS.get(page.status):
        return by_status
    for judge in _JUDGES:
        if found := judge(page):
            return found
    return Verdict(reason=TRUNCATED, truncated=True) if _is_cut_short(page) else Verdict()


def verdict_of_status(status: int) -> Verdict | None:
    """For answers whose body is no markup."""
    return _BY_STATUS.get(status) or _of_bad_status(status)


_BY_STATUS = {
    401: Verdict(outcome=PageOutcome.LOGIN_REQUIRED, reason="status_401"),
    402: Verdict(outcome=PageOutcome.LOGIN_REQUIRED, reason=PAYWALL),
    404: Verdict(outcome=PageOutcome.NOT_FOUND, reason="status_404"),
    407: Verdict(outcome=PageOutcome.BLOCKED, reason="status_407"),
    410: Verdict(outcome=PageOutcome.NOT_FOUND, reason="status_410"),
    451: Verdict(outcome=PageOutcome.BLOCKED, reason="legal"),
}


def _bot_wall(page: Judged) -> Verdict | None:
    if page.weight >= _SHORT:
        return None
    blocked = Verdict(outcome=PageOutcome.BLOCKED, reason="bot_wall")
    if walls.BOT_MARKS.search(page.raw) and (page.weight < _VERY_SHORT or page.titled(walls.BOT_TITLE)):
        return blocked
    says = walls.BOT_WORDS.search(page.seen[:6_000] + " " + page.facts.noscript) is not None
    titled = page.titled(walls.BOT_TITLE) and not page.is_told
    hinted = walls.BOT_HINTS.search(page.raw) is not None
    refused = page.status in (202, 403, 405, 429, 503)
    if titled and (says or hinted or refused):
        return blocked
    if walls.BLOCKED_PATH.search(page.url) or page.titled(walls.SURE_BOT_TITLE):
        return blocked
    if _is_poor(page) and missing.WANTS_COOKIES.search(page.words):
        return blocked
    return blocked if says and (hinted or refused or page.seen_weight < _VERY_SHORT) and _is_poor(page) else None


def _is_poor(page: Judged) -> bool:
    """No article: nothing but a few short sentences."""
    return page.weight < _VERY_SHORT and not page.titled(walls.LOGIN_TITLE) and not page.is_told


def _bad_status(page: Judged) -> Verdict | None:
    if page.status == 403 and (page.facts.passwords or page.titled(walls.LOGIN_TITLE)):
        return Verdict(outcome=PageOutcome.LOGIN_REQUIRED, reason="status_403")
    return _of_bad_status(page.status)


def _of_bad_status(status: int) -> Verdict | None:
    if status < 400:
        return None
    if status == 429:
        return Verdict(outcome=PageOutcome.RATE_LIMITED, reason="status_429")
    outcome = PageOutcome.BLOCKED if status == 403 else PageOutcome.UNAVAILABLE
    return Verdict(outcome=outcome, reason=f"status_{status}")


def _soft_404(page: Judged) -> Verdict | None:
    """Links do not count: such a page recommends others."""
    if page.said >= _SHORT or page.has_code:
        return None
    if page.said >= _HARDLY and page.is_essay and not page.speaks_to_reader:
        return None
    pattern = missing.NOT_FOUND
    said = page.said < _HARDLY and (
        pattern.search(page.spoken[:300]) or (page.weight < LEAST_WEIGHT and pattern.search(page.seen[:600]))
    )
    return Verdict(outcome=PageOutcome.SOFT_404, reason="says_not_found") if said or page.titled(pattern) else None


def _out_of_order(page: Judged) -> Verdict | None:
    """A server or a database that gives its error for a page, with a status that says otherwise."""
    if page.said >= _VERY_SHORT or page.is_told:
        return None
    words = f"{page.spoken[:300]}\n{page.seen[:300] if page.weight < LEAST_WEIGHT else ''}"
    broken = page.titled(missing.OUT_OF_ORDER) or (page.said < _HARDLY and missing.OUT_OF_ORDER.search(words))
    wrong = page.said < _HARDLY // 2 and missing.WENT_WRONG.search(words)
    return Verdict(outcome=PageOutcome.UNAVAILABLE, reason="server_error") if broken or wrong else None


def _notice(page: Judged) -> Verdict | None:
    """What stands in the place of a whole site: its domain is for sale, or it is being worked on."""
    if page.weight < _SHORT and walls.PARKED.search(page.words[:_HARDLY]):
        return Verdict(outcome=PageOutcome.EMPTY, reason="parked")
    if (
        page.weight < _VERY_SHORT
        and page.titled(walls.MAINTENANCE_TITLE)
        and walls.MAINTENANCE_WORDS.search(page.words)
    ):
        return Verdict(outcome=PageOutcome.UNAVAILABLE, reason="maintenance")
    return None


def _login(page: Judged) -> Verdict | None:
    required = Verdict(outcome=PageOutcome.LOGIN_REQUIRED, reason="login")
    titled = page.titled(walls.LOGIN_TITLE) or walls.IDENTIFYING_PATH.search(page.url) is not None
    if page.facts.passwords and (page.weight < _HARDLY or (titled and page.weight < _SHORT)):
        return required
    if page.weight >= _VERY_SHORT or page.has_code:
        return None
    seen = page.seen[:6_000]
    if titled and (page.facts.logins or walls.LOGIN_WITH.search(seen)):
        return required
    if page.is_essay:
        return None
    short = page.weight < _HARDLY
    if titled and short and walls.LOGIN_WORDS.search(seen):
        return required
    text = seen if short else page.words
    asked = any(not walls.TAKES_PART.match(text, found.end()) for found in walls.LOGIN_STRICTLY.finditer(text))
    return required if asked else None


def _consent(page: Judged) -> Verdict | None:
    if page.weight >= _CONSENT or not page.asks_for_consent:
        return None
    words = {found[0].lower() for found in walls.CONSENT_WORDS.finditer(page.seen[:10_000])}
    named = walls.CONSENT_HOST.search(host_of(page.url) or "") is not None
    asked = Verdict(outcome=PageOutcome.CONSENT_REQUIRED, reason="consent")
    if (named or page.titled(walls.CONSENT_TITLE)) and len(words) >= 2:
        return asked
    if len(words) < 3 or page.is_report:
        return None
    return asked if _mostly(walls.CONSENT_WORDS, page) else None


def _mostly(pattern: re.Pattern[str], page: Judged) -> bool:
    """Whether most of what is seen are sentences with such words."""
    sentences = [part for part in re.split(r"[.!?。！？\n]", page.seen[:10_000]) if len(part) > 20]
    speaking = sum(len(part) for part in sentences if pattern.search(part))
    return speaking > 0.6 * sum(map(len, sentences))


def _paywall(page: Judged) -> Verdict | None:
    tail = page.seen[-6_000:]
    said = walls.PAYWALL_WORDS.search(page.words) or walls.PAYWALL_WORDS.search(tail)
    marked = page.free is False or walls.PAYWALL_MARKS.search(page.raw) is not None
    if page.weight < _SHORT and (page.free is False or (said and (marked or walls.PAYWALL_WORDS.search(page.words)))):
        return Verdict(outcome=PageOutcome.LOGIN_REQUIRED, reason=PAYWALL)
    return Verdict(reason=TRUNCATED, truncated=True) if said and marked else None


def _script_shell(page: Judged) -> Verdict | None:
    """Links do not count, unless they are what there is to read: a shell comes with the menu of its site."""
    told = page.weight if _is_index(page) else page.said
    shell = Verdict(outcome=PageOutcome.NEEDS_JAVASCRIPT, reason="script_shell")
    if told >= _VERY_SHORT or not page.facts.scripts:
        return None
    root = walls.EMPTY_ROOT.search(page.raw)
    if root and (told < _HARDLY or not walls.ANY_ROOT.search(root[0])):
        return shell
    if told >= _HARDLY:
        return None
    if walls.SCRIPT_WORDS.search(page.facts.noscript) or walls.SCRIPT_WORDS.search(page.seen[:1_000]):
        return shell
    return shell if page.weight < LEAST_WEIGHT and page.facts.script_chars > 2_000 else None


def _is_index(page: Judged) -> bool:
    """Whether its links are sentences, as those of a table of contents are."""
    links = page.article.text.count("](")
    return links > 0 and page.article.link_chars >= _WORDY * links


def _nothing(page: Judged) -> Verdict | None:
    if page.weight < LEAST_WEIGHT:
        return Verdict(outcome=PageOutcome.EMPTY, reason="frames" if page.facts.frames else TOO_LITTLE)
    return Verdict(outcome=PageOutcome.EMPTY, reason=LINK_SOUP) if is_menu(page.article) else None


_JUDGES = (
    _bot_wall, _bad_status, _soft_404, _out_of_order, _notice, _login, _consent, _paywall, _script_shell, _nothing
)  # fmt: skip


def _is_cut_short(page: Judged) -> bool:
    end = page.words.rstrip() if len(page.article.text) <= 20_000 else words_of(page.article.text[-2_000:]).rstrip()
    if is_link_soup(page.article):
        return False
    lowered = page.raw.lower()
    broken = "<html" in lowered and "</html" not in lowered and "</body" not in lowered and not _ENDED.search(end)
    if broken:
        return True
    goes_on = walls.GOES_ON.search(end[-200:]) if page.weight < _LONG else None
    before = end[-200:][: goes_on.start()].rstrip() if goes_on else end
    return bool(_ELLIPSIS.search(before)) or bool(goes_on and not _ENDED.search(before))
