"""Whose rate it is that a `Pacing` states."""

from zarniwoop.contract.provider import ProviderInstanceConfig
from zarniwoop.text.urls import host_of


def pacing_subject(config: ProviderInstanceConfig, *, by_key: bool = False) -> str:
    """All searches of a host, or where a rate is `by_key`, those with the same key."""
    key = f":{config.credential_key}" if by_key and config.credential_key else ""
    return f"{config.protocol_id}@{host_of(config.base_url or '') or ''}{key}"
