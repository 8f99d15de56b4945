"""The part of the composition root that asking AWS's own services needs, and what the stack's parameters let it ask.

Quirk: who may ask which knowledge base is read out of a parameter that a function's variables can change; one that
cannot be read gives nobody anything, and every other search goes on.
"""

from collections.abc import Mapping
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from aws_lambda_powertools import Logger

    from zarniwoop.contract.deadline import Clock
    from zarniwoop.contract.transport import AwsCaller
    from zarniwoop.net.aws_grants import ResourceGrants
    from zarniwoop.settings.endpoints import EndpointSettings

_SEARCH_PRICE = 0.007
"""USD for a search beyond the free ones; counted from the first on, because the account's count is not known here."""

_FREE_SEARCHES = 5_000


class AwsWiring:
    """What `wiring.Environment` is made of for protocols that are asked with the function's role."""

    _variables: Mapping[str, str]
    clock: "Clock"

    if TYPE_CHECKING:  # declared for the type checker; the root makes them

        @cached_property
        def log(self) -> Logger: ...

    @cached_property
    def _aws(self) -> "AwsCaller":
        from zarniwoop.net.aws import BotoCaller
        from zarniwoop.stores.clients import PROVIDER_CONNECT_SECONDS, KeptClients, provider_client

        return BotoCaller(
            KeptClients(provider_client),
            self.clock,
            self._knowledge_bases,
            connect_seconds=PROVIDER_CONNECT_SECONDS,
        )

    @property
    def _knowledge_bases(self) -> "ResourceGrants":
        from zarniwoop.net.aws_grants import ResourceGrants

        with suppress(ValueError):
            return ResourceGrants.parse(self._variables.get("KNOWLEDGE_BASE_TENANTS", ""))
        self.log.error("a stack parameter cannot be read", extra={"parameter": "KnowledgeBaseTenants"})
        return ResourceGrants()

    @cached_property
    def _web_search_endpoints(self) -> "tuple[EndpointSettings, ...]":
        """The web search of a stack in which nobody configured one, where the operator wants it."""
        if self._variables.get("WEB_SEARCH_DEFAULT") != "AgentCore":
            return ()
        from zarniwoop.settings.standing import metered_endpoint

        most = self._variables.get("WEB_SEARCH_MONTHLY_LIMIT", "")
        region = self._variables.get("WEB_SEARCH_REGION", "")
        endpoint = metered_endpoint(
            "agentcore",
            price=_SEARCH_PRICE,
            calls_a_month=int(most) if most.isdecimal() else _FREE_SEARCHES,
            extras={"region": region} if region else {},
        )
        return (endpoint,)
