"""`python -m zarniwoop_cli`, and the entry point of `zarniwoop`."""

import sys
from contextlib import suppress


def main() -> None:
    for stream in (sys.stdout, sys.stderr):
        with suppress(AttributeError):
            stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr] # a terminal of another alphabet
    try:
        from zarniwoop_cli.app import made

        made()(prog_name="zarniwoop")
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
