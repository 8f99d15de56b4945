"""The deployed template, read as data: what tests build their cloud from and check the house against."""

from functools import cache
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[2]


class _Loader(yaml.SafeLoader):
    """YAML with CloudFormation's short tags, kept as {tag: value}."""


def _tagged(loader: _Loader, suffix: str, node: yaml.Node) -> Any:
    if isinstance(node, yaml.ScalarNode):
        value: Any = loader.construct_scalar(node)
    elif isinstance(node, yaml.SequenceNode):
        value = loader.construct_sequence(node, deep=True)
    else:
        value = loader.construct_mapping(node, deep=True)  # type: ignore[arg-type]
    return {suffix: value}


_Loader.add_multi_constructor("!", _tagged)


@cache
def template() -> dict[str, Any]:
    """`template.yaml` with tags as single-key mappings: `!Ref X` is {"Ref": "X"}. Parsed once: nobody changes it."""
    parsed: dict[str, Any] = yaml.load((ROOT / "template.yaml").read_text(encoding="utf-8"), Loader=_Loader)  # noqa: S506
    return parsed


def resources(kind: str) -> dict[str, dict[str, Any]]:
    """The template's resources of a type, by logical id: their properties."""
    return {
        name: resource.get("Properties", {})
        for name, resource in template()["Resources"].items()
        if resource["Type"] == kind
    }
