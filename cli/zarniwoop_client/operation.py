"""One signature for both clients: a method that is written once, as a flow, and is blocking or awaited as its owner is.

`Operation` and `Streaming` are descriptors. Read off a blocking client they are functions that answer, read off an
asynchronous one functions to be awaited (or iterated over); type checkers see either with the method's own parameters.
"""

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from functools import update_wrapper
from types import MethodType
from typing import Any, Concatenate, Generic, ParamSpec, Self, TypeVar, overload

from zarniwoop_client.exchange import Flow, Stream

P = ParamSpec("P")
T = TypeVar("T")


class Blocking(ABC):
    """What carries flows out and returns when they have ended."""

    @abstractmethod
    def _run(self, flow: Flow[T]) -> T: ...

    @abstractmethod
    def _iterate(self, stream: Stream[T]) -> Iterator[T]: ...


class Awaited(ABC):
    """What carries flows out while its caller awaits them."""

    @abstractmethod
    async def _run(self, flow: Flow[T]) -> T: ...

    @abstractmethod
    def _iterate(self, stream: Stream[T]) -> AsyncIterator[T]: ...


class Operation(Generic[P, T]):
    """A method that answers once."""

    def __init__(self, flow: Callable[Concatenate[Any, P], Flow[T]]) -> None:
        self.flow = flow
        self.__doc__ = flow.__doc__

    @overload
    def __get__(self, surface: None, owner: type) -> Self: ...
    @overload
    def __get__(self, surface: Blocking, owner: type) -> Callable[P, T]: ...
    @overload
    def __get__(self, surface: Awaited, owner: type) -> Callable[P, Coroutine[Any, Any, T]]: ...
    def __get__(self, surface: Any, owner: type) -> Any:
        if surface is None:
            return self

        def call(*args: P.args, **kwargs: P.kwargs) -> Any:
            return surface._run(self.flow(surface, *args, **kwargs))

        return _named_after(call, self.flow, surface)


class Streaming(Generic[P, T]):
    """A method that gives out one value after the other."""

    def __init__(self, flow: Callable[Concatenate[Any, P], Stream[T]]) -> None:
        self.flow = flow
        self.__doc__ = flow.__doc__

    @overload
    def __get__(self, surface: None, owner: type) -> Self: ...
    @overload
    def __get__(self, surface: Blocking, owner: type) -> Callable[P, Iterator[T]]: ...
    @overload
    def __get__(self, surface: Awaited, owner: type) -> Callable[P, AsyncIterator[T]]: ...
    def __get__(self, surface: Any, owner: type) -> Any:
        if surface is None:
            return self

        def call(*args: P.args, **kwargs: P.kwargs) -> Any:
            return surface._iterate(self.flow(surface, *args, **kwargs))

        return _named_after(call, self.flow, surface)


def _named_after(call: Callable[..., Any], flow: Callable[..., Any], surface: Any) -> Callable[..., Any]:
    """With the flow's name, documentation and signature, as `help()` shows them."""
    update_wrapper(call, flow)
    call.__wrapped__ = MethodType(flow, surface)  # type: ignore[attr-defined] # functions take any attribute
    return call
