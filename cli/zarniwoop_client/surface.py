"""What the methods of both clients stand on."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from zarniwoop_client.answer import Read
from zarniwoop_client.api import Api
from zarniwoop_client.results.record import Record

Model = TypeVar("Model", bound=Record)


class Surface:
    """Methods are flows of `_api`; who reads them off decides how they are carried out."""

    _api: Api


def reader(model: type[Model]) -> Read[Model]:
    """Reads the `data` of an envelope. Raises ValidationError for what is no such record."""
    return model.model_validate


def as_json(data: Any) -> Any:
    """`data` as it came."""
    return data


def either(is_first: Callable[[Mapping[str, Any]], bool], first: type[Model], second: type[Model]) -> Read[Any]:
    """One of two records; which one shows in the data."""

    def read(data: Any) -> Model:
        return (first if is_first(data) else second).model_validate(data)

    return read
