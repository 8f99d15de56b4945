"""`evidence_store`: listed, read and cited; of the caller's own project alone."""

from dataclasses import replace
from typing import Any

import pytest

from tests.fakes.evidence import DEMO, LAB, TEXT, page, read
from tests.fakes.research import Research
from zarniwoop.contract.envelope import ToolResult
from zarniwoop.contract.evidence import Evidence
from zarniwoop.contract.problem import CallerError, InvalidArgument, UnknownThing, Unready
from zarniwoop.evidence.ledger import EvidenceLedger
from zarniwoop.stores.failure import StoreUnavailable
from zarniwoop.stores.state import ProjectKey
from zarniwoop.tools.arguments import parse_arguments
from zarniwoop.tools.evidence_store import EVIDENCE_STORE, EvidenceStoreArguments
from zarniwoop.tools.untrusted import fenced


class Shelf:
    """A project with evidence, and the tool over it."""

    def __init__(self) -> None:
        self.research = Research({})
        self.ledger = EvidenceLedger(store=self.research.evidence, clock=self.research.clock)

    def keep(self, number: int = 0, project: ProjectKey = DEMO, **more: Any) -> Evidence:
        answer = read(f"https://example.com/{number}", page(f"{TEXT}{number}", title=f"Bells {number}"))
        return self.ledger.keep_page(project, answer, **more)

    def ask(self, **given: Any) -> ToolResult:
        arguments = parse_arguments(EvidenceStoreArguments, given)
        return EVIDENCE_STORE.call(arguments, self.research.scope(), self.research.services)


@pytest.fixture
def shelf() -> Shelf:
    return Shelf()


def test_evidence_is_listed_with_pointers_to_it(shelf: Shelf) -> None:
    """The newest first; its quotes are counted; all marked as a stranger's."""
    first = shelf.keep(quotes=["four tonnes", "the lathe"])
    shelf.research.clock.advance(1)
    second = shelf.keep(1, task_id="task-1")
    result = shelf.ask()
    assert [each.id for each in result.data.evidence] == [second.id, first.id]
    assert result.data.quote_counts == {first.id: 2, second.id: 0}
    assert result.data.evidence[1].quotes == ()
    fence = result.data.fence
    assert [each.snippet for each in result.data.evidence] == [fenced(each.snippet, fence) for each in (second, first)]
    assert result.data.untrusted
    hrefs = [f"/v1/evidence/{each.id}?project_id=demo" for each in (second, first)]
    assert [each["href"] for each in result.evidence] == hrefs
    assert all(each["untrusted"] is True for each in result.evidence)
    assert [each.id for each in shelf.ask(task_id="task-1").data.evidence] == [second.id]
    assert [each.id for each in shelf.ask(url="https://example.com/0#top").data.evidence] == [first.id]
    page_one = shelf.ask(limit=1).data
    assert shelf.ask(limit=1, page_token=page_one.next_page_token).data.evidence[0].id == first.id


def test_an_empty_list_says_what_to_do_next(shelf: Shelf) -> None:
    """Read something; or, where it was narrowed, ask for all. A list that is not empty says nothing."""
    assert "web_fetch and web_search keep" in shelf.ask().data.note
    shelf.keep()
    assert shelf.ask().data.note is None
    for narrowed in ({"task_id": "task-9"}, {"url": "https://example.com/none"}):
        assert "leave them out" in shelf.ask(**narrowed).data.note


def test_a_text_is_read_from_a_quotes_own_offset(shelf: Shelf) -> None:
    """Characters of the stored text, to its end."""
    kept = shelf.keep(quotes=["four tonnes"])
    start = kept.quotes[0].start
    data = shelf.ask(action="get", ids=[kept.id], offset=start, text_chars=11).data
    assert data.content == fenced("four tonnes", data.fence)
    assert (data.offset, data.next_offset) == (start, start + 11)
    assert data.evidence == replace(kept, snippet=fenced(kept.snippet, data.fence))
    assert data.untrusted
    rest = shelf.ask(action="get", ids=[kept.id], offset=data.next_offset).data
    assert (rest.content, rest.next_offset) == (fenced((TEXT + "0")[start + 11 :], rest.fence), None)
    assert rest.fence != data.fence
    end = shelf.ask(action="get", ids=[kept.id], offset=kept.body_chars).data
    assert (end.content, end.next_offset) == ("", None)
    bare = shelf.ask(action="get", ids=[kept.id], text_chars=0).data
    assert (bare.content, bare.next_offset) == ("", 0)


def test_references_come_in_the_order_in_which_they_are_asked_for(shelf: Shelf) -> None:
    """Each once, in each of the forms."""
    one, two = shelf.keep(1), shelf.keep(2)
    ids = [two.id, one.id, two.id]
    result = shelf.ask(action="cite", ids=ids)
    assert [line[:1] for line in result.data.text.split("\n")] == ["1", "2"]
    assert "Bells 2" in result.data.text.split("\n")[0]
    assert result.data.ids == (two.id, one.id)
    assert [each["id"] for each in result.evidence] == [two.id, one.id]
    assert [each["id"] for each in shelf.ask(action="cite", ids=ids, format="csl-json").data.items] == [two.id, one.id]
    assert shelf.ask(action="cite", ids=ids, format="bibtex").data.text.count("@misc{") == 2


@pytest.mark.parametrize(
    ("given", "error", "field"),
    [
        ({"action": "get"}, InvalidArgument, "ids"),
        ({"action": "get", "ids": ["ev-" + "0" * 32, "ev-" + "1" * 32]}, InvalidArgument, "ids"),
        ({"action": "cite"}, InvalidArgument, "ids"),
        ({"action": "get", "ids": ["ev-1"]}, InvalidArgument, "ids.0"),
        ({"action": "get", "ids": ["EV#ev-" + "0" * 32]}, InvalidArgument, "ids.0"),
        ({"action": "cite", "ids": ["ev-" + "0" * 32] * 51}, InvalidArgument, "ids"),
        ({"action": "get", "ids": ["ev-" + "0" * 32]}, UnknownThing, "ids"),
        ({"action": "cite", "ids": ["ev-" + "0" * 32]}, UnknownThing, "ids"),
        ({"action": "forget"}, InvalidArgument, "action"),
        ({"page_token": "x"}, InvalidArgument, "page_token"),
        ({"task_id": "a#b"}, InvalidArgument, "task_id"),
        ({"limit": 101}, InvalidArgument, "limit"),
    ],
)
def test_what_is_asked_wrongly_is_refused_by_its_field(
    shelf: Shelf, given: dict[str, Any], error: type[CallerError], field: str
) -> None:
    """With the way out."""
    with pytest.raises(error) as caught:
        shelf.ask(**given)
    assert caught.value.field == field


def test_an_offset_behind_the_end_is_refused(shelf: Shelf) -> None:
    """It says where the end is."""
    kept = shelf.keep()
    with pytest.raises(InvalidArgument, match=str(kept.body_chars)):
        shelf.ask(action="get", ids=[kept.id], offset=kept.body_chars + 1)


def test_evidence_of_another_project_is_unknown(shelf: Shelf) -> None:
    """Its id is no secret, and no key either."""
    theirs = shelf.keep(7, LAB)
    for action in ("get", "cite"):
        with pytest.raises(UnknownThing):
            shelf.ask(action=action, ids=[theirs.id])
    assert shelf.ask().data.evidence == ()


def test_evidence_that_has_lost_its_text_is_unknown(shelf: Shelf) -> None:
    """What it says can no longer be shown."""
    kept = shelf.keep()
    shelf.research.evidence.bodies.delete_project(DEMO)
    with pytest.raises(UnknownThing):
        shelf.ask(action="get", ids=[kept.id])


def test_a_store_that_is_away_is_asked_again_later(shelf: Shelf) -> None:
    """503, and how long to wait."""
    shelf.research.evidence.fail_with = StoreUnavailable("down")
    with pytest.raises(Unready) as caught:
        shelf.ask()
    assert caught.value.wait_seconds == 1.0


def test_a_dry_run_reads_nothing(shelf: Shelf) -> None:
    """There is nothing to plan: nobody is ever asked."""
    result = shelf.ask(dry_run=True)
    assert (result.data.worst_case.calls, result.data.dry_run) == (0, True)
    assert not shelf.research.evidence.calls
