"""What a run may spend is one account for all of its searches, made side by side in functions of their own."""

import uuid

import pytest

from stack.running import Stack
from tests.e2e.investigations import Investigations, aws
from tests.e2e.project import caller
from zarniwoop.stores.dynamodb_ledger import DynamoDbLedger
from zarniwoop.stores.ledger import Account
from zarniwoop.stores.project import ProjectKey

pytestmark = pytest.mark.e2e

MOST = 3
ASKED = {
    "question": "books, papers and news about python programming",
    "modalities": ["WEB", "NEWS", "ACADEMIC", "BOOK", "ENCYCLOPEDIA"],
    "max_searches": 10,
    "refine": False,
}


def test_searches_at_once_make_no_more_calls_than_their_run_may(stack: Stack) -> None:
    """By the audit trail and by the ledger alike; whichever is refused says so by the argument's name.

    Which three of ten get a call, and with it whether anything is found, is decided by who comes first.
    """
    project_id = f"p-{uuid.uuid4().hex[:8]}"
    with caller(stack, project_id) as api:
        demo = Investigations(stack, api, project_id)
        free = demo.run(**ASKED)
        report = demo.run(**ASKED, max_calls=MOST)
    assert len(free["results"]["searches"]) > MOST
    assert report["state"] == "succeeded"
    calls = sum(int(record["calls"]["N"]) for record in demo.audited(report["run_id"]))
    project = ProjectKey(tenant_id=stack.tenant_id, project_id=project_id)
    ledger = DynamoDbLedger(aws(stack, "dynamodb"), stack.outputs["StateTableName"])
    balance = ledger.balance(Account.of_run(project, report["run_id"]))
    assert (balance.used.calls, balance.committed.calls, balance.holds) == (calls, calls, {})
    assert 0 < calls <= MOST
    assert [gap for gap in report["results"]["gaps"] if gap.endswith("was not made: max_calls is nearly spent")]
