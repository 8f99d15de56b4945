"""What is told of a setting that cannot be used."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Misconfigured:
    """`setting` is a suffix of the endpoint `instance_id`, or a whole key where that is empty; no value in `reason`."""

    instance_id: str
    setting: str
    reason: str
