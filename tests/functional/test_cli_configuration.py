"""Whom the command asks and with which token, and what it does in a checkout."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

import zarniwoop_cli.configuration
from tests.fakes.http_api import TOKEN
from tests.functional.command_line import zarniwoop
from zarniwoop_cli.configuration import NotConfiguredError, configure
from zarniwoop_cli.exits import Exit


@pytest.fixture
def stack_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """That of a checkout which is elsewhere."""
    path = tmp_path / ".local" / "stack.json"
    path.parent.mkdir()
    path.write_text(json.dumps({"api_url": "http://127.0.0.1:5/live", "token": "zw_local"}))
    monkeypatch.setattr(zarniwoop_cli.configuration, "stack_file", lambda: path)
    return path


@pytest.mark.parametrize(
    ("options", "variables", "expected"),
    [
        ((None, None), {}, ("http://127.0.0.1:5/live", "zw_local")),
        ((None, None), {"ZARNIWOOP_URL": "https://a/b/", "ZARNIWOOP_TOKEN": "zw_env"}, ("https://a/b", "zw_env")),
        (("https://c", "zw_opt"), {"ZARNIWOOP_URL": "https://a", "ZARNIWOOP_TOKEN": "zw_env"}, ("https://c", "zw_opt")),
        ((None, None), {"ZARNIWOOP_TOKEN": "zw_env"}, ("http://127.0.0.1:5/live", "zw_local")),
        ((None, "zw_opt"), {"ZARNIWOOP_TOKEN": "zw_env"}, ("http://127.0.0.1:5/live", "zw_opt")),
        (("http://127.0.0.1:5/live", None), {"ZARNIWOOP_TOKEN": "zw_env"}, ("http://127.0.0.1:5/live", "zw_env")),
        ((None, None), {"ZARNIWOOP_URL": "http://127.0.0.1:5/live/"}, ("http://127.0.0.1:5/live", "zw_local")),
    ],
)
def test_options_win_over_variables_and_these_over_the_local_stack(
    options: tuple[str | None, str | None], variables: dict[str, str], expected: tuple[str, str], stack_file: Path
) -> None:
    """Each of URL and token by itself, but that the environment's token is for the URL of option or environment."""
    known = configure(*options, None, variables)
    assert (known.url, known.token) == expected
    assert known.token not in repr(known)


ROUTES = ("/v1/tools", "/v1/tools/web_search/", "/v1", "/v1/runs/x", "/mcp", "/docs", "/openapi.json")


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("token", [TOKEN, ""])
def test_a_url_of_a_page_of_the_api_is_told_from_the_apis(route: str, token: str) -> None:
    """Which people copy out of a browser or of an agent's configuration; `doctor` says it as well."""
    variables = {"ZARNIWOOP_URL": f"https://a.example/live{route}", "ZARNIWOOP_TOKEN": token}
    for words in (("search", "bells"), ("doctor",)):
        ended = zarniwoop(*words, variables=variables)
        assert ended.exit_code == Exit.USAGE
        assert f"the URL is the ApiUrl, without {route}" in ended.stderr + ended.stdout


@pytest.mark.parametrize("url", ["https://a.example/v1", "https://a.example/mcp2", "https://a.example/v1/research"])
def test_a_stack_may_be_anywhere_on_a_domain_of_its_own(url: str) -> None:
    """Under a base path of its owner's choice."""
    assert configure(url, TOKEN, None, {}).url == url


def test_where_a_token_that_is_none_comes_from_is_told(stack_file: Path) -> None:
    """And how to get one; `doctor` says it as well."""
    for words, source in (((), str(stack_file)), (("--token", "zw x"), "--token")):
        ended = zarniwoop("doctor", *words)
        assert ended.exit_code == Exit.USAGE
        what, way_out = ended.stdout.splitlines()
        assert what == f"✗ {source} holds no token"
        assert "16 to 256 letters" in way_out
        assert "`make token` (or `zarniwoop token`) issues one" in way_out


def test_the_local_stacks_token_goes_to_no_other_url(stack_file: Path) -> None:
    """Whoever names a URL and no token is asked for one."""
    with pytest.raises(NotConfiguredError, match=r"no token for https://elsewhere\.example"):
        configure("https://elsewhere.example", None, None, {})


EVIL = (
    *("https://evil.example/live", "http://127.0.0.1@evil.example/live", "http://127.0.0.1.evil.example", "http://["),
    *("http://169.254.169.254/", "//evil.example", "evil.example"),
)


@pytest.mark.parametrize("evil", EVIL)
@pytest.mark.parametrize("token", ["zw_opt", None])
def test_a_folder_cannot_name_a_stack_elsewhere(evil: str, token: str | None, stack_file: Path) -> None:
    """It may be a clone of a stranger's: neither the environment's token nor a question goes where it says."""
    stack_file.write_text(json.dumps({"api_url": evil, "token": "zw_bait"}))
    with pytest.raises(NotConfiguredError, match="not on this machine: set ZARNIWOOP_URL and ZARNIWOOP_TOKEN") as told:
        configure(None, token, None, {"ZARNIWOOP_TOKEN": "zw_env"})
    assert "zw_" not in str(told.value)


def test_the_environments_token_does_not_stand_in_for_the_local_stacks(stack_file: Path) -> None:
    """Somebody else may listen there. The message says which variable is missing."""
    stack_file.write_text(json.dumps({"api_url": "http://127.0.0.1:5/live"}))
    with pytest.raises(NotConfiguredError, match="ZARNIWOOP_TOKEN is set, ZARNIWOOP_URL is not"):
        configure(None, None, None, {"ZARNIWOOP_TOKEN": "zw_env"})
    assert configure(None, "zw_opt", None, {"ZARNIWOOP_TOKEN": "zw_env"}).token == "zw_opt"


def test_in_a_folder_that_names_another_stack_nothing_is_sent(stack_file: Path) -> None:
    """By the command itself, as a usage error."""
    stack_file.write_text(json.dumps({"api_url": "https://evil.example/live", "token": TOKEN}))
    ended = zarniwoop("search", "bells", variables={"ZARNIWOOP_TOKEN": TOKEN})
    assert (ended.exit_code, ended.stdout) == (Exit.USAGE, "")
    assert "not on this machine" in ended.stderr


@pytest.mark.parametrize("content", ["{", "[]", "{}", '{"api_url": 7}', '{"api_url": null}'])
def test_a_stack_file_that_says_nothing_is_as_good_as_none(content: str, stack_file: Path) -> None:
    """The message says how to get a stack."""
    stack_file.write_text(content)
    with pytest.raises(NotConfiguredError, match="make serve"):
        configure(None, None, None, {})


def test_a_stack_file_of_somebody_else_is_not_believed(stack_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It could send questions anywhere."""
    monkeypatch.setattr(os, "getuid", lambda: stack_file.stat().st_uid + 1)
    with pytest.raises(NotConfiguredError):
        configure(None, None, None, {})


@pytest.mark.parametrize(
    ("variables", "told"),
    [
        ({"ZARNIWOOP_URL": "http://api.example.org/live", "ZARNIWOOP_TOKEN": TOKEN}, "plain http"),
        ({"ZARNIWOOP_URL": "api.example.org", "ZARNIWOOP_TOKEN": TOKEN}, "no API's URL"),
        ({"ZARNIWOOP_URL": "https://api.example.org", "ZARNIWOOP_TOKEN": "zw x"}, "ZARNIWOOP_TOKEN holds no token"),
        ({"ZARNIWOOP_URL": "https://api.example.org"}, "ZARNIWOOP_TOKEN"),
    ],
)
def test_a_url_or_token_that_is_none_is_a_usage_error(variables: dict[str, str], told: str) -> None:
    """Nothing is sent, and the token is not repeated."""
    ended = zarniwoop("search", "bells", variables=variables)
    assert ended.exit_code == Exit.USAGE
    assert told in ended.stderr
    assert "zw x" not in ended.stderr


@pytest.mark.parametrize("name", ["serve", "stop", "demo", "token"])
def test_what_the_checkout_does_is_done_by_its_own_modules(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """This process becomes it, so Ctrl-C, output and exit codes are its own."""
    became: list[Any] = []

    def become(*given: Any) -> None:
        became.append(given)
        raise SystemExit(0)

    monkeypatch.setattr(os, "execve", become)
    monkeypatch.setattr("zarniwoop_cli.commands.local.is_set_up", lambda _root: True)
    assert zarniwoop(name, "--help", "--level", "4").exit_code == 0
    ((python, arguments, variables),) = became
    assert python.name == "python"
    assert arguments[1:] == ["-m", f"stack.{name}", "--help", "--level", "4"]
    assert "layers/zarniwoop" in variables["PYTHONPATH"]


@pytest.mark.parametrize(("root", "told"), [(None, "needs a checkout"), (Path("/nowhere"), "make setup")])
def test_without_a_checkout_that_is_set_up_it_says_what_to_do(
    root: Path | None, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Installed by itself, the command has no stack to serve."""
    monkeypatch.setattr("zarniwoop_cli.commands.local.repository", lambda: root)
    ended = zarniwoop("serve")
    assert ended.exit_code == Exit.USAGE
    assert told in ended.stderr
