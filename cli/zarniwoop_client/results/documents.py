"""Documents: what became of each of a project's own."""

from zarniwoop_client.results.record import Record


class DocumentRecord(Record):
    """`reason` is a word of a closed set, and `explanation` says what to do. `day` is what date filters compare."""

    name: str
    status: str
    size: int
    modified: str
    reason: str | None = None
    explanation: str | None = None
    filetype: str | None = None
    title: str | None = None
    day: str | None = None
    passages: int = 0
    indexed_at: float | None = None


class Manifest(Record):
    """Which index is served, and what is in it. `revision` grows with every switch, so no two manifests are equal."""

    revision: int
    version: str | None
    size: int = 0
    documents: int = 0
    passages: int = 0
    refused: int = 0
    built_at: float = 0.0


class DocumentsPage(Record):
    """`place` is where documents are put; `index` tells what is served now, None where nothing is yet."""

    documents: tuple[DocumentRecord, ...]
    next_after: str | None
    place: str
    index: Manifest | None
