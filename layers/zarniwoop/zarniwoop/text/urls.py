"""URLs as identities: which host they name, whether they may be shown, what they point at when two are compared."""

import re
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

_ORDINARY = re.compile(r"https?://([a-z0-9](?:[a-z0-9.-]*[a-z0-9])?)(?:/[!-\[\]-~]*)?")
"""What nearly every URL of a hit looks like; the others take the long way, with the same outcome."""

_TRACKING = frozenset(
    ("fbclid", "gclid", "dclid", "msclkid", "mc_cid", "mc_eid", "igshid", "yclid", "_hsenc", "_hsmi", "ref_src")
)


def http_url(value: object) -> str | None:
    """The value if it is an absolute http(s) URL with a host, without white space or controls; else None.

    A protocol-relative `//host/…` becomes https. A backslash is refused: browsers read it as a slash and so see another
    host than we do.
    """
    if not isinstance(value, str):
        return None
    if _ORDINARY.fullmatch(value):
        return value
    url = "https:" + value if value.startswith("//") else value.strip()
    if not url.isprintable() or " " in url or "\\" in url or not url.lower().startswith(("http://", "https://")):
        return None
    return url if host_of(url) else None


def url_and_host(value: object) -> tuple[str, str] | None:
    """What `http_url` and `host_of` say, for a hit that shows both, in one look at an ordinary URL."""
    if isinstance(value, str) and (ordinary := _ORDINARY.fullmatch(value)):
        return value, ordinary[1]
    url = http_url(value)
    host = host_of(url) if url else None
    return (url, host) if url and host else None


def host_of(url: str) -> str | None:
    """The host in lower case without a trailing dot, or None where there is none, or one with an impossible port."""
    if ordinary := _ORDINARY.fullmatch(url):
        return ordinary.group(1)
    try:
        parts = urlsplit(url)
        host = parts.hostname if parts.port is None or parts.port > 0 else None
    except ValueError:
        return None
    return host.rstrip(".").lower() or None if host else None


def registrable_domain(url: str) -> str:
    """`bbc.co.uk` of `www.bbc.co.uk`, by the public suffix list; the whole host where that knows nothing of it.

    A suffix under which strangers have pages counts as public: `ada.github.io` is a site of its own.
    """
    from tld import get_fld  # seven megabytes and 30 ms that most calls do without

    return get_fld(url, fail_silently=True, search_private=True) or host_of(url) or url


def is_below(host: str | None, domain: str) -> bool:
    """Whether the host is the domain or under it: `www.nature.com` is below `nature.com`, `mynature.com` is not."""
    domain = domain.strip().strip(".").lower()
    return host is not None and (host == domain or host.endswith("." + domain))


def is_on_site(url: str, site: str) -> bool:
    """Whether the URL is on a site written as host with an optional path prefix, as in Google's `site:`."""
    host, _, path = site.partition("/")
    return is_below(host_of(url), host) and urlsplit(url).path.startswith("/" + path if path else "")


def has_filetype(url: str, filetype: str) -> bool:
    return urlsplit(url).path.lower().endswith("." + filetype.lower().lstrip("."))


def ending_of(url: str) -> str:
    """What follows the last dot of the path's last part, in lower case; empty where there is none."""
    return urlsplit(url).path.rpartition("/")[2].rpartition(".")[2].lower()


def normalised(url: str) -> str:
    """The form under which two URLs of one page meet: no fragment, tracking parameters, default port or `www.`."""
    parts = urlsplit(url)
    host = (parts.hostname or "").rstrip(".").removeprefix("www.")
    default = {"http": 80, "https": 443}.get(parts.scheme)
    port = f":{parts.port}" if parts.port and parts.port != default else ""
    kept = [
        (name, value)
        for name, value in parse_qsl(parts.query, keep_blank_values=True)
        if name not in _TRACKING and not name.startswith("utm_")
    ]
    return urlunsplit(("https", host + port, parts.path.rstrip("/"), urlencode(sorted(kept)), ""))
