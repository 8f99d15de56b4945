"""X-Ray segments around dispatch and provider calls, wired only when the invocation is sampled.

The X-Ray SDK costs half a second to import, so it is imported on the first sampled invocation; without it, or without
sampling, a span is nothing.
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

_NO_SPAN = nullcontext()


class Tracing:
    """Opens subsegments. `sampled` looks at this invocation's trace header; a missing SDK turns tracing off."""

    def __init__(self, sampled: Callable[[], bool]) -> None:
        self._sampled = sampled
        self._recorder: Any = None
        self.unavailable = False

    def span(self, name: str, **annotations: str) -> AbstractContextManager[None]:
        """A subsegment with low-cardinality annotations: never a query, a URL or a key."""
        if self.unavailable or not self._sampled():
            return _NO_SPAN
        recorder = self._load()
        return _NO_SPAN if recorder is None else _subsegment(recorder, name, annotations)

    def parent(self) -> Any:
        """The segment under which a worker thread shall open its own; None when nothing is traced."""
        if self.unavailable or not self._sampled():
            return None
        recorder = self._load()
        return None if recorder is None else recorder.get_trace_entity()

    def adopt(self, parent: Any) -> None:
        """Called in a worker thread with what `parent` returned in the thread that started it."""
        if parent is not None and self._recorder is not None:
            self._recorder.set_trace_entity(parent)

    def _load(self) -> Any:
        if self._recorder is None:
            try:
                from aws_xray_sdk.core import xray_recorder
            except ImportError:
                self.unavailable = True
                return None
            xray_recorder.configure(context_missing="IGNORE_ERROR")
            self._recorder = xray_recorder
        return self._recorder


@contextmanager
def _subsegment(recorder: Any, name: str, annotations: dict[str, str]) -> Iterator[None]:
    """Left before an exception goes on: the SDK would write down its text, which may hold a query or an address."""
    failure: BaseException | None = None
    with recorder.in_subsegment(name) as segment:
        for key, value in annotations.items():
            if segment is not None:
                segment.put_annotation(key, value)
        try:
            yield
        except BaseException as error:  # noqa: BLE001 - raised again below
            failure = error
            if segment is not None:
                segment.add_fault_flag()
    if failure is not None:
        raise failure
