"""Pages and hits for the evidence ledger, and a web of pages that can be changed between two fetches."""

from collections.abc import Mapping
from typing import Any

from zarniwoop.contract.deadline import Deadline
from zarniwoop.contract.hit import SearchHit
from zarniwoop.contract.modality import SearchModality
from zarniwoop.contract.page import ExtractedPage, PageAnswer, PageOutcome, PageQuestion
from zarniwoop.stores.state import ProjectKey

DEMO = ProjectKey(tenant_id="acme", project_id="demo")
LAB = ProjectKey(tenant_id="acme", project_id="lab")
TEXT = "# Bells\n\nA bell of four tonnes is cast in a pit of loam.\n\nIt is tuned on the lathe — “slowly”.\n"


def page(markdown: str = TEXT, **more: Any) -> ExtractedPage:
    return ExtractedPage(**({"markdown": markdown, "extractor": "trafilatura", "title": "Bells"} | more))


def read(url: str = "https://example.com/bells", found: ExtractedPage | None = None, **more: Any) -> PageAnswer:
    """A page that was read."""
    known: dict[str, Any] = {
        "outcome": PageOutcome.OK,
        "url": url,
        "final_url": url,
        "status": 200,
        "media_type": "text/html",
        "page": found or page(),
    }
    return PageAnswer(**(known | more))


def hit(**more: Any) -> SearchHit:
    known: dict[str, Any] = {
        "title": "Bells",
        "url": "https://example.com/bells",
        "modality": SearchModality.WEB,
        "snippet": "A bell of four tonnes.",
    }
    return SearchHit(**(known | more))


class FakePages:
    """`contract.page.PageFetcher`: answers by URL; `asked` holds every question. An unknown URL is not found."""

    def __init__(self, answers: Mapping[str, PageAnswer | Exception] | None = None) -> None:
        self.answers: dict[str, PageAnswer | Exception] = dict(answers or {})
        self.asked: list[PageQuestion] = []

    def fetch(self, question: PageQuestion, *, deadline: Deadline) -> PageAnswer:
        self.asked.append(question)
        answer = self.answers.get(question.url)
        if isinstance(answer, Exception):
            raise answer
        return answer or PageAnswer(
            outcome=PageOutcome.NOT_FOUND, url=question.url, final_url=question.url, status=404, reason="status_404"
        )
