"""The same thing done to many runs, some at once, for as long as the function has time."""

from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

from zarniwoop.entry.lambda_context import LambdaContext
from zarniwoop.stores.failure import StoreUnavailable
from zarniwoop.stores.runs import Run
from zarniwoop.wiring import Environment

AT_ONCE = 8
LEFT = "left"

Act = Callable[[Run], str]


def each_run(
    runs: Sequence[Run], act: Act, services: Environment, context: LambdaContext, *, seconds_each: float
) -> Counter[str]:
    """How many came to which end; what there is no time for, or no store, is left, and keeps no other waiting.

    Nothing is begun with less than `seconds_each` to go.
    """

    def one(run: Run) -> str:
        if context.get_remaining_time_in_millis() < seconds_each * 1000:
            return LEFT
        try:
            return act(run)
        except StoreUnavailable as failure:
            services.log.warning("a run was left", extra={"run_id": run.run_id, "reason": str(failure)})
            return LEFT

    if not runs:
        return Counter()
    with ThreadPoolExecutor(max_workers=AT_ONCE, thread_name_prefix="runs") as pool:
        return Counter(pool.map(one, runs))
