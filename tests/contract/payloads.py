"""Recorded answers of the real providers, read from beside the project and never copied into it."""

from pathlib import Path

import pytest

_FOLDER = Path(__file__).resolve().parents[3] / "shared" / "payloads"


def payload(provider: str, name: str) -> bytes:
    """The recorded body `<provider>/<name>`. Skips the test where the recordings are absent."""
    if not _FOLDER.is_dir():
        pytest.skip("no recorded answers beside the project")
    return (_FOLDER / provider / name).read_bytes()


def recorded(provider: str) -> list[str]:
    """The names of all recorded bodies of a provider, without their header files; empty where there are none."""
    folder = _FOLDER / provider
    return (
        sorted(path.name for path in folder.glob("*") if path.is_file() and not path.name.endswith(".headers.json"))
        if folder.is_dir()
        else []
    )
