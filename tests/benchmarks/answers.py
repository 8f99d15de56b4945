"""What the origin of a benchmark answers with: bodies of an ordinary shape and size, of our own making."""

import gzip
import zlib
from typing import Any

import orjson

BOMB_MEGABYTES = 200
FLOODS = (
    "gzip", "gzip-in-gzip", "deflate", "plain", "chunks", "extensions", "headers", "one-header", "interim",
)  # fmt: skip
"""The names of `floods`, for whoever measures memory and must not make them."""

_FIELDS = ("foundry", "tower", "clapper", "peal", "frame", "lathe", "mould", "carillon", "belfry", "chime")
_SNIPPET = (
    "How a bell of four tonnes is cast in a pit of loam, tuned on the lathe and hung in its frame, told by the people "
    "of the last foundry in the valley ..."
)


def serper(kind: str) -> bytes:
    """A page of results: ten items, and on a page of web results the panels that Google puts around them."""
    items = [_item(kind, position, word) for position, word in enumerate(_FIELDS, 1)]
    asked = {"q": "cathedral bells", "type": kind, "num": 10, "page": 1, "engine": "google"}
    if kind != "search":
        return orjson.dumps({"searchParameters": asked, kind: items, "credits": 1})
    page = {"searchParameters": asked, "knowledgeGraph": _panel(), "organic": items}
    return orjson.dumps({**page, "peopleAlsoAsk": _questions(), "relatedSearches": _related(), "credits": 1})


def brave() -> bytes:
    """The same pages as Brave tells of them."""
    pages = [{"title": page["title"], "url": page["link"], "description": page["snippet"]} for page in _pages()]
    return orjson.dumps({"type": "search", "web": {"type": "search", "results": pages}})


def tavily() -> bytes:
    """The same pages as Tavily tells of them, and Exa."""
    pages = [{"title": page["title"], "url": page["link"], "content": page["snippet"]} for page in _pages()]
    return orjson.dumps({"query": "cathedral bells", "results": pages})


def hackernews() -> bytes:
    """Ten stories about pages of their own."""
    stories = [
        {"objectID": str(number), "title": f"A {word} of my own", "url": f"https://{word}.example/", "points": number}
        for number, word in enumerate(_FIELDS, 1)
    ]
    return orjson.dumps({"hits": stories, "nbHits": 4210})


def _pages() -> list[dict[str, Any]]:
    return [_item("search", position, word) for position, word in enumerate(_FIELDS, 1)]


def _item(kind: str, position: int, word: str) -> dict[str, Any]:
    item: dict[str, Any] = {
        "title": f"The cathedral {word}: its history, its sound and its keepers",
        "link": f"https://www.bells.example/cathedrals/{word}/history-and-sound",
        "snippet": _SNIPPET,
        "position": position,
    }
    if kind != "search":
        return {**item, "imageUrl": f"https://images.bells.example/{word}.jpg", "source": "Bells of Example"}
    if position % 3 == 0:
        item["date"] = f"Mar {position}, 2021"
    if position <= 2:
        pages = ("Visits", "Ringing times", "Recordings", "The casting pit")
        item["sitelinks"] = [
            {"title": page, "link": f"https://www.bells.example/{word}/{number}"} for number, page in enumerate(pages)
        ]
    return item


def _panel() -> dict[str, Any]:
    return {
        "title": "Cathedral bell",
        "type": "Musical instrument",
        "website": "https://www.bells.example/",
        "imageUrl": "https://images.bells.example/panel/the-great-bell-of-the-northern-tower.jpg",
        "description": "A cathedral bell is a large bell of cast bronze, hung in a tower, rung to call and to mourn. "
        "The largest of them weigh more than twenty tonnes, and are heard ten miles away.",
        "descriptionSource": "Encyclopedia of Example",
        "descriptionLink": "https://encyclopedia.example/wiki/Cathedral_bell",
        "attributes": {"Material": "Bronze", "Weight": "1 to 25 tonnes", "Played by": "Clapper", "Tuned": "On a lathe"},
    }


def _questions() -> list[dict[str, str]]:
    return [
        {
            "question": f"What does the {word} of a cathedral do?",
            "snippet": f"The {word} has served the ringers for eight hundred years. It carries the weight\nof the bell "
            "and, with it, the sound over the roofs of the town and the fields behind.",
            "title": f"All about the {word} - Ringers of Example",
            "link": f"https://ringers.example/questions/{word}",
        }
        for word in _FIELDS[:4]
    ]


def _related() -> list[dict[str, str]]:
    return [{"query": f"{word} of a cathedral explained"} for word in _FIELDS[:8]]


def esearch() -> bytes:
    found = {"count": "4210", "retmax": "10", "retstart": "0", "idlist": _pmids(), "translationset": []}
    return orjson.dumps({"header": {"type": "esearch", "version": "0.3"}, "esearchresult": found})


def esummary() -> bytes:
    records = {pmid: _record(pmid) for pmid in _pmids()}
    answer = {"header": {"type": "esummary", "version": "0.3"}, "result": {"uids": _pmids(), **records}}
    return orjson.dumps(answer)


def _pmids() -> list[str]:
    return [str(number) for number in range(31_000, 31_010)]


def _record(pmid: str) -> dict[str, Any]:
    return {
        "uid": pmid,
        "pubdate": "2019 Mar 21",
        "epubdate": "2019 Feb 2",
        "source": "J Campanol",
        "authors": [{"name": f"Ringer {letter}", "authtype": "Author", "clusterid": ""} for letter in "ABCDE"],
        "lastauthor": "Ringer E",
        "title": f"Partials of a cast bell after {pmid} strokes: a cohort study of four cathedral towers.",
        "sorttitle": f"partials of a cast bell after {pmid} strokes a cohort study of four cathedral towers",
        "volume": "12",
        "issue": "3",
        "pages": "201-215",
        "lang": ["eng"],
        "nlmuniqueid": "101000000",
        "issn": "1234-5678",
        "essn": "",
        "pubtype": ["Journal Article"],
        "recordstatus": "PubMed - indexed for MEDLINE",
        "pubstatus": "256",
        "articleids": [
            {"idtype": "pubmed", "idtypen": 1, "value": pmid},
            {"idtype": "doi", "idtypen": 3, "value": f"10.5555/bells.{pmid}"},
            {"idtype": "pmc", "idtypen": 8, "value": f"PMC{pmid}"},
        ],
        "history": [
            {"pubstatus": "received", "date": "2018/10/01 00:00"},
            {"pubstatus": "pubmed", "date": "2019/02/03"},
        ],
        "references": [],
        "attributes": ["Has Abstract"],
        "pmcrefcount": 4,
        "fulljournalname": "Journal of Campanology",
        "elocationid": f"doi: 10.5555/bells.{pmid}",
        "doctype": "citation",
        "srccontriblist": [],
        "booktitle": "",
        "medium": "",
        "edition": "",
        "publisherlocation": "",
        "publishername": "",
        "srcdate": "",
        "reportnumber": "",
        "availablefromurl": "",
        "locationlabel": "",
        "doccontriblist": [],
        "docdate": "",
        "bookname": "",
        "chapter": "",
        "sortpubdate": "2019/03/21 00:00",
        "sortfirstauthor": "Ringer A",
        "vernaculartitle": "",
    }


def arxiv() -> bytes:
    """A feed of ten preprints."""
    entries = "".join(_entry(number, word) for number, word in enumerate(_FIELDS))
    spaces = 'xmlns="http://www.w3.org/2005/Atom" xmlns:o="http://a9.com/-/spec/opensearch/1.1/"'
    return f"<feed {spaces}><o:totalResults>4210</o:totalResults>{entries}</feed>".encode()


def _entry(number: int, word: str) -> str:
    authors = "".join(f"<author><name>Ringer {letter}</name></author>" for letter in "ABC")
    published = f"<published>2021-01-0{number % 9 + 1}T10:00:00Z</published>"
    return (
        f"<entry><id>http://arxiv.org/abs/2101.0{number:04}v2</id>{published}"
        f"<title>Partials of the {word}</title><summary>{_SNIPPET}</summary>{authors}</entry>"
    )


def parameters(port: int) -> bytes:
    """What Parameter Store holds: one Serper endpoint at this origin."""
    settings = {
        "protocol": ("String", "serper"),
        "baseUrl": ("String", f"http://127.0.0.1:{port}"),
        "apiKey": ("SecureString", "AQICAHencrypted"),
    }
    root = "/zarniwoop/bench/acme/_tenant/research/endpoint/serper-main"
    listed = [
        {"Name": f"{root}/{name}", "Type": kind, "Value": value, "Version": 1}
        for name, (kind, value) in settings.items()
    ]
    return orjson.dumps({"Parameters": listed})


def bomb() -> bytes:
    return gzip.compress(bytes(BOMB_MEGABYTES * 1024 * 1024), compresslevel=9)


def floods() -> dict[str, tuple[bytes, bytes]]:
    """By name: how an answer begins, and what follows on it again and again, until the reader has had enough."""
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
    zeros = bytes(10_000_000)
    return {
        "gzip": (head + b"Content-Encoding: gzip\r\n\r\n", gzip.compress(zeros)),
        "gzip-in-gzip": (head + b"Content-Encoding: gzip\r\n\r\n", gzip.compress(gzip.compress(zeros) * 200)),
        "deflate": (head + b"Content-Encoding: deflate\r\n\r\n", zlib.compress(zeros)),
        "plain": (head + b"Content-Length: 2147483647\r\n\r\n", zeros[:65_536]),
        "chunks": (head + b"Transfer-Encoding: chunked\r\n\r\n", b"10000\r\n" + zeros[:65_536] + b"\r\n"),
        "extensions": (head + b"Transfer-Encoding: chunked\r\n\r\n", b"1;" + b"e" * 60_000 + b"\r\nx\r\n"),
        "headers": (head, b"".join(b"X-%d: y\r\n" % number for number in range(5_000))),
        "one-header": (head + b"X: ", b"a" * 65_536),
        "interim": (b"", b"HTTP/1.1 103 Early Hints\r\n\r\n" * 1_000),
    }
