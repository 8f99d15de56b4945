"""What the layer holds packed, since Lambda's 250 MB do not hold it unpacked: Playwright's Node.js and Chromium.

Format: brotli (RFC 7932), tar archives in it where there are several files. Unpacked once per execution environment;
a file that is there is whole, because it gets its name last.
"""

import io
import os
import tarfile
from pathlib import Path

_ARCHIVES = ("al2023.tar.br", "fonts.tar.br")
"""Libraries that Lambda's system lacks, and one font: without any, Chromium does not start."""


def node(packed: Path, room: Path) -> str:
    """Where Playwright's Node.js is, unpacked."""
    return str(_file(packed / "node.br", room / "node"))


def chromium(packed: Path, room: Path) -> str:
    """Where Chromium is, unpacked, with the libraries it wants; the process' variables tell it where those are."""
    for name in _ARCHIVES:
        _folder(packed / name, room / name.partition(".")[0])
    os.environ["LD_LIBRARY_PATH"] = str(room / "al2023" / "lib")
    os.environ["FONTCONFIG_PATH"] = str(room / "fonts")
    return str(_file(packed / "chromium.br", room / "chromium"))


def _file(packed: Path, whole: Path) -> Path:
    if not whole.exists():
        whole.parent.mkdir(parents=True, exist_ok=True)
        part = whole.with_suffix(".part")
        part.write_bytes(_unpacked(packed))
        part.chmod(0o755)
        part.rename(whole)
    return whole


def _folder(packed: Path, whole: Path) -> None:
    if packed.exists() and not whole.exists():
        part = whole.with_suffix(".part")
        with tarfile.open(fileobj=io.BytesIO(_unpacked(packed))) as archive:
            archive.extractall(part, filter="data")
        part.rename(whole)


def _unpacked(packed: Path) -> bytes:
    import brotli

    return bytes(brotli.decompress(packed.read_bytes()))
