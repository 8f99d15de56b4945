"""URLs as identities."""

import pytest

from zarniwoop.text.urls import has_filetype, host_of, http_url, is_below, is_on_site, normalised, url_and_host


@pytest.mark.parametrize(
    ("value", "url"),
    [
        ("https://a.example/x?y=1#z", "https://a.example/x?y=1#z"),
        (" http://a.example ", "http://a.example"),
        ("HTTPS://a.example", "HTTPS://a.example"),
        ("//upload.example/i.png", "https://upload.example/i.png"),
        ("https://[2001:db8::1]:8443/", "https://[2001:db8::1]:8443/"),
        ("https://bücher.example/", "https://bücher.example/"),
    ],
)
def test_an_absolute_http_url_is_kept(value: str, url: str) -> None:
    """A protocol-relative one becomes https."""
    assert http_url(value) == url


@pytest.mark.parametrize(
    "value",
    [
        *(None, 5, [], "", "text", "/path", "ftp://a.example", "javascript:alert(1)", "data:text/html,x", "mailto:a@b"),
        *("http://", "https:///x", "http://a b.example", "http://a.example/\nx", "http://a.example/\u200b", "http://."),
        *("https://[::1", "http://a.example:port/", "http://a.example:99999/", "http://a.example:0/"),
        *("http://evil.example\\@good.example/", "https:a.example"),
    ],
)
def test_anything_else_is_no_url(value: object) -> None:
    """Neither another scheme nor what a browser and we would read differently."""
    assert http_url(value) is None


def test_a_host_is_in_lower_case_and_without_its_dot() -> None:
    """As it is compared."""
    assert host_of("https://user@WWW.Example.ORG.:443/x") == "www.example.org"
    assert host_of("no url") is None


@pytest.mark.parametrize(
    "value",
    [
        "https://a.example/x?y=1#z",
        "HTTPS://A.Example.:8080/",
        "//a.example/",
        " http://a.example ",
        "ftp://a.example",
        None,
    ],
)
def test_one_look_says_what_two_would(value: object) -> None:
    """The short way for ordinary URLs, and the long one, come to the same."""
    url = http_url(value)
    assert url_and_host(value) == ((url, host_of(url)) if url else None)


@pytest.mark.parametrize(
    ("host", "domain", "below"),
    [
        ("nature.com", "nature.com", True),
        ("www.nature.com", "nature.com", True),
        ("www.nature.com", " .Nature.com. ", True),
        ("mynature.com", "nature.com", False),
        ("nature.com.evil.example", "nature.com", False),
        ("nature.com", "www.nature.com", False),
        (None, "nature.com", False),
        ("nature.com", "", False),
    ],
)
def test_a_domain_covers_itself_and_what_is_below_it(host: str | None, domain: str, below: bool) -> None:
    """Cut at dots, not at characters."""
    assert is_below(host, domain) is below


@pytest.mark.parametrize(
    ("url", "site", "on"),
    [
        ("https://arxiv.org/abs/1", "arxiv.org", True),
        ("https://arxiv.org/abs/1", "arxiv.org/abs", True),
        ("https://arxiv.org/pdf/1", "arxiv.org/abs", False),
        ("https://export.arxiv.org/abs/1", "arxiv.org/abs", True),
        ("https://example.org/arxiv.org/abs", "arxiv.org", False),
    ],
)
def test_a_site_is_a_host_with_an_optional_path(url: str, site: str, on: bool) -> None:
    """As in Google's `site:`."""
    assert is_on_site(url, site) is on


def test_a_file_type_is_the_end_of_the_path() -> None:
    """Not of the query, and in any case."""
    assert has_filetype("https://a.example/x.PDF?download=1", "pdf")
    assert has_filetype("https://a.example/x.pdf", ".PDF")
    assert not has_filetype("https://a.example/x?file=y.pdf", "pdf")
    assert not has_filetype("https://a.example/xpdf", "pdf")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("http://www.example.org/a/", "https://example.org/a#part"),
        ("https://example.org:443/a", "http://example.org:80/a"),
        ("https://EXAMPLE.org/a?utm_source=x&b=2&a=1&fbclid=y", "https://example.org/a?a=1&b=2"),
        ("https://example.org./", "https://example.org"),
    ],
)
def test_two_urls_of_one_page_meet(one: str, other: str) -> None:
    """Scheme, `www.`, default port, fragment, tracking and the order of parameters do not matter."""
    assert normalised(one) == normalised(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("https://w3.org/", "https://3.org/"),
        ("https://example.org/watch?v=1", "https://example.org/watch?v=2"),
        ("https://example.org/a", "https://example.org/A"),
        ("https://example.org:8443/", "https://example.org/"),
        ("https://example.org/?q=", "https://example.org/"),
    ],
)
def test_two_pages_stay_apart(one: str, other: str) -> None:
    """`www.` is a prefix and no set of characters; parameters with meaning count."""
    assert normalised(one) != normalised(other)
