"""URLs as identities: which host they name, whether they may be shown, what they point at when two are compared."""

from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

_TRACKING = frozenset(
    ("fbclid", "gclid", "dclid", "msclkid", "mc_cid", "mc_eid", "igshid", "yclid", "_hsenc", "_hsmi", "ref_src")
)


def http_url(value: object) -> str | None:
    """The value if it is an absolute http(s) URL with a host, without white space or controls; else None.

    A protocol-relative `//host/…` becomes https.
    """
    if not isinstance(value, str):
        return None
    url = "https:" + value if value.startswith("//") else value.strip()
    if not url.isprintable() or " " in url or not url.lower().startswith(("http://", "https://")):
        return None
    return url if host_of(url) else None


def host_of(url: str) -> str | None:
    """The host in lower case without a trailing dot, or None where there is none."""
    try:
        host = urlsplit(url).hostname
    except ValueError:
        return None
    return host.rstrip(".").lower() if host else None


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
