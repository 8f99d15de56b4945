"""The part of the composition root that MCP needs: the functions of the tools, and whose pages may ask.

The function that speaks MCP holds nothing but the right to ask these functions.
"""

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING

import orjson

from zarniwoop.contract.failure import StackMisconfigured

if TYPE_CHECKING:
    from zarniwoop.stores.functions import ToolFunctions


class McpWiring:
    """What `wiring.Environment` is made of for MCP."""

    _variables: Mapping[str, str]

    @cached_property
    def tool_functions(self) -> "ToolFunctions":
        """Raises StackMisconfigured."""
        from zarniwoop.stores.clients import KeptClients, lambda_client
        from zarniwoop.stores.functions import LambdaToolFunctions

        return LambdaToolFunctions(KeptClients(lambda_client), _functions_of(self._variables.get("TOOL_FUNCTIONS", "")))

    @cached_property
    def allowed_origins(self) -> frozenset[str]:
        """As browsers write them: scheme, host and port, in lower case."""
        listed = self._variables.get("MCP_ALLOWED_ORIGINS", "").split(",")
        return frozenset(each.strip().rstrip("/").lower() for each in listed if each.strip())


def _functions_of(text: str) -> Mapping[str, str]:
    """A function's name by the name of its tool."""
    try:
        functions = orjson.loads(text)
    except orjson.JSONDecodeError:
        raise StackMisconfigured("TOOL_FUNCTIONS") from None
    if not isinstance(functions, dict) or not all(isinstance(each, str) for each in functions.values()):
        raise StackMisconfigured("TOOL_FUNCTIONS")
    return functions
