"""Bad requests: each is a problem of its own that names the field and the way out, and nobody is asked for it."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.fakes.functions import body_of, posted
from tests.functional.deployed import Deployed, deployed, with_canary
from tests.simulator import Simulator

ASKED = {"query": "cathedral bells", "modality": "WEB", "max_results": 2}
SEVERAL = {"projects": "demo,lab"}


@pytest.fixture(scope="module")
def shared() -> Iterator[Deployed]:
    """One warm environment for all: a refusal leaves nothing behind that another could trip over."""
    with Simulator() as simulator, pytest.MonkeyPatch.context() as monkeypatch:
        wanted = with_canary(simulator, "serper-main", "openlibrary-main")
        with deployed(simulator, monkeypatch, wanted) as made:
            yield made


def _expert(**more: Any) -> dict[str, Any]:
    return posted({**ASKED, **more}, tool="research_search_expert")


REFUSED: dict[str, tuple[dict[str, Any], int, str | None]] = {
    "blank query": (_expert(query="  "), 400, "query"),
    "over-long query": (_expert(query="a" * 2_001), 400, "query"),
    "unknown modality": (_expert(modality="SMELL"), 400, "modality"),
    "tier from outside": (_expert(tier="EXPERT"), 400, "tier"),
    "unknown parameter": (_expert(verbose=True), 400, "verbose"),
    "tenant from outside": (_expert(tenant_id="other"), 400, "tenant_id"),
    "no results": (_expert(max_results=0), 400, "max_results"),
    "negative results": (_expert(max_results=-1), 400, "max_results"),
    "too many results": (_expert(max_results=51), 400, "max_results"),
    "results in words": (_expert(max_results="ten"), 400, "max_results"),
    "no such day": (_expert(date_from="2024-02-30"), 400, "date_from"),
    "day in words": (_expert(date_to="tomorrow"), 400, "date_to"),
    "reversed range": (_expert(date_from="2026-01-02", date_to="2026-01-01"), 400, "date_to"),
    "empty window": (_expert(freshness_days=7, date_to="2020-01-01"), 400, "freshness_days"),
    "bad locale": (_expert(locale="english"), 400, "locale"),
    "unknown instance": (_expert(pinned_provider_id="ghost"), 404, "pinned_provider_id"),
    "instance of another kind": (_expert(pinned_provider_id="openlibrary-main"), 400, "pinned_provider_id"),
    "no JSON": (posted('{"query": '), 400, "body"),
    "no body": (posted(None), 400, "body"),
    "another content type": (posted(ASKED, headers={"Content-Type": "text/plain"}), 415, "content-type"),
    "too large": (posted('{"query": "' + "a" * 262_144 + '"}'), 413, "body"),
    "too deep": (posted('{"query": ' + "[" * 50_000 + "]" * 50_000 + "}"), 400, "body"),
    "project of others": (posted({**ASKED, "project_id": "theirs"}), 403, "project_id"),
    "no project named": (posted(ASKED, identity=SEVERAL), 400, "project_id"),
    "no such right": (posted(ASKED, identity={"tools": "research_rich"}), 403, None),
    "too low a level": (posted(ASKED, identity={"level": "0"}), 403, None),
    "nobody": (posted(ASKED, identity={"tenant_id": ""}), 401, None),
    "a name in two spellings": (posted({**ASKED, "maxResults": 3}), 400, "max_results"),
    "a deadline in words": (posted(ASKED, headers={"X-Deadline-Ms": "soon"}), 400, "x-deadline-ms"),
    "an endless key": (posted(ASKED, headers={"Idempotency-Key": "k" * 300}), 400, "idempotency-key"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_bad_request_is_a_problem_of_its_own_and_nobody_is_asked(shared: Deployed, case: str) -> None:
    """It names the field and the way out; no provider hears of it, and nothing is written or charged."""
    event, status, field = REFUSED[case]
    shared.forget_calls()
    response = shared.call(event["path"].rpartition("/")[2], event)
    error = body_of(response)["error"]
    assert (response["statusCode"], error["status"], error["field"]) == (status, status, field)
    assert error["suggested_action"]
    assert error["type"].startswith("urn:zarniwoop:problem:")
    assert (shared.simulator.requests(), shared.writes()) == ([], [])
