"""GitLab: every recorded answer, the parts of an instance that are searched, and the addresses of what has none."""

import re
from collections.abc import Mapping
from datetime import date
from typing import Any

import pytest

from tests.contract.fixtures import fixture, recordings_without_a_test
from tests.contract.payloads import payload
from tests.fakes.instances import instance, request, scope
from tests.fakes.transport import ScriptedTransport, answer
from zarniwoop.adapters.gitlab import PROTOCOL
from zarniwoop.contract.failure import (
    AccessRefused,
    Cause,
    CredentialsRejected,
    EndpointMisconfigured,
    MalformedAnswer,
    ProviderError,
    ProviderUnavailable,
    QueryRejected,
    RateLimited,
)
from zarniwoop.contract.hit import ContentInline, ContentReference, DatePrecision, PublishedAt
from zarniwoop.contract.modality import SearchModality
from zarniwoop.contract.request import Locale, SearchRequest
from zarniwoop.contract.result import FilterHandling, SearchResult
from zarniwoop.contract.transport import HeaderKey, HttpAnswer, HttpRequest, Secret

_KEY = "glpat-a-token-of-gitlab"
_PROJECT = {"path_with_namespace": "twitter/flight", "web_url": "http://localhost:3000/twitter/flight"}


def _asked(query: str = "bells", *, max_results: int = 10, **expert: Any) -> SearchRequest:
    return request(query, SearchModality.CODE, max_results=max_results, **expert)


def _search(
    asked: SearchRequest, *told: HttpAnswer | ProviderError, **extras: str
) -> tuple[SearchResult, list[HttpRequest]]:
    """The result, and the requests that were sent for it."""
    transport = ScriptedTransport(*told)
    result = instance(PROTOCOL, transport, key=_KEY, extras=extras).search(asked, scope())
    return result, [sent.request for sent in transport.sent]


def _recorded(name: str, *more: HttpAnswer, **extras: str) -> SearchResult:
    result, _ = _search(_asked(), answer(payload("gitlab", name)), *more, **extras)
    assert result.dropped_count == 0
    return result


def _fixture(name: str, *, status: int = 200, headers: Mapping[str, str] | None = None) -> HttpAnswer:
    return answer(fixture("gitlab", name), status=status, headers=headers)


def _failure(told: HttpAnswer, **extras: str) -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        _search(_asked(), told, **extras)
    return caught.value


def _handling(result: SearchResult) -> dict[str, FilterHandling]:
    return {entry.name: entry.handling for entry in result.applied}


def _second(value: str) -> PublishedAt:
    return PublishedAt(value=value, precision=DatePrecision.SECOND)


def test_every_recorded_answer_has_a_test() -> None:
    """A recording that appears beside the project without a test here fails the run."""
    assert recordings_without_a_test("gitlab", __file__) == []


def test_recorded_projects_are_read() -> None:
    (hit,) = _recorded("search_projects.json").hits
    assert (hit.title, hit.url) == ("Twitter / Flight", "http://localhost:3000/twitter/flight")
    assert (hit.snippet, hit.source) == ("Nobis sed ipsam vero quod cupiditate veritatis hic.", "GitLab")
    assert hit.published_at == _second("2017-09-05T07:58:01Z")
    assert hit.extras == {
        "project_id": 6,
        "repository": "twitter/flight",
        "stars": 0,
        "forks": 0,
        "last_activity_at": "2018-01-31T09:56:30.902Z",
    }


def test_recorded_blobs_get_their_address_from_their_project() -> None:
    """An old one has no path but `filename`."""
    (hit,) = _recorded("search_blobs.json", answer(_PROJECT), kind="blobs").hits
    assert hit.title == "twitter/flight: README.md"
    assert hit.url == "http://localhost:3000/twitter/flight/-/blob/master/README.md#L46"
    assert hit.snippet == "``` ## Installation Quick start using the [pre-built"
    assert hit.content == ContentReference(
        inline=ContentInline.EMBED_TEXT,
        text="```\n\n## Installation\n\nQuick start using the [pre-built",
        reference="6#master#README.md",
    )
    assert hit.extras == {
        "project_id": 6,
        "repository": "twitter/flight",
        "path": "README.md",
        "ref": "master",
        "start_line": 46,
    }


def test_recorded_pages_of_a_wiki_are_read() -> None:
    (hit,) = _recorded("search_wiki_blobs.json", kind="wiki_blobs", project="twitter/flight").hits
    assert (hit.title, hit.url) == ("home", "https://gitlab.com/twitter/flight/-/wikis/home")
    assert (hit.snippet, hit.extras["path"]) == ("hello and bye end", "home.md")


def test_recorded_issues_are_read() -> None:
    (hit,) = _recorded("search_issues.json", kind="issues").hits
    assert (hit.title, hit.snippet) == ("Add file", "Add first file")
    assert hit.url == "http://localhost:3000/h5bp/7bp/subgroup-prj/issues/1"
    assert (hit.authors, hit.published_at) == (("Administrator",), _second("2018-01-24T06:02:15Z"))
    assert hit.content == ContentReference(inline=ContentInline.EMBED_TEXT, text="Add first file")
    assert hit.extras == {
        "project_id": 12,
        "number": 1,
        "state": "opened",
        "comments": 0,
        "updated_at": "2018-02-06T12:36:23.263Z",
        "is_merge_request": False,
    }


def test_recorded_merge_requests_are_read() -> None:
    (hit,) = _recorded("search_merge_requests.json", kind="merge_requests").hits
    assert (hit.title, hit.snippet) == ("Add first file", "This is a test MR to add file")
    assert hit.url == "http://localhost:3000/twitter/flight/merge_requests/8"
    assert (hit.extras["labels"], hit.extras["is_merge_request"]) == (["ruby", "tests"], True)


def test_recorded_commits_are_read_without_their_author_s_address() -> None:
    (hit,) = _recorded("search_commits.json", answer(_PROJECT), kind="commits").hits
    assert (hit.title, hit.snippet, hit.authors) == ("goodbye $.browser", "goodbye $.browser", ("angus croll",))
    assert hit.url == "http://localhost:3000/twitter/flight/-/commit/4109c2d872d5fdb1ed057400d103766aaea97f98"
    assert hit.published_at == _second("2013-02-18T22:02:54Z")
    assert "@" not in repr(hit)


def test_recorded_notes_are_read_in_their_project() -> None:
    """Only there they are searched for."""
    (hit,) = _recorded("search_notes.json", answer(_PROJECT), kind="notes", project="6").hits
    assert hit.title == "Harum maxime consequuntur et et deleniti assumenda facilis."
    assert hit.url == "http://localhost:3000/twitter/flight/-/issues/2#note_191"
    assert (hit.authors, hit.extras) == (
        ("User 1",),
        {"repository": "twitter/flight", "about": "issues", "number": 2},
    )


def test_a_recorded_project_that_is_not_there_is_a_matter_of_the_settings() -> None:
    failure = _failure(answer(payload("gitlab", "error_404.json"), status=404), project="no/such")
    assert isinstance(failure, EndpointMisconfigured)
    assert (failure.setting, failure.status) == ("project", 404)
    assert "no/such" not in str(failure)


@pytest.mark.parametrize(
    ("status", "body", "failure"),
    [
        (400, {"error": "scope does not have a valid value"}, EndpointMisconfigured),
        (400, {"error": "search is missing, search is empty"}, QueryRejected),
        (401, {"message": "401 Unauthorized"}, CredentialsRejected),
        (403, {"message": "403 Forbidden"}, AccessRefused),
        (404, {"message": "404 Group Not Found"}, EndpointMisconfigured),
        (404, {"error": "404 Not Found"}, QueryRejected),
        (429, {"message": {"error": "This endpoint has been requested too many times."}}, RateLimited),
    ],
)
def test_a_refusal_is_told_apart_by_whose_fault_it_is(status: int, body: object, failure: type[ProviderError]) -> None:
    """An instance without advanced search finds code only inside one project."""
    assert type(_failure(answer(body, status=status))) is failure


def test_a_kind_that_cannot_be_searched_and_a_token_of_little_use_are_told() -> None:
    failure = _failure(_fixture("error_400_scope.json", status=400), kind="blobs")
    assert isinstance(failure, EndpointMisconfigured)
    assert failure.setting == "kind"
    assert isinstance(_failure(_fixture("error_403_scope.json", status=403)), CredentialsRejected)


def test_a_text_s_brackets_are_no_markup_and_a_script_link_is_dropped() -> None:
    result, _ = _search(_asked(), _fixture("code.json"))
    assert (result.returned_count, result.dropped_count) == (2, 1)
    assert (result.hits[0].snippet, result.hits[0].extras["topics"]) == ("Rings <every> bell", ["bells", "music"])
    assert (result.hits[1].snippet, "topics" in result.hits[1].extras) == (None, False)


def test_each_project_is_looked_up_once_and_only_a_few_are() -> None:
    """A file of any other is addressed by its place in the API."""
    files = [{"filename": f"{number}.py", "data": "x", "ref": "main", "project_id": number} for number in range(1, 8)]
    homes = [answer({"path_with_namespace": f"a/{n}", "web_url": f"https://gitlab.com/a/{n}"}) for n in range(1, 6)]
    result, sent = _search(_asked(), answer([*files, *files]), *homes, kind="blobs")
    assert [each.url for each in sent[1:]] == [f"https://gitlab.com/api/v4/projects/{n}" for n in range(1, 6)]
    assert [each.is_paced for each in sent] == [True] + [False] * 5, "the rate is one of searches"
    assert result.hits[0].url == "https://gitlab.com/a/1/-/blob/main/1.py"
    assert (result.hits[6].title, result.hits[6].url) == (
        "7.py",
        "https://gitlab.com/api/v4/projects/7/repository/files/7.py/raw?ref=main",
    )


def _files(*numbers: int) -> HttpAnswer:
    return answer([{"filename": f"{n}.py", "data": "x", "ref": "main", "project_id": n} for n in numbers])


@pytest.mark.parametrize("status", [403, 404])
def test_a_project_that_is_closed_costs_its_own_hits_their_address(status: int) -> None:
    closed = answer({"message": "404 Project Not Found"}, status=status)
    result, sent = _search(_asked(), _files(1, 6), closed, answer(_PROJECT), kind="blobs")
    assert [hit.url for hit in result.hits] == [
        "https://gitlab.com/api/v4/projects/1/repository/files/1.py/raw?ref=main",
        "http://localhost:3000/twitter/flight/-/blob/main/6.py",
    ]
    assert (len(sent), result.calls) == (3, 3)


@pytest.mark.parametrize(
    "trouble",
    [
        answer(b"", status=500),
        answer(b"", status=429),
        answer(b"<html>"),
        answer({"id": 1}),
        answer([]),
        ProviderUnavailable("there is no time left", cause=Cause.DEADLINE),
    ],
)
def test_any_other_trouble_ends_the_look_ups_and_not_the_search(trouble: HttpAnswer | ProviderError) -> None:
    result, sent = _search(_asked(), _files(1, 6), trouble, kind="blobs")
    assert (result.returned_count, len(sent), result.degraded) == (2, 2, None)


def test_hits_that_are_all_lost_with_their_projects_are_no_honest_emptiness() -> None:
    notes = [{"body": "Rings well.", "noteable_type": "Issue", "noteable_iid": 2, "id": 7}]
    result, _ = _search(_asked(), answer(notes), answer(b"", status=500), kind="notes", project="6")
    assert (result.hits, result.dropped_count) == ((), 1)
    assert result.degraded == "what GitLab found has no address, and its projects could not be looked up"


def test_inside_a_named_project_nothing_is_looked_up() -> None:
    """Its path is its address; blobs are the default there."""
    result, (sent,) = _search(_asked(), _fixture("blobs.json"), project="ringers/belfry")
    assert sent.url == "https://gitlab.com/api/v4/projects/ringers%2Fbelfry/search"
    assert sent.params == {"scope": "blobs", "search": "bells", "per_page": "10"}
    first, second = result.hits
    assert first.url == "https://gitlab.com/ringers/belfry/-/blob/main/src/peal%20here.py#L7"
    assert first.snippet == "def ring(bell: Bell) -> Iterator[Bell]: if bell < tenor: yield bell"
    assert second.content == ContentReference(inline=ContentInline.STASH_ON_DEMAND, reference="12#main#README.md")


def test_a_numbered_project_is_looked_up_once() -> None:
    result, sent = _search(_asked(), _fixture("blobs.json"), _fixture("project.json"), project="11")
    assert [each.url.removeprefix("https://gitlab.com/api/v4/") for each in sent] == [
        "projects/11/search",
        "projects/11",
    ]
    assert result.hits[0].title == "ringers/belfry: src/peal here.py"


@pytest.mark.parametrize(
    ("base_url", "extras", "url"),
    [
        (None, {}, "https://gitlab.com/api/v4/search"),
        ("https://git.bells.example/", {}, "https://git.bells.example/api/v4/search"),
        ("https://bells.example/git/api/v4", {}, "https://bells.example/git/api/v4/search"),
        (None, {"group": "ringers/old"}, "https://gitlab.com/api/v4/groups/ringers%2Fold/search"),
        (None, {"group": "7", "project": "6", "kind": "issues"}, "https://gitlab.com/api/v4/projects/6/search"),
    ],
)
def test_a_whole_instance_a_group_or_a_project_is_searched(
    base_url: str | None, extras: dict[str, str], url: str
) -> None:
    """With the token in its own header."""
    transport = ScriptedTransport(answer([]))
    instance(PROTOCOL, transport, key=_KEY, base_url=base_url, extras=extras).search(_asked(), scope())
    (sent,) = transport.sent
    assert sent.request.url == url
    assert (sent.authentication, sent.secret) == (HeaderKey(name="PRIVATE-TOKEN"), Secret(_KEY))


def test_pages_are_read_as_the_headers_say() -> None:
    """An instance may give less than was asked for; three pages are the most."""
    pages = [
        answer(
            [{"id": n, "name": f"p{n}", "web_url": f"https://gitlab.com/p/{n}"}], headers={"x-next-page": str(n + 1)}
        )
        for n in range(1, 4)
    ]
    result, sent = _search(_asked(max_results=50), *pages)
    assert [each.params.get("page") for each in sent] == [None, "2", "3"]
    assert [hit.title for hit in result.hits] == ["p1", "p2", "p3"]


@pytest.mark.parametrize("following", ["", "next"])
def test_the_last_page_names_no_next_one(following: str) -> None:
    _, sent = _search(_asked(max_results=50), _fixture("code.json", headers={"x-next-page": following}))
    assert len(sent) == 1


def test_a_bare_empty_list_is_honestly_empty_unless_something_was_counted() -> None:
    assert _search(_asked(), answer([]))[0].degraded is None
    counted = _search(_asked(), answer([], headers={"x-total": "3"}))[0]
    assert counted.degraded == "GitLab counted matches and sent none"


@pytest.mark.parametrize("body", [{}, {"message": "x"}, "text", None, 7])
def test_anything_but_a_list_is_malformed(body: object) -> None:
    with pytest.raises(MalformedAnswer):
        _search(_asked(), answer(body if body is not None else b"null"))


def test_a_file_type_is_an_extension_of_files_and_nothing_else() -> None:
    result, (sent,) = _search(_asked(filetype="py"), _fixture("blobs.json"), project="ringers/belfry")
    assert sent.params["search"] == "extension:py bells"
    assert _handling(result) == {"filetype": FilterHandling.PROVIDER}
    result, (sent,) = _search(_asked(filetype="py"), _fixture("code.json"))
    assert (sent.params["search"], _handling(result)) == ("bells", {"filetype": FilterHandling.IGNORED})


def test_days_and_sites_are_applied_here_out_of_a_full_page() -> None:
    asked = _asked(
        "bells site:bells.example", date_from=date(2020, 1, 1), domain="bells.example", locale=Locale(language="de")
    )
    result, (sent,) = _search(asked, _fixture("code.json"))
    assert (sent.params["search"], sent.params["per_page"]) == ("bells", "100")
    assert [hit.title for hit in result.hits] == ["Ringers / Partials"]
    assert _handling(result) == {
        "date_from": FilterHandling.HERE,
        "domain": FilterHandling.HERE,
        "site": FilterHandling.HERE,
        "locale": FilterHandling.IGNORED,
    }


def test_a_file_is_loaded_as_it_is() -> None:
    transport = ScriptedTransport(answer(b"def ring():\n"))
    reference = ContentReference(inline=ContentInline.STASH_ON_DEMAND, reference="11#main#src/peal here.py")
    content = instance(PROTOCOL, transport, key=_KEY).load_content(reference, scope())
    assert (content.body, content.media_type) == (b"def ring():\n", "text/plain")
    (sent,) = transport.sent
    assert sent.request.url == "https://gitlab.com/api/v4/projects/11/repository/files/src%2Fpeal%20here.py/raw"
    assert sent.request.params == {"ref": "main"}


@pytest.mark.parametrize("reference", ["", "11", "11#main", "a#main#b", "11#ma in#b", "11#main#b\n"])
def test_what_names_no_file_is_not_asked_for(reference: str) -> None:
    transport = ScriptedTransport()
    with pytest.raises(QueryRejected):
        instance(PROTOCOL, transport, key=_KEY).load_content(
            ContentReference(inline=ContentInline.STASH_ON_DEMAND, reference=reference), scope()
        )
    assert transport.sent == []


def test_the_usual_rate_is_kept() -> None:
    pacing = instance(PROTOCOL, ScriptedTransport(), key=_KEY).pacing(_asked())
    assert pacing is not None
    assert (pacing.subject, pacing.interval) == ("gitlab@gitlab.com:apiKey", 60.5 / 30)


def test_the_hint_for_planners_is_two_to_four_sentences() -> None:
    assert 2 <= len(re.findall(r"\.(?:\s|$)", PROTOCOL.format.prompt_hint)) <= 4
