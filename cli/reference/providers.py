"""The built-in protocols as Markdown: the table of the README, and `docs/providers.md` with limits and settings.

Everything is read from the protocols' own declarations; the sentence on each is the first line of its module.
"""

import sys
from collections.abc import Iterable
from dataclasses import replace
from types import ModuleType

from zarniwoop.adapters import BUILTIN
from zarniwoop.contract.modality import SearchModality
from zarniwoop.contract.provider import Pacing, ProviderInstanceConfig
from zarniwoop.contract.request import SearchRequest
from zarniwoop.documents import protocol as local_index
from zarniwoop.observe.clock import SystemClock
from zarniwoop.wire.driver import WireProtocol
from zarniwoop.wire.format import WireFormat
from zarniwoop.wire.operators import heeded

_INTRODUCTION = """# Providers

One section per built-in protocol, in the order of their declaration; `make docs` writes this page out of them.
What every endpoint may set stands in [settings](settings.md). A filter that a provider cannot apply is
applied here to what it gave, unless a line below says that it is ignored; `data.applied` of every answer tells.
"""


def summary_table() -> str:
    """A row per protocol: modalities, key, what it is."""
    rows = [
        _row(f"`{protocol.id()}`", _modalities(protocol.format), _key(protocol.format), _sentence(protocol.format))
        for protocol in BUILTIN
    ]
    rows.append(_row(f"`{local_index.PROTOCOL_ID}`", _named(local_index.MODALITIES), "none", _told(local_index)))
    return "\n".join((_row("protocol", "modalities", "key", "what it is"), _row("---", "---", "---", "---"), *rows))


def modality_table() -> str:
    """A row per modality: the protocols that serve it."""
    rows = [_row(modality.value, " ".join(f"`{name}`" for name in _serving(modality))) for modality in SearchModality]
    return "\n".join((_row("modality", "protocols"), _row("---", "---"), *rows))


def page() -> str:
    """The whole of `docs/providers.md`."""
    return "\n".join(
        (_INTRODUCTION, modality_table(), "", *(_section(protocol) for protocol in BUILTIN), _local_index())
    )


def _serving(modality: SearchModality) -> Iterable[str]:
    yield from (each.id() for each in BUILTIN if modality in each.modalities_supported())
    if modality in local_index.MODALITIES:
        yield local_index.PROTOCOL_ID


def _local_index() -> str:
    """It is no wire format: it asks nobody, and is there without a setting."""
    facts = {
        "modalities": _named(local_index.MODALITIES),
        "key": "none",
        "base URL": "none; its endpoint is called `local-index`, too, and comes last (priority 1000)",
        "limits": f"{local_index.MOST_RESULTS} results per search",
        "filters that it applies itself": ", ".join(f"`{name}`" for name in sorted(local_index.FILTERS)),
        "operators of a query that it heeds itself": _operators(heeded(local_index.OPERATORS, local_index.FILTERS)),
        "bodies": "RAG: the passage, inline; INTERNAL_DOC: the whole text on demand",
        "index": local_index.PROTOCOL_ID,
        "ignored": "; ".join(f"`{name}` ({reason})" for name, reason in sorted(local_index.IGNORES.items())),
    }
    told = f"{_told(local_index)} How documents get there stands in [operations](operations.md#documents-of-ones-own)."
    return "\n".join(
        (f"## {local_index.PROTOCOL_ID}", "", told, "", *(f"- {name}: {facts[name]}" for name in facts), "")
    )


def _section(protocol: WireProtocol) -> str:
    declared = protocol.format
    lines = [f"## {protocol.id()}", "", f"{_sentence(declared)} {_link(declared)}", ""]
    lines += [f"- {name}: {value}" for name, value in _facts(protocol) if value]
    if declared.setting_fields:
        lines += ["", _row("setting", "default", "meaning"), _row("---", "---", "---"), *_settings(declared)]
    return "\n".join((*lines, ""))


def _facts(protocol: WireProtocol) -> Iterable[tuple[str, str]]:
    declared = protocol.format
    yield "modalities", _modalities(declared)
    yield "tiers", " ".join(sorted(declared.tiers)) if len(declared.tiers) < len(type(min(declared.tiers))) else ""
    yield "key", _key(declared)
    yield "base URL", _base_url(declared)
    yield "limits", f"{declared.max_results} results and {declared.max_query_chars} characters per search"
    yield "filters that it applies itself", ", ".join(f"`{name}`" for name in sorted(declared.filters))
    yield "operators of a query that it heeds itself", _operators(heeded(declared.operators, declared.filters))
    yield "published rate", _rate(protocol)
    yield "quota", _quota(declared)
    yield "bodies", "on demand, for `STASH_ON_DEMAND` references" if declared.content_exchange else ""
    yield "index", f"{declared.index_family}"
    yield (
        "ignored where it cannot apply them",
        "; ".join(f"`{name}` ({reason})" for name, reason in sorted(declared.ignores.items())),
    )


def _operators(heeded_ones: frozenset[str]) -> str:
    return ", ".join(f"`{name}`" for name in sorted(heeded_ones))


def _settings(declared: WireFormat) -> list[str]:
    return [
        _row(
            f"`research.endpoint.<id>.{each.name}`",
            "required" if each.required else each.default or "none",
            each.description.rstrip("."),
        )
        for each in declared.setting_fields
    ]


def _modalities(declared: WireFormat) -> str:
    return _named(declared.modalities)


def _named(modalities: frozenset[SearchModality]) -> str:
    return " ".join(modality.value for modality in SearchModality if modality in modalities)


def _base_url(declared: WireFormat) -> str:
    if declared.by_role:
        return "none: asked through AWS's SDK"
    return f"`{declared.default_base_url}`" if declared.default_base_url else "required"


def _key(declared: WireFormat) -> str:
    if declared.by_role:
        return "none (the stack's role)"
    if declared.authentication is None:
        return "none"
    variable = f" (`{declared.key_variable}`)" if declared.key_variable else ""
    return ("required" if declared.key_required else "optional") + variable


def _quota(declared: WireFormat) -> str:
    sources = [
        source
        for source, there in (
            ("asked of the provider, for nothing", declared.quota_exchange),
            ("read from the headers of its answers", declared.quota_from_headers),
        )
        if there
    ]
    return " and ".join(sources) or "counted here, up to `creditLimit`"


def _rate(protocol: WireProtocol) -> str:
    """At its own address, without a key and, where that differs, with one."""
    declared = protocol.format
    if declared.pacing is None:
        return ""
    asked = SearchRequest(query="-", modality=min(declared.modalities))
    keyless = ProviderInstanceConfig(
        instance_id="shown",
        protocol_id=protocol.id(),
        base_url=declared.default_base_url,
        transport=None,  # type: ignore[arg-type]  # a rate is declared without asking anybody
        keys=None,  # type: ignore[arg-type]
        clock=SystemClock(),
    )
    without = _spelt(declared.pacing(asked, keyless))
    with_key = _spelt(declared.pacing(asked, replace(keyless, credential_key="apiKey")))
    if declared.authentication is None or with_key == without:
        return without
    return f"{without or 'none'}; with a key {with_key or 'none'}"


def _spelt(pacing: Pacing | None) -> str:
    if pacing is None:
        return ""
    alone = ", one connection at a time" if pacing.exclusive else ""
    return f"{pacing.requests} request{'s' * (pacing.requests > 1)} in {pacing.seconds:g} s{alone}, for the whole fleet"


def _sentence(declared: WireFormat) -> str:
    """The first line of the adapter's module, without the name before the colon."""
    return _told(sys.modules[declared.exchange.__module__])


def _told(module: ModuleType) -> str:
    first = (module.__doc__ or "").strip().splitlines()[0]
    told = first.partition(": ")[2] or first
    return told[0].upper() + told[1:]


def _link(declared: WireFormat) -> str:
    return f"[{declared.display_name}]({declared.documentation})"


def _row(*cells: str) -> str:
    return f"| {' | '.join(cell.replace('|', '&#124;') for cell in cells)} |"
