"""What the API says of itself to anybody."""

from zarniwoop_client.results.record import Record


class ProtectedResource(Record):
    """RFC 9728, section 2. Without an issuer, tokens are those that the operator gives out (`make token`)."""

    resource: str
    resource_name: str
    resource_documentation: str
    bearer_methods_supported: tuple[str, ...] = ("header",)
    authorization_servers: tuple[str, ...] = ()
