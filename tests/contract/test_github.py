"""GitHub: every recorded answer, what is asked of its three searches, and which refusal a 403 is."""

import re
from collections.abc import Mapping
from datetime import date
from typing import Any

import pytest

from tests.contract.fixtures import fixture, recordings_without_a_test
from tests.contract.payloads import payload
from tests.fakes.clock import FakeClock
from tests.fakes.instances import instance, request, scope
from tests.fakes.transport import ScriptedTransport, answer
from zarniwoop.adapters.github import PROTOCOL
from zarniwoop.contract.failure import (
    AccessRefused,
    CredentialsRejected,
    MalformedAnswer,
    ProviderError,
    ProviderUnavailable,
    QueryRejected,
    RateLimited,
)
from zarniwoop.contract.hit import ContentInline, ContentReference, DatePrecision, PublishedAt
from zarniwoop.contract.modality import SearchModality
from zarniwoop.contract.quota import QuotaSource, QuotaStatus
from zarniwoop.contract.request import Locale, SearchRequest
from zarniwoop.contract.result import FilterHandling, SearchResult
from zarniwoop.contract.transport import HeaderKey, HttpAnswer, Secret
from zarniwoop.wire.driver import WireInstance

_KEY = "ghp_a-token-of-github"
_DATE = "Fri, 15 Jan 2027 08:00:00 GMT"
_NOW = 1_800_000_000


def _github(
    *told: HttpAnswer, kind: str | None = "code", key: str | None = _KEY
) -> tuple[WireInstance, ScriptedTransport]:
    transport = ScriptedTransport(*told)
    return instance(PROTOCOL, transport, key=key, extras={"kind": kind} if kind else {}), transport


def _asked(query: str = "bells", *, max_results: int = 10, **expert: Any) -> SearchRequest:
    return request(query, SearchModality.CODE, max_results=max_results, **expert)


def _search(asked: SearchRequest, told: HttpAnswer, kind: str = "code") -> tuple[SearchResult, Mapping[str, str]]:
    """The result, and the parameters that were sent for it."""
    made, transport = _github(told, kind=kind)
    result = made.search(asked, scope())
    return result, transport.sent[0].request.params


def _recorded(name: str, kind: str = "code", **headers: str) -> SearchResult:
    return _search(_asked(), answer(payload("github", name), headers=headers), kind)[0]


def _fixture(name: str, *, status: int = 200, headers: Mapping[str, str] | None = None) -> HttpAnswer:
    return answer(fixture("github", name), status=status, headers=headers)


def _failure(told: HttpAnswer, kind: str = "code", key: str | None = _KEY) -> ProviderError:
    made, _ = _github(told, kind=kind, key=key)
    with pytest.raises(ProviderError) as caught:
        made.search(_asked(), scope())
    return caught.value


def _handling(result: SearchResult) -> dict[str, FilterHandling]:
    return {entry.name: entry.handling for entry in result.applied}


def _second(value: str) -> PublishedAt:
    return PublishedAt(value=value, precision=DatePrecision.SECOND)


def test_every_recorded_answer_has_a_test() -> None:
    """A recording that appears beside the project without a test here fails the run."""
    assert recordings_without_a_test("github", __file__) == []


def test_a_recorded_code_search_of_old_is_read_without_fragments() -> None:
    """Its files are described by their repository, and their text can be loaded by hash."""
    result = _recorded("search_code_2014.json")
    assert (result.returned_count, result.dropped_count, result.note, result.degraded) == (5, 0, None, None)
    first = result.hits[0]
    assert first.title == "jacquev6/PyGithub: github/tests/ReplayData/Commit.setUp.txt"
    assert first.url == (
        "https://github.com/jacquev6/PyGithub/blob/72f8876112ba029111c739871e3e4d7bce66b95d/"
        "github/tests/ReplayData/Commit.setUp.txt"
    )
    assert (first.snippet, first.source) == ("Python library implementing the full Github API v3", "GitHub")
    assert (first.authors, first.published_at, first.language) == (("jacquev6",), None, None)
    assert first.content == ContentReference(
        inline=ContentInline.STASH_ON_DEMAND, reference="jacquev6/PyGithub#eb063311ef37a1444a98c9f98acfed2b4caaa738"
    )
    assert first.extras == {
        "repository": "jacquev6/PyGithub",
        "path": "github/tests/ReplayData/Commit.setUp.txt",
        "sha": "eb063311ef37a1444a98c9f98acfed2b4caaa738",
        "repository_description": "Python library implementing the full Github API v3",
    }


def test_recorded_fragments_are_the_snippet_and_the_text() -> None:
    """Of source code: nothing of it is taken for markup, its lines stay in the text."""
    result = _recorded("search_code_text_matches.json")
    first = result.hits[0]
    assert (result.returned_count, first.title) == (5, "jacquev6/MockMockMock: MockMockMock/tests/record_replay.py")
    assert first.snippet == (
        ".assertEqual( self.recorded.instance_method(42, 43, 44, 45, toto=46, tutu=47 … "
        "), \"(42, 43, (44, 45), [('toto', 46), ('tutu', 47)])\" ) self.assertEqual"
    )
    assert first.content is not None
    assert first.content.text is not None
    assert first.content.text.startswith(".assertEqual(\n            self.recorded.instance_method(")
    assert first.content.reference == "jacquev6/MockMockMock#74b8d2a2274a74fb9a7b2155bb9fa67038110010"


def test_a_recorded_complete_search_says_nothing_more() -> None:
    result = _recorded("search_code_complete_2026.json")
    assert (result.returned_count, result.note) == (5, None)
    assert result.hits[0].title == "busdos/cloud-protocols: pyproject.toml"


@pytest.mark.parametrize(
    ("name", "count", "first"),
    [
        ("search_code_incomplete_results_2026.json", 5, "busdos/cloud-protocols: pyproject.toml"),
        ("search_code_incomplete_page2.json", 2, "anniecherk/python-repo-template: pyproject.toml"),
    ],
)
def test_a_recorded_search_that_ran_out_of_time_says_so_beside_what_it_found(name: str, count: int, first: str) -> None:
    result = _recorded(name)
    assert (result.returned_count, result.hits[0].title, result.degraded) == (count, first, None)
    assert result.note == "GitHub ran out of time: there may be more"


def test_recorded_pull_requests_are_read_as_issues_of_that_kind() -> None:
    result = _recorded("search_issues.json", "issues")
    assert (result.returned_count, result.dropped_count) == (6, 0)
    first = result.hits[0]
    assert (first.title, first.url) == (
        "Make sceMpeg and sceAtrac basiclly workable for PC",
        "https://github.com/hrydgard/ppsspp/pull/997",
    )
    assert (first.authors, first.published_at) == (("oioitff",), _second("2013-03-15T15:46:16Z"))
    assert first.snippet is not None
    assert first.snippet.startswith("I use ffmpeg for video decoding and dshow for at3+ audio.")
    assert first.extras == {
        "repository": "hrydgard/ppsspp",
        "number": 997,
        "state": "closed",
        "comments": 1017,
        "updated_at": "2013-06-03T21:25:43Z",
        "is_pull_request": True,
    }
    assert all(hit.extras["is_pull_request"] for hit in result.hits)


def test_a_recorded_empty_search_is_honestly_empty() -> None:
    result = _recorded("search_repositories_empty.json", "repositories")
    assert (result.hits, result.degraded, result.note) == ((), None, None)


def test_a_recorded_limit_is_a_403_told_by_its_headers() -> None:
    """The wait lasts until the reset, by GitHub's own clock; without a reset it is not known."""
    body = payload("github", "primary_rate_limit_403.json")
    headers = {"x-ratelimit-limit": "60", "x-ratelimit-remaining": "0"}
    failure = _failure(answer(body, status=403, headers=headers))
    assert isinstance(failure, RateLimited)
    assert (failure.status, failure.retry_after) == (403, None)
    reset = {**headers, "x-ratelimit-reset": str(_NOW + 42), "date": _DATE}
    assert _failure(answer(body, status=403, headers=reset)).retry_after == 42.0
    assert _failure(answer(body, status=429, headers={**reset, "retry-after": "7"})).retry_after == 7.0


def test_a_recorded_abuse_limit_is_a_403_with_a_stated_wait() -> None:
    body = payload("github", "abuse_rate_limit_403.json")
    failure = _failure(answer(body, status=403, headers={"retry-after": "60"}))
    assert isinstance(failure, RateLimited)
    assert failure.retry_after == 60.0
    assert isinstance(_failure(answer(body, status=403)), RateLimited)
    assert isinstance(_failure(_fixture("error_403_secondary.json", status=403)), RateLimited)


def test_a_recorded_refusal_of_the_user_agent_is_no_matter_of_the_key() -> None:
    failure = _failure(answer(payload("github", "bad_user_agent_403.json"), status=403))
    assert type(failure) is AccessRefused


@pytest.mark.parametrize("name", ["bad_credentials_401.json", "otp_401.json"])
def test_a_recorded_401_is_a_matter_of_the_key(name: str) -> None:
    assert isinstance(_failure(answer(payload("github", name), status=401)), CredentialsRejected)


def test_a_token_that_lacks_a_right_is_a_403_and_a_matter_of_the_key() -> None:
    """Without a token such words mean nothing."""
    refused = _fixture("error_403_token.json", status=403)
    assert isinstance(_failure(refused), CredentialsRejected)
    assert type(_failure(refused, "issues", key=None)) is AccessRefused


@pytest.mark.parametrize(
    ("told", "failure"),
    [
        (answer({"message": "Validation Failed", "errors": [{"code": "invalid"}]}, status=422), QueryRejected),
        (answer(b"<html><title>Unicorn!</title></html>", status=503), ProviderUnavailable),
        (answer(b'{"total_count":2,"incomplete_results":false,"items":[{"name":"a'), MalformedAnswer),
        (answer({"total_count": 0, "items": None}), MalformedAnswer),
    ],
)
def test_other_refusals_and_cut_answers_are_typed(told: HttpAnswer, failure: type[ProviderError]) -> None:
    assert isinstance(_failure(told), failure)


def test_a_recorded_rate_limit_is_read_for_the_search_that_the_endpoint_makes() -> None:
    """Code has a bucket of its own."""
    for kind, limit, reset in (("code", 10.0, 1734071358.0), ("issues", 30.0, 1734071358.0)):
        made, transport = _github(answer(payload("github", "rate_limit_endpoint.json")), kind=kind)
        quota = made.current_quota(scope())
        assert quota is not None
        assert (quota.limit, quota.remaining, quota.used, quota.resets_at) == (limit, limit, 0.0, reset)
        assert transport.sent[0].request.url == "https://api.github.com/rate_limit"


def test_a_bucket_that_is_empty_fills_up_at_its_reset() -> None:
    made, _ = _github(_fixture("rate_limit.json"))
    quota = made.current_quota(scope())
    assert quota is not None
    assert (quota.source, quota.unit, quota.exhausted) == (QuotaSource.PROVIDER, "searches a minute", True)
    assert quota.exhausted_at(_NOW + 29)
    assert not quota.exhausted_at(_NOW + 30)


def test_the_headers_of_a_search_tell_what_is_left_of_its_bucket() -> None:
    """Those of another bucket, and of servers that name none, tell nothing."""
    left = {"x-ratelimit-limit": "10", "x-ratelimit-remaining": "9", "x-ratelimit-reset": "1767781922"}
    clock = FakeClock(1_000.0)

    def quota(headers: Mapping[str, str]) -> QuotaStatus | None:
        told = ScriptedTransport(_fixture("code.json", headers=headers))
        return instance(PROTOCOL, told, key=_KEY, clock=clock).search(_asked(), scope()).quota

    assert quota({**left, "x-ratelimit-resource": "code_search"}) == QuotaStatus(
        source=QuotaSource.HEADERS,
        unit="searches a minute",
        used=1.0,
        limit=10.0,
        remaining=9.0,
        resets_at=1767781922.0,
        observed_at=1_000.0,
    )
    assert quota(left) is None
    assert quota({**left, "x-ratelimit-resource": "core"}) is None
    assert quota({**left, "x-ratelimit-resource": "search", "x-ratelimit-limit": "many"}) is None


def test_a_file_s_brackets_are_no_markup_and_a_script_link_is_dropped() -> None:
    result, _ = _search(_asked(), _fixture("code.json"))
    assert (result.returned_count, result.dropped_count) == (2, 1)
    first, second = result.hits
    assert first.snippet == "def ring(bell: Bell) -> Iterator[Bell]: if bell < tenor: yield bell"
    assert first.extras["repository_description"] == "Change ringing on <any> tower"
    assert second.snippet == "Strike notes and partials of bells"


def test_a_repository_carries_its_stars_topics_and_license() -> None:
    """`language` of a repository is one of programming."""
    result, _ = _search(_asked(), _fixture("repositories.json"), "repositories")
    first, second = result.hits
    assert (first.title, first.url) == ("ringers/belfry", "https://github.com/ringers/belfry")
    assert (first.snippet, first.language) == ("Change ringing on <any> tower", None)
    assert (first.authors, first.published_at) == (("ringers",), _second("2019-03-02T10:11:12Z"))
    assert first.extras == {
        "repository": "ringers/belfry",
        "stars": 321,
        "forks": 12,
        "topics": ["bells", "music"],
        "programming_language": "Python",
        "license": "MIT",
        "pushed_at": "2026-09-30T08:00:00Z",
        "archived": True,
    }
    assert (second.snippet, second.authors) == (None, ())
    assert result.note == "GitHub ran out of time: there may be more"


def test_an_issue_is_shown_by_what_matched_and_keeps_its_text() -> None:
    """A template's comments are no text of the issue's."""
    first, second = _search(_asked(), _fixture("issues.json"), "issues")[0].hits
    assert (first.title, first.snippet) == ("List<Bell> is rung twice", "The tenor is rung twice.")
    assert first.content is not None
    assert first.content.text is not None
    assert first.content.text.endswith("\n\n    belfry --ring")
    assert (first.extras["labels"], first.extras["is_pull_request"]) == (["bug"], False)
    assert (second.snippet, second.extras["is_pull_request"]) == ("Fixes #7", True)


@pytest.mark.parametrize(
    ("body", "degraded"),
    [
        ({"total_count": 0, "incomplete_results": True, "items": []}, "GitHub ran out of time"),
        ({"total_count": 3, "incomplete_results": False, "items": []}, "GitHub counted matches and sent none"),
        ({"total_count": 0, "incomplete_results": False, "items": []}, None),
    ],
)
def test_an_empty_answer_is_degraded_where_it_does_not_mean_that_there_is_nothing(
    body: object, degraded: str | None
) -> None:
    assert _search(_asked(), answer(body))[0].degraded == degraded


@pytest.mark.parametrize(
    ("kind", "key", "path"),
    [
        (None, _KEY, "code"),
        (None, None, "repositories"),
        ("repositories", _KEY, "repositories"),
        ("issues", None, "issues"),
    ],
)
def test_the_kind_is_a_setting_and_without_it_the_key_decides(kind: str | None, key: str | None, path: str) -> None:
    made, transport = _github(_fixture(f"{path}.json"), kind=kind, key=key)
    made.search(_asked(), scope())
    (sent,) = transport.sent
    assert sent.request.url == f"https://api.github.com/search/{path}"
    assert sent.request.headers == {
        "Accept": "application/vnd.github.text-match+json",
        "X-GitHub-Api-Version": "2022-11-28",
    }
    assert sent.authentication == HeaderKey(name="Authorization", prefix="Bearer ")
    assert sent.secret == (Secret(key) if key else None)


def test_code_is_not_asked_for_without_a_key() -> None:
    """GitHub would refuse it."""
    made, transport = _github(kind="code", key=None)
    with pytest.raises(CredentialsRejected):
        made.search(_asked(), scope())
    assert transport.sent == []


@pytest.mark.parametrize(
    ("kind", "query", "sent"),
    [
        ("code", "strike language:python", "strike language:python"),
        ("issues", "strike", "is:issue strike"),
        ("issues", "strike is:pr", "strike is:pr"),
        ("issues", "strike type:pull-request", "strike type:pull-request"),
        ("repositories", "strike in:readme", "strike in:readme"),
        ("code", '"strike note', "strike note"),
    ],
)
def test_qualifiers_of_the_query_are_handed_on(kind: str, query: str, sent: str) -> None:
    """Issues are asked for unless the query says which; a lonely quotation mark is left out."""
    _, params = _search(_asked(query), _fixture(f"{kind}.json"), kind)
    assert params == {"q": sent, "per_page": "10"}


def test_a_site_in_the_query_is_a_filter() -> None:
    """GitHub's own site holds everything that it finds; another one holds nothing of it."""
    result, params = _search(_asked("strike site:github.com"), _fixture("code.json"))
    assert (params["q"], bool(result.hits), [each.name for each in result.applied]) == ("strike", True, ["site"])
    assert _search(_asked("strike site:bells.example"), _fixture("code.json"))[0].hits == ()


def test_a_query_ends_before_its_sixth_operator() -> None:
    """Words in quotes are none."""
    query = 'a OR b OR "c AND d" OR e NOT f AND g OR h'
    result, params = _search(_asked(query), _fixture("code.json"))
    assert params["q"] == 'a OR b OR "c AND d" OR e NOT f AND g'
    assert result.note == "query cut before its operator number 6"


def test_a_query_keeps_to_256_characters() -> None:
    result, params = _search(_asked("bell " * 60), _fixture("code.json"))
    assert len(params["q"]) <= 256
    assert result.note == "query shortened to 256 characters for github"


@pytest.mark.parametrize(
    ("site", "qualifier"),
    [
        ("github.com/ringers", "user:ringers"),
        ("github.com/ringers/belfry/", "repo:ringers/belfry"),
        ("github.com", None),
        ("github.com/ringers/belfry/blob", None),
        ("github.com/a b", None),
        ("gitlab.com/ringers", None),
    ],
)
def test_an_owner_or_a_repository_as_a_site_is_a_qualifier(site: str, qualifier: str | None) -> None:
    """Any other site is applied here, out of a full page."""
    result, params = _search(_asked(site=site), _fixture("code.json"))
    if qualifier:
        assert params == {"q": f"{qualifier} bells", "per_page": "10"}
        assert _handling(result) == {"site": FilterHandling.PROVIDER}
    else:
        assert params == {"q": "bells", "per_page": "100"}
        assert _handling(result) == {"site": FilterHandling.HERE}


def test_a_file_type_is_an_extension_of_code_and_nothing_else() -> None:
    result, params = _search(_asked(filetype="py"), _fixture("code.json"))
    assert (params["q"], _handling(result)) == ("extension:py bells", {"filetype": FilterHandling.PROVIDER})
    result, params = _search(_asked(filetype="py"), _fixture("repositories.json"), "repositories")
    assert (params["q"], _handling(result)) == ("bells", {"filetype": FilterHandling.IGNORED})
    assert result.returned_count == 2


@pytest.mark.parametrize(
    ("window", "qualifier"),
    [
        ({"date_from": date(2019, 1, 1)}, "created:>=2019-01-01"),
        ({"date_to": date(2020, 12, 31)}, "created:<=2020-12-31"),
        ({"date_from": date(2019, 1, 1), "date_to": date(2020, 12, 31)}, "created:2019-01-01..2020-12-31"),
    ],
)
def test_days_are_those_of_creation(window: dict[str, Any], qualifier: str) -> None:
    result, params = _search(_asked(**window), _fixture("repositories.json"), "repositories")
    assert params["q"] == f"{qualifier} bells"
    assert set(_handling(result).values()) == {FilterHandling.PROVIDER}


def test_files_have_no_dates_and_nothing_has_a_language() -> None:
    result, params = _search(_asked(date_from=date(2019, 1, 1), locale=Locale(language="de")), _fixture("code.json"))
    assert params["q"] == "bells"
    assert _handling(result) == {"date_from": FilterHandling.IGNORED, "locale": FilterHandling.IGNORED}


@pytest.mark.parametrize(
    ("reference", "path"),
    [
        (
            "ringers/belfry#0a1b2c3d4e5f60718293a4b5c6d7e8f901234567",
            "git/blobs/0a1b2c3d4e5f60718293a4b5c6d7e8f901234567",
        ),
        ("ringers/belfry", "readme"),
    ],
)
def test_a_file_and_a_readme_are_loaded_as_they_are(reference: str, path: str) -> None:
    made, transport = _github(answer(b"# Belfry\n<b>"))
    content = made.load_content(ContentReference(inline=ContentInline.STASH_ON_DEMAND, reference=reference), scope())
    assert (content.body, content.media_type) == (b"# Belfry\n<b>", "text/plain")
    assert content.source_url == "https://github.com/ringers/belfry"
    (sent,) = transport.sent
    assert sent.request.url == f"https://api.github.com/repos/ringers/belfry/{path}"
    assert sent.request.headers["Accept"] == "application/vnd.github.raw+json"


@pytest.mark.parametrize("reference", ["", "ringers", "ringers/..", "../../user", "ringers/belfry#main", "a/b?c=d"])
def test_what_names_no_file_is_not_asked_for(reference: str) -> None:
    made, transport = _github()
    with pytest.raises(QueryRejected):
        made.load_content(ContentReference(inline=ContentInline.STASH_ON_DEMAND, reference=reference), scope())
    assert transport.sent == []


@pytest.mark.parametrize(
    ("kind", "key", "subject", "interval"),
    [
        ("code", _KEY, "github@api.github.com:apiKey", 6.05),
        ("issues", _KEY, "github@api.github.com:apiKey", 60.5 / 30),
        ("issues", None, "github@api.github.com", 6.05),
    ],
)
def test_the_published_rates_are_kept(kind: str, key: str | None, subject: str, interval: float) -> None:
    pacing = _github(kind=kind, key=key)[0].pacing(_asked())
    assert pacing is not None
    assert (pacing.subject, pacing.interval) == (subject, interval)


def test_an_enterprise_s_server_is_its_own_site() -> None:
    transport = ScriptedTransport(_fixture("code.json"))
    made = instance(PROTOCOL, transport, key=_KEY, base_url="https://git.bells.example/api/v3")
    made.search(_asked(site="git.bells.example/ringers"), scope())
    (sent,) = transport.sent
    assert sent.request.url == "https://git.bells.example/api/v3/search/code"
    assert sent.request.params["q"] == "user:ringers bells"


def test_the_hint_for_planners_is_two_to_four_sentences() -> None:
    assert 2 <= len(re.findall(r"\.(?:\s|$)", PROTOCOL.format.prompt_hint)) <= 4
