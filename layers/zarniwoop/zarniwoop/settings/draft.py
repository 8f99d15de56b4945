"""An endpoint out of a draft that is laid over what is saved, to be tried out before anybody saves it.

A saved key goes to the saved protocol at the saved address and nowhere else: whoever may test drafts could otherwise
have it sent to himself (design, "Trust of settings").
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from zarniwoop.contract.problem import InvalidArgument
from zarniwoop.contract.transport import Secret, keys_in
from zarniwoop.settings.budgets import Budgets, read_budgets
from zarniwoop.settings.cascade import EffectiveSettings, Setting, merge
from zarniwoop.settings.changes import Changes
from zarniwoop.settings.credentials import KnownProtocol, address_of
from zarniwoop.settings.endpoints import EndpointSettings, ResearchSettings
from zarniwoop.settings.inspection import UNSAVED, Levels, check_whole, laid_over
from zarniwoop.settings.levels import Place
from zarniwoop.settings.names import API_KEY, PREFIX_ENDPOINT, PROTOCOL, endpoint_setting

_KEPT_BACK = "the saved key is used with the saved protocol and base URL only"


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """The endpoint to try, the keys that were typed for it by name, what its editor should know, and saved budgets."""

    endpoint: EndpointSettings
    secrets: Mapping[str, Secret] = field(repr=False)
    note: str | None = None
    budgets: Budgets = field(default_factory=Budgets)


def draft_of(
    instance_id: str,
    changes: Changes,
    place: Place,
    levels: Levels,
    judge: Callable[[EffectiveSettings], ResearchSettings],
    protocols: Mapping[str, KnownProtocol],
) -> Draft:
    """Raises InvalidArgument for what no endpoint can be made of, and for half of a change that was broken off."""
    check_whole([instance_id], changes, levels[place])
    prefix, key = f"{PREFIX_ENDPOINT}{instance_id}.", endpoint_setting(instance_id, API_KEY)
    saved = merge((each.level, parameters) for each, parameters in levels.items())
    after = {name: each for name, each in laid_over(levels, changes, place).items() if name.startswith(prefix)}
    typed = changes.get(key)
    kept_back = typed is None and key in after and _moved(instance_id, saved, after, protocols)
    if kept_back:
        del after[key]
    endpoint = _judged(instance_id, after, judge, kept_back=kept_back)
    return Draft(
        endpoint=endpoint,
        secrets={UNSAVED + key: Secret(keys_in(typed)[0])} if typed else {},
        note=f"asked without a key: {_KEPT_BACK}" if kept_back and endpoint.credential_key is None else None,
        budgets=read_budgets(saved)[0],
    )


def _judged(
    instance_id: str,
    after: Mapping[str, Setting],
    judge: Callable[[EffectiveSettings], ResearchSettings],
    *,
    kept_back: bool,
) -> EndpointSettings:
    judged = judge(EffectiveSettings(values=after))
    endpoint = next((each for each in judged.endpoints if each.id == instance_id), None)
    if endpoint is not None:
        return endpoint
    faults = [fault for fault in judged.misconfigured if fault.instance_id == instance_id]
    setting, reason = (faults[0].setting, faults[0].reason) if faults else (PROTOCOL, "is missing")
    if kept_back and setting == API_KEY:
        raise InvalidArgument(
            _KEPT_BACK,
            field=endpoint_setting(instance_id, API_KEY),
            slug="saved-key-kept-back",
            suggested_action="type the key into the draft, or test with the saved protocol and base URL",
        )
    field_name = endpoint_setting(instance_id, setting)
    raise InvalidArgument(
        f"'{field_name}': {reason}",
        field=field_name,
        suggested_action="GET /v1/settings/form tells how it is written",
    )


def _moved(
    instance_id: str,
    before: Mapping[str, Setting],
    after: Mapping[str, Setting],
    protocols: Mapping[str, KnownProtocol],
) -> bool:
    stem = f"{PREFIX_ENDPOINT}{instance_id}."
    return address_of(stem, before, protocols) != address_of(stem, after, protocols)
