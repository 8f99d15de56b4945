"""Which stack is meant, and how AWS or the emulator is reached for it."""

import os
from collections.abc import Mapping
from dataclasses import dataclass

import boto3

LOCAL_STACK = "zarniwoop"
LOCAL_REGION = "us-east-1"
_ROOT_CREDENTIALS = "test"
"""The emulator's own root user: it may do everything, without a signature. The functions' roles may not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A stack of this name: in the emulator behind `endpoint_url`, or in AWS, with the caller's own credentials."""

    stack_name: str
    endpoint_url: str | None = None

    def session(self) -> boto3.Session:
        if self.endpoint_url is None:
            return boto3.Session()
        return boto3.Session(
            aws_access_key_id=_ROOT_CREDENTIALS, aws_secret_access_key=_ROOT_CREDENTIALS, region_name=LOCAL_REGION
        )

    def outputs(self) -> dict[str, str]:
        cloudformation = self.session().client("cloudformation", endpoint_url=self.endpoint_url)
        (stack,) = cloudformation.describe_stacks(StackName=self.stack_name)["Stacks"]
        return {output["OutputKey"]: output["OutputValue"] for output in stack["Outputs"]}

    def environment(self) -> Mapping[str, str]:
        """What AWS's own tools need to reach it, over this process's environment."""
        if self.endpoint_url is None:
            return os.environ
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
        return {
            **inherited,
            "AWS_ENDPOINT_URL": self.endpoint_url,
            "AWS_ACCESS_KEY_ID": _ROOT_CREDENTIALS,
            "AWS_SECRET_ACCESS_KEY": _ROOT_CREDENTIALS,
            "AWS_DEFAULT_REGION": LOCAL_REGION,
        }
