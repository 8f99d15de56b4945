"""The simulator's indexes of papers that came after the first seven formats: envelopes, paging, filters, refusals."""

import json
from typing import Any

import httpx
import pytest
from defusedxml.ElementTree import fromstring

from tests.contract.payloads import payload


def papers(client: httpx.Client, query: str, **asked: str) -> dict[str, Any]:
    """A search of Semantic Scholar."""
    found = client.get("/semanticscholar/paper/search", params={"query": query, **asked}).raise_for_status()
    body: dict[str, Any] = found.json()
    return body


def test_semantic_scholar_gives_ids_and_titles_unless_fields_are_named(client: httpx.Client) -> None:
    """The envelope names the next page; the last has no `next`, an empty one no `data`."""
    first = papers(client, "crispr", limit="3")
    assert set(first) == {"total", "offset", "next", "data"} and first["next"] == 3
    assert all(set(paper) == {"paperId", "title"} for paper in first["data"])
    last = papers(client, "crispr", offset="3")
    assert "next" not in last and len(last["data"]) + 3 == last["total"]
    assert papers(client, "xyzzyplugh") == {"total": 0, "offset": 0}
    assert papers(client, "gene-editing") == {"total": 0, "offset": 0}


def test_semantic_scholar_narrows_by_day_and_by_year(client: httpx.Client) -> None:
    """Ranges have open ends; a year covers all of its days."""
    everything = papers(client, "crispr", fields="publicationDate")
    recent = papers(client, "crispr", fields="year", publicationDateOrYear="2019:")
    assert 0 < recent["total"] < everything["total"] and all(paper["year"] >= 2019 for paper in recent["data"])
    assert papers(client, "crispr", publicationDateOrYear="2012-08-17")["total"] == 1
    assert papers(client, "crispr", publicationDateOrYear=":2013")["total"] == 4


def test_semantic_scholar_finds_one_paper_by_its_identifiers(client: httpx.Client) -> None:
    """Under a DOI or an arXiv id, and with the fields asked for."""
    named = {"fields": "externalIds,authors,openAccessPdf"}
    paper = client.get("/semanticscholar/paper/DOI:10.18653/v1/n19-1423", params=named).json()
    assert paper["externalIds"]["ArXiv"] == "1810.04805" and paper["authors"][0]["name"] == "Jacob Devlin"
    assert client.get("/semanticscholar/paper/ARXIV:1810.04805").json()["paperId"] == paper["paperId"]
    missing = client.get("/semanticscholar/paper/DOI:10.5555/none")
    assert (missing.status_code, missing.json()) == (404, {"error": "Paper with id DOI:10.5555/none not found"})


def test_semantic_scholar_refuses_in_two_dialects(client: httpx.Client) -> None:
    """The gateway says `message`, the API `error`."""
    refused = client.get("/semanticscholar/paper/search?query=x", headers={"x-api-key": "bad-1"})
    assert (refused.status_code, refused.json()) == (403, json.loads(payload("semanticscholar", "forbidden_403.json")))
    for wrong in ("", "query=x&limit=101", "query=x&fields=title,colour", "query=x&publicationDateOrYear=soon"):
        answer = client.get(f"/semanticscholar/paper/search?{wrong}")
        assert answer.status_code == 400 and set(answer.json()) == {"error"}


def test_semantic_scholar_s_papers_have_no_keys_that_recorded_ones_lack(client: httpx.Client) -> None:
    """Nothing is invented: what the adapter asks for stands in a recording of the real service."""
    real = json.loads(payload("semanticscholar", "search_transformer_full_fields.json"))["data"][0]
    real |= json.loads(payload("semanticscholar", "paper_by_doi_full.json"))
    ours = papers(client, "graphene", fields=",".join(set(real) - {"citationStyles"}))["data"][0]
    assert set(ours) == set(real) - {"citationStyles"}
    assert set(ours["openAccessPdf"]) <= set(real["openAccessPdf"]) and set(ours["journal"]) <= set(real["journal"])


def registered(client: httpx.Client, **asked: str) -> dict[str, Any]:
    """The `message` of a list of Crossref."""
    found = client.get("/crossref/works", params=asked).raise_for_status().json()
    assert (found["status"], found["message-type"]) == ("ok", "work-list")
    message: dict[str, Any] = found["message"]
    return message


def test_crossref_lists_what_publishers_registered(client: httpx.Client) -> None:
    """Pages do not overlap; arXiv's DOIs are registered elsewhere; titles are lists and abstracts JATS."""
    first = registered(client, query="crispr genome", rows="2")
    second = registered(client, query="crispr genome", rows="2", offset="2")
    dois = [item["DOI"] for page in (first, second) for item in page["items"]]
    assert len(set(dois)) == 4 and first["total-results"] >= 4
    assert isinstance(first["items"][0]["title"], list) and "<jats:p>" in first["items"][0]["abstract"]
    everything = registered(client, rows="1000")["items"]
    assert everything and not any(item["DOI"].startswith("10.48550") for item in everything)


def test_crossref_filters_and_selects(client: httpx.Client) -> None:
    """Days and a DOI narrow the list; only what is selected comes, notices of retraction included."""
    window = registered(client, query="crispr", filter="from-pub-date:2013-01-01,until-pub-date:2013-12-31")
    assert {item["published"]["date-parts"][0][0] for item in window["items"]} == {2013}
    (work,) = registered(client, filter="doi:10.1016/S0140-6736(97)11096-0", select="DOI,updated-by")["items"]
    assert set(work) == {"DOI", "updated-by"}
    assert [notice["source"] for notice in work["updated-by"]] == ["publisher", "retraction-watch"]
    assert registered(client, filter="doi:10.5555/none")["items"] == []


def test_crossref_says_which_pool_a_caller_is_in(client: httpx.Client) -> None:
    """An e-mail address brings three lists a second."""
    public, polite = (client.get(f"/crossref/works?query=crispr{more}").headers for more in ("", "&mailto=a@b.org"))
    assert (public["x-api-pool"], public["x-rate-limit-limit"]) == ("public-array", "1")
    assert (polite["x-api-pool"], polite["x-rate-limit-limit"]) == ("polite-array", "3")


@pytest.mark.parametrize(
    ("asked", "kind"),
    [
        ("rows=1001", "integer-not-valid"),
        ("filter=colour:red", "filter-not-available"),
        ("query=crispr&select=language", "select-not-available"),
    ],
)
def test_crossref_refuses_with_a_list_of_faults(client: httpx.Client, asked: str, kind: str) -> None:
    """In the shape that is recorded."""
    answer = client.get(f"/crossref/works?{asked}")
    real = json.loads(payload("crossref", "works_validation_400.json"))
    assert answer.status_code == 400 and set(answer.json()) == set(real)
    assert [fault["type"] for fault in answer.json()["message"]] == [kind]


def test_crossref_looks_one_doi_up(client: httpx.Client) -> None:
    """An unknown one is a 404 in plain text, as recorded."""
    work = client.get("/crossref/works/10.1126/science.1225829").json()
    assert (work["message-type"], work["message"]["DOI"]) == ("work", "10.1126/science.1225829")
    missing = client.get("/crossref/works/10.48550/arxiv.1706.03762")
    assert missing.status_code == 404 and missing.content == payload("crossref", "works_doi_not_found_404.txt").strip()


def test_crossref_s_works_have_no_keys_that_recorded_ones_lack(client: httpx.Client) -> None:
    """Nothing is invented; notices have no recording, and the keys that Crossref documents."""
    real: set[str] = set()
    for name in ("works_doi_large_refs.json", "works_list_fulltext_links.json", "works_abstract_jats_list.json"):
        message = json.loads(payload("crossref", name))["message"]
        real |= {key for item in message.get("items", [message]) for key in item}
    for item in registered(client, rows="1000")["items"]:
        assert set(item) - {"updated-by"} <= real


def records(client: httpx.Client, query: str, **asked: str) -> dict[str, Any]:
    """A search of Europe PMC."""
    params = {"query": query, "format": "json", **asked}
    body: dict[str, Any] = client.get("/europepmc/search", params=params).raise_for_status().json()
    return body


def ids(found: dict[str, Any]) -> list[str]:
    return [record["id"] for record in found["resultList"]["result"]]


def test_europe_pmc_turns_pages_by_marks(client: httpx.Client) -> None:
    """The mark of the next page comes while there is one; one that was never given is an error in a 200."""
    first = records(client, "crispr", pageSize="5", cursorMark="*")
    second = records(client, "crispr", pageSize="5", cursorMark=first["nextCursorMark"])
    assert len(set(ids(first) + ids(second))) == first["hitCount"] > 5 and "nextCursorMark" not in second
    assert records(client, "crispr", cursorMark="?")["errCode"] == 400


def test_europe_pmc_s_query_language_is_understood(client: httpx.Client) -> None:
    """Fields, ranges, brackets and operators; an unknown field is an error in a 200."""
    window = records(client, "(crispr) AND (FIRST_PDATE:[2013-01-01 TO 2013-12-31])")
    assert set(ids(window)) == {"23287718", "23287722", "24157548"}
    assert ids(records(client, 'DOI:"10.1126/SCIENCE.1225829"')) == ["22745249"]
    assert ids(records(client, "EXT_ID:9500320 AND SRC:MED")) == ["9500320"]
    assert ids(records(client, "(AUTH:doudna) AND (TITLE:frontier)")) == ["25430774"]
    assert records(client, '(crispr) AND (LANG:"ger" OR LANG:"de")')["hitCount"] == 0
    assert 0 < records(client, "crispr AND OPEN_ACCESS:n")["hitCount"] <= records(client, "crispr")["hitCount"]
    assert records(client, "COLOUR:red")["errCode"] == records(client, "(crispr")["errCode"] == 400
    assert records(client, "xyzzyplugh")["resultList"] == {"result": []}


def test_europe_pmc_s_records_have_no_keys_that_recorded_ones_lack(client: httpx.Client) -> None:
    """`lite` as recorded in JSON, `core` with the element names of the recorded XML and an abstract."""
    real = json.loads(payload("europepmc", "search_json_by_pmid_pagesize1.json"))
    lite = records(client, "crispr", resultType="lite")
    assert set(lite) - {"nextCursorMark"} <= set(real)
    assert all(set(record) <= set(real["resultList"]["result"][0]) for record in lite["resultList"]["result"])
    names = {element.tag for element in fromstring(payload("europepmc", "search_xml_core.xml")).iter()}
    retracted = records(client, "EXT_ID:9500320", resultType="core")["resultList"]["result"][0]
    assert set(retracted) - {"commentCorrectionList"} <= names and retracted["abstractText"]
    assert retracted["pubTypeList"]["pubType"][-1] == "Retracted Publication"


def test_europe_pmc_has_full_texts_of_open_articles_alone(client: httpx.Client) -> None:
    """In JATS with an external document type; a closed or unknown article is a 404."""
    answer = client.get("/europepmc/PMC7759461/fullTextXML")
    assert b"<!DOCTYPE article PUBLIC" in answer.content
    assert fromstring(answer.content).findtext("front/article-meta/title-group/article-title") == (
        "Array programming with NumPy"
    )
    for number in ("PMC6286148", "PMC1", "x"):
        assert client.get(f"/europepmc/{number}/fullTextXML").status_code == 404
