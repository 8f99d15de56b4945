"""Which documented path a request's path is one of, as API Gateway decides it."""

from urllib.parse import unquote


def named_in(template: str, path: str) -> dict[str, str] | None:
    """What stands at the template's placeholders, by their names; None where the path is another."""
    parts, asked = template.split("/"), path.split("/")
    if len(parts) != len(asked):
        return None
    pairs = list(zip(parts, asked, strict=True))
    if not all(part == seen or part.startswith("{") for part, seen in pairs):
        return None
    return {part[1:-1]: unquote(seen) for part, seen in pairs if part.startswith("{")}
