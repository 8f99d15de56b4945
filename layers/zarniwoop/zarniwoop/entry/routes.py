"""Every route of the REST API, named here and nowhere else; `POST /v1/tools/<tool>` comes of the tools' registry.

`docs/openapi.json` and the table in `docs/api.md` are made of this tuple (`make docs`), and template, authorizer and
handlers are checked against it. It imports whatever can be asked or answered, so no function imports it.
"""

from dataclasses import dataclass
from typing import Any, get_args

from zarniwoop.dispatch.trial.draft import TrialReport
from zarniwoop.entry.catalogue import ToolsAsked
from zarniwoop.entry.content import ContentAnswer, ContentAsked
from zarniwoop.entry.documents import DocumentsListed, DocumentsPage
from zarniwoop.entry.evidence import EvidenceAsked, EvidenceNamed, EvidenceWithText
from zarniwoop.entry.insights import InsightsAnswer, InsightsAsked
from zarniwoop.entry.openapi import ProtectedResource
from zarniwoop.entry.results import ResultsAsked
from zarniwoop.entry.route import (
    OF_CHANGES,
    OF_TOOLS,
    OF_TRIALS,
    TO_ANYBODY,
    TO_BODIES,
    TO_TOKENS,
    Answer,
    Route,
    RpcAnswer,
    RpcMessage,
    ToolList,
)
from zarniwoop.entry.runs import RunArtifacts, RunNamed, RunsListed, RunsPage, RunWatched
from zarniwoop.entry.settings_operations import (
    DraftTested,
    SecretRevealed,
    SecretShown,
    SettingsDeleted,
    SettingsSaved,
    SettingsTold,
)
from zarniwoop.entry.usage import UsageAsked
from zarniwoop.evidence.verify import Verification
from zarniwoop.pipelines.usage.report import Usage
from zarniwoop.settings.form import SettingsForm
from zarniwoop.settings.view import SettingsView
from zarniwoop.stores.tokens import SETTINGS, SETTINGS_LEVEL
from zarniwoop.tools.arguments import ToolArguments
from zarniwoop.tools.dry_run import DryRun
from zarniwoop.tools.evidence_answers import EvidenceListed, EvidenceRead
from zarniwoop.tools.registry import TOOLS
from zarniwoop.tools.result_read import Continued
from zarniwoop.tools.run_report import RunAccepted, RunReport
from zarniwoop.tools.tool import Tool


def _tool(tool: Tool[Any]) -> Route:
    return Route(
        name=tool.name,
        method="POST",
        path=f"/v1/tools/{tool.name}",
        function=tool.name,
        summary=tool.title,
        description=tool.description,
        arguments=tool.arguments,
        in_body=True,
        headers=("Idempotency-Key", "X-Deadline-Ms"),
        right=tool.name,
        level=tool.level,
        answer=tool.answer | (tool.forecast or DryRun),
        accepts=RunAccepted in get_args(tool.answer),
        problems=(*TO_TOKENS, *TO_BODIES, *OF_TOOLS),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Api:
    """What the routes of a function have in common."""

    function: str
    right: str | None
    level: int = 1

    def route(
        self,
        name: str,
        at: str,
        summary: str,
        arguments: type[ToolArguments],
        answer: Answer,
        *problems: str,
        in_body: bool = False,
        headers: tuple[str, ...] = (),
    ) -> Route:
        """`at` is method and path."""
        method, path = at.split(" ")
        return Route(
            name=name,
            method=method,
            path=path,
            function=self.function,
            summary=summary,
            arguments=arguments,
            in_body=in_body,
            headers=headers,
            answer=answer,
            problems=(*TO_TOKENS, *(TO_BODIES if in_body else ()), *problems),
            right=self.right,
            level=self.level,
        )


_RUNS = _Api(function="runs", right="research_investigate")
_RESULTS = _Api(function="results", right=None)
_EVIDENCE = _Api(function="evidence", right="evidence_store")
_DOCUMENTS = _Api(function="documents", right="research_search")
_USAGE = _Api(function="usage", right="research_providers")
_SETTINGS = _Api(function="settings", right=SETTINGS, level=SETTINGS_LEVEL)


def _mcp(name: str, method: str, summary: str) -> Route:
    answers = method == "POST"
    return Route(
        name=name,
        method=method,
        path="/mcp",
        function="mcp",
        summary=summary,
        arguments=RpcMessage if answers else None,
        in_body=answers,
        answer=RpcAnswer if answers else None,
        accepts=answers,
        problems=(*TO_TOKENS, *TO_BODIES, "not-acceptable", "unknown")
        if answers
        else (*TO_TOKENS, "method-not-allowed"),
        envelope=False,
        rpc=True,
    )


def _public(name: str, path: str, summary: str, answer: Answer | None, media_type: str = "application/json") -> Route:
    return Route(
        name=name,
        method="GET",
        path=path,
        function="openapi",
        summary=summary,
        answer=answer,
        problems=TO_ANYBODY,
        public=True,
        envelope=False,
        media_type=media_type,
    )


ROUTES: tuple[Route, ...] = (
    Route(
        name="tools_list",
        method="GET",
        path="/v1/tools",
        function="tools",
        summary="List the tools that the token may use, in the shape that a model reads",
        arguments=ToolsAsked,
        answer=ToolList,
        problems=TO_TOKENS,
        envelope=False,
    ),
    *map(_tool, TOOLS),
    _RUNS.route("runs_list", "GET /v1/runs", "List the project's runs, the newest first", RunsListed, RunsPage),
    _RUNS.route(
        "run_get", "GET /v1/runs/{run_id}", "Watch a run, or read its result", RunWatched, RunReport, "unknown-run"
    ),
    _RUNS.route(
        "run_stop",
        "POST /v1/runs/{run_id}/stop",
        "Stop a run, and keep what it has found",
        RunNamed,
        RunReport,
        *("unknown-run", "run-ended"),
    ),
    _RUNS.route(
        "run_artifacts",
        "GET /v1/runs/{run_id}/artifacts",
        "Link to the files of a run",
        RunNamed,
        RunArtifacts,
        "unknown-run",
    ),
    _RUNS.route(
        "content_get",
        "GET /v1/content/{sha256}",
        "Read a body that a run has loaded, in stretches",
        ContentAsked,
        ContentAnswer,
        "unknown-content",
    ),
    _RUNS.route(
        "insights_get",
        "GET /v1/insights",
        "Read the entities and relations of the project's runs",
        InsightsAsked,
        InsightsAnswer,
        *("no-insights", "insights-changed", "insights-illegible"),
    ),
    _RESULTS.route(
        "results_get",
        "GET /v1/results/{handle}",
        "Read the hits that did not fit into an answer",
        ResultsAsked,
        Continued,
        "unknown-result",
    ),
    _EVIDENCE.route(
        "evidence_list", "GET /v1/evidence", "List what the project has read", EvidenceAsked, EvidenceListed
    ),
    _EVIDENCE.route(
        "evidence_get",
        "GET /v1/evidence/{evidence_id}",
        "Read an evidence with its text",
        EvidenceWithText,
        EvidenceRead,
        "unknown-evidence",
    ),
    _EVIDENCE.route(
        "evidence_verify",
        "POST /v1/evidence/{evidence_id}/verify",
        "Fetch the page again and tell whether it still says so",
        EvidenceNamed,
        Verification,
        *("unknown-evidence", "fetcher-unavailable"),
    ),
    _DOCUMENTS.route(
        "documents_list",
        "GET /v1/documents",
        "See what became of the project's documents",
        DocumentsListed,
        DocumentsPage,
    ),
    _USAGE.route("usage_get", "GET /v1/usage", "Sum up what was asked of whom, and what it cost", UsageAsked, Usage),
    _SETTINGS.route(
        "settings_get",
        "GET /v1/settings",
        "See what is in force, and at which level it stands",
        ToolArguments,
        SettingsView,
    ),
    _SETTINGS.route("settings_form", "GET /v1/settings/form", "Read the form as data", ToolArguments, SettingsForm),
    _SETTINGS.route(
        "settings_save",
        "PUT /v1/settings",
        "Save settings, or take them away",
        SettingsSaved,
        SettingsTold,
        *OF_CHANGES,
        in_body=True,
        headers=("If-Match",),
    ),
    _SETTINGS.route(
        "settings_delete",
        "DELETE /v1/settings/{name}",
        "Delete a setting, or an endpoint",
        SettingsDeleted,
        SettingsTold,
        *("unknown", *OF_CHANGES),
        headers=("If-Match",),
    ),
    _SETTINGS.route(
        "settings_test",
        "POST /v1/settings/endpoints/{endpoint_id}/test",
        "Try an endpoint out before it is saved",
        DraftTested,
        TrialReport,
        *("saved-key-kept-back", "address-refused", "masked-secret", *OF_TRIALS),
        in_body=True,
    ),
    _SETTINGS.route(
        "settings_reveal",
        "POST /v1/settings/reveal",
        "See a saved key whole, where the stack allows it",
        SecretRevealed,
        SecretShown,
        *("reveal-off", "unknown"),
        in_body=True,
    ),
    _mcp("mcp", "POST", "Speak the Model Context Protocol (streamable HTTP, stateless)"),
    _mcp("mcp_stream", "GET", "Refused: there is no stream"),
    _mcp("mcp_session", "DELETE", "Refused: there is no session"),
    _public("openapi", "/openapi.json", "Read the OpenAPI document", dict[str, Any]),
    _public("docs", "/docs", "Read it as a page, and try it out", None, "text/html"),
    _public(
        "protected_resource",
        "/.well-known/oauth-protected-resource",
        "See who issues tokens (RFC 9728)",
        ProtectedResource,
    ),
    _public(
        "protected_resource_mcp",
        "/.well-known/oauth-protected-resource/mcp",
        "See who issues tokens for the MCP server (RFC 9728)",
        ProtectedResource,
    ),
)
