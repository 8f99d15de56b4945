"""Every kind of problem that an answer may name, and the status lines that it comes with.

A kind is the last part of a problem's `type` (`urn:zarniwoop:problem:<slug>`, RFC 9457). One of status 200 is told of a
request that was right and could not be served: it stands beside `data`, which has the account of who was asked. The
gateway's own refusals are of the same kinds, in the same envelope. A house rule compares this with the code.
"""

from dataclasses import dataclass

TYPE_PREFIX = "urn:zarniwoop:problem:"


@dataclass(frozen=True, slots=True)
class ProblemKind:
    slug: str
    statuses: tuple[int, ...]
    meaning: str

    @property
    def type(self) -> str:
        return TYPE_PREFIX + self.slug


PROBLEMS: tuple[ProblemKind, ...] = (
    ProblemKind("bad-request", (400,), "The request cannot be served as it is."),
    ProblemKind("invalid-argument", (400, 422), "An argument is not valid; `field` names it."),
    ProblemKind("no-project-scope", (400,), "The token has several projects, and the request names none."),
    ProblemKind("address-refused", (400,), "A setting names an address that this stack must not reach."),
    ProblemKind("masked-secret", (400,), "A key was sent as the mask that it is shown by."),
    ProblemKind("saved-key-kept-back", (400,), "A saved key is not sent to another address than it was saved for."),
    ProblemKind("level-full", (400,), "The level has as many settings as it can hold."),
    ProblemKind("unauthorized", (401,), "The token is missing, malformed, unknown, revoked or expired."),
    ProblemKind("not-allowed", (401, 403), "The token's level, tools or projects do not cover this."),
    ProblemKind("token-without-plan", (403,), "The key that the token's usage plan counts by is gone."),
    ProblemKind("filtered", (403,), "The firewall in front of the API refused the request."),
    ProblemKind("bad-signature", (403,), "The request is signed for AWS; this API takes bearer tokens."),
    ProblemKind("reveal-off", (403,), "This stack does not show saved keys."),
    ProblemKind("unknown-route", (404,), "There is no such route."),
    ProblemKind("unknown-tool", (404,), "There is no such tool; told of events only."),
    ProblemKind("unknown", (404,), "There is no such thing."),
    ProblemKind("unknown-run", (404,), "The project has no such run."),
    ProblemKind("unknown-result", (404,), "The project has nothing under this handle (any more)."),
    ProblemKind("unknown-content", (404,), "The project has no such content (any more)."),
    ProblemKind("unknown-evidence", (404,), "The project has no such evidence (any more)."),
    ProblemKind("no-insights", (404,), "The project has no insights."),
    ProblemKind("method-not-allowed", (405,), "The address takes no request of this method; told of /mcp only."),
    ProblemKind("not-acceptable", (406,), "The request does not accept JSON; told of /mcp only."),
    ProblemKind("conflict", (409,), "The same request is already under way."),
    ProblemKind("run-ended", (409,), "The run has ended: there is nothing to stop."),
    ProblemKind("insights-changed", (409,), "The insights have changed since the version that was named."),
    ProblemKind("insights-illegible", (409,), "The stored insights cannot be read."),
    ProblemKind("settings-changed", (409,), "Somebody else has changed these settings since they were read."),
    ProblemKind("settings-busy", (409,), "Somebody else is changing settings of this tenant."),
    ProblemKind("half-saved", (400, 409, 503, 507), "Only some of the settings were saved; `data` says which."),
    ProblemKind("key-needed", (409,), "A new address or protocol needs the key to be sent along."),
    ProblemKind("body-too-large", (413,), "The body is larger than 256 KiB."),
    ProblemKind("too-large", (413,), "The request is larger than the gateway takes."),
    ProblemKind("unsupported-media-type", (415,), "The body is not sent as JSON."),
    ProblemKind("answer-too-large", (422,), "The answer is larger than whoever asked can take; told over MCP only."),
    ProblemKind("version-missing", (428,), "A change of settings must name the version that it changes."),
    ProblemKind("throttled", (200, 429, 503), "Too many requests at once, here or at a provider."),
    ProblemKind("quota-exceeded", (429,), "The token has sent as many requests as it may in a day."),
    ProblemKind("internal", (200, 500), "A fault of ours, or of an add-on."),
    ProblemKind("unready", (502, 503), "The service cannot answer right now."),
    ProblemKind("config-unavailable", (503,), "The settings cannot be read right now."),
    ProblemKind("stack-misconfigured", (503,), "A parameter of the stack cannot be read."),
    ProblemKind("fetcher-unavailable", (503,), "Pages cannot be fetched right now."),
    ProblemKind("out-of-time", (200, 504), "There was no time left."),
    ProblemKind("parameter-limit-reached", (507,), "Parameter Store takes no further setting."),
    ProblemKind("exhausted", (200, 503), "A credit limit is used up."),
    ProblemKind("budget", (200, 503), "A budget is used up."),
    ProblemKind("no-endpoint", (200,), "No endpoint serves the modality."),
    ProblemKind("only-metered", (200,), "Only endpoints that cost money would answer."),
    ProblemKind("disabled", (200,), "Every endpoint is switched off."),
    ProblemKind("all-cooling", (200,), "Every endpoint is cooling down."),
    ProblemKind("all-failed", (200,), "Every endpoint that was asked failed."),
    ProblemKind("declined", (200,), "The providers declined the filters or the modality."),
    ProblemKind("not-cached", (200,), "There is no kept answer, and only such a one was asked for."),
    ProblemKind("no-page-read", (200,), "No page could be read."),
    ProblemKind("run-failed", (200,), "The run failed; `data` has what was found."),
    ProblemKind("run-timed-out", (200,), "The run took too long; `data` has what was found."),
    ProblemKind("query-rejected", (200,), "The provider rejects the query."),
    ProblemKind("credentials-rejected", (200,), "The provider refuses the key."),
    ProblemKind("quota-exhausted", (200,), "The plan at the provider is used up."),
    ProblemKind("access-refused", (200,), "The provider refuses access."),
    ProblemKind("misconfigured", (200,), "A setting does not fit the provider."),
    ProblemKind("rate-limited", (200,), "The provider says to slow down."),
    ProblemKind("provider-unavailable", (200,), "The provider cannot be reached."),
    ProblemKind("malformed-answer", (200,), "What answers does not speak the provider's protocol."),
    ProblemKind("provider-error", (200,), "The provider failed."),
)
