"""The same thing done to many runs, some at once, for as long as the function has time."""

from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed

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

    Nothing is begun with less than `seconds_each` to go. `act` runs in threads, so what it uses must have been made
    before; metrics are written out after each run, so that a function that is cut off loses at most those under way.
    """

    def one(run: Run) -> str:
        if context.get_remaining_time_in_millis() < seconds_each * 1000:
            return LEFT
        try:
            return act(run)
        except StoreUnavailable as failure:
            services.log.warning("a run was left", extra={"run_id": run.run_id, "reason": str(failure)})
            return LEFT
        except Exception as fault:  # noqa: BLE001 - the boundary between runs: one that is odd must not end the others'
            told = {"run_id": run.run_id, "error": type(fault).__name__}
            services.log.error("a run was left", extra=told)  # noqa: TRY400 - its text may repeat a question
            return LEFT

    ended: Counter[str] = Counter()
    with ThreadPoolExecutor(max_workers=AT_ONCE, thread_name_prefix="runs") as pool:
        for future in as_completed([pool.submit(one, run) for run in runs]):
            ended[future.result()] += 1
            services.write_metrics()
    return ended
