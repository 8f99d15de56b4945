"""The wire formats of models, in one explicit tuple, and what settings must know of each protocol."""

from collections.abc import Mapping

from zarniwoop.llm import anthropic, openai_compatible
from zarniwoop.llm.bedrock import PROTOCOL_ID as BEDROCK
from zarniwoop.settings.credentials import KnownProtocol
from zarniwoop.settings.models import BUILTIN

CHAT_FORMATS = (openai_compatible.FORMAT, anthropic.FORMAT)

MODEL_PROTOCOLS: Mapping[str, KnownProtocol] = {
    **{
        each.protocol_id: KnownProtocol(
            default_base_url=each.default_base_url, key_required=True, key_variable=each.key_variable
        )
        for each in CHAT_FORMATS
    },
    BEDROCK: KnownProtocol(),
    BUILTIN: KnownProtocol(),
}
