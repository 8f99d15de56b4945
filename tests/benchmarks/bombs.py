"""Pages that are made to take a reader's time or memory, each a few megabytes at most."""

from collections.abc import Mapping

_SIZE = 4_900_000
_PDF_LOOP = (
    b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n"
    b"2 0 obj<</Type/Pages/Kids[2 0 R 2 0 R]/Count 9/Parent 2 0 R>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF"
)


def _laughs() -> bytes:
    """Ten to the ninth laughs."""
    entities = b"".join(b"<!ENTITY a%d '%s'>" % (level, b"&a%d;" % (level - 1) * 10) for level in range(1, 10))
    return b"<!DOCTYPE feed [<!ENTITY a0 'ha'>%s]><feed><title>&a9;</title></feed>" % entities


def pages() -> Mapping[str, tuple[bytes, str]]:
    """By name: the body, and the type that it claims."""
    return {
        "nested": (b"<div>" * 100_000 + b"bells", "text/html"),
        "nested to the end": (b"<div>" * (_SIZE // 5), "text/html"),
        "links": (b"<a href='/x'>bell</a>" * (_SIZE // 21), "text/html"),
        "paragraphs": (b"<p>" * (_SIZE // 3), "text/html"),
        "table": (b"<table>" + b"<tr><td>x" * (_SIZE // 9), "text/html"),
        "attributes": (b"<p " + b"".join(b"a%d=1 " % number for number in range(500_000)) + b">x", "text/html"),
        "one line": (b"x" * _SIZE, "text/plain"),
        "one word": (b"<p>" + b"x" * _SIZE, "text/html"),
        "nested JSON": (b"[" * _SIZE, "application/json"),
        "laughs": (_laughs(), "application/atom+xml"),
        "PDF loop": (_PDF_LOOP, "application/pdf"),
    }
