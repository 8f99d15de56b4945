"""Starting a run: what was asked goes into a file, the run into its table, and the state machine gets ids only.

Idempotency: a key is claimed in the runs' own table by the run that it starts, not remembered as an answer. So it holds
over REST, queue and invocation alike; it does not depend on a second table being up when money is about to be spent; a
call that died half-way is completed by the next one under the same key, since file, item and execution are each
written once per run id; and the second call is told how the run stands by then. (Ids derived from the key would do the
same, and would no longer sort by time.)
"""

import hmac
from collections.abc import Callable, Mapping
from typing import Any

import orjson

from zarniwoop.contract.deadline import Clock
from zarniwoop.contract.problem import InvalidArgument, Unready
from zarniwoop.contract.request import SearchScope
from zarniwoop.pipelines.run_end import RunEnds
from zarniwoop.pipelines.watch import RunWatcher
from zarniwoop.pipelines.webhook import checked_target
from zarniwoop.stores.executions import Executions, StartRefused, execution_arn
from zarniwoop.stores.failure import StoreUnavailable
from zarniwoop.stores.run_files import INPUT, RunFiles
from zarniwoop.stores.runs import Claim, Ending, Run, RunState, RunStore, new_run_id
from zarniwoop.stores.state import ProjectKey
from zarniwoop.tools.research_investigate import SAME_RUN, InvestigateArguments
from zarniwoop.tools.run_report import RunAccepted, RunReport, accepted

TOOL = "research_investigate"
NOT_STARTED = "not_started"
RUN_GRACE_SECONDS = 60.0
"""How long after its wall time a run may still write its ending, before it counts as overdue."""
CLAIMED_SECONDS = 24 * 3600.0
KEPT_SECONDS = 30 * 24 * 3600.0


class InvestigationLauncher:
    """`tools.research_investigate.Investigations` on Step Functions."""

    def __init__(
        self,
        *,
        runs: RunStore,
        files: RunFiles,
        executions: Executions,
        ends: RunEnds,
        state_machine_arn: str,
        clock: Clock,
        trace_header: Callable[[], str | None] = lambda: None,
        make_run_id: Callable[[float], str] = new_run_id,
    ) -> None:
        self._runs = runs
        self._files = files
        self._executions = executions
        self._ends = ends
        self._state_machine_arn = state_machine_arn
        self._clock = clock
        self._trace_header = trace_header
        self._make_run_id = make_run_id
        self._watcher = RunWatcher(runs, files, clock)

    def investigate(self, arguments: InvestigateArguments, scope: SearchScope) -> RunAccepted | RunReport:
        run = self.start(arguments, scope)
        wait = min(arguments.wait, scope.deadline.remaining())
        try:
            run = self._watcher.wait_for_end(run.project, run.run_id, wait) or run if wait else run
        except StoreUnavailable:  # it has been started, and its caller must learn its id
            return accepted(run)
        return self._watcher.report(run) if run.state.is_terminal else accepted(run)

    def start(self, arguments: InvestigateArguments, scope: SearchScope) -> Run:
        """The run that this request starts or has started. Raises InvalidArgument, or Unready: try again."""
        if arguments.webhook_url is not None:
            arguments = arguments.model_copy(update={"webhook_url": checked_target(arguments.webhook_url)})
        try:
            return self._start(arguments, scope)
        except StoreUnavailable:
            raise Unready(
                "the run could not be started",
                suggested_action="ask again after wait_seconds, with an idempotency key so that no second run starts",
                wait_seconds=5.0,
            ) from None

    def _start(self, arguments: InvestigateArguments, scope: SearchScope) -> Run:
        project = ProjectKey.of(scope)
        run_id = self._make_run_id(self._clock.now())
        if arguments.idempotency_key is not None:
            fingerprint = _fingerprint(arguments.idempotency_key, arguments, scope)
            run_id = self._claimed(project, arguments.idempotency_key, run_id, fingerprint)
            standing = self._runs.get(project, run_id)
            if standing is not None and standing.state is not RunState.QUEUED:
                return standing
        self._files.put(project, run_id, INPUT, _input(arguments, scope))
        run = self._runs.create(self._new_run(project, run_id, arguments, scope))
        self._execute(run, arguments)
        return run

    def _claimed(self, project: ProjectKey, key: str, run_id: str, fingerprint: str) -> str:
        wanted = Claim(run_id=run_id, fingerprint=fingerprint)
        standing = self._runs.claim(project, f"{TOOL}#{key}", wanted, expires_at=self._clock.now() + CLAIMED_SECONDS)
        if standing.fingerprint != fingerprint:
            raise InvalidArgument(
                "this idempotency key was used with other arguments",
                status=422,
                field="idempotency_key",
                suggested_action="send a new key",
            )
        return standing.run_id

    def _new_run(self, project: ProjectKey, run_id: str, arguments: InvestigateArguments, scope: SearchScope) -> Run:
        now = self._clock.now()
        return Run(
            run_id=run_id,
            project=project,
            tool=TOOL,
            created_at=now,
            updated_at=now,
            deadline_at=now + arguments.wall_seconds + RUN_GRACE_SECONDS,
            expires_at=now + KEPT_SECONDS,
            execution_arn=execution_arn(self._state_machine_arn, run_id),
            request_id=scope.request_id,
            webhook=arguments.webhook_url is not None,
        )

    def _execute(self, run: Run, arguments: InvestigateArguments) -> None:
        """A start that was refused ends the run, unless a key lets the caller come back to it.

        After any other failure it may have started: the run stays, and if it never does, the reconciler ends it.
        """
        given = _execution_input(run, arguments)
        try:
            self._executions.start(self._state_machine_arn, run.run_id, given, self._trace_header())
        except StartRefused:
            if arguments.idempotency_key is None:
                self._ends.end(run, Ending(state=RunState.FAILED, error=NOT_STARTED))
            raise


def _fingerprint(key: str, arguments: InvestigateArguments, scope: SearchScope) -> str:
    """What must be the same for two requests to be one. Keyed: a short question could be guessed from a plain hash."""
    told = arguments.model_dump(mode="json", exclude=set(SAME_RUN)) | {"process_id": scope.process_id}
    return hmac.digest(key.encode(), orjson.dumps(told, option=orjson.OPT_SORT_KEYS), "sha256").hex()


def _input(arguments: InvestigateArguments, scope: SearchScope) -> dict[str, Any]:
    """`input.json`: whatever the steps need to know of the request."""
    return {
        "tenant_id": scope.tenant_id,
        "project_id": scope.project_id,
        "process_id": scope.process_id,
        "request_id": scope.request_id,
        "arguments": arguments.model_dump(mode="json", exclude=set(SAME_RUN)),
    }


def _execution_input(run: Run, arguments: InvestigateArguments) -> Mapping[str, Any]:
    """Ids and numbers; nothing in here is anybody's text."""
    return {
        "run": {
            "tenant_id": run.project.tenant_id,
            "project_id": run.project.project_id,
            "run_id": run.run_id,
            "request_id": run.request_id,
        },
        "max_concurrency": arguments.max_concurrency,
        "wall_seconds": arguments.wall_seconds,
        "refine": arguments.refine,
        "refine_depth": arguments.refine_depth,
        "webhook": run.webhook,
    }
