"""Links of a page: absolute, http(s), each target once, bounded; and which canonical URL is believed."""

from urllib.parse import urljoin, urlsplit

from zarniwoop.contract.page import PageLink
from zarniwoop.extract.facts import FoundLink
from zarniwoop.extract.limits import MOST_LINK_CHARS, MOST_LINK_TEXT, MOST_LINKS
from zarniwoop.text.plain import clip
from zarniwoop.text.urls import http_url, registrable_domain

_ESCAPED = {ord("("): "%28", ord(")"): "%29", ord("<"): "%3C", ord(">"): "%3E", ord(" "): "%20", ord('"'): "%22"}


class Resolver:
    """Makes the page's links absolute. A `<base>` counts when it is an http(s) URL itself."""

    def __init__(self, url: str, base: str | None = None) -> None:
        self._url = url
        self._base = self._joined(url, base) or url

    def absolute(self, href: str | None) -> str | None:
        """None for what is no http(s) link, is too long, or leads to a place on the same page."""
        if not href or len(href) > MOST_LINK_CHARS or href.lstrip().startswith("#"):
            return None
        url = self._joined(self._base, href)
        if url is None or url.partition("#")[0] == self._url.partition("#")[0]:
            return None
        return url.translate(_ESCAPED)

    def absolute_or_self(self, href: str | None) -> str | None:
        """As `absolute`, for the link that a page has to itself."""
        return self._joined(self._base, href) if href and len(href) <= MOST_LINK_CHARS else None

    @staticmethod
    def _joined(base: str, href: str | None) -> str | None:
        if not href:
            return None
        try:
            url = http_url(urljoin(base, "".join(href.split())))
            return url if url and urlsplit(url).username is None else None
        except ValueError:
            return None


def page_links(found: list[FoundLink], resolver: Resolver) -> tuple[PageLink, ...]:
    """In the page's order; the longest text of those that lead to one target."""
    links: dict[str, PageLink] = {}
    for each in found:
        url = resolver.absolute(each.href)
        if url is None:
            continue
        text = clip(" ".join("".join(each.text).split()), MOST_LINK_TEXT)
        known = links.get(url)
        if known is None and len(links) >= MOST_LINKS:
            continue
        if known is None or len(text) > len(known.text):
            links[url] = PageLink(url=url, text=text, rel=(each.rel or "").strip()[:60] or None)
    return tuple(links.values())


def believed_canonical(stated: str | None, resolver: Resolver, url: str) -> str | None:
    """The canonical URL that a page states for itself, if it is on its own site: nobody speaks for another's."""
    canonical = resolver.absolute_or_self(stated)
    if canonical is None:
        return None
    return canonical if registrable_domain(canonical) == registrable_domain(url) else None
