"""What an endpoint may set beyond the suffixes of all: its format's own fields, and two that anyone may have."""

import re
from collections.abc import Iterator, Mapping

from zarniwoop.wire.format import SettingField, WireFormat

EMAIL_PATTERN = r"[!-?A-~]{1,64}@[A-Za-z0-9.-]{1,190}"
USER_AGENT = SettingField(
    name="userAgent",
    title="User agent",
    description="Sent in place of ours, for a provider that lets in only whom it knows.",
    pattern=r"[!-~](?:[ -~]{0,198}[!-~])?",
)
_CONTACT = SettingField(
    name="contactEmail",
    title="Contact e-mail",
    description="Who answers for the calls; some providers are told.",
    pattern=EMAIL_PATTERN,
)
COMMON_FIELDS = (USER_AGENT, _CONTACT)
"""What every wire format takes, used or not: a form may offer them for any endpoint (seed 1, section 8.1)."""


def faults_of(extras: Mapping[str, str], wire_format: WireFormat) -> Iterator[tuple[str, str]]:
    """What is wrong with the extras, as (setting, reason): missing, not written as it must be, or unheard of."""
    fields = {field.name: field for field in (*COMMON_FIELDS, *wire_format.setting_fields)}
    for field in fields.values():
        value = extras.get(field.name)
        if value is None:
            if field.required:
                yield field.name, f"is required by protocol {wire_format.protocol_id}"
        elif not re.fullmatch(field.pattern, value):
            yield field.name, f"must match the pattern {field.pattern}"
    for name in extras:
        if name not in fields:
            known = ", ".join(sorted(fields))
            yield name, f"is no setting of protocol {wire_format.protocol_id}, whose own are: {known}"
