"""What the settings say about fetching pages, and what becomes of those that are wrong."""

import pytest

from zarniwoop.contract.problem import InvalidArgument
from zarniwoop.net.address import AllowedNetworks
from zarniwoop.settings.cascade import Setting
from zarniwoop.settings.changes import read_changes
from zarniwoop.settings.fetch_names import FETCH
from zarniwoop.settings.fetching import FetchSettings, read_fetching
from zarniwoop.settings.form import settings_form
from zarniwoop.settings.levels import Level


def setting(value: str | None) -> Setting:
    return Setting(value=value, secure=value is None, level=Level.TENANT, parameter_name="p", version="1")


def test_without_a_setting_it_is_the_careful_way() -> None:
    """robots.txt is honoured, a second lies between two pages of a site, and nobody else is asked."""
    assert read_fetching({}) == (FetchSettings(), [])
    assert FetchSettings() == FetchSettings(
        robots=True, site_interval=1.0, browser_domains=(), hosted_order=(), archive=False
    )


def test_every_setting_is_read() -> None:
    """Lists without duplicates, milliseconds as seconds."""
    values = {
        "fetch.robots": "False",
        "fetch.site.intervalMs": "250",
        "fetch.browser.domains": "App.Example.com, example.org,app.example.com",
        "fetch.hosted.order": "firecrawl-main, tavily-main",
        "fetch.archive.enabled": "true",
    }
    assert set(values) == {each.name for each in FETCH}
    read, faults = read_fetching({key: setting(value) for key, value in values.items()})
    assert faults == []
    assert read == FetchSettings(
        robots=False,
        site_interval=0.25,
        browser_domains=("app.example.com", "example.org"),
        hosted_order=("firecrawl-main", "tavily-main"),
        archive=True,
    )


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("fetch.robots", "no"),
        ("fetch.robots", None),
        ("fetch.site.intervalMs", "60001"),
        ("fetch.site.intervalMs", "-1"),
        ("fetch.site.intervalMs", "1.5"),
        ("fetch.browser.domains", "example.org, *"),
        ("fetch.browser.domains", "https://example.org/"),
        ("fetch.browser.domains", ",".join(f"d{number}.example.org" for number in range(101))),
        ("fetch.hosted.order", "Not An Id"),
        ("fetch.archive.enabled", ""),
        ("fetch.hosted.order", "x" * 5_000),
    ],
)
def test_a_wrong_one_keeps_its_default_and_is_told_of_without_its_value(key: str, value: str | None) -> None:
    """A list with one wrong name is no list."""
    read, faults = read_fetching({key: setting(value)})
    assert read == FetchSettings()
    (fault,) = faults
    assert fault.setting == key
    assert fault.reason.startswith("must be ")


def test_they_can_be_saved_and_stand_in_the_form() -> None:
    """As a text, a number, a switch or a list; the form has the least and the most."""
    given = {
        "fetch.robots": False,
        "fetch.site.intervalMs": 0,
        "fetch.hosted.order": ["tavily-main", "firecrawl-main"],
        "fetch.archive.enabled": True,
        "fetch.browser.domains": None,
    }
    assert read_changes(given, AllowedNetworks) == {
        "fetch.robots": "false",
        "fetch.site.intervalMs": "0",
        "fetch.hosted.order": "tavily-main,firecrawl-main",
        "fetch.archive.enabled": "true",
        "fetch.browser.domains": None,
    }
    form = settings_form({}, reveals=False)["fetching"]["properties"]
    assert set(form) == set(given)
    interval = form["fetch.site.intervalMs"]
    assert (interval["minimum"], interval["maximum"], interval["default"]) == (0, 60_000, 1_000)
    assert (form["fetch.robots"]["default"], form["fetch.archive.enabled"]["default"]) == (True, False)


def test_a_misspelt_one_is_refused_by_its_name() -> None:
    """Nothing begins with `fetch.` that is not one of them."""
    with pytest.raises(InvalidArgument) as refused:
        read_changes({"fetch.robot": "true"}, AllowedNetworks)
    assert refused.value.field == "fetch.robot"
