"""`sam deploy` of the one template to the emulator."""

from collections.abc import Mapping

from botocore.exceptions import ClientError

from stack import places, sam
from stack.build import stack_python_version
from stack.target import Target

ARTIFACTS = "zarniwoop-artifacts"
"""The bucket that samconfig.toml names for the environment `local`."""
_RUNTIMES = ("3.11", "3.12", "3.13")


def deploy(target: Target, parameters: Mapping[str, str]) -> dict[str, str]:
    """Create or update the stack; returns its outputs."""
    storage = target.session().client("s3", endpoint_url=target.endpoint_url)
    try:
        storage.create_bucket(Bucket=ARTIFACTS)
    except ClientError as error:
        if error.response["Error"]["Code"] != "BucketAlreadyOwnedByYou":
            raise
    overrides = {**_machine(), **parameters}
    chosen = [f"{name}={value}" for name, value in overrides.items()]
    sam.run(
        [
            *("deploy", "--config-file", str(places.SAM_CONFIGURATION), "--config-env", "local"),
            *("--template-file", str(places.BUILT_TEMPLATE), "--stack-name", target.stack_name),
            *("--parameter-overrides", *chosen),
        ],
        target.environment(),
    )
    return target.outputs()


def _machine() -> Mapping[str, str]:
    """What the functions really run on here; the emulator starts them with its own Python whatever is written."""
    version = stack_python_version()
    return {
        "LambdaRuntime": f"python{version if version in _RUNTIMES else _RUNTIMES[-1]}",
        "LambdaArchitecture": "x86_64",
        "TokenRateLimit": "200",
        "TokenBurstLimit": "400",
        "StageRateLimit": "1000",
        "StageBurstLimit": "2000",
        "WebSearchDefault": "None",  # the emulator has no AgentCore
    }
