"""Lambda's context object, as far as it is read. On its own, because the authorizer needs nothing else of the entry."""

from typing import Protocol


class LambdaContext(Protocol):
    """What is used of it."""

    aws_request_id: str

    def get_remaining_time_in_millis(self) -> int: ...
