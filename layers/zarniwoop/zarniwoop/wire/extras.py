"""What an endpoint may set beyond the suffixes of all: its format's own fields, and two that anyone may have."""

import re
from collections.abc import Iterator

import orjson

from zarniwoop.contract.provider import ProviderInstanceConfig
from zarniwoop.contract.transport import HeaderKey
from zarniwoop.wire.format import SettingField, SettingsPart, WireFormat

YES_OR_NO = "(?i:true|false)"
_FIRST_SENTENCE = re.compile(r"(.+?\.)(?:\s|$)", re.DOTALL)
EMAIL_PATTERN = r"[!-?A-~]{1,64}@[A-Za-z0-9.-]{1,190}"
USER_AGENT = SettingField(
    name="userAgent",
    title="User agent",
    description="Sent in place of ours, for a provider that lets in only whom it knows.",
    pattern=r"[!-~](?:[ -~]{0,198}[!-~])?",
)


def contact_field(description: str, *, required: bool = False) -> SettingField:
    """An e-mail address, with what this provider does with it."""
    return SettingField(
        name="contactEmail", title="Contact e-mail", description=description, pattern=EMAIL_PATTERN, required=required
    )


COMMON_FIELDS = (USER_AGENT, contact_field("Who answers for the calls; some providers are told."))
"""What every wire format takes, used or not: a form may offer them for any endpoint (seed 1, section 8.1)."""


def is_on(config: ProviderInstanceConfig, field: SettingField) -> bool:
    """Whether a setting of the pattern YES_OR_NO says yes; its default where nothing is set."""
    return (config.extras.get(field.name) or field.default or "false").lower() == "true"


def json_object(value: str) -> str | None:
    """The `check` of a setting that holds a JSON object."""
    try:
        parsed = orjson.loads(value)
    except orjson.JSONDecodeError:
        parsed = None
    return None if isinstance(parsed, dict) else "must be a JSON object"


def part_of(wire_format: WireFormat) -> SettingsPart:
    """What the format declares, as a part of the settings form; without a hint of its own the one for planners."""
    keyed = wire_format.authentication
    own = (wire_format.key_variable,) if wire_format.key_variable else ()
    return SettingsPart(
        fields=(*wire_format.setting_fields, *COMMON_FIELDS),
        hint=_words(wire_format.form_hint) or _first_sentence(wire_format.prompt_hint),
        documentation=wire_format.documentation,
        takes_base_url=not wire_format.by_role,
        default_base_url=wire_format.default_base_url,
        key_in=None if keyed is None else "header" if isinstance(keyed, HeaderKey) else "query",
        key_required=wire_format.key_required,
        key_variables=(*own, *(("WEB_SEARCH_API_KEY",) if wire_format.takes_generic_key else ())),
    )


def _first_sentence(text: str) -> str:
    found = _FIRST_SENTENCE.match(text)
    return _words((found.group(1) if found else text).replace("*", ""))


def _words(text: str) -> str:
    return " ".join(text.split())


def _complaint(field: SettingField, value: str) -> str | None:
    if not re.fullmatch(field.pattern, value):
        return f"must match the pattern {field.pattern}"
    return field.check(value) if field.check else None


def faults_of(config: ProviderInstanceConfig, wire_format: WireFormat) -> Iterator[tuple[str, str]]:
    """What is wrong with the settings, as (setting, reason): missing, not written as it must be, or unheard of."""
    extras = config.extras
    if wire_format.by_role and config.base_url:
        yield "baseUrl", f"is not taken by protocol {wire_format.protocol_id}, which is asked with the stack's role"
    fields = {field.name: field for field in (*COMMON_FIELDS, *wire_format.setting_fields)}
    for field in fields.values():
        value = extras.get(field.name)
        if value is None:
            if field.required:
                yield field.name, f"is required by protocol {wire_format.protocol_id}"
        elif complaint := _complaint(field, value):
            yield field.name, complaint
    for name in extras:
        if name not in fields:
            known = ", ".join(sorted(fields))
            yield name, f"is no setting of protocol {wire_format.protocol_id}, whose own are: {known}"
