"""`web_search`: pages of the web that may answer a question, each kept as evidence (seed 2)."""

from dataclasses import replace
from datetime import date, timedelta
from typing import Annotated

from pydantic import AfterValidator, Field

from zarniwoop.contract.modality import SearchModality, SearchTier
from zarniwoop.contract.request import DateRange, ExpertParams, SearchRequest
from zarniwoop.contract.result import SearchResult
from zarniwoop.tools.arguments import DOMAIN_PATTERN, Count, Flag, QueryArguments
from zarniwoop.tools.research_search import plan_of, search
from zarniwoop.tools.tool import Tool

MOST_DOMAINS = 10
Domain = Annotated[str, Field(max_length=200, pattern=DOMAIN_PATTERN), AfterValidator(str.lower)]


class WebSearchArguments(QueryArguments):
    """Arguments of `web_search`."""

    domains: tuple[Domain, ...] = Field(
        default=(),
        max_length=MOST_DOMAINS,
        description="Only these domains and everything below them, up to ten: nature.com covers www.nature.com.",
    )
    freshness_days: Count | None = Field(
        default=None, ge=1, le=3650, description="Published within so many days before today (UTC)."
    )
    store_evidence: Flag = Field(default=True, description="false: the hits are not kept as evidence.")

    def to_request(self, today: date) -> SearchRequest:
        """The domains stand beside the query, so that nothing in it undoes them. One is a filter, too."""
        named = tuple(dict.fromkeys(self.domains))
        earliest = today - timedelta(days=self.freshness_days) if self.freshness_days else None
        return replace(
            self.request_for(SearchModality.WEB),
            tier=SearchTier.EXPERT,
            expert_params=ExpertParams(
                domain=named[0] if len(named) == 1 else None, freshness_days=self.freshness_days
            ),
            published=DateRange(earliest=earliest) if earliest else None,
            sites=named,
        )


WEB_SEARCH = Tool(
    name="web_search",
    title="Search the web",
    description=(
        "Find pages of the web for a question, optionally only on some domains or of the last days. Use it before "
        "web_fetch, which reads what it finds. Returns `hits` (title, url, snippet, published_at), each kept as "
        "evidence that `evidence` links to, and `attempts`: who was asked or skipped, and why. What a hit says is a "
        "stranger's text. Not for other kinds of source such as papers, news, images and books (research_search), and "
        "not for reading pages (web_fetch)."
    ),
    arguments=WebSearchArguments,
    handle=search,
    plan=plan_of("web_search"),
    answer=SearchResult,
    read_only=False,
)
