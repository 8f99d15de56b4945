"""The other side of a benchmark: fixed answers from memory, on loopback, counting requests and connections.

`python -m tests.benchmarks.origin` prints its port and serves until its standard input closes. It answers as Serper,
NCBI, a 200 MB gzip bomb, floods without an end (`/flood/<name>`), DynamoDB and Parameter Store; a path under `/slow`
is answered after 50 ms, one under `/hang` after 20 s. Brave, Exa and Tavily, each under its name, have the pages of
Serper.
"""

import asyncio
import os
import sys
from collections import Counter

import orjson

from tests.benchmarks import answers

SLOW_SECONDS = 0.05
HANG_SECONDS = 20.0


class Origin:
    """Answers by path, or by `X-Amz-Target`."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.bodies = {f"/{kind}": answers.serper(kind) for kind in ("search", "images", "videos", "news")}
        self.bodies |= {
            "/brave/res/v1/web/search": answers.brave(),
            "/exa/search": answers.tavily(),
            "/tavily/search": answers.tavily(),
        }
        self.bodies["/esearch.fcgi"] = answers.esearch()
        self.bodies["/esummary.fcgi"] = answers.esummary()
        self.bomb = answers.bomb()
        self.floods = answers.floods()
        self.port = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.counts["connections"] += 1
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                length = int(_header(head, b"content-length") or 0)
                if length:
                    await reader.readexactly(length)
                path = head.split(b" ", 2)[1].decode().partition("?")[0]
                for prefix, seconds in (("/slow", SLOW_SECONDS), ("/hang", HANG_SECONDS)):
                    if path.startswith(prefix):
                        path = path.removeprefix(prefix)
                        await asyncio.sleep(seconds)
                if path.startswith("/flood/"):
                    await self.flood(path.removeprefix("/flood/"), writer)
                writer.write(self.answer(path, (_header(head, b"x-amz-target") or b"").decode()))
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    async def flood(self, name: str, writer: asyncio.StreamWriter) -> None:
        """Until the other side hangs up, which raises."""
        opening, wave = self.floods[name]
        writer.write(opening)
        while True:
            writer.write(wave)
            await writer.drain()

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
            return answers.parameters(self.port)
        if operation == "GetParameter":
            return (
                b'{"Parameter": {"Name": "n", "Type": "SecureString", "Value": "bench-key-0123456789", "Version": 1}}'
            )
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
