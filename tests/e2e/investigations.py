"""Investigations on the deployed stack: one project's, started, watched and looked up in the audit trail."""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import httpx

from stack.running import Stack
from tests.e2e.project import save_settings

QUESTION = "Which studies show the risks of CRISPR gene editing?"
BEDROCK_MODEL = "anthropic.claude-3-haiku-20240307-v1:0"
BEDROCK_MODEL_ARN = f"arn:aws:bedrock:us-east-1::foundation-model/{BEDROCK_MODEL}"
PATIENCE = 90.0


def aws(stack: Stack, service: str) -> Any:
    return stack.session().client(service, endpoint_url=stack.endpoint_url)  # type: ignore[call-overload]


@dataclass
class Investigations:
    """One project's, over HTTP."""

    stack: Stack
    api: httpx.Client
    project_id: str = "demo"
    patience: float = PATIENCE

    def save(self, settings: Mapping[str, str]) -> None:
        """Settings of the project; others keep the tenant's."""
        save_settings(self.stack, self.project_id, settings)

    def post(self, headers: Mapping[str, str] | None = None, **arguments: Any) -> httpx.Response:
        body = {"project_id": self.project_id, "question": QUESTION, **arguments}
        return self.api.post("/v1/tools/research_investigate", json=body, headers=headers)

    def start(self, **arguments: Any) -> str:
        answer = self.post(**arguments)
        assert answer.status_code == 202, answer.text
        run_id: str = answer.json()["data"]["run_id"]
        return run_id

    def get(self, run_id: str, wait: float = 0) -> dict[str, Any]:
        answer = self.api.get(f"/v1/runs/{run_id}", params={"project_id": self.project_id, "wait": wait})
        report: dict[str, Any] = answer.raise_for_status().json()["data"]
        return report

    def end(self, run_id: str) -> dict[str, Any]:
        """The report once the run has ended; at every look, no node has done more than it has."""
        until = time.monotonic() + self.patience
        while time.monotonic() < until:
            report = self.get(run_id, wait=5)
            for node, progress in report["progress"].items():
                assert progress["done"] <= progress["total"], (node, progress)
            if report["state"] not in ("queued", "running", "stopping"):
                return report
        raise AssertionError(f"the run did not end: {report}")

    def run(self, **arguments: Any) -> dict[str, Any]:
        return self.end(self.start(**arguments))

    def audited(self, run_id: str) -> list[dict[str, Any]]:
        """The audit records that bear the run's id."""
        dynamodb = aws(self.stack, "dynamodb")
        pages = dynamodb.get_paginator("scan").paginate(TableName=self.stack.outputs["CallsTableName"])
        items = [item for page in pages for item in page["Items"]]
        return [item for item in items if item.get("request_id", {}).get("S") == run_id]
