"""The simulator's seven wire formats: envelopes, paging, filters, refusals, and the keys of the recorded answers."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any
from xml.etree.ElementTree import Element

import httpx
import pytest
from defusedxml.ElementTree import fromstring

from tests.contract.payloads import payload

ATOM = {"a": "http://www.w3.org/2005/Atom", "o": "http://a9.com/-/spec/opensearch/1.1/"}
KEY = {"X-API-KEY": "good-key"}


def serper(client: httpx.Client, kind: str, **asked: Any) -> dict[str, Any]:
    answer: dict[str, Any] = client.post(f"/serper/{kind}", json=asked, headers=KEY).raise_for_status().json()
    return answer


def wikipedia(client: httpx.Client, language: str = "en", **asked: str) -> dict[str, Any]:
    params = {"action": "query", "format": "json", "formatversion": "2", **asked}
    answer: dict[str, Any] = client.get(f"/wikipedia/{language}/w/api.php", params=params).raise_for_status().json()
    return answer


def feed(client: httpx.Client, **asked: str) -> Element:
    root: Element = fromstring(client.get("/arxiv/query", params=asked).raise_for_status().content)
    return root


def arxiv_ids(root: Element) -> list[str]:
    ids = [entry.findtext("a:id", "", ATOM) for entry in root.findall("a:entry", ATOM)]
    return [one.removeprefix("http://arxiv.org/abs/").rpartition("v")[0] for one in ids]


def esearch(client: httpx.Client, term: str, **asked: str) -> dict[str, Any]:
    answer = client.get("/pubmed/esearch.fcgi", params={"db": "pubmed", "retmode": "json", "term": term, **asked})
    result: dict[str, Any] = answer.raise_for_status().json()["esearchresult"]
    return result


def hackernews(client: httpx.Client, path: str = "search", **asked: str) -> dict[str, Any]:
    answer: dict[str, Any] = client.get(f"/hackernews/{path}", params=asked).raise_for_status().json()
    return answer


def books(client: httpx.Client, query: str, **asked: str) -> dict[str, Any]:
    answer: dict[str, Any] = client.get("/openlibrary/search.json", params={"q": query, **asked}).json()
    return answer


def works(client: httpx.Client, **asked: str) -> dict[str, Any]:
    params = {name.replace("per_page", "per-page"): value for name, value in asked.items()}
    answer: dict[str, Any] = client.get("/openalex/works", params=params).raise_for_status().json()
    return answer


@pytest.mark.parametrize(
    ("kind", "key"), [("search", "organic"), ("images", "images"), ("videos", "videos"), ("news", "news")]
)
def test_serper_names_its_list_after_the_kind_of_search(client: httpx.Client, kind: str, key: str) -> None:
    """Each path answers with its own list, numbered from one, beside an echo of what was asked."""
    answer = serper(client, kind, q="climate change", gl="de", hl="de")
    assert answer["searchParameters"] == {"q": "climate change", "gl": "de", "hl": "de", "num": 10, "type": kind}
    assert [item["position"] for item in answer[key]] == list(range(1, len(answer[key]) + 1))
    assert answer[key] and answer["credits"] == 1


def test_serper_scholar_says_organic_again(client: httpx.Client) -> None:
    """Scholar's items carry one string of people, venue, year and host, and the year as a number."""
    first = serper(client, "scholar", q="attention is all you need")["organic"][0]
    assert first["title"] == "Attention Is All You Need"
    assert first["publicationInfo"].startswith("A Vaswani, N Shazeer, N Parmar… - Advances in Neural")
    assert first["year"] == 2017 and first["pdfUrl"] == "https://arxiv.org/pdf/1706.03762"


def test_serper_honours_site_and_filetype_operators(client: httpx.Client) -> None:
    """`site:` covers subdomains and paths, `-site:` removes, `filetype:` looks at the path, `OR` joins sites."""
    links = [item["link"] for item in serper(client, "search", q="python asyncio site:python.org")["organic"]]
    assert links and all(".python.org/" in link for link in links)
    fewer = [item["link"] for item in serper(client, "search", q="python asyncio -site:docs.python.org")["organic"]]
    assert fewer and not any("docs.python.org" in link for link in fewer)
    pdfs = [item["link"] for item in serper(client, "search", q="graphene filetype:pdf")["organic"]]
    assert pdfs and all(link.endswith(".pdf") for link in pdfs)
    both = serper(client, "search", q="(site:ipcc.ch OR site:un.org) climate change")["organic"]
    assert {item["link"].split("/")[2] for item in both} == {"www.ipcc.ch", "www.un.org"}
    assert serper(client, "search", q="site:sqlite.org")["organic"][0]["link"] == "https://www.sqlite.org/fts5.html"


def test_serper_honours_date_windows(client: httpx.Client) -> None:
    """A custom range keeps what lies in it, both days included; `qdr:` looks back from now."""
    window = serper(client, "news", q="climate", tbs="cdr:1,cd_min:3/20/2023,cd_max:3/20/2023")
    assert [item["source"] for item in window["news"]] == ["IPCC"]
    recent = serper(client, "news", q="climate", tbs="qdr:d")["news"]
    assert [item["date"] for item in recent] == ["3 hours ago"]


def test_serper_pages_without_repeating(client: httpx.Client) -> None:
    """Page two goes on where page one ended, positions included."""
    pages = [serper(client, "search", q="climate change", num=3, page=page)["organic"] for page in (1, 2)]
    links = [item["link"] for page in pages for item in page]
    assert len(links) == len(set(links)) == 6
    assert pages[1][0]["position"] == 4


def test_serper_shows_a_knowledge_panel_for_an_article_s_name(client: httpx.Client) -> None:
    """The panel comes with the first page only, and only for what an encyclopedia knows by that name."""
    assert serper(client, "search", q="graphene")["knowledgeGraph"]["descriptionSource"] == "Wikipedia"
    assert "knowledgeGraph" not in serper(client, "search", q="graphene", page=2)
    assert "knowledgeGraph" not in serper(client, "search", q="python asyncio")


@pytest.mark.parametrize(
    ("headers", "status", "body"),
    [
        ({}, 403, {"message": "Unauthorized.", "statusCode": 403}),
        ({"X-API-KEY": "bad-1"}, 403, {"message": "Unauthorized.", "statusCode": 403}),
        ({"X-API-KEY": "empty-1"}, 400, {"message": "Not enough credits", "statusCode": 400}),
    ],
)
def test_serper_refuses_bad_keys_and_empty_accounts(
    client: httpx.Client, headers: dict[str, str], status: int, body: dict[str, Any]
) -> None:
    """A bad or missing key is 403; an account without credits is 400, not 402."""
    answer = client.post("/serper/search", json={"q": "bells"}, headers=headers)
    assert (answer.status_code, answer.json()) == (status, body)


def test_serper_s_balance_goes_down_with_every_search(client: httpx.Client) -> None:
    """The account says what is left, and asking for it costs nothing."""
    before = client.get("/serper/account", headers=KEY).json()["balance"]
    serper(client, "search", q="bells")
    assert client.get("/serper/account", headers=KEY).json() == {"balance": before - 1}


def test_wikipedia_s_generator_brings_leads_addresses_and_descriptions_at_once(client: httpx.Client) -> None:
    """Pages come in the order of their ids; the rank is in `index`; there is a way to go on."""
    answer = wikipedia(
        client,
        generator="search",
        gsrsearch="climate change",
        gsrlimit="1",
        prop="extracts|info|description",
        inprop="url",
        exintro="1",
        explaintext="1",
    )
    (page,) = answer["query"]["pages"]
    assert (page["title"], page["index"]) == ("Climate change", 1)
    assert page["fullurl"] == "https://en.wikipedia.org/wiki/Climate_change"
    assert page["extract"].startswith("Present-day climate change") and page["description"]
    assert answer["continue"] == {"gsroffset": 1, "continue": "gsroffset||"}
    rest = wikipedia(client, generator="search", gsrsearch="climate change", gsroffset="1")
    assert [(page["title"], page["index"]) for page in rest["query"]["pages"]] == [("Climate change mitigation", 2)]
    assert "continue" not in rest


def test_wikipedia_that_finds_nothing_has_no_query(client: httpx.Client) -> None:
    """A generator without pages leaves `query` out; a list search says zero."""
    assert wikipedia(client, generator="search", gsrsearch="xyzzyplugh") == {"batchcomplete": True}
    listed = wikipedia(client, list="search", srsearch="xyzzyplugh")
    assert listed["query"] == {"searchinfo": {"totalhits": 0}, "search": []}


def test_wikipedia_speaks_format_version_one(client: httpx.Client) -> None:
    """Version 1 has a map of pages, "" for true, and misses under negative ids."""
    answer = wikipedia(client, formatversion="1", titles="graphene|Purpleberry", prop="info", inprop="url")
    assert answer["batchcomplete"] == ""
    assert answer["query"]["normalized"] == [{"from": "graphene", "to": "Graphene"}]
    assert answer["query"]["pages"]["-1"] == {"ns": 0, "title": "Purpleberry", "missing": ""}
    assert answer["query"]["pages"]["911833"]["title"] == "Graphene"


def test_wikipedia_follows_redirects_and_gives_one_whole_page(client: httpx.Client) -> None:
    """An old name leads to the article, whose extract goes beyond the lead and is HTML unless plain text is asked."""
    answer = wikipedia(client, titles="Global warming", redirects="1", prop="extracts")
    assert answer["query"]["redirects"] == [{"from": "Global warming", "to": "Climate change"}]
    (page,) = answer["query"]["pages"]
    assert page["extract"].startswith("<p>Present-day") and "broader sense" in page["extract"]
    by_number = wikipedia(client, pageids=str(page["pageid"]), prop="extracts", exintro="1", explaintext="1")
    assert "broader sense" not in by_number["query"]["pages"][0]["extract"]


def test_wikipedia_has_one_wiki_per_language(client: httpx.Client) -> None:
    """German has its own articles, Italian none, and Klingon is no host."""
    hits = wikipedia(client, "de", list="search", srsearch="Graphen")["query"]["search"]
    assert hits[0]["title"] == "Graphen" and '<span class="searchmatch">Graphen</span>' in hits[0]["snippet"]
    assert wikipedia(client, "it", list="search", srsearch="grafene")["query"]["searchinfo"]["totalhits"] == 0
    assert client.get("/wikipedia/tlh/w/api.php").status_code == 404


def test_wikipedia_reports_errors_inside_a_200(client: httpx.Client) -> None:
    """A missing search text is an error object and a header; an unknown parameter is only a warning."""
    answer = client.get("/wikipedia/en/w/api.php", params={"action": "query", "generator": "search"})
    assert (answer.status_code, answer.headers["mediawiki-api-error"]) == (200, "missingparam")
    assert answer.json()["error"]["code"] == "missingparam"
    assert "bogus" in wikipedia(client, list="search", srsearch="bell", bogus="1")["warnings"]["main"]["warnings"]
    assert client.get("/wikipedia/en/w/api.php", headers={"User-Agent": ""}).status_code == 403


def test_openalex_searches_filters_and_pages(client: httpx.Client) -> None:
    """Dates, language and DOI narrow the list; pages do not overlap; the count is of all."""
    dated = works(client, search="crispr", filter="from_publication_date:2013-01-01,to_publication_date:2013-12-31")
    assert {work["publication_year"] for work in dated["results"]} == {2013}
    german = works(client, filter="language:de")["results"]
    assert {work["language"] for work in german} == {"de"}
    one = works(client, filter="doi:https://doi.org/10.1038/NATURE14539")["results"]
    assert [work["title"] for work in one] == ["Deep learning"]
    pages = [works(client, search="crispr", per_page="3", page=page) for page in ("1", "2")]
    ids = [work["id"] for page in pages for work in page["results"]]
    assert len(set(ids)) == 6 and pages[0]["meta"]["count"] >= 9


def test_openalex_gives_abstracts_as_an_inverted_index(client: httpx.Client) -> None:
    """Put back in order, the positions give the text."""
    work = works(client, search="attention is all you need")["results"][0]
    words = {position: word for word, places in work["abstract_inverted_index"].items() for position in places}
    assert " ".join(words[position] for position in sorted(words)).startswith("Sequence transduction used to rest on")
    assert work["relevance_score"] > 0 and work["ids"]["doi"] == work["doi"]


def test_openalex_states_its_budget_in_headers(client: httpx.Client) -> None:
    """A search costs ten credits, a work by its id none; the budget resets within a day."""
    first = client.get("/openalex/works", params={"search": "graphene"}).headers
    second = client.get("/openalex/works/doi:10.1038/nmat1849").headers
    assert (first["x-ratelimit-credits-used"], second["x-ratelimit-credits-used"]) == ("10", "0")
    assert first["x-ratelimit-remaining"] == second["x-ratelimit-remaining"]
    assert float(first["x-ratelimit-cost-usd"]) == 0.001 and 0 <= int(first["x-ratelimit-reset"]) <= 86_400


def test_openalex_refuses_unknown_filters_and_unknown_works(client: httpx.Client) -> None:
    """A bad filter is a JSON 400, a work that is not there an HTML 404."""
    for bad in ("colour:red", "from_publication_date:yesterday"):
        answer = client.get("/openalex/works", params={"filter": bad})
        assert (answer.status_code, answer.json()["error"]) == (400, "Invalid query parameters error.")
    missing = client.get("/openalex/works/W1")
    assert missing.status_code == 404 and missing.headers["content-type"].startswith("text/html")


def test_arxiv_understands_fields_operators_and_dates(client: httpx.Client) -> None:
    """Prefixes choose a column, AND, OR, ANDNOT and parentheses combine, submittedDate is a window."""
    assert "1706.03762" in arxiv_ids(feed(client, search_query='ti:"attention is all you need"'))
    assert arxiv_ids(feed(client, search_query="au:Novoselov ANDNOT all:review")) != []
    both = arxiv_ids(feed(client, search_query="(ti:graphene OR ti:BERT) AND cat:cs.CL"))
    assert both == ["1810.04805"]
    dated = "all:graphene AND submittedDate:[200401010000 TO 200512312359]"
    assert set(arxiv_ids(feed(client, search_query=dated))) == {"cond-mat/0410550", "cond-mat/0509330"}


def test_arxiv_counts_sorts_and_pages(client: httpx.Client) -> None:
    """The totals are of the whole result; sorting by date turns round on demand."""
    root = feed(client, search_query="all:graphene", start="1", max_results="2", sortBy="submittedDate")
    assert root.findtext("o:totalResults", "", ATOM) == "4" and root.findtext("o:startIndex", "", ATOM) == "1"
    assert arxiv_ids(root) == ["cond-mat/0702595", "cond-mat/0509330"]
    oldest = feed(client, search_query="all:graphene", sortBy="submittedDate", sortOrder="ascending", max_results="1")
    assert arxiv_ids(oldest) == ["cond-mat/0410550"]


def test_arxiv_drops_unknown_ids_and_refuses_malformed_ones(client: httpx.Client) -> None:
    """A missing paper is silence; a malformed id is a 400 whose feed has one entry titled Error."""
    assert arxiv_ids(feed(client, id_list="1706.03762v5,2401.99999,cond-mat/0410550")) == [
        "1706.03762",
        "cond-mat/0410550",
    ]
    answer = client.get("/arxiv/query", params={"id_list": "abc"})
    root = fromstring(answer.content)
    assert answer.status_code == 400 and root.findtext("o:totalResults", "", ATOM) == "1"
    assert root.findtext("a:entry/a:title", "", ATOM) == "Error"
    assert root.findtext("a:entry/a:id", "", ATOM).endswith("#incorrect_id_format_for_abc")
    assert client.get("/arxiv/query", params={"search_query": "all:x", "start": "one"}).status_code == 400
    assert client.get("/arxiv/query", params={"search_query": "(all:x"}).status_code == 400


def test_pubmed_searches_with_tags_dates_and_operators(client: httpx.Client) -> None:
    """Words must all occur; tags choose a field; dates come as parameters or inside the term."""
    found = esearch(client, "crispr gene editing")
    assert found["count"] == str(len(found["idlist"])) == "9" and found["retstart"] == "0"
    assert esearch(client, "Doudna[au] AND frontier[ti]")["idlist"] == ["25430774"]
    assert esearch(client, "(graphene OR perovskite) NOT rise[Title]")["count"] == "3"
    window = esearch(client, "crispr", datetype="pdat", mindate="2013/01/01", maxdate="2013/12/31")
    assert set(window["idlist"]) == {"23287718", "23287722", "24157548"}
    assert esearch(client, 'crispr AND "2013/01/01"[dp] : "2013/12/31"[dp]')["idlist"] == window["idlist"]
    assert esearch(client, "(crispr) AND ger[la]")["count"] == "0"


def test_pubmed_s_newest_come_first_unless_relevance_is_asked_for(client: httpx.Client) -> None:
    """Without a sort order the answer is by date; retstart and retmax cut a page out of it."""
    newest = esearch(client, "crispr", retmax="2", retstart="1")
    assert newest["retmax"] == "2" and newest["idlist"] == ["31634902", "27096365"]
    assert esearch(client, "programmable endonuclease", sort="relevance")["idlist"] == ["22745249"]


def test_pubmed_reports_an_empty_term_inside_a_200(client: httpx.Client) -> None:
    """Nothing to do is an ERROR without count or ids; nothing found names the phrase."""
    assert esearch(client, "") == {"ERROR": "Empty term and query_key - nothing todo"}
    nothing = esearch(client, "xyzzyplugh")
    assert nothing["count"] == "0" and nothing["errorlist"]["phrasesnotfound"] == ["xyzzyplugh"]
    root = fromstring(client.get("/pubmed/esearch.fcgi", params={"term": "graphene"}).content)
    assert [root.findtext("Count"), len(root.findall("IdList/Id"))] == ["3", 3]


def test_pubmed_summaries_are_a_map_beside_the_order_of_ids(client: httpx.Client) -> None:
    """Each record carries its identifiers; one that is not there says so in its own place. POST works like GET."""
    answer = client.post("/pubmed/esummary.fcgi", data={"db": "pubmed", "id": "22745249,1", "retmode": "json"})
    result = answer.json()["result"]
    assert result["uids"] == ["22745249", "1"] and "error" in result["1"]
    record = result["22745249"]
    assert (record["pubdate"], record["sortpubdate"]) == ("2012 Aug 17", "2012/08/17 00:00")
    assert record["authors"][4]["name"] == "Doudna JA" and record["title"].endswith("immunity.")
    assert {"idtype": "doi", "idtypen": 3, "value": "10.1126/science.1225829"} in record["articleids"]
    assert answer.headers["x-ratelimit-limit"] == "3"


def test_pubmed_sends_its_records_as_xml_with_a_doctype(client: httpx.Client) -> None:
    """Markup stays in the abstract, sections have labels, groups are collective names, retractions are marked."""
    answer = client.get("/pubmed/efetch.fcgi", params={"id": "33283989,9500320,32015543", "retmode": "xml"})
    assert b"<!DOCTYPE PubmedArticleSet PUBLIC" in answer.content
    sickle, retracted, scipy = fromstring(answer.content).findall("PubmedArticle")
    labels = [text.get("Label") for text in sickle.iter("AbstractText")]
    assert labels == ["BACKGROUND", "METHODS", "RESULTS"] and sickle.find(".//AbstractText/i") is not None
    assert "Retracted Publication" in [kind.text for kind in retracted.iter("PublicationType")]
    assert retracted.find(".//CommentsCorrections[@RefType='RetractionIn']") is not None
    assert scipy.findtext(".//CollectiveName") == "SciPy 1.0 Contributors"
    assert client.get("/pubmed/efetch.fcgi").status_code == 400


def test_pubmed_refuses_an_address_that_is_too_long(client: httpx.Client) -> None:
    """Hundreds of ids in a GET are 414 and an XHTML page; the same in a POST are fine."""
    ids = ",".join(str(10_000_000 + number) for number in range(600))
    assert client.get("/pubmed/esummary.fcgi", params={"id": ids}).status_code == 414
    assert client.post("/pubmed/esummary.fcgi", data={"id": ids}).status_code == 200


def test_open_library_narrows_by_year_language_and_field(client: httpx.Client) -> None:
    """Solr-like conditions stand inside the query, or beside it as parameters."""
    assert books(client, "climate change first_publish_year:[2011 TO 2014]")["numFound"] == 2
    assert books(client, "climate first_publish_year:[* TO 2010]")["docs"][0]["title"] == "Merchants of Doubt"
    german = books(client, "solar energy language:ger", fields="title,language")["docs"]
    assert german and all("ger" in book["language"] for book in german)
    assert books(client, 'author:"Dorothy L. Sayers"')["docs"][0]["key"] == "/works/OL90000013W"
    assert books(client, "", isbn="9781492075332")["numFound"] == 1


def test_open_library_sends_only_the_fields_asked_for_and_only_those_it_has(client: httpx.Client) -> None:
    """Every key of a doc is optional; the envelope says the number found twice; pages start at one."""
    answer = books(client, "cathedral bells", fields="key,title,cover_i,isbn", limit="2")
    assert answer["numFound"] == answer["num_found"] == 3 and answer["start"] == 0 and answer["offset"] is None
    assert all(set(book) <= {"key", "title", "cover_i", "isbn"} for book in answer["docs"])
    assert books(client, "cathedral bells", limit="2", page="2")["start"] == 2
    assert "isbn" not in books(client, "Lied von der Glocke", fields="*")["docs"][0]


def test_open_library_describes_a_work_in_either_of_two_shapes(client: httpx.Client) -> None:
    """A description is a string or an object; an unknown work is a JSON 404."""
    assert client.get("/openlibrary/works/OL90000001W.json").json()["description"]["type"] == "/type/text"
    assert isinstance(client.get("/openlibrary/works/OL90000004W.json").json()["description"], str)
    missing = client.get("/openlibrary/works/OL1W.json")
    assert (missing.status_code, missing.json()["error"]) == (404, "notfound")


def test_hacker_news_tells_stories_questions_and_comments_apart(client: httpx.Client) -> None:
    """A question has no address; a comment has its story's title and address but none of its own."""
    question = hackernews(client, query="debug asyncio production", tags="ask_hn")["hits"][0]
    assert "url" not in question and "&#x27;" in question["story_text"]
    comment = hackernews(client, query="cathedral bells", tags="comment")["hits"][0]
    assert comment["story_title"].startswith("The physics of cathedral bells") and not {"title", "url"} & set(comment)
    assert "<em>cathedral</em>" in comment["_highlightResult"]["comment_text"]["value"].lower()
    assert hackernews(client, query="asyncio", tags="(story,comment),author_loopster")["nbHits"] == 2


def test_hacker_news_filters_by_time_and_pages_from_zero(client: httpx.Client) -> None:
    """Numeric filters bound the creation; sorted by date the newest comes first; a bad filter is a 400."""
    start = int((datetime.now(UTC) - timedelta(days=7)).timestamp())
    recent = hackernews(client, "search_by_date", tags="story", numericFilters=f"created_at_i>={start}")["hits"]
    assert [hit["objectID"] for hit in recent] == ["90000014", "90000015", "90000016"]
    pages = [hackernews(client, tags="story", hitsPerPage="10", page=page) for page in ("0", "1")]
    assert pages[0]["nbPages"] == 2 and len(pages[0]["hits"]) == 10 and len(pages[1]["hits"]) == 6
    assert client.get("/hackernews/search", params={"numericFilters": "age~3"}).status_code == 400


def test_what_matches_nothing_is_found_nowhere(client: httpx.Client) -> None:
    """A word that stands in no item finds nothing in any format."""
    assert serper(client, "search", q="xyzzyplugh")["organic"] == []
    assert works(client, search="xyzzyplugh")["meta"]["count"] == 0
    assert arxiv_ids(feed(client, search_query="all:xyzzyplugh")) == []
    assert books(client, "xyzzyplugh")["docs"] == [] and hackernews(client, query="xyzzyplugh")["hits"] == []


@pytest.mark.parametrize(
    ("recording", "key", "kind", "query"),
    [
        ("images_lion.json", "images", "images", "cathedral bells"),
        ("news_tesla.json", "news", "news", "climate change"),
        ("doc_scholar.json", "organic", "scholar", "attention"),
    ],
)
def test_serper_s_items_have_the_keys_of_recorded_ones(
    client: httpx.Client, recording: str, key: str, kind: str, query: str
) -> None:
    """What the real service sends in every item, the simulator sends too."""
    real = json.loads(payload("serper", recording))[key]
    always = set.intersection(*(set(item) for item in real)) - {"imageUrl"}
    assert always <= set(serper(client, kind, q=query)[key][0])


def test_the_other_formats_have_no_keys_that_recorded_answers_lack(client: httpx.Client) -> None:
    """Nothing is invented: every key of an answer stands in a recording of the real service."""
    hit = json.loads(payload("wikipedia", "search_2026_continue.json"))["query"]["search"][0]
    assert set(wikipedia(client, list="search", srsearch="bell")["query"]["search"][0]) == set(hit)
    work = json.loads(payload("openalex", "works_title_search.json"))["results"][0]
    assert set(works(client, search="graphene")["results"][0]) <= set(work)
    record = json.loads(payload("pubmed", "esummary_json.json"))["result"]["17375194"]
    ours = client.get("/pubmed/esummary.fcgi", params={"id": "22745249"}).json()["result"]["22745249"]
    assert set(ours) <= set(record)
    envelope = json.loads(payload("openlibrary", "search_fields_harry_potter.json"))
    assert set(books(client, "bells")) == set(envelope)
    for recording, tags in (("search_story_url.json", "story"), ("search_comment_hit.json", "comment")):
        real = json.loads(payload("hackernews", recording))["hits"][0]
        assert set(hackernews(client, query="cathedral", tags=tags)["hits"][0]) == set(real) - {"children"}


def test_arxiv_s_entries_have_the_elements_of_recorded_ones(client: httpx.Client) -> None:
    """Feed and entries hold the same elements in the same order as the server of 2026 writes them."""
    real, ours = fromstring(payload("arxiv", "search_page1.xml")), feed(client, search_query="all:graphene")
    assert [child.tag for child in ours][:7] == [child.tag for child in real][:7]
    order = list(dict.fromkeys(child.tag for entry in real.findall("a:entry", ATOM) for child in entry))
    for entry in ours.findall("a:entry", ATOM):
        assert {child.tag for child in entry} <= set(order)
