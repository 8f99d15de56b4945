"""`make token`: a token that could never be used is refused before anything is written."""

import pytest

import stack.token
from stack.target import Target
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


@pytest.mark.parametrize(
    ("words", "projects", "hinted"),
    [
        ("", ("demo",), False),
        ("--project x --project y", ("x", "y"), False),
        ("--project *", ("*",), True),
        ("--tenant acme", ("*",), True),
        ("--stack-name research", ("*",), True),
    ],
)
def test_without_a_project_it_is_the_local_stacks_own(
    words: str,
    projects: tuple[str, ...],
    hinted: bool,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Elsewhere all of the tenant's; then stderr says that calls name one, and stdout has the token alone."""
    wanted: list[Wanted] = []

    def issued(_target: Target, given: Wanted) -> str:
        wanted.append(given)
        return "zw_new"

    monkeypatch.setattr(stack.token, "issue", issued)
    monkeypatch.setattr(stack.token, "local_target", lambda: Target(stack_name="local"))
    main(words.split())
    told = capsys.readouterr()
    assert (wanted[0].projects, told.out) == (projects, "zw_new\n")
    assert ("ZARNIWOOP_PROJECT" in told.err) is hinted
