"""What adapters of AWS's services have in common."""

from zarniwoop.wire.format import SettingField

REGION = SettingField(
    name="region",
    title="Region",
    description="The AWS region to ask, such as `eu-central-1`; not set: the stack's own.",
    pattern=r"[a-z]{2}(-[a-z]{1,10}){1,3}-\d{1,2}",
)
