"""Ways out of the API's problems in this command's own words, where the API names routes, headers or arguments."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from zarniwoop_client import Problem

ISSUE = "`make token` (or `zarniwoop token`) issues one"
PLAIN_HTTP = "{source} is plain http, over which everybody on the way reads the token: name the stack's https URL"
NO_URL = "{source} is no API's URL: it has to be http(s)://host/stage, without user, query or fragment"
LEVEL_4 = 'make token ARGS="--level 4 --project demo"'

_INSTEAD = {
    "no-project-scope": "name one of your token's projects: `--project NAME`, or ZARNIWOOP_PROJECT",
    "unauthorized": f"set ZARNIWOOP_TOKEN or --token; {ISSUE}",
    "unknown-evidence": "`zarniwoop evidence list` shows what there is; what was read long ago has to be fetched again",
    "unknown-route": "the stack is older than this command, or its URL is not the ApiUrl: `zarniwoop doctor` looks",
    "unknown-run": "`zarniwoop runs list` shows the project's runs",
    "unknown-tool": "`zarniwoop tools` lists them",
}
_BESIDES = {"not-allowed": f"one of level 4, for settings: {LEVEL_4}"}
"""What is added to the API's own words, where it blames no field: with one they say all."""


def wording(problem: "Problem") -> str:
    """Title and detail, unless the detail says both."""
    if not problem.detail or problem.detail.startswith(problem.title):
        return problem.detail or problem.title
    return f"{problem.title}: {problem.detail}"


def way_out(problem: "Problem") -> str | None:
    told = _INSTEAD.get(problem.slug, problem.suggested_action)
    besides = _BESIDES.get(problem.slug) if problem.field is None else None
    return "; ".join(filter(None, (told and told.rstrip("."), besides))) if besides else told
