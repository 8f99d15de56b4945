"""The one place where calls to Parameter Store are made, and botocore's errors become ours."""

from collections.abc import Callable
from typing import ParamSpec, TypeVar

from zarniwoop.contract.failure import ConfigurationUnavailable, ZarniwoopError
from zarniwoop.contract.problem import CallerError

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


class ParameterLimitReached(CallerError):  # noqa: N818 - named by its consequence
    """The account has as many parameters in this region as it may (10,000 standard ones)."""

    status = 507
    slug = "parameter-limit-reached"
    title = "Parameter Store takes no further setting"


def call(operation: Callable[Arguments, Returned], *args: Arguments.args, **kwargs: Arguments.kwargs) -> Returned:
    """One call. Raises ParameterMissing, ParameterLimitReached, or for all else ParameterStoreUnavailable."""
    from botocore.exceptions import BotoCoreError, ClientError

    try:
        return operation(*args, **kwargs)
    except ClientError as error:
        code = error.response.get("Error", {}).get("Code", "unknown")
        if code == "ParameterNotFound":
            raise ParameterMissing("there is no such parameter") from error
        if code == "ParameterLimitExceeded":
            raise ParameterLimitReached(
                "this AWS account has as many parameters in this region as it may",
                suggested_action="delete settings that nobody uses, or have the account's limit raised, and save again",
            ) from error
        status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
        passing = code in _PASSING or status >= 500
        raise ParameterStoreUnavailable(f"Parameter Store refused a call: {code}", passing=passing) from error
    except BotoCoreError as error:
        message = f"Parameter Store could not be asked: {type(error).__name__}"
        raise ParameterStoreUnavailable(message, passing=True) from error
