"""What asking models is wired of: settings, keys, recipes of a tenant's own, and a transport that waits."""

from collections.abc import Iterator
from typing import Any

import pytest
from botocore.exceptions import ClientError

from tests.fakes.clock import FakeClock
from tests.fakes.cloud import Cloud, cloud
from tests.fakes.models import QUESTION, completion
from tests.fakes.transport import ScriptedTransport
from zarniwoop.contract.chat import ModelRole
from zarniwoop.contract.deadline import Deadline
from zarniwoop.contract.request import SearchScope
from zarniwoop.contract.transport import Secret
from zarniwoop.llm.recipes import PLAN
from zarniwoop.net.transport import PooledTransport
from zarniwoop.stores.failure import StoreUnavailable
from zarniwoop.stores.recipe_overrides import S3RecipeOverrides
from zarniwoop.wiring import Environment

KEY = "operator-key-0123456789"
RECIPE = "(a text that nobody reads here)"


@pytest.fixture
def account() -> Iterator[Cloud]:
    with cloud() as made:
        yield made


def _scope(made: Environment) -> SearchScope:
    return SearchScope(tenant_id="acme", project_id="demo", deadline=Deadline.after(20.0, made.clock))


def test_a_model_is_asked_on_what_is_wired(account: Cloud) -> None:
    """Settings out of Parameter Store, the operator's key out of the environment, the call counted."""
    account.set_all({"llm.primary.protocol": "openai", "llm.primary.model": "thinker-1"})
    account.variables["OPENAI_API_KEY"] = KEY
    transport = ScriptedTransport(completion("Five."))
    made = account.environment(transport=transport)
    assert made.models.complete(ModelRole.PRIMARY, QUESTION, _scope(made)).text == "Five."
    assert transport.sent[0].request.url == "https://api.openai.com/v1/chat/completions"
    assert transport.sent[0].secret == Secret(KEY)
    assert [point.metric.value for point in made.metrics.drain()][-1] == "vance.research.model.calls"


def test_without_settings_the_built_in_planner_answers(account: Cloud) -> None:
    """It is the default of a fresh deployment."""
    made = account.environment()
    assert made.models.settings(ModelRole.HARVEST, _scope(made)).protocol == "builtin"


@pytest.mark.parametrize(("stated", "limit"), [("9", 9), ("0", 4), ("many", 4), (None, 4)])
def test_the_operator_may_say_how_many_harvest_calls_run_at_once(
    account: Cloud, stated: str | None, limit: int
) -> None:
    """By the seed's variable; nonsense in it counts for nothing."""
    if stated is not None:
        account.variables["HARVEST_MAX_PARALLEL"] = stated
    made = account.environment()
    assert made.models.settings(ModelRole.HARVEST, _scope(made)).max_parallel == limit


def test_wrong_settings_of_models_are_told_beside_those_of_endpoints(account: Cloud) -> None:
    """So that `research_providers` lists them."""
    account.set_all({"llm.primary.maxTokens": "plenty", "research.log.retentionDays": "ever"})
    made = account.environment()
    settings, _ = made.research_settings(_scope(made))
    assert [fault.setting for fault in settings.misconfigured] == [
        "research.log.retentionDays",
        "llm.primary.maxTokens",
    ]


def test_a_search_without_models_makes_nothing_of_them(account: Cloud) -> None:
    """Nor does it pay for their import."""
    made = account.environment()
    made.research_settings(_scope(made))
    assert not {"models", "_model_settings", "_model_transport"} & set(made.__dict__)


def test_a_model_has_a_transport_that_waits_for_its_first_byte(account: Cloud) -> None:
    """A search gives up on a silent server after seconds; a model thinks for minutes."""
    made = account.environment()
    transport = made._model_transport
    assert isinstance(transport, PooledTransport)
    assert transport is not made._transport
    assert made.models is made.models


def test_a_tenants_own_recipe_lies_in_the_recipes_bucket(account: Cloud) -> None:
    """That one has no lifecycle. What was read is kept for five minutes, and so is its absence."""
    clock = FakeClock()
    overrides = account.environment(clock=clock)._recipe_overrides
    assert overrides("acme", PLAN) is None
    account.client("s3").put_object(Bucket="recipes", Key=f"acme/_recipes/{PLAN}.md", Body=RECIPE.encode())
    assert overrides("acme", PLAN) is None
    clock.advance(300.0)
    assert overrides("acme", PLAN) == RECIPE
    assert overrides("other", PLAN) is None


@pytest.mark.parametrize(("tenant_id", "name"), [("../acme", PLAN), ("acme", "../../other/x"), ("", PLAN)])
def test_an_override_leads_nowhere_else(account: Cloud, tenant_id: str, name: str) -> None:
    """Ids only."""
    with pytest.raises(ValueError, match="ids"):
        account.environment()._recipe_overrides(tenant_id, name)


def test_a_bucket_that_does_not_answer_is_a_failure() -> None:
    """The packaged recipe does not stand in for one that could not be looked up; it is tried again the next time."""

    class Denied:
        def get_object(self, **_arguments: object) -> object:
            raise ClientError({"Error": {"Code": "AccessDenied", "Message": "no"}}, "GetObject")

    denied: Any = Denied()
    overrides = S3RecipeOverrides(denied, "recipes", FakeClock())
    for _ in range(2):
        with pytest.raises(StoreUnavailable):
            overrides("acme", PLAN)


def test_only_so_many_recipes_are_kept() -> None:
    """The oldest go first."""
    asked: list[str] = []

    class Missing:
        def get_object(self, *, Key: str, **_arguments: object) -> object:  # noqa: N803 - boto3's name
            asked.append(Key)
            raise ClientError({"Error": {"Code": "NoSuchKey", "Message": "no"}}, "GetObject")

    missing: Any = Missing()
    overrides = S3RecipeOverrides(missing, "recipes", FakeClock())
    for number in [*range(257), 256, 0]:
        assert overrides(f"t{number}", PLAN) is None
    assert len(asked) == 258
