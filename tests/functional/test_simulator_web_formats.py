"""The simulator's keyed web indexes: envelopes, paging, filters, refusals, and the keys of the recorded answers."""

import json
from typing import Any

import httpx
import pytest

from tests.contract.payloads import payload


def tavily(client: httpx.Client, path: str = "search", key: str = "tvly-good", **asked: Any) -> httpx.Response:
    return client.post(f"/tavily/{path}", json=asked, headers={"Authorization": f"Bearer {key}"})


def tavily_usage(client: httpx.Client) -> dict[str, Any]:
    answer = client.get("/tavily/usage", headers={"Authorization": "Bearer tvly-good"})
    usage: dict[str, Any] = answer.raise_for_status().json()
    return usage


def test_tavily_has_no_keys_that_recorded_answers_lack(client: httpx.Client) -> None:
    """`usage` comes only when asked for, and a date only with news."""
    real = json.loads(payload("tavily", "search_basic.json"))
    ours = tavily(client, query="python asyncio").json()
    assert set(ours) == set(real)
    assert set(ours["results"][0]) == set(real["results"][0])
    told = tavily(client, query="climate change", topic="news", include_usage=True, search_depth="advanced").json()
    assert told["usage"] == {"credits": 2}
    assert told["results"][0]["published_date"].endswith(" GMT")
    extracted = tavily(client, "extract", urls=[ours["results"][0]["url"], "https://nowhere.example/"]).json()
    assert set(extracted) == set(json.loads(payload("tavily", "extract_sdk_sample.json")))
    assert extracted["results"][0]["raw_content"].startswith(f"# {ours['results'][0]['title']}")
    assert extracted["failed_results"] == [{"url": "https://nowhere.example/", "error": "Failed to fetch url"}]


def test_tavily_s_domains_are_lists_and_an_operator_is_a_word(client: httpx.Client) -> None:
    results = tavily(client, query="python asyncio", include_domains=["python.org"]).json()["results"]
    assert results
    assert all(".python.org/" in result["url"] for result in results)
    fewer = tavily(client, query="python asyncio", exclude_domains=["python.org"]).json()["results"]
    assert not [result for result in fewer if ".python.org/" in result["url"]]
    assert tavily(client, query="asyncio site:docs.python.org").json()["results"] == []


@pytest.mark.parametrize(
    ("key", "asked", "status"),
    [
        ("bad-1", {"query": "bells"}, 401),
        ("empty-1", {"query": "bells"}, 432),
        ("good", {"query": "b" * 401}, 400),
        ("good", {"query": " "}, 400),
        ("good", {"query": "bells", "search_depth": "deep"}, 400),
        ("good", {"query": "bells", "max_results": 21}, 400),
    ],
)
def test_tavily_refuses_in_its_own_words(client: httpx.Client, key: str, asked: dict[str, Any], status: int) -> None:
    """A key that is bad, a plan that is used up, and a body that breaks a rule."""
    answer = tavily(client, key=key, **asked)
    assert answer.status_code == status
    assert list(answer.json()["detail"]) == ["error"]


def test_tavily_s_refusals_read_as_the_recorded_ones(client: httpx.Client) -> None:
    assert tavily(client, key="bad-1", query="x").json() == json.loads(payload("tavily", "error_401.json"))
    assert tavily(client, key="empty-1", query="x").json() == json.loads(payload("tavily", "error_432_plan_limit.json"))


def test_tavily_counts_credits_by_depth_and_by_five_pages(client: httpx.Client) -> None:
    """And nothing for asking what is left."""
    before = tavily_usage(client)["account"]["plan_usage"]
    found = tavily(client, query="python asyncio", search_depth="advanced").json()["results"]
    tavily(client, "extract", urls=[result["url"] for result in found][:2])
    usage = tavily_usage(client)
    assert usage["account"]["plan_usage"] == usage["key"]["usage"] == before + 3


def brave(client: httpx.Client, kind: str = "web", key: str = "good-key", **asked: str) -> httpx.Response:
    return client.get(f"/brave/res/v1/{kind}/search", params=asked, headers={"X-Subscription-Token": key})


def test_brave_has_no_keys_that_recorded_answers_lack(client: httpx.Client) -> None:
    """Of envelope, query, block and page."""
    real = json.loads(payload("brave", "web_search.json"))
    ours = brave(client, q="python asyncio").json()
    assert set(ours) == set(real)
    assert set(ours["query"]) <= set(real["query"])
    assert set(ours["web"]) == set(real["web"])
    known = {key for result in real["web"]["results"] for key in result}
    assert all(set(result) <= known for result in ours["web"]["results"])


@pytest.mark.parametrize(
    ("kind", "item"), [("news", "news_result"), ("videos", "video_result"), ("images", "image_result")]
)
def test_brave_s_other_kinds_have_their_list_at_the_top(client: httpx.Client, kind: str, item: str) -> None:
    answer = brave(client, kind, q="climate change").raise_for_status().json()
    assert answer["type"] == kind
    assert {result["type"] for result in answer["results"]} == {item}


def test_brave_pages_by_number_until_nothing_more_is_available(client: httpx.Client) -> None:
    pages = [brave(client, q="climate change", count="3", offset=offset).json() for offset in ("0", "1")]
    links = [result["url"] for page in pages for result in page["web"]["results"]]
    assert len(links) == len(set(links)) == 6
    assert pages[0]["query"]["more_results_available"] is True
    last = brave(client, q="climate change", count="20", offset="9").json()
    assert "web" not in last
    assert last["query"]["more_results_available"] is False


def test_brave_understands_operators_and_spans_of_days(client: httpx.Client) -> None:
    found = brave(client, q="python asyncio site:python.org").json()["web"]["results"]
    assert found
    assert all(".python.org/" in result["url"] for result in found)
    spring = brave(client, "news", q="climate", freshness="2023-03-20to2023-03-20").json()["results"]
    assert [result["page_age"][:10] for result in spring] == ["2023-03-20"]
    assert [result["age"] for result in brave(client, "news", q="climate", freshness="pd").json()["results"]] == [
        "3 hours ago"
    ]


@pytest.mark.parametrize(
    "asked",
    [
        {"q": " "},
        {"q": "b" * 401},
        {"q": "b " * 51},
        {"q": "bells", "count": "21"},
        {"q": "bells", "offset": "10"},
        {"q": "bells", "freshness": "yesterday"},
        {"q": "bells", "freshness": "2024-01-01to"},
    ],
)
def test_brave_refuses_what_breaks_its_limits(client: httpx.Client, asked: dict[str, str]) -> None:
    answer = brave(client, **asked)
    assert (answer.status_code, answer.json()["error"]["code"]) == (422, "VALIDATION")
    assert set(answer.json()) == set(json.loads(payload("brave", "error_422_validation.json")))


def test_brave_refuses_bad_keys_with_422_and_empty_accounts_with_429(client: httpx.Client) -> None:
    bad, empty = brave(client, key="bad-1", q="bells"), brave(client, key="empty-1", q="bells")
    assert (bad.status_code, bad.json()["error"]["code"]) == (422, "SUBSCRIPTION_TOKEN_INVALID")
    assert (empty.status_code, empty.json()["error"]["code"]) == (429, "QUOTA_LIMITED")
    assert empty.headers["x-ratelimit-remaining"].endswith(", 0")


def test_brave_states_its_rates_as_lists_and_counts_requests(client: httpx.Client) -> None:
    first, second = (brave(client, q="bells").headers for _ in range(2))
    assert first["x-ratelimit-policy"] == "50;w=1, 1000000;w=2592000"
    left = [int(headers["x-ratelimit-remaining"].split(", ")[1]) for headers in (first, second)]
    assert left[0] - left[1] == 1


def serpapi(client: httpx.Client, engine: str = "google", key: str = "good-key", **asked: str) -> httpx.Response:
    return client.get("/serpapi/search.json", params={"engine": engine, **asked, "api_key": key})


def test_serpapi_has_no_keys_that_recorded_answers_lack(client: httpx.Client) -> None:
    """Of envelope and item, for Google and for Scholar; nothing found has the recorded words."""
    for engine, recording, query in (
        ("google", "google_coffee.json", "climate change"),
        ("google_scholar", "google_scholar_mock_1.json", "solar energy"),
    ):
        real, ours = json.loads(payload("serpapi", recording)), serpapi(client, engine, q=query).json()
        assert set(ours) <= set(real)
        known = {key for item in real["organic_results"] for key in item} | {"date", "resources"}
        assert all(set(item) <= known for item in ours["organic_results"])
    nothing = serpapi(client, q="xyzzyplugh").json()
    assert nothing["error"] == json.loads(payload("serpapi", "empty_200_error.json"))["error"]
    assert nothing["search_information"] == {"organic_results_state": "Fully empty"}
    account = client.get("/serpapi/account.json", params={"api_key": "good-key"}).json()
    assert set(json.loads(payload("serpapi", "account_2026.json"))) <= set(account) | {"account_status"}


@pytest.mark.parametrize(
    ("engine", "query", "items"),
    [
        ("bing", {"q": "climate change"}, "organic_results"),
        ("duckduckgo", {"q": "climate change"}, "organic_results"),
        ("google_images", {"q": "cathedral bells"}, "images_results"),
        ("google_news", {"q": "climate change"}, "news_results"),
        ("youtube", {"search_query": "crispr"}, "video_results"),
    ],
)
def test_serpapi_names_query_and_list_after_the_engine(
    client: httpx.Client, engine: str, query: dict[str, str], items: str
) -> None:
    answer = serpapi(client, engine, **query).raise_for_status().json()
    assert answer["search_parameters"] == {"engine": engine, **query}
    assert [item["position"] for item in answer[items]] == list(range(1, len(answer[items]) + 1))


def test_serpapi_says_where_the_next_page_is_without_the_key(client: httpx.Client) -> None:
    """Google counts results from 0, Bing from 1."""
    for engine, page, second in (("google", "start", "10"), ("bing", "first", "11")):
        first = serpapi(client, engine, q="site:org").json()
        following = httpx.URL(first["serpapi_pagination"]["next"])
        assert following.params[page] == second
        assert "api_key" not in following.params
        rest = serpapi(client, engine, **{"q": "site:org", page: second}).json()
        links = [item["link"] for answer in (first, rest) for item in answer["organic_results"]]
        assert len(links) == len(set(links)) > 10


@pytest.mark.parametrize(
    ("engine", "asked"),
    [
        ("google_news", {"q": "climate after:2023-03-20 before:2023-03-21"}),
        ("google_news", {"q": "climate", "tbs": "cdr:1,cd_min:3/20/2023,cd_max:3/20/2023"}),
        ("google_news", {"q": "climate", "df": "2023-03-20..2023-03-20"}),
        ("google_news", {"q": "climate", "filters": 'ex1:"ez5_19436_19436"'}),
    ],
)
def test_serpapi_s_engines_write_a_window_in_four_ways(
    client: httpx.Client, engine: str, asked: dict[str, str]
) -> None:
    """Tried on news, since those are dated."""
    assert [item["iso_date"][:10] for item in serpapi(client, engine, **asked).json()["news_results"]] == ["2023-03-20"]


@pytest.mark.parametrize(
    ("engine", "asked", "key", "status"),
    [
        ("google", {"q": "bells"}, "bad-1", 401),
        ("google", {"q": "bells"}, "empty-1", 429),
        ("google", {}, "good", 400),
        ("youtube", {"q": "bells"}, "good", 400),
        ("altavista", {"q": "bells"}, "good", 400),
    ],
)
def test_serpapi_refuses_with_an_error_in_words(
    client: httpx.Client, engine: str, asked: dict[str, str], key: str, status: int
) -> None:
    answer = serpapi(client, engine, key, **asked)
    assert answer.status_code == status
    assert list(answer.json()) == ["error"]


def test_serpapi_counts_searches_and_not_the_account(client: httpx.Client) -> None:
    def left() -> int:
        answer: dict[str, int] = client.get("/serpapi/account.json", params={"api_key": "good-key"}).json()
        return answer["total_searches_left"]

    before = left()
    serpapi(client, q="bells")
    assert left() == before - 1
