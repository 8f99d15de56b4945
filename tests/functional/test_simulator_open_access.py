"""The simulator's smaller indexes of papers and its directory of people: envelopes, paging, syntax, refusals."""

import json
from typing import Any

import httpx
import pytest

from tests.contract.payloads import payload


def keys_of(value: Any) -> set[str]:
    """Every key at any depth."""
    if isinstance(value, dict):
        return set(value).union(*(keys_of(each) for each in value.values()))
    return set().union(*(keys_of(each) for each in value)) if isinstance(value, list) else set()


def articles(client: httpx.Client, query: str, **asked: str) -> dict[str, Any]:
    """A search of DOAJ."""
    found = client.get(f"/doaj/search/articles/{query}", params=asked).raise_for_status()
    body: dict[str, Any] = found.json()
    return body


def titles(found: dict[str, Any]) -> list[str]:
    return [article["bibjson"]["title"] for article in found["results"]]


def test_doaj_turns_pages_and_names_the_next_and_the_last(client: httpx.Client) -> None:
    """Only open-access articles of journals are there; the last page has no next."""
    first = articles(client, "learning", pageSize="3")
    assert (first["page"], first["pageSize"], len(first["results"])) == (1, 3, 3)
    assert first["next"].endswith("page=2&pageSize=3") and first["last"] == first["next"]
    second = articles(client, "learning", pageSize="3", page="2")
    assert "next" not in second and len(set(titles(first) + titles(second))) == first["total"] == 4
    assert articles(client, "crispr")["total"] == 0


def test_doaj_understands_fields_ranges_and_operators(client: httpx.Client) -> None:
    """Words are joined by AND; in a field that does not exist nothing is found."""
    assert titles(articles(client, 'bibjson.identifier.id:"10.1038/S41586-020-2649-2"')) == [
        "Array programming with NumPy"
    ]
    window = articles(client, "(learning) AND (bibjson.year:[2015 TO 2019])")
    assert {article["bibjson"]["year"] for article in window["results"]} == {"2015", "2019"}
    assert articles(client, "bibjson.journal.language:DE")["total"] == 2
    both, either = articles(client, "graphene numpy"), articles(client, "graphene OR numpy")
    assert both["total"] == 0 and either["total"] > articles(client, "graphene")["total"]
    assert articles(client, "colour:red")["total"] == 0


@pytest.mark.parametrize(
    "asked", ["what is graphene%3F", "graph*", "graphene~2", "(graphene", "x?page=11&pageSize=100"]
)
def test_doaj_refuses_what_costs_it_much(client: httpx.Client, asked: str) -> None:
    """Wildcards, fuzzy words, brackets that do not close, and what lies beyond a thousand articles."""
    answer = client.get(f"/doaj/search/articles/{asked}")
    assert answer.status_code == 400 and set(answer.json()) == {"status", "error"}


def test_doaj_s_articles_have_no_keys_that_recorded_ones_lack(client: httpx.Client) -> None:
    """Nothing is invented; one of them is looked up by its id."""
    found = articles(client, "learning OR graphene OR numpy", pageSize="2")
    assert set(found) <= set(json.loads(payload("doaj", "search_articles.json")))
    assert keys_of(found) <= keys_of(json.loads(payload("doaj", "search_articles.json")))
    one = found["results"][0]
    assert client.get(f"/doaj/articles/{one['id']}").json() == one
    assert client.get("/doaj/articles/none").status_code == 404


def publications(client: httpx.Client, query: str, **asked: str) -> dict[str, Any]:
    """The hits of a search of dblp."""
    params = {"q": query, "format": "json", **asked}
    hits: dict[str, Any] = (
        client.get("/dblp/search/publ/api", params=params).raise_for_status().json()["result"]["hits"]
    )
    return hits


def keys(hits: dict[str, Any]) -> list[str]:
    return [hit["info"]["key"] for hit in hits["hit"]]


def test_dblp_counts_in_strings_and_an_empty_answer_has_no_hit(client: httpx.Client) -> None:
    """Pages do not overlap; the newest come first."""
    first, second = publications(client, "learning", h="2"), publications(client, "learning", h="2", f="2")
    assert (first["@sent"], first["@first"], second["@first"]) == ("2", "0", "2")
    assert len(set(keys(first) + keys(second))) == 4 <= int(first["@total"])
    assert publications(client, "xyzzyplugh") == {"@total": "0", "@computed": "0", "@sent": "0", "@first": "0"}


def test_dblp_matches_beginnings_of_words_and_alternatives(client: httpx.Client) -> None:
    """All words must occur; `$` asks for a whole word."""
    assert int(publications(client, "trans")["@total"]) > 0
    assert publications(client, "trans$")["@total"] == "0"
    assert keys(publications(client, "attention vaswani")) == ["journals/corr/abs-1706-03762"]
    assert len(keys(publications(client, "numpy|scipy"))) == 2
    assert publications(client, "numpy scipy")["@total"] == "0"


def test_dblp_s_publications_have_no_keys_that_recorded_ones_lack(client: httpx.Client) -> None:
    """A sole author would be an object, several are a list; a title ends in a full stop, a DOI is in capitals."""
    real = keys_of(json.loads(payload("dblp", "search_publ_envelope.json")))
    real |= keys_of(json.loads(payload("dblp", "items_publ.json")))
    hits = publications(client, "2015|2016|2017|2018|2019|2020", h="100")
    assert keys_of(hits) <= real
    assert all(hit["info"]["title"].endswith(".") for hit in hits["hit"])
    assert all(hit["info"]["doi"] == hit["info"]["doi"].upper() for hit in hits["hit"])


def unpaywall(client: httpx.Client, path: str, **asked: str) -> httpx.Response:
    return client.get(f"/unpaywall/{path}", params={"email": "ops@library.test", **asked})


def test_unpaywall_looks_one_doi_up_for_who_says_who_he_is(client: httpx.Client) -> None:
    """Without an address, or under one that is nobody's, it answers nobody."""
    work = unpaywall(client, "10.1038/s41586-020-2649-2").json()
    assert work["best_oa_location"]["url_for_pdf"] == "https://www.nature.com/articles/s41586-020-2649-2.pdf"
    closed = unpaywall(client, "10.1126/science.1225829").json()
    assert (closed["is_oa"], closed["best_oa_location"], closed["oa_locations"]) == (False, None, [])
    missing = unpaywall(client, "10.48550/arxiv.1706.03762")
    assert (missing.status_code, missing.json()["error"]) == (404, True)
    for wrong in ("", "nobody", "somebody@example.com"):
        assert unpaywall(client, "10.1038/s41586-020-2649-2", email=wrong).status_code == 422


def test_unpaywall_searches_titles_alone(client: httpx.Client) -> None:
    """The closed ones too, unless open ones are asked for; a second page is empty where the first holds all."""
    found = unpaywall(client, "search", query="climate change").json()["results"]
    assert all("climat" in result["response"]["title"].lower() for result in found) and len(found) >= 2
    scores = [result["score"] for result in found]
    assert scores == sorted(scores, reverse=True)
    only_open = unpaywall(client, "search", query="climate change", is_oa="true").json()["results"]
    assert 0 < len(only_open) < len(found) and all(result["response"]["is_oa"] for result in only_open)
    assert unpaywall(client, "search", query="climate change", page="2").json()["results"] == []


def test_unpaywall_s_records_have_no_keys_that_recorded_ones_lack(client: httpx.Client) -> None:
    """Of two recordings, with authors in both shapes."""
    real = json.loads(payload("unpaywall", "search_title.json"))
    known = keys_of(real) | keys_of(json.loads(payload("unpaywall", "doi_full.json")))
    found = unpaywall(client, "search", query="climate change").json()
    assert set(found) == set(real) and keys_of(found) <= known


def people(client: httpx.Client, query: str, **asked: str) -> dict[str, Any]:
    """An expanded search of ORCID."""
    found = client.get("/orcid/expanded-search", params={"q": query, **asked}).raise_for_status()
    body: dict[str, Any] = found.json()
    return body


def test_orcid_s_search_is_lucene_s_unless_it_is_told_to_be_lenient(client: httpx.Client) -> None:
    """Nobody is a null; pages do not overlap; the plain search knows nothing but iDs."""
    assert people(client, 'family-name:Chen AND affiliation-org-name:"Huangpu University"')["num-found"] == 1
    assert people(client, "xyzzyplugh") == {"expanded-result": None, "num-found": 0}
    assert people(client, '{!edismax qf="text"}is there "an ecology: of fjords?')["num-found"] >= 1
    first, second = people(client, "chen", rows="2"), people(client, "chen", rows="2", start="2")
    ids = [row["orcid-id"] for page in (first, second) for row in page["expanded-result"]]
    assert len(set(ids)) == 3 == first["num-found"]
    plain = client.get("/orcid/search", params={"q": "chen", "rows": "3"}).json()
    assert keys_of(plain) == keys_of(json.loads(payload("orcid", "search_rows3_page1.json")))


@pytest.mark.parametrize(
    ("asked", "status", "code"),
    [
        ("q=x&start=adsf", 500, 9008),
        ("q=colour:red", 500, 9008),
        ("q=(chen", 500, 9008),
        ("q=x&start=10001", 400, 9043),
        ("q=x&rows=1001", 400, 9006),
    ],
)
def test_orcid_refuses_with_two_messages_and_a_code(client: httpx.Client, asked: str, status: int, code: int) -> None:
    """In the shape that is recorded for a bad start; what Solr cannot read is a fault of the server."""
    refused = client.get(f"/orcid/expanded-search?{asked}")
    assert (refused.status_code, refused.json()["error-code"]) == (status, code)
    assert set(refused.json()) == set(json.loads(payload("orcid", "search_bad_start_500.json")))


def test_orcid_knows_no_bad_ids_and_no_bad_tokens(client: httpx.Client) -> None:
    """The body of the 404 is the recorded one."""
    missing = client.get("/orcid/adfafadf/person")
    assert missing.status_code == 404 and missing.json() == json.loads(payload("orcid", "person_bad_id_404.json"))
    assert client.get("/orcid/search?q=x", headers={"Authorization": "Bearer bad-1"}).status_code == 401


def test_orcid_s_records_have_no_keys_that_recorded_ones_lack(client: httpx.Client) -> None:
    """Of a person who tells much and of one who tells nothing, and of works."""
    real = keys_of(json.loads(payload("orcid", "person_full.json")))
    real |= keys_of(json.loads(payload("orcid", "person_all_null.json")))
    for orcid in ("0000-0000-0100-0003", "0000-0000-0100-1540"):
        person = client.get(f"/orcid/{orcid}/person").json()
        assert keys_of(person) <= real and person["path"] == f"/{orcid}/person"
    works = client.get("/orcid/0000-0000-0100-0003/works").json()
    assert keys_of(works) <= keys_of(json.loads(payload("orcid", "works_groups.json"))) and len(works["group"]) == 2
