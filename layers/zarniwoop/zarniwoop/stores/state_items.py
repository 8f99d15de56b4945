"""Cooldowns and quotas as DynamoDB items, and back.

Quirk: an item that cannot be read (edited by hand, written by another version) counts as absent: it must not take the
project's searches along.
"""

import math
from typing import Any

from zarniwoop.contract.quota import QuotaSource, QuotaStatus
from zarniwoop.stores.attributes import (
    EXPIRES_AT,
    LAST_MOMENT,
    Item,
    expiry,
    flag,
    has_lapsed,
    moment,
    number,
    read_flag,
    read_moment,
    read_number,
    read_text,
    text,
)
from zarniwoop.stores.failure import ILLEGIBLE
from zarniwoop.stores.keys import (
    cooldown_key,
    partition,
    quota_key,
    read_cooldown_key,
    read_quota_key,
)
from zarniwoop.stores.state import Cooldown, KeptQuota, ProjectKey, Subject

_DAY = 86_400.0
_REMEMBERED = _DAY
"""How long the count of failures outlives a cooldown."""
_REMEMBERED_UNTIL_SETTINGS_CHANGE = 365 * _DAY
_GIVES_WAY = (
    "attribute_not_exists(pk) OR #expires <= :now OR attribute_not_exists(#remaining) OR #remaining > :nothing"
    " OR #resets <= :now OR #observed < :observed"
)


def lapses_at(cooldown: Cooldown) -> float:
    """When a cooldown, and the count of failures in it, is forgotten altogether."""
    kept = _REMEMBERED_UNTIL_SETTINGS_CHANGE if cooldown.until_settings_change else _REMEMBERED
    return math.floor(min(max(cooldown.until, cooldown.failed_at) + kept, LAST_MOMENT))


def item_key(project: ProjectKey, sort_key: str) -> dict[str, Any]:
    return {"pk": text(partition(project)), "sk": text(sort_key)}


def cooldown_item(project: ProjectKey, cooldown: Cooldown) -> dict[str, Any]:
    return {
        **item_key(project, cooldown_key(cooldown.subject, cooldown.fingerprint)),
        "reason": text(cooldown.reason),
        "until": moment(cooldown.until),
        "failures": number(cooldown.failures),
        "failed_at": moment(cooldown.failed_at),
        "until_settings_change": flag(cooldown.until_settings_change),
        "closed": flag(cooldown.closed),
        **({"slow": number(cooldown.slow)} if cooldown.slow else {}),
        EXPIRES_AT: expiry(lapses_at(cooldown)),
    }


def read_cooldown(item: Item, now: float) -> Cooldown | None:
    """The cooldown in an item; None when it is forgotten by now, or illegible."""
    if has_lapsed(item, now):
        return None
    try:
        (instance_id, modality), fingerprint = read_cooldown_key(read_text(item, "sk"))
        return Cooldown(
            instance_id=instance_id,
            modality=modality,
            reason=read_text(item, "reason"),
            until=read_number(item, "until"),
            failures=int(read_number(item, "failures")),
            failed_at=read_number(item, "failed_at"),
            fingerprint=fingerprint,
            until_settings_change=read_flag(item, "until_settings_change"),
            closed=read_flag(item, "closed"),
            slow=int(read_number(item, "slow")) if "slow" in item else 0,
        )
    except ILLEGIBLE:
        return None


def quota_item(project: ProjectKey, subject: Subject, quota: KeptQuota) -> dict[str, Any]:
    status = quota.status
    numbers = {"used": status.used, "limit": status.limit, "remaining": status.remaining, "resets_at": status.resets_at}
    return {
        **item_key(project, quota_key(subject)),
        "source": text(status.source.value),
        "unit": text(status.unit),
        **{name: number(value) for name, value in numbers.items() if value is not None},
        "observed_at": moment(status.observed_at),
        EXPIRES_AT: expiry(quota.expires_at),
    }


def unless_used_up(now: float, item: Item) -> dict[str, Any]:
    """The condition under which a quota's item is put: what stands gives way to it (`KeptQuota.gives_way_to`)."""
    return {
        "ConditionExpression": _GIVES_WAY,
        "ExpressionAttributeNames": {
            "#expires": EXPIRES_AT,
            "#remaining": "remaining",
            "#resets": "resets_at",
            "#observed": "observed_at",
        },
        "ExpressionAttributeValues": {
            ":now": moment(now),
            ":nothing": number(0),
            ":observed": item["observed_at"],
        },
        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
    }


def read_quota(item: Item, now: float) -> tuple[Subject, KeptQuota] | None:
    """Subject and quota of an item; None when it is out of date, of unknown date, or illegible."""
    expires_at = read_moment(item, EXPIRES_AT)
    if expires_at is None or expires_at <= now:
        return None
    try:
        return read_quota_key(read_text(item, "sk")), KeptQuota(status=_status(item), expires_at=expires_at)
    except ILLEGIBLE:
        return None


def _status(item: Item) -> QuotaStatus:
    return QuotaStatus(
        source=QuotaSource(read_text(item, "source")),
        unit=read_text(item, "unit"),
        used=_optional(item, "used"),
        limit=_optional(item, "limit"),
        remaining=_optional(item, "remaining"),
        resets_at=_optional(item, "resets_at"),
        observed_at=read_number(item, "observed_at"),
    )


def _optional(item: Item, name: str) -> float | None:
    return read_number(item, name) if name in item else None
