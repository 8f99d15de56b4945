"""What the steps of an investigation may use of the world, and what one step is given to work with."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from zarniwoop.contract.chat import ModelUsage
from zarniwoop.contract.deadline import Clock, Deadline
from zarniwoop.contract.failure import ZarniwoopError
from zarniwoop.contract.request import SearchScope
from zarniwoop.dispatch.dispatcher import Dispatcher
from zarniwoop.dispatch.spending.purse import RunBudget
from zarniwoop.evidence.ledger import EvidenceLedger
from zarniwoop.llm.gateway import ModelGateway
from zarniwoop.observe.metrics import Metrics
from zarniwoop.pipelines.investigate.budget import Budget
from zarniwoop.pipelines.investigate.folder import RunFolder
from zarniwoop.pipelines.run_end import RunEnds
from zarniwoop.stores.content import ContentStore
from zarniwoop.stores.failure import StoreUnavailable
from zarniwoop.stores.insights import InsightsStore
from zarniwoop.stores.ledger import Account, Limits
from zarniwoop.stores.run_files import RunFiles
from zarniwoop.stores.runs import Run, RunStore, Step
from zarniwoop.stores.state import ProjectKey
from zarniwoop.tools.research_investigate import InvestigateArguments

_PAUSES = (0.2, 1.0, 3.0)


class ModelUnavailable(ZarniwoopError):  # noqa: N818 - the state machine's Retry names it
    """The model's endpoint is down; asking again in a moment may help."""


class ModelThrottled(ZarniwoopError):  # noqa: N818 - as above
    """The model's endpoint asks for patience."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepServices:
    """Built once by the wiring."""

    runs: RunStore
    files: RunFiles
    content: ContentStore
    insights: InsightsStore
    dispatcher: Dispatcher
    models: ModelGateway
    ends: RunEnds
    ledger: Callable[[], EvidenceLedger]
    clock: Clock
    metrics: Metrics


@dataclass(frozen=True, slots=True, kw_only=True)
class StepInput:
    """What the state machine tells a step: ids and numbers. `index` is the item of a Map, `error` what was caught."""

    project: ProjectKey
    run_id: str
    deadline: Deadline
    index: int = 0
    wave: int = 1
    error: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """A step at work: the run as it was read for it, and what was asked for. `scope` bears the run's id into audit."""

    given: StepInput
    run: Run
    asked: InvestigateArguments
    scope: SearchScope
    budget: Budget
    folder: RunFolder
    services: StepServices

    @property
    def money(self) -> RunBudget:
        """What the whole run may spend; every step of it draws on the same account."""
        account = Account.of_run(self.run.project, self.run.run_id, self.run.expires_at)
        return RunBudget(account=account, limits=Limits(amount=self.asked.max_cost, calls=self.asked.max_calls))

    @property
    def today(self) -> str:
        return datetime.fromtimestamp(self.services.clock.now(), tz=UTC).date().isoformat()

    def within(self, seconds: float) -> SearchScope:
        """The scope with at most so many seconds."""
        return self.scope.until(self.scope.deadline.within(max(seconds, 0.0)))

    def keep(self, write: Callable[[], object]) -> bool:
        """Write down what was paid for: tried again here, since a step that fails is done again as a whole.

        False when it cannot be written.
        """
        for pause in (*_PAUSES, None):
            try:
                write()
            except StoreUnavailable:
                if pause is None or self.scope.deadline.remaining() <= pause:
                    return False
                self.services.clock.sleep(pause)
            else:
                return True
        return False

    def expect(self, node: str, total: int) -> None:
        """Announce how many items a node has."""
        self.services.runs.update_progress(self.run.project, self.run.run_id, Step(node=node, total=total))

    def done(
        self,
        node: str,
        item: str,
        *,
        total: int | None = None,
        counts: dict[str, int] | None = None,
        usage: ModelUsage | None = None,
        cost: float = 0.0,
    ) -> bool:
        """Count an item of a node, once, whoever reports it how often; whether this report is the one that counts."""
        step = Step(node=node, item=item, total=total, counts=counts or {}, usage=usage or ModelUsage(), cost=cost)
        return self.services.runs.update_progress(self.run.project, self.run.run_id, step)
