"""A method for every tool of the API, and what concerns all of them: the catalogue, plain calls and dry runs."""

from collections.abc import Sequence
from dataclasses import replace
from difflib import get_close_matches
from typing import Any, TypeVar, Unpack

from zarniwoop_client.answer import Answer
from zarniwoop_client.exchange import Flow
from zarniwoop_client.operation import Operation
from zarniwoop_client.options import (
    BoundedOptions,
    EvidenceStoreOptions,
    ExpertOptions,
    FetchOptions,
    GeoOptions,
    InvestigateOptions,
    Options,
    RunStatusOptions,
    SearchOptions,
    WebSearchOptions,
)
from zarniwoop_client.problems import NotFound
from zarniwoop_client.results.continued import Continued
from zarniwoop_client.results.evidence import Citations, EvidenceListed, EvidenceRead
from zarniwoop_client.results.pages import FetchedPages
from zarniwoop_client.results.places import Places
from zarniwoop_client.results.plans import DryRun, FetchPlan
from zarniwoop_client.results.providers import ProvidersReport
from zarniwoop_client.results.runs import RunAccepted, RunReport
from zarniwoop_client.results.searches import RichResult, SearchResult
from zarniwoop_client.surface import Surface, as_json, either, reader

T = TypeVar("T")
_RUN = either(lambda data: "created_at" in data, RunReport, RunAccepted)
_PLAN = either(lambda data: "pages" in data, FetchPlan, DryRun)
_STORED = {"list": reader(EvidenceListed), "get": reader(EvidenceRead), "cite": reader(Citations)}


class ToolMethods(Surface):
    """Each raises ZarniwoopError when the answer is not ok; `error.answer.data` has what came along."""

    @Operation
    def call(self, tool: str, /, **arguments: Any) -> Flow[Answer[Any]]:
        """Any tool by its name, also one that this client does not know; `data` is plain JSON."""
        return _told_apart(tool, self._api.tool(tool, arguments, as_json))

    @Operation
    def plan(self, tool: str, /, **arguments: Any) -> Flow[Answer[DryRun | FetchPlan]]:
        """What that call would do and take at most (`dry_run`). Nobody is asked, nothing is spent."""
        return _told_apart(tool, self._api.tool(tool, {**arguments, "dry_run": True}, _PLAN))

    @Operation
    def search(self, query: str, modality: str = "WEB", **options: Unpack[SearchOptions]) -> Flow[Answer[SearchResult]]:
        """`research_search`: a hit list for a query and a modality (WEB, NEWS, ACADEMIC, …)."""
        return self._api.tool(
            "research_search", {"query": query, "modality": modality, **options}, reader(SearchResult)
        )

    @Operation
    def search_expert(
        self, query: str, modality: str = "WEB", **options: Unpack[ExpertOptions]
    ) -> Flow[Answer[SearchResult]]:
        """`research_search_expert`: the same with filters, or with one pinned provider."""
        return self._api.tool(
            "research_search_expert", {"query": query, "modality": modality, **options}, reader(SearchResult)
        )

    @Operation
    def rich(self, query: str, **options: Unpack[SearchOptions]) -> Flow[Answer[RichResult]]:
        """`research_rich`: WEB, IMAGE, VIDEO and NEWS of one query at once."""
        return self._api.tool("research_rich", {"query": query, **options}, reader(RichResult))

    @Operation
    def investigate(self, question: str, **options: Unpack[InvestigateOptions]) -> Flow[Answer[RunAccepted]]:
        """`research_investigate`: start a run. `data` is its receipt, or a RunReport if it ended within `wait` seconds.

        It bears an idempotency key, so that a repeated request never starts a second run. Then `client.wait_for(run)`.
        """
        return self._api.tool("research_investigate", {"question": question, **options}, _RUN)

    @Operation
    def providers(
        self, provider_id: str | None = None, *, detail: bool | None = None, **options: Unpack[BoundedOptions]
    ) -> Flow[Answer[ProvidersReport]]:
        """`research_providers`: every provider instance with its state, or all about one."""
        given = {"provider_id": provider_id, "detail": detail, **options}
        return self._api.tool("research_providers", given, reader(ProvidersReport))

    @Operation
    def web_search(self, query: str, **options: Unpack[WebSearchOptions]) -> Flow[Answer[SearchResult]]:
        """`web_search`: pages of the web, each kept as evidence."""
        return self._api.tool("web_search", {"query": query, **options}, reader(SearchResult))

    @Operation
    def fetch(self, urls: str | Sequence[str], **options: Unpack[FetchOptions]) -> Flow[Answer[FetchedPages]]:
        """`web_fetch`: up to ten pages as Markdown, text, markup or links, kept as evidence."""
        named = [urls] if isinstance(urls, str) else list(urls)
        return self._api.tool("web_fetch", {"urls": named, **options}, reader(FetchedPages))

    @Operation
    def geo(self, query: str, **options: Unpack[GeoOptions]) -> Flow[Answer[Places]]:
        """`geo_resolve`: a name, an address or coordinates to places."""
        return self._api.tool("geo_resolve", {"query": query, **options}, reader(Places))

    @Operation
    def evidence_store(
        self, action: str = "list", **options: Unpack[EvidenceStoreOptions]
    ) -> Flow[Answer[EvidenceListed | EvidenceRead | Citations]]:
        """`evidence_store`: list, get or cite evidence; `client.evidence` has a method for each."""
        read: Any = _STORED.get(action, as_json)
        return self._api.tool("evidence_store", {"action": action, **options}, read)

    @Operation
    def run_status(self, run_id: str, **options: Unpack[RunStatusOptions]) -> Flow[Answer[RunReport]]:
        """`run_status`: how far a run is; the same as `client.runs.get` for tokens that may only use tools."""
        return self._api.tool("run_status", {"run_id": run_id, **options}, reader(RunReport))

    @Operation
    def result_read(
        self, handle: str, *, max_chars: int | None = None, **options: Unpack[Options]
    ) -> Flow[Answer[Continued]]:
        """`result_read`: what did not fit into an answer; `client.pages(answer)` reads it to its end."""
        return self._api.tool("result_read", {"handle": handle, "max_chars": max_chars, **options}, reader(Continued))

    @Operation
    def tools(
        self,
        format: str | None = None,  # noqa: A002 - the API's own name for it
        *,
        strict: bool | None = None,
        tools: str | None = None,
    ) -> Flow[Answer[Any]]:
        """The tools that the token may use: `data["tools"]`, in the shape that a model reads (`openai`, `mcp`, …).

        `strict`: as the strict mode of openai, anthropic and bedrock takes them; those that one request could not have
        strict stand in `data["not_strict"]`. `tools`: these alone, names with a comma between them, first strict first.
        """
        given = {"format": format, "strict": strict, "tools": tools, "project_id": ""}
        return self._api.get("/v1/tools", given, as_json, bare=True)


METHODS = {
    "research_search": "search",
    "research_search_expert": "search_expert",
    "research_rich": "rich",
    "research_investigate": "investigate",
    "research_providers": "providers",
    "web_search": "web_search",
    "web_fetch": "fetch",
    "geo_resolve": "geo",
    "evidence_store": "evidence_store",
    "run_status": "run_status",
    "result_read": "result_read",
}
"""Which method is whose."""


def _told_apart(tool: str, flow: Flow[T]) -> Flow[T]:
    """The API has a route per tool, so that what it lacks is a route; its caller lacks a tool."""
    try:
        return (yield from flow)
    except NotFound as error:
        if error.problem.slug != "unknown-route":
            raise
        meant = get_close_matches(tool, METHODS, n=1)
        told = {
            "type": error.problem.type.replace("unknown-route", "unknown-tool"),
            "title": "There is no such tool",
            "detail": f"there is no tool of this name{f'; did you mean {meant[0]}?' if meant else ''}",
            "suggested_action": "tools() lists those that your token may use",
        }
        problem = error.problem.model_copy(update=told)
        raise NotFound(problem, replace(error.answer, error=problem)) from error
