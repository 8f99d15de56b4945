"""The other side of a benchmark: fixed answers from memory, on loopback, counting requests and connections.

`python -m tests.benchmarks.origin` prints its port and serves until its standard input closes. It answers as Serper, NCBI,
a 200 MB gzip bomb, DynamoDB and Parameter Store; `?delay_ms=` in a path's query, or `/slow/…`, delays an answer.
"""

import asyncio
import gzip
import os
import sys
from collections import Counter

import orjson

SLOW_SECONDS = 0.05
BOMB_MEGABYTES = 200


def _serper(kind: str) -> bytes:
    item = {
        "title": "A bell foundry in the cathedral town, number {n}",
        "link": "https://bells.example/pages/{n}",
        "imageUrl": "https://bells.example/images/{n}.jpg",
        "snippet": "How a bell of four tonnes is cast in a pit of loam, tuned on the lathe and hung in its frame: part {n}.",
        "date": "Mar 3, 2021",
        "source": "Bells of Example",
        "position": 0,
    }
    items = [{**item, **{key: str(value).format(n=n) for key, value in item.items()}, "position": n} for n in range(1, 11)]
    return orjson.dumps({"searchParameters": {"q": "bells", "type": kind}, kind if kind != "search" else "organic": items})


def _esearch() -> bytes:
    return orjson.dumps({"esearchresult": {"count": "10", "retmax": "10", "idlist": [str(n) for n in range(31000, 31010)]}})


def _esummary() -> bytes:
    def record(uid: str) -> dict[str, object]:
        return {
            "uid": uid,
            "pubdate": "2019 Mar 21",
            "source": "J Campanol",
            "title": f"Partials of a cast bell after {uid} strokes.",
            "authors": [{"name": f"Ringer {letter}", "authtype": "Author"} for letter in "ABCDE"],
            "fulljournalname": "Journal of Campanology",
            "articleids": [
                {"idtype": "pubmed", "value": uid},
                {"idtype": "doi", "value": f"10.5555/bells.{uid}"},
            ],
            "pubtype": ["Journal Article"],
            "attributes": ["Has Abstract"],
            "lang": ["eng"],
        }

    uids = [str(n) for n in range(31000, 31010)]
    return orjson.dumps({"header": {"type": "esummary"}, "result": {"uids": uids, **{uid: record(uid) for uid in uids}}})


def _parameters(port: int) -> bytes:
    settings = {
        "research/endpoint/serper-main/protocol": "serper",
        "research/endpoint/serper-main/baseUrl": f"http://127.0.0.1:{port}",
        "research/endpoint/serper-main/apiKey": "AQICAHencrypted",
    }
    return orjson.dumps(
        {
            "Parameters": [
                {
                    "Name": f"/zarniwoop/bench/acme/_tenant/{key}",
                    "Type": "SecureString" if key.endswith("apiKey") else "String",
                    "Value": value,
                    "Version": 1,
                }
                for key, value in settings.items()
            ]
        }
    )


def _bomb() -> bytes:
    return gzip.compress(bytes(BOMB_MEGABYTES * 1024 * 1024), compresslevel=9)


class Origin:
    """Answers by path, or by `X-Amz-Target`."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.bodies = {f"/{kind}": _serper(kind) for kind in ("search", "images", "videos", "news")}
        self.bodies["/esearch.fcgi"] = _esearch()
        self.bodies["/esummary.fcgi"] = _esummary()
        self.bomb = _bomb()
        self.port = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.counts["connections"] += 1
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                length = int(_header(head, b"content-length") or 0)
                if length:
                    await reader.readexactly(length)
                path = head.split(b" ", 2)[1].decode().partition("?")[0]
                if path.startswith("/slow"):
                    path = path.removeprefix("/slow")
                    await asyncio.sleep(SLOW_SECONDS)
                writer.write(self.answer(path, (_header(head, b"x-amz-target") or b"").decode()))
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    def answer(self, path: str, target: str) -> bytes:
        if path == "/_counts":
            counts, self.counts = self.counts, Counter()
            return _response(orjson.dumps(counts))
        if target:
            self.counts[target.rpartition(".")[2]] += 1
            return _response(self._aws(target.rpartition(".")[2]))
        self.counts[path] += 1
        if path.startswith("/bomb"):
            return _response(self.bomb, b"Content-Encoding: gzip\r\n")
        return _response(self.bodies[path])

    def _aws(self, operation: str) -> bytes:
        if operation == "GetParametersByPath":
            return _parameters(self.port)
        if operation == "GetParameter":
            return b'{"Parameter": {"Name": "n", "Type": "SecureString", "Value": "bench-key-0123456789", "Version": 1}}'
        return b'{"Responses": {}, "UnprocessedKeys": {}, "UnprocessedItems": {}}'


def _header(head: bytes, name: bytes) -> bytes | None:
    for line in head.split(b"\r\n")[1:]:
        key, _, value = line.partition(b":")
        if key.lower() == name:
            return value.strip()
    return None


def _response(body: bytes, extra: bytes = b"") -> bytes:
    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n%s\r\n" % (len(body), extra)
    return head + body


async def main() -> None:
    origin = Origin()
    server = await asyncio.start_server(origin.serve, "127.0.0.1", 0)
    origin.port = server.sockets[0].getsockname()[1]
    sys.stdout.write(f"{origin.port}\n")
    sys.stdout.flush()
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    os._exit(0)


if __name__ == "__main__":
    asyncio.run(main())
