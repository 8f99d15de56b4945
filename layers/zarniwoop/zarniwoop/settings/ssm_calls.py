"""The one place where calls to Parameter Store are made, and botocore's errors become ours."""

from collections.abc import Callable
from typing import ParamSpec, TypeVar

from zarniwoop.contract.failure import ConfigurationUnavailable, ZarniwoopError

Arguments = ParamSpec("Arguments")
Returned = TypeVar("Returned")

_PASSING = frozenset(
    ("ThrottlingException", "TooManyUpdates", "InternalServerError", "ServiceUnavailable", "RequestTimeout")
)


class ParameterMissing(ZarniwoopError):  # noqa: N818 - named by its consequence
    """There is no parameter of this name."""


class ParameterStoreUnavailable(ConfigurationUnavailable):
    """Parameter Store did not answer; `passing` when another try may help."""

    def __init__(self, message: str, *, passing: bool) -> None:
        super().__init__(message)
        self.passing = passing


def call(operation: Callable[Arguments, Returned], *args: Arguments.args, **kwargs: Arguments.kwargs) -> Returned:
    """One call. Raises ParameterMissing, or ParameterStoreUnavailable for whatever else goes wrong."""
    from botocore.exceptions import BotoCoreError, ClientError

    try:
        return operation(*args, **kwargs)
    except ClientError as error:
        code = error.response.get("Error", {}).get("Code", "unknown")
        if code == "ParameterNotFound":
            raise ParameterMissing("there is no such parameter") from error
        status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
        passing = code in _PASSING or status >= 500
        raise ParameterStoreUnavailable(f"Parameter Store refused a call: {code}", passing=passing) from error
    except BotoCoreError as error:
        message = f"Parameter Store could not be asked: {type(error).__name__}"
        raise ParameterStoreUnavailable(message, passing=True) from error
