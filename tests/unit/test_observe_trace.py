"""Traces: X-Ray subsegments when the invocation is sampled, and nothing at all when it is not."""

import sys
from collections.abc import Iterator
from threading import Thread
from typing import Any

import pytest

from zarniwoop.observe.trace import Tracing


@pytest.fixture
def emitted(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Any]]:
    """The real recorder with a segment open, and the segments that it would have sent."""
    monkeypatch.setenv("AWS_XRAY_CONTEXT_MISSING", "IGNORE_ERROR")
    from aws_xray_sdk.core import xray_recorder

    sent: list[Any] = []
    monkeypatch.setattr(xray_recorder.emitter, "send_entity", sent.append)
    xray_recorder.configure(sampling=False, context_missing="IGNORE_ERROR")
    xray_recorder.begin_segment("function")
    yield sent
    xray_recorder.clear_trace_entities()
    xray_recorder.emitter._socket.close()


def _close() -> Any:
    from aws_xray_sdk.core import xray_recorder

    segment = xray_recorder.current_segment()
    xray_recorder.end_segment()
    return segment


def test_without_sampling_the_sdk_is_not_even_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    """It costs half a second."""
    monkeypatch.setitem(sys.modules, "aws_xray_sdk.core", None)
    tracing = Tracing(lambda: False)
    with tracing.span("dispatch", modality="WEB"):
        assert tracing.parent() is None
    assert not tracing.unavailable


def test_a_missing_sdk_turns_tracing_off_and_work_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """Once: it is not looked for again."""
    monkeypatch.setitem(sys.modules, "aws_xray_sdk.core", None)
    looked = []
    tracing = Tracing(lambda: not looked.append(1))  # type: ignore[func-returns-value]
    for _ in range(2):
        with tracing.span("dispatch"):
            pass
    assert tracing.unavailable
    assert len(looked) == 1
    tracing.adopt("a parent")


def test_a_sampled_invocation_gets_annotated_subsegments(emitted: list[Any]) -> None:
    """Nested as the work is."""
    tracing = Tracing(lambda: True)
    with tracing.span("dispatch", modality="WEB"), tracing.span("provider", instance="main"):
        pass
    segment = _close()
    (dispatch,) = segment.subsegments
    assert (dispatch.name, dispatch.annotations) == ("dispatch", {"modality": "WEB"})
    assert [(each.name, each.annotations) for each in dispatch.subsegments] == [("provider", {"instance": "main"})]
    assert emitted == [segment]


def test_a_failure_is_marked_and_its_text_stays_out(emitted: list[Any]) -> None:
    """It may hold what somebody searched for; that it failed is all that a trace needs to say."""
    with pytest.raises(ValueError, match="cathedral bells") as caught, Tracing(lambda: True).span("dispatch"):
        raise ValueError("cathedral bells")
    segment = _close()
    (dispatch,) = segment.subsegments
    assert (dispatch.fault, dispatch.cause) == (True, {})
    assert "cathedral" not in segment.serialize()
    assert emitted == [segment]
    assert caught.value.__context__ is None


def test_a_failure_passes_through_a_span_that_is_nothing() -> None:
    """Without a segment there is nothing to mark."""
    from aws_xray_sdk.core import xray_recorder

    xray_recorder.clear_trace_entities()
    with pytest.raises(ValueError, match="bells"), Tracing(lambda: True).span("dispatch"):
        raise ValueError("bells")


def test_a_worker_thread_opens_its_spans_under_its_starters(emitted: list[Any]) -> None:
    """X-Ray's context is per thread."""
    tracing = Tracing(lambda: True)
    with tracing.span("rich"):
        parent = tracing.parent()

        def work() -> None:
            tracing.adopt(parent)
            with tracing.span("dispatch"):
                pass

        thread = Thread(target=work)
        thread.start()
        thread.join()
    (rich,) = _close().subsegments
    assert [each.name for each in rich.subsegments] == ["dispatch"]


def test_a_worker_thread_finds_the_function_itself_where_no_span_was_opened_yet(emitted: list[Any]) -> None:
    """The first thing that a sampled invocation does may be to start threads."""
    tracing = Tracing(lambda: True)
    parent = tracing.parent()

    def work() -> None:
        tracing.adopt(parent)
        with tracing.span("provider"):
            pass

    thread = Thread(target=work)
    thread.start()
    thread.join()
    assert [each.name for each in _close().subsegments] == ["provider"]


def test_without_a_segment_a_span_is_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A sampled header outside of Lambda must not break the work."""
    from aws_xray_sdk.core import xray_recorder

    xray_recorder.clear_trace_entities()
    with Tracing(lambda: True).span("dispatch", modality="WEB"):
        pass
