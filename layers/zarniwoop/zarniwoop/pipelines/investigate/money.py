"""A run's money: one account in the spend ledger, which all of its steps share, wherever they run.

Calls of providers are held there before they are made, at the most that they can come to, so they never exceed the
run's `max_cost` and `max_calls`. A model is held at an estimate of its tokens: by what an answer exceeds its estimate,
and by no more, a run may exceed its `max_cost`. What is free is not counted, and costs no write.
"""

import secrets

from zarniwoop.contract.chat import ModelUsage
from zarniwoop.dispatch.spending.holds import HOLD_GRACE_SECONDS
from zarniwoop.pipelines.investigate.services import ModelThrottled, Work
from zarniwoop.settings.models import ModelSettings
from zarniwoop.stores.ledger import Hold, Spent

_DIGITS = 9


def price_of(tokens: float, model: ModelSettings) -> float:
    """What so many tokens cost at most."""
    dearest = max(model.cost_per_million_input, model.cost_per_million_output)
    return round(tokens * dearest / 1_000_000, _DIGITS)


def hold(amount: float, work: Work, seconds: float) -> Hold | None:
    """Hold what a model may cost for so many seconds; None where the run's budget has no room for it.

    Raises ModelThrottled when that cannot be told just now.
    """
    until = work.services.clock.now() + seconds + HOLD_GRACE_SECONDS
    held = Hold(id=secrets.token_hex(8), spent=Spent(amount=amount), until=until)
    if amount <= 0:
        return held
    money, ledger = work.money, work.services.dispatcher.fleet.ledger
    reserved = ledger.reserve(money.account, money.limits, held, work.scope.deadline)
    if reserved.throttled:
        raise ModelThrottled("too many steps wanted to hold money at once")
    return held if reserved.granted else None


def settle(held: Hold, usage: ModelUsage, work: Work) -> None:
    """What the model came to takes the place of what was held for it."""
    if held.spent.amount > 0:
        spent = Spent(amount=round(usage.cost, _DIGITS))
        work.services.dispatcher.fleet.ledger.settle(work.money.account, held, spent)
