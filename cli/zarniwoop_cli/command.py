"""What every command is wrapped in: the options that all take, and one place where failures become exit codes."""

import inspect
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Annotated, Any

import typer

from zarniwoop_cli.configuration import NotConfiguredError
from zarniwoop_cli.exits import Exit
from zarniwoop_cli.fields import Field
from zarniwoop_cli.session import Form, Options, Session, UnreadableAnswerError, tell

Body = Callable[..., Exit | None]
_PANEL = "For every command"


def _option(text: str, *names: str, **more: Any) -> Any:
    return typer.Option(*names, help=text, rich_help_panel=_PANEL, **more)


def _common(
    url: Annotated[str | None, _option("The stack's API [ZARNIWOOP_URL, then the local stack].", "--url")] = None,
    token: Annotated[
        str | None, _option("The token; others see it in the list of processes [ZARNIWOOP_TOKEN].", "--token")
    ] = None,
    project: Annotated[
        str | None, _option("Which project, if your token has several [ZARNIWOOP_PROJECT].", "--project", "-p")
    ] = None,
    timeout: Annotated[float | None, _option("Seconds for an answer, repeats included.", "--timeout", min=0.1)] = None,
    as_json: Annotated[bool, _option("Write the envelope as it came.", "--json")] = False,
    as_lines: Annotated[bool, _option("Write one hit, page, run … a line, as JSON.", "--jsonl")] = False,
) -> Options:
    if as_json and as_lines:
        raise typer.BadParameter("--json and --jsonl exclude each other")
    form = Form.JSON if as_json else Form.JSONL if as_lines else Form.PEOPLE
    return Options(url=url, token=token, project=project, timeout=timeout, form=form)


def command(app: typer.Typer, name: str, *, fields: Sequence[Field] = ()) -> Callable[[Body], Body]:
    """Register `body(session, …)`; its docstring is the help, what it returns the exit code.

    It takes the options of its signature and those that `fields` name.
    """

    def register(body: Body) -> Body:
        signature = inspect.signature(body, eval_str=True).parameters.values()
        own = [each for each in signature if each.name != "session" and each.kind is not each.VAR_KEYWORD]
        listed = [each.parameter() for each in fields]
        common = list(inspect.signature(_common, eval_str=True).parameters.values())

        def run(**given: Any) -> None:
            options = _common(**{each.name: given.pop(each.name) for each in common})
            raise typer.Exit(guarded(options, lambda session: body(session, **given)))

        parameters = [each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in (*listed, *own, *common)]
        run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined] # functions take any attribute
        run.__annotations__ = {each.name: each.annotation for each in parameters}
        run.__name__, run.__doc__ = body.__name__, inspect.cleandoc(body.__doc__ or "")
        app.command(name)(run)
        return body

    return register


def guarded(options: Options, body: Callable[[Session], Exit | None]) -> Exit:
    """The exit code of a command, however it ends."""
    session = Session(options)
    try:
        code = body(session) or Exit.ANSWERED
        sys.stdout.flush()
    except BrokenPipeError:
        code = _hushed()
    except KeyboardInterrupt:
        tell("interrupted")
        code = Exit.INTERRUPTED
    except NotConfiguredError as error:
        what, way_out = error.parts()
        tell(what)
        tell(f"  → {way_out}")
        code = Exit.USAGE
    except UnreadableAnswerError:
        tell("the answer is not shaped as this command expects it")
        tell("  → `--json` writes it as it came; `zarniwoop doctor` looks at who answers there")
        code = Exit.UNREACHABLE
    except _client_error() as error:
        code = _failed(session, error)
    finally:
        session.close()
    return code


def _failed(session: Session, error: Any) -> Exit:
    try:
        code = session.fail(error)
        sys.stdout.flush()
    except BrokenPipeError:
        return _hushed()
    return code


def _client_error() -> type[Exception]:
    """Looked at only when something was raised, which is early enough to import it."""
    from zarniwoop_client.problems import ZarniwoopError

    return ZarniwoopError


def _hushed() -> Exit:
    """Whoever reads our output has had enough of it (`| head`), which is no fault; Python must not complain either."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return Exit.ANSWERED
