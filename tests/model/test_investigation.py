"""Whole investigations on the deployed stack, planned and judged by a model that can hardly do it.

Nothing here asks whether its answers are good. They are often wrong, and the runs end all the same: in the form that
was promised, with every hit accounted for and every mistake counted.
"""

import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import httpx
import pytest

from stack.running import Stack
from stack.token import Wanted, issue
from tests.e2e.investigations import Investigations
from tests.model.serving import CONTEXT_TOKENS, LocalModel
from zarniwoop.contract.modality import SearchModality

WALL_SECONDS = 900
MAX_SEARCHES = 4
QUESTIONS = ("What is the history of cathedral bells?", "Which studies show the risks of CRISPR gene editing?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """A run that has ended: its report, and its files by name."""

    report: dict[str, Any]
    files: dict[str, Any]

    @property
    def result(self) -> dict[str, Any]:
        result: dict[str, Any] = self.files["result.json"]
        return result

    @property
    def batches(self) -> list[dict[str, Any]]:
        """What was said of each batch."""
        return [content for name, content in sorted(self.files.items()) if name.startswith("verdicts/")]

    def verdicts(self) -> Iterator[tuple[set[str], dict[str, Any]]]:
        """Every verdict as the model gave it, with the keys that it was shown."""
        for batch in self.batches:
            said = batch["evaluated"] or {"keys": [], "verdicts": []}
            for verdict in said["verdicts"]:
                yield set(said["keys"]), verdict


@pytest.fixture(scope="session", params=QUESTIONS)
def ended(request: pytest.FixtureRequest, stack: Stack, model: LocalModel, figures: list[str]) -> Iterator[Ended]:
    """A run in a project of its own, whose primary model is the real one; it re-ranks what survives."""
    project_id = f"p-{uuid.uuid4().hex[:8]}"
    token = issue(stack.target, Wanted(tenant_id="local", projects=(project_id,)))
    headers = {"Authorization": f"Bearer {token}"}
    with httpx.Client(base_url=stack.api_url, headers=headers, timeout=40, trust_env=False) as api:
        runs = Investigations(stack, api, project_id, patience=WALL_SECONDS + 60)
        settings = {f"llm.primary.{suffix}": value for suffix, value in model.settings().items()}
        runs.save({**settings, "research.rerank.recipe": "zarniwoop-research-rerank"})
        report = runs.run(question=request.param, max_searches=MAX_SEARCHES, max_results=6, wall_seconds=WALL_SECONDS)
        listed = api.get(f"/v1/runs/{report['run_id']}/artifacts", params={"project_id": project_id}).json()
    links = {each["name"]: each["url"] for each in listed["data"]["artifacts"]}
    files = {name: httpx.get(url, trust_env=False).raise_for_status().json() for name, url in links.items()}
    ended = Ended(report=report, files=files)
    figures.extend(_figures(request.param, ended))
    yield ended


def _figures(question: str, ended: Ended) -> Iterator[str]:
    report, plan = ended.report, ended.result["plan"]
    seconds = report["ended_at"] - report["created_at"]
    usage = report["usage"]
    yield f"{question} {report['outcome']} in {seconds:.0f} s"
    yield f"  {usage['calls']} calls, {usage['input_tokens']} tokens read, {usage['output_tokens']} written"
    yield f"  {len(plan['searches'])} searches; refused or merged: {plan['refused']}"
    yield f"  {len(ended.result['survivors'])} survivors, {len(ended.result['dropped'])} dropped"
    yield f"  notes: {ended.result['notes']}; gaps: {ended.result['gaps']}"


def test_a_run_ends_in_the_form_that_was_promised(ended: Ended) -> None:
    """By the model and nobody else; report and result say the same. A judge may fail: its hits are then unjudged."""
    report, result = ended.report, ended.result
    assert (report["state"], report["error"]) == ("succeeded", None)
    assert report["outcome"] == result["outcome"] == ("success" if result["ranked"] else "evaluate_failed")
    assert {mode for modes in result["modes"].values() for mode in modes} == {"openai"}
    assert result["mode"] == "openai"
    assert report["usage"]["calls"] >= 2
    assert all(each["done"] == each["total"] for each in report["progress"].values())


def test_the_searches_are_what_code_let_pass(ended: Ended) -> None:
    """Not too many, none twice, each of a kind that there is, and each was made."""
    searches = ended.result["searches"]
    assert 1 <= len(searches) <= MAX_SEARCHES
    asked = [(each["modality"], each["query"].casefold()) for each in searches]
    assert len(set(asked)) == len(asked)
    assert {each["modality"] for each in searches} <= set(SearchModality)
    assert all(each["query"].strip("…. ") for each in searches)
    assert [each["index"] for each in searches] == list(range(len(searches)))


def test_every_hit_is_accounted_for_once(ended: Ended) -> None:
    """Kept or dropped, with a reason that says something; and no hit is there that was not found."""
    found = [hit["key"] for hit in ended.files["merged.json"]["hits"]]
    result = ended.result
    told = [*result["survivors"], *result["dropped"]]
    assert sorted(each["key"] for each in told) == sorted(found)
    assert all(any(map(str.isalnum, each["reason"])) for each in told)
    assert all(each["unjudged"] or 0 <= each["relevance"] <= 1 for each in result["survivors"])


def test_what_was_wrong_with_the_verdicts_is_counted(ended: Ended) -> None:
    """The notes have the numbers that can be counted in the model's own answers."""
    unknown = sum(verdict["key"] not in keys for keys, verdict in ended.verdicts())
    known = [verdict["key"] for keys, verdict in ended.verdicts() if verdict["key"] in keys]
    notes = dict(note.rsplit(": ", 1) for note in ended.result["notes"] if "ignored" in note)
    assert int(notes.get("verdicts ignored, for keys that were not shown", 0)) == unknown
    assert int(notes.get("verdicts ignored, for keys that had one already", 0)) == len(known) - len(set(known))


def test_no_prompt_was_longer_than_the_model_reads(ended: Ended) -> None:
    """Batches, hints and answers together stay within 2048 tokens, or the server would have refused them."""
    assert ended.batches
    for record in (*ended.batches, ended.files["plan-1.json"]):
        usage = record["usage"]
        assert record["failure"] in (None, "invalid_output"), "and never refused by the server"
        assert usage["input_tokens"] + usage["output_tokens"] <= CONTEXT_TOKENS * usage["calls"]
