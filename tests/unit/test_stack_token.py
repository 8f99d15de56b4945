"""`make token`: a token that could never be used is refused before anything is written."""

import pytest

from stack.token import Wanted, check, main


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        (Wanted(tenant_id="A b", projects=("*",)), "a tenant is written in a-z"),
        (Wanted(tenant_id="acme", projects=("demo", "No!")), "a project is written in a-z"),
        (
            Wanted(tenant_id="acme", projects=("*",), tools=("research_foo",)),
            "there is no tool research_foo; there are",
        ),
        (Wanted(tenant_id="acme", projects=("*",), days=0), "more than 0 days"),
    ],
)
def test_a_token_that_could_never_be_used_is_refused(wanted: Wanted, words: str) -> None:
    """With what is wrong and the way out."""
    with pytest.raises(ValueError, match=words):
        check(wanted)


def test_a_good_token_passes() -> None:
    """Every project, one tool, half a day."""
    check(Wanted(tenant_id="acme", projects=("*", "demo"), tools=("research_search",), days=0.5))


def test_without_a_region_one_line_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not a traceback."""
    monkeypatch.delenv("AWS_DEFAULT_REGION")
    monkeypatch.setenv("AWS_CONFIG_FILE", "/nonexistent")
    with pytest.raises(SystemExit, match="AWS does not answer for stack research: You must specify a region"):
        main(["--stack-name", "research"])


def test_a_list_of_tools_may_name_the_settings() -> None:
    """They are no tool, and stand on the same list."""
    check(Wanted(tenant_id="acme", projects=("*",), level=4, tools=("settings",)))
