"""Evidence: listed, read to the last character, cited, and looked at again where it came from."""

from collections.abc import Sequence
from typing import Unpack

from zarniwoop_client.answer import Answer
from zarniwoop_client.api import segments
from zarniwoop_client.exchange import Flow, Give, Stream
from zarniwoop_client.operation import Operation, Streaming
from zarniwoop_client.options import Options
from zarniwoop_client.results.evidence import Citations, Evidence, EvidenceListed, EvidenceRead, Verification
from zarniwoop_client.surface import Surface, reader


class EvidenceMethods(Surface):
    """`client.evidence`."""

    @Operation
    def list(
        self,
        *,
        task_id: str | None = None,
        url: str | None = None,
        limit: int | None = None,
        page_token: str | None = None,
        **options: Unpack[Options],
    ) -> Flow[Answer[EvidenceListed]]:
        """A page of what the project has read, the newest first."""
        given = {"task_id": task_id, "url": url, "limit": limit, "page_token": page_token, **options}
        return self._api.get("/v1/evidence", given, reader(EvidenceListed))

    @Streaming
    def each(
        self,
        *,
        task_id: str | None = None,
        url: str | None = None,
        limit: int | None = None,
        **options: Unpack[Options],
    ) -> Stream[Evidence]:
        """All of it, page after page; `limit` is how many a page holds."""
        page_token: str | None = None
        while True:
            given = {"task_id": task_id, "url": url, "limit": limit, "page_token": page_token, **options}
            page = yield from self._api.get("/v1/evidence", given, reader(EvidenceListed))
            for evidence in page.data.evidence:
                yield Give(evidence)
            page_token = page.data.next_page_token
            if page_token is None:
                return

    @Operation
    def get(
        self,
        evidence_id: str,
        *,
        offset: int | None = None,
        text_chars: int | None = None,
        **options: Unpack[Options],
    ) -> Flow[Answer[EvidenceRead]]:
        """One with its text from `offset` on, fenced: a stranger's words."""
        path = segments("/v1/evidence/{evidence_id}", evidence_id=evidence_id)
        return self._api.get(path, {"offset": offset, "text_chars": text_chars, **options}, reader(EvidenceRead))

    @Streaming
    def read(
        self, evidence_id: str, *, text_chars: int | None = None, **options: Unpack[Options]
    ) -> Stream[EvidenceRead]:
        """Its whole text, stretch after stretch; `text_chars` is how long each may be."""
        path, offset = segments("/v1/evidence/{evidence_id}", evidence_id=evidence_id), 0
        while True:
            given = {"offset": offset, "text_chars": text_chars, **options}
            stretch = yield from self._api.get(path, given, reader(EvidenceRead))
            yield Give(stretch.data)
            if stretch.data.next_offset is None or stretch.data.next_offset <= offset:
                return
            offset = stretch.data.next_offset

    @Operation
    def cite(
        self,
        ids: Sequence[str],
        *,
        format: str | None = None,  # noqa: A002 - the API's own name for it
        **options: Unpack[Options],
    ) -> Flow[Answer[Citations]]:
        """References in that order: `markdown`, `bibtex` or `csl-json`."""
        given = {"action": "cite", "ids": ids, "format": format, **options}
        return self._api.tool("evidence_store", given, reader(Citations))

    @Operation
    def verify(self, evidence_id: str, **options: Unpack[Options]) -> Flow[Answer[Verification]]:
        """Fetch its page again: is it unchanged, drifted, gone or unknown, and do its quotes stand? Stores nothing."""
        path = segments("/v1/evidence/{evidence_id}/verify", evidence_id=evidence_id)
        return self._api.post(path, dict(options), reader(Verification))
