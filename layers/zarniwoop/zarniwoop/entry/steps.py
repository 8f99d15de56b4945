"""What a state machine's task is wrapped in: `{"step": …, "run": {tenant_id, project_id, run_id}, …}` to an answer.

A failure leaves by its class's name, since that is what the state machine's Retry and Catch know; and only failures
that we made ourselves leave as they are. Anything else may carry a query in its text, and becomes `StepBroken`.
"""

import traceback
from collections.abc import Callable, Mapping
from typing import Any

from pydantic import ConfigDict, Field

from zarniwoop.contract.failure import ZarniwoopError
from zarniwoop.entry.invocation import deadline
from zarniwoop.entry.lambda_context import LambdaContext
from zarniwoop.pipelines.investigate.services import StepInput, StepServices
from zarniwoop.stores.state import ProjectKey
from zarniwoop.tools.arguments import Id, ToolArguments, parse_arguments
from zarniwoop.wiring import Environment, environment

Step = Callable[[StepInput, StepServices], dict[str, Any]]
Handler = Callable[[Mapping[str, Any], LambdaContext], dict[str, Any]]

LONGEST_STEP_SECONDS = 900.0
_LOGGED_FRAMES = 8
_ERROR_CHARS = 100


class StepBroken(ZarniwoopError):  # noqa: N818 - the state machine sees the name
    """A fault of ours; the log of the run says where."""


class _RunNamed(ToolArguments):
    model_config = ConfigDict(extra="ignore")

    tenant_id: Id
    project_id: Id
    run_id: str = Field(max_length=64)


class _StepAsked(ToolArguments):
    """`error` is the name of what was caught before."""

    model_config = ConfigDict(extra="ignore")

    step: str = Field(max_length=40)
    run: _RunNamed
    index: int = Field(default=0, ge=0, le=10_000)
    wave: int = Field(default=1, ge=1, le=2)
    error: str | None = None


def steps(table: Mapping[str, Step], environment: Callable[[], Environment] = environment) -> Handler:
    """The Lambda handler of a pipeline's steps."""

    def handler(event: Mapping[str, Any], context: LambdaContext) -> dict[str, Any]:
        services = environment()
        asked = parse_arguments(_StepAsked, event)
        services.begin(asked.run.run_id)
        try:
            return _carry_out(table[asked.step], asked, services, context)
        except ZarniwoopError as failure:
            services.log.warning(
                "step failed", extra={"step": asked.step, "error": type(failure).__name__, "reason": str(failure)}
            )
            raise
        except Exception as error:  # noqa: BLE001 - the outermost line: its text must not get into the history
            _log_fault(services, asked.step, error)
            raise StepBroken(f"step {asked.step} failed: {type(error).__name__}") from None
        finally:
            services.finish()

    return handler


def _carry_out(step: Step, asked: _StepAsked, services: Environment, context: LambdaContext) -> dict[str, Any]:
    given = StepInput(
        project=ProjectKey(tenant_id=asked.run.tenant_id, project_id=asked.run.project_id),
        run_id=asked.run.run_id,
        deadline=deadline(context, services.clock, LONGEST_STEP_SECONDS),
        index=asked.index,
        wave=asked.wave,
        error=asked.error[:_ERROR_CHARS] if asked.error else None,
    )
    return step(given, services.steps)


def _log_fault(services: Environment, step: str, error: Exception) -> None:
    services.log.error(
        "step broke",
        extra={
            "step": step,
            "error": type(error).__name__,
            "where": traceback.format_tb(error.__traceback__)[-_LOGGED_FRAMES:],
        },
    )
