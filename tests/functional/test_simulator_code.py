"""GitHub and GitLab against the simulator: what is particular to them, over real sockets."""

import json
from datetime import date
from typing import Any

import httpx
import pytest

from tests.contract.payloads import payload
from tests.fakes.httpx_transport import HttpxTransport
from tests.fakes.instances import request, scope
from tests.fakes.simulated import endpoint
from tests.simulator import Simulator
from zarniwoop.contract.failure import CredentialsRejected, EndpointMisconfigured, ProviderError, RateLimited
from zarniwoop.contract.modality import SearchModality
from zarniwoop.contract.request import SearchRequest


def asked(query: str, **more: Any) -> SearchRequest:
    return request(query, SearchModality.CODE, **more)


@pytest.mark.parametrize(
    ("kind", "recording"), [("code", "search_code_text_matches.json"), ("issues", "search_issues.json")]
)
def test_github_has_no_keys_that_recorded_answers_lack(client: httpx.Client, kind: str, recording: str) -> None:
    """Of envelope, item and repository; an issue's matches were not recorded."""
    real = json.loads(payload("github", recording))
    headers = {"Authorization": "Bearer good", "Accept": "application/vnd.github.text-match+json"}
    ours = client.get(f"/github/search/{kind}", params={"q": "bells"}, headers=headers).raise_for_status().json()
    item, known = ours["items"][0], {key for item in real["items"] for key in item}
    assert set(real) <= set(ours)
    assert set(item) - {"text_matches"} <= known
    if kind == "code":
        assert set(item["repository"]) <= set(real["items"][0]["repository"])
        assert set(item["text_matches"][0]) == set(real["items"][0]["text_matches"][0])


@pytest.mark.parametrize("query", ["", " ".join(["bell"] * 60), "a OR b OR c OR d OR e OR f OR g"])
def test_github_refuses_a_query_that_is_empty_too_long_or_too_boolean(client: httpx.Client, query: str) -> None:
    answer = client.get("/github/search/repositories", params={"q": query})
    assert (answer.status_code, answer.json()["message"]) == (422, "Validation Failed")


@pytest.mark.parametrize(("key", "failure"), [("bad-key", CredentialsRejected), ("slow-key", RateLimited)])
def test_github_tells_a_bad_token_from_a_limit(
    simulator: Simulator, transport: HttpxTransport, key: str, failure: type[ProviderError]
) -> None:
    """A 401 and a 403; the limit ends at its reset."""
    with pytest.raises(failure) as caught:
        endpoint("github", simulator.url("github"), transport, key=key).search(asked("bells"), scope())
    assert failure is CredentialsRejected or 40 <= (caught.value.retry_after or 0) <= 43


def test_github_without_a_key_finds_repositories(simulator: Simulator, transport: HttpxTransport) -> None:
    result = endpoint("github", simulator.url("github"), transport, key=None).search(asked("asyncio"), scope())
    assert "python/cpython" in [hit.title for hit in result.hits]
    assert result.quota is not None
    assert (result.quota.limit, result.quota.remaining) == (30.0, 29.0)


def test_github_s_days_and_places_are_applied_by_it(simulator: Simulator, transport: HttpxTransport) -> None:
    repositories = endpoint("github", simulator.url("github"), transport, kind="repositories")
    window = asked("bells", date_from=date(2013, 1, 1), date_to=date(2019, 12, 31))
    found = repositories.search(window, scope())
    assert [hit.title for hit in found.hits] == ["acoustics/partials", "ringing-lib/ringing-lib"]
    assert found.dropped_count == 0
    code = endpoint("github", simulator.url("github"), transport)
    (file,) = code.search(asked("bells", filetype="rs"), scope()).hits or (None,)
    assert file is None or file.extras["path"].endswith(".rs")


def test_github_s_files_and_readmes_are_loaded(simulator: Simulator, transport: HttpxTransport) -> None:
    """With the references that its searches offered."""
    code = endpoint("github", simulator.url("github"), transport)
    file = code.search(asked("strike note"), scope()).hits[0]
    assert file.content is not None
    assert b"def strike_note" in code.load_content(file.content, scope()).body
    repositories = endpoint("github", simulator.url("github"), transport, kind="repositories")
    repository = repositories.search(asked("partials"), scope()).hits[0]
    assert repository.content is not None
    assert repositories.load_content(repository.content, scope()).body.startswith(b"# acoustics/partials")


def test_github_s_bucket_is_told_for_nothing(simulator: Simulator, transport: HttpxTransport) -> None:
    quota = endpoint("github", simulator.url("github"), transport).current_quota(scope())
    assert quota is not None
    assert (quota.limit, quota.remaining) == (10.0, 9.0)


def test_a_search_that_ran_out_of_time_is_told(simulator: Simulator, transport: HttpxTransport) -> None:
    issues = endpoint("github", simulator.url("github"), transport, kind="issues")
    assert issues.search(asked("asyncio timeout"), scope()).note == "GitHub ran out of time: there may be more"


@pytest.mark.parametrize(
    ("path", "scope_asked", "recording"),
    [
        ("search", "projects", "search_projects.json"),
        ("search", "issues", "search_issues.json"),
        ("projects/acoustics%2Fpartials/search", "blobs", "search_blobs.json"),
    ],
)
def test_gitlab_has_no_keys_that_recorded_answers_lack(
    client: httpx.Client, path: str, scope_asked: str, recording: str
) -> None:
    """But for the `path` of a file, which came later."""
    real = json.loads(payload("gitlab", recording))[0]
    asked_for = {"scope": scope_asked, "search": "bell"}
    answer = client.get(f"/gitlab/api/v4/{path}", params=asked_for, headers={"PRIVATE-TOKEN": "good"})
    ours = answer.raise_for_status().json()
    assert set(ours[0]) - {"path"} <= set(real)
    assert answer.headers["x-total"] == str(len(ours))


def test_gitlab_pages_by_headers(client: httpx.Client) -> None:
    def page(number: str) -> httpx.Response:
        asked_for = {"scope": "projects", "search": "python", "per_page": "2", "page": number}
        return client.get("/gitlab/api/v4/search", params=asked_for, headers={"PRIVATE-TOKEN": "good"})

    first, second = page("1"), page("2")
    assert (first.headers["x-next-page"], second.headers["x-prev-page"]) == ("2", "1")
    assert len({item["id"] for answer in (first, second) for item in answer.json()}) == 4
    assert page("9").headers["x-next-page"] == ""


@pytest.mark.parametrize(
    ("key", "extras", "failure"),
    [
        ("bad-key", {}, CredentialsRejected),
        ("weak-key", {}, CredentialsRejected),
        ("slow-key", {}, RateLimited),
        ("good-key", {"kind": "blobs"}, EndpointMisconfigured),
        ("good-key", {"project": "no/such"}, EndpointMisconfigured),
        ("good-key", {"group": "nobody"}, EndpointMisconfigured),
    ],
)
def test_gitlab_tells_tokens_limits_and_settings_apart(
    simulator: Simulator, transport: HttpxTransport, key: str, extras: dict[str, str], failure: type[ProviderError]
) -> None:
    with pytest.raises(failure):
        endpoint("gitlab", simulator.url("gitlab"), transport, key=key, **extras).search(asked("bells"), scope())


def test_gitlab_s_code_is_found_and_loaded_inside_a_project(simulator: Simulator, transport: HttpxTransport) -> None:
    """By its path or its number."""
    for project in ("acoustics/partials", "90000008"):
        inside = endpoint("gitlab", simulator.url("gitlab"), transport, project=project)
        file = inside.search(asked("strike note", filetype="py"), scope()).hits[0]
        assert file.title == "acoustics/partials: partials/strike.py"
        assert file.url.endswith("/acoustics/partials/-/blob/main/partials/strike.py#L1")
        assert file.content is not None
        assert b"def strike_note" in inside.load_content(file.content, scope()).body


def test_gitlab_s_groups_and_issues_are_searched(simulator: Simulator, transport: HttpxTransport) -> None:
    group = endpoint("gitlab", simulator.url("gitlab"), transport, group="python", kind="issues")
    result = group.search(asked("asyncio"), scope())
    assert result.returned_count == 2
    assert {hit.authors for hit in result.hits} == {("Loopster",), ("Docreader",)}
