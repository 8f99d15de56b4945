"""A stack without a setting searches the web, and knowledge bases belong to tenants: what the parameters come to."""

import re
from collections.abc import Iterator
from functools import cached_property

import pytest

from tests.contract.fixtures import fixture
from tests.fakes.aws_calls import AwsOverTransport
from tests.fakes.cloud import Cloud, cloud
from tests.fakes.template import resources, template
from tests.fakes.transport import ScriptedTransport, answer
from zarniwoop.contract.deadline import Deadline
from zarniwoop.contract.modality import SearchModality
from zarniwoop.contract.request import SearchRequest, SearchScope
from zarniwoop.contract.result import Outcome, SearchResult
from zarniwoop.contract.transport import HttpAnswer
from zarniwoop.net.aws_grants import ResourceGrants
from zarniwoop.wiring import Environment

FOUND = answer(fixture("agentcore", "web.json"))
SERPER = answer({"organic": [{"title": "Bells", "link": "https://example.com/b"}]})
KNOWLEDGE_BASE = {
    "research.endpoint.kb.protocol": "bedrock-kb",
    "research.endpoint.kb.knowledgeBaseId": "ABCDEFGHIJ",
}
DEFAULT = {"WEB_SEARCH_DEFAULT": "AgentCore", "WEB_SEARCH_MONTHLY_LIMIT": "5000", "WEB_SEARCH_REGION": ""}
GRANTS = ["", "acme=ABCDEFGHIJ", "*=ABCDEFGHIJ, my-tenant_2=KLMNOPQRST"]
BAD_GRANTS = ["acme", "acme=short", "ACME=ABCDEFGHIJ", "acme=ABCDEFGHIJ;beta=KLMNOPQRST", "acme:ABCDEFGHIJ"]


class Asking(Environment):
    """The product's composition, its way to AWS ending at a script."""

    def __init__(self, variables: dict[str, str], providers: ScriptedTransport, *aws: HttpAnswer) -> None:
        super().__init__(variables, transport=providers)
        self.to_aws = ScriptedTransport(*aws)

    @cached_property
    def _aws(self) -> AwsOverTransport:
        return AwsOverTransport(self.to_aws, self.clock, self._knowledge_bases)


@pytest.fixture
def account() -> Iterator[Cloud]:
    with cloud() as made:
        yield made


def asking(account: Cloud, *aws: HttpAnswer, providers: ScriptedTransport | None = None, **variables: str) -> Asking:
    return Asking({**account.variables, **DEFAULT, **variables}, providers or ScriptedTransport(), *aws)


def search(made: Environment, modality: SearchModality = SearchModality.WEB, tenant_id: str = "acme") -> SearchResult:
    scope = SearchScope(tenant_id=tenant_id, project_id="demo", deadline=Deadline.after(20.0, made.clock))
    return made.tools.dispatcher.search(SearchRequest(query="cathedral bells", modality=modality), scope)


def names(result: SearchResult) -> list[tuple[str, Outcome]]:
    return [(attempt.instance_id, attempt.outcome) for attempt in result.attempts]


def test_a_stack_without_a_setting_searches_the_web_and_says_what_that_costs(account: Cloud) -> None:
    """Of one call, as the price list has it: whether it was one of the free ones is not known here."""
    result = search(asking(account, FOUND))
    assert names(result) == [("agentcore", Outcome.SUCCESS)]
    assert result.hits[0].url == "https://ringing.example.org/tuning"
    assert result.attempts[0].cost == 0.007


def test_a_region_of_its_own_is_asked_where_the_stack_s_has_no_web_search(account: Cloud) -> None:
    made = asking(account, FOUND, WEB_SEARCH_REGION="us-east-1")
    search(made)
    (sent,) = made.to_aws.sent
    assert sent.request.url.startswith("https://bedrock-agentcore.us-east-1.amazonaws.com/")


def test_an_operator_who_says_none_has_none(account: Cloud) -> None:
    made = asking(account, WEB_SEARCH_DEFAULT="None")
    result = search(made)
    assert (result.hits, names(result), made.to_aws.sent) == ((), [], [])
    assert result.error_message is not None


def test_whoever_is_configured_is_asked_before_it(account: Cloud) -> None:
    """It is the last resort, and is paid for when nothing else answers."""
    account.set_all({"research.endpoint.own.protocol": "serper", "research.endpoint.own.apiKey": "key-0123456789"})
    made = asking(account, FOUND, providers=ScriptedTransport(SERPER, answer(b"", status=500)))
    assert names(search(made)) == [("own", Outcome.SUCCESS)]
    assert names(search(made)) == [("own", Outcome.FAILURE), ("agentcore", Outcome.SUCCESS)]


def test_routing_that_names_others_leaves_it_out(account: Cloud) -> None:
    account.set_all(
        {
            "research.endpoint.own.protocol": "serper",
            "research.endpoint.own.apiKey": "key-0123456789",
            "research.default.web": "own",
        }
    )
    made = asking(account, providers=ScriptedTransport(answer(b"", status=500)))
    assert names(search(made)) == [("own", Outcome.FAILURE)]


def test_a_project_switches_it_off_by_its_name(account: Cloud) -> None:
    account.set_all({"research.endpoint.agentcore.protocol": "agentcore", "research.endpoint.agentcore.enabled": "no"})
    made = asking(account)
    assert search(made).hits == ()
    assert made.to_aws.sent == []


def test_the_month_s_bound_is_kept(account: Cloud) -> None:
    """Then it is exhausted, and nobody is charged."""
    made = asking(account, FOUND, WEB_SEARCH_MONTHLY_LIMIT="1")
    assert search(made).hits
    result = search(made)
    assert (result.hits, len(made.to_aws.sent)) == ((), 1)
    assert [attempt.reason for attempt in result.attempts] == ["exhausted"]


def test_a_knowledge_base_is_asked_for_its_tenant(account: Cloud) -> None:
    account.set_all(KNOWLEDGE_BASE)
    made = asking(account, answer(fixture("bedrock-kb", "rag.json")), KNOWLEDGE_BASE_TENANTS="acme=ABCDEFGHIJ")
    result = search(made, SearchModality.RAG)
    assert names(result) == [("kb", Outcome.SUCCESS)]
    assert result.returned_count == 5


@pytest.mark.parametrize("grants", ["", "beta=ABCDEFGHIJ"])
def test_a_knowledge_base_is_not_asked_for_others(account: Cloud, grants: str) -> None:
    """The search goes on with the project's own documents."""
    account.set_all(KNOWLEDGE_BASE)
    made = asking(account, KNOWLEDGE_BASE_TENANTS=grants)
    attempts = search(made, SearchModality.RAG).attempts
    assert [(each.instance_id, each.reason) for each in attempts] == [("kb", "misconfigured"), ("local-index", None)]
    assert made.to_aws.sent == []


def test_grants_that_cannot_be_read_give_nothing_and_stop_nothing(
    account: Cloud, capsys: pytest.CaptureFixture[str]
) -> None:
    """The log names the parameter, and repeats no value."""
    made = asking(account, FOUND, KNOWLEDGE_BASE_TENANTS="acme:ABCDEFGHIJ")
    assert search(made).hits
    logged = capsys.readouterr().out
    assert '"parameter":"KnowledgeBaseTenants"' in logged
    assert "ABCDEFGHIJ" not in logged


@pytest.mark.parametrize("written", [*GRANTS, *BAD_GRANTS])
def test_the_template_refuses_the_grants_that_the_functions_cannot_read(written: str) -> None:
    pattern = template()["Parameters"]["KnowledgeBaseTenants"]["AllowedPattern"]
    assert (re.fullmatch(pattern, written) is not None) == (written in GRANTS)
    if written in GRANTS:
        ResourceGrants.parse(written)
    else:
        with pytest.raises(ValueError, match="a grant is"):
            ResourceGrants.parse(written)


def test_the_role_may_ask_what_the_parameters_name_and_nothing_else_of_aws() -> None:
    """The managed tool of one region, and the listed knowledge bases; neither where they are not wanted."""
    statements = resources("AWS::IAM::ManagedPolicy")["DispatchPolicy"]["PolicyDocument"]["Statement"]
    conditional = {each["If"][0]: each["If"][1] for each in statements if "If" in each}
    web = conditional["SearchesTheWeb"]
    assert web["Action"] == "bedrock-agentcore:InvokeWebSearch"
    assert "aws:tool/web-search.v1" in str(web["Resource"])
    assert conditional["HasKnowledgeBases"] == {
        "Effect": "Allow",
        "Action": "bedrock:Retrieve",
        "Resource": {"Ref": "KnowledgeBaseArns"},
    }


def test_the_default_is_on_aws_alone() -> None:
    """The local stack's emulator lacks the service: `make demo`, `make serve` and the tests deploy without it."""
    from stack.deploy import _machine

    assert template()["Parameters"]["WebSearchDefault"]["Default"] == "AgentCore"
    assert _machine()["WebSearchDefault"] == "None"
