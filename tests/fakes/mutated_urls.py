"""URLs by the thousand that are nearly ones: spellings that readers have fallen out over, cut up and put together.

The same seed gives the same URLs. What others read in them is asked of the `URL` of Node.js, which is ada, the WHATWG's
rules as browsers have them; Playwright brings a Node.js along. https://url.spec.whatwg.org
"""

import random
import subprocess
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from urllib.parse import urlsplit

import orjson
from urllib3.exceptions import LocationParseError
from urllib3.util import parse_url

from zarniwoop.net.url import Target

Place = tuple[str, int]
"""A host, without brackets and a last dot, and a port."""

_PORTS = {"http": 80, "https": 443}
_SEEDS = (
    "http://example.com/", "https://www.example.com:8443/a/b?c=d#e", "http://93.184.216.34:8080/x", "HTTP://EXAMPLE.com",
    "https://bücher.example/ä?ö=ü", "https://xn--bcher-kva.example/", "http://[2606:2800:220:1:248:1893:25c8:1946]:80/",
    "http://foo_bar.example.com/?url=http://127.0.0.1/", "http://1.1.1.1@example.com/", "http://127.0.0.1/",
    "http://example.com:80:80/", "http://example.com\\@127.0.0.1/", "http://[::ffff:127.0.0.1]/", "http://0x7f.1/",
    "http://example.com/../../%2e%2e/;a?b?c#d?e", "https://日本.example/道", "http://a.b.c.d.e.example.org.:8080",
    "http://example.com?q#f", "http://example.com/a b", "http://пример.example/", "http://faß.example/", "http://ﬀ.example/",
)  # fmt: skip
_PIECES = (
    "@", ":", "/", "\\", "?", "#", "%", "%2e", "%2F", "%40", "%00", ".", "..", "。", "．", "[", "]", "::", "xn--", "-",
    "_", " ", "\t", "\n", "\r", "\u00ad", "\u200b", "\u200d", "\u0301", "ı", "İ", "ſ", "ß", "①", "０", "٣", "0x", "0",
    "255", "127.0.0.1", "localhost", "example.com", "user:pass@", ":80", ":443", ":0", ":65536", "//", "http:", "https://",
    "ａ", "~", "ſ", "\u212a", "|", "^", "`", "{", "}", "<", '"', "'", "!", "$", "&", "*", "+", ",", ";", "=", "é",
    "e\u0301", "ℂ", "\ufe0f", "\u034f",
)  # fmt: skip
_READS = """
const urls = JSON.parse(require('fs').readFileSync(0));
const read = url => { try { const u = new URL(url); return [u.hostname, u.port] } catch { return null } };
process.stdout.write(JSON.stringify(urls.map(read)));
"""


def mutated_urls(count: int, *, seed: int = 1) -> Iterator[str]:
    """So many; about one in twelve may be asked."""
    chance = random.Random(seed)  # noqa: S311 - the same URLs each time
    for _ in range(count):
        url = chance.choice(_SEEDS)
        for _change in range(chance.randint(0, 3)):
            url = _changed(url, chance)
        yield url


def _changed(url: str, chance: random.Random) -> str:
    start = chance.randint(0, len(url))
    end = min(len(url), start + chance.choice((0, 0, 1, 1, 2, 5)))
    kind = chance.randint(0, 4)
    if kind == 0:
        return url[:start] + chance.choice(_PIECES) + url[start:]
    if kind == 1:
        return url[:start] + url[end:]
    if kind == 2:
        return url[:start] + url[start:end].swapcase() * 2 + url[end:]
    if kind == 3:
        other = chance.choice(_SEEDS)
        return url[:start] + other[chance.randint(0, len(other)) :]
    return url[:start] + chance.choice(_PIECES) + url[end:]


@cache
def node() -> Path | None:
    """The Node.js of Playwright's driver, where there is one for this machine."""
    import playwright

    found = Path(playwright.__file__).parent / "driver" / "node"
    return found if found.exists() else None


def read_by_browsers(urls: Sequence[str]) -> list[Place | None]:
    """What the WHATWG's rules make of each; nothing for what they refuse."""
    whole = orjson.dumps([url.encode("utf-8", "replace").decode() for url in urls])
    done = subprocess.run(  # noqa: S603 - what Playwright brings along, and a script of ours
        [str(node()), "-e", _READS], input=whole, capture_output=True, check=True
    )
    return [read and _place(read[0], read[1], url) for read, url in zip(orjson.loads(done.stdout), urls, strict=True)]


def _place(host: str, port: str, url: str) -> Place:
    usual = _PORTS.get(url.strip().partition(":")[0].lower(), 0)
    return host.strip("[]").removesuffix("."), int(port or usual)


def read_by_urlsplit(url: str) -> Place | None:
    try:
        read = urlsplit(url)
        return (read.hostname or "").removesuffix("."), read.port or _PORTS.get(read.scheme, 0)
    except ValueError:
        return None


def read_by_urllib3(url: str) -> Place | None:
    try:
        read = parse_url(url)
    except LocationParseError:
        return None
    return (read.host or "").strip("[]").removesuffix("."), read.port or _PORTS.get(read.scheme or "", 0)


def place_of(target: Target) -> Place:
    return target.host, target.port


def differing(urls: Sequence[str], targets: Sequence[Target]) -> list[tuple[str, str]]:
    """URLs that are read in two ways: their one spelling by anybody, or what was written by a browser that takes it."""
    spelled = [target.url() for target in targets]
    wrong = []
    for url, target, canonical, own, written in zip(
        urls, targets, spelled, read_by_browsers(spelled), read_by_browsers(urls), strict=True
    ):
        place = place_of(target)
        for reader, read in (
            ("browser", own),
            ("urlsplit", read_by_urlsplit(canonical)),
            ("urllib3", read_by_urllib3(canonical)),
            ("browser, as written", written or place),
        ):
            if read != place:
                wrong.append((reader, url))
    return wrong
