"""`make token`: issues or revokes a bearer token for a stack; shows it once and keeps nothing but its hash.

Without --stack-name it is for the local stack of `make serve`; with it, for that stack in the AWS account and region of
the caller's credentials.
"""

import argparse
import json
import secrets
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass

from botocore.exceptions import BotoCoreError, ClientError

from stack import places
from stack.seeding import PROJECT, TENANT
from stack.target import Target
from zarniwoop.stores.dynamodb_tokens import DynamoDbTokenStore
from zarniwoop.stores.keys import is_id
from zarniwoop.stores.tokens import SETTINGS, TokenGrant, hash_token
from zarniwoop.tools.registry import TOOLS

HASH_KEY = "_stack/queryHashKey"
_DAY = 86_400
_ALL = ("*",)
_PROJECT_HELP = f"a project it may act for; repeatable; '*': all (default: {PROJECT} on the local stack, else all)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What the token shall be good for; see `TokenGrant`."""

    tenant_id: str
    projects: tuple[str, ...]
    level: int = 1
    tools: tuple[str, ...] = ()
    days: float | None = None
    label: str = ""


def issue(target: Target, wanted: Wanted, *, usage_plan_id: str | None = None) -> str:
    """A new token, known to the stack and to its usage plan. Raises ValueError for an id that is none."""
    check(wanted)
    outputs = target.outputs()
    ensure_hash_key(target, outputs["SettingsRoot"])
    token = f"zw_{secrets.token_urlsafe(32)}"
    usage_key = secrets.token_urlsafe(32)
    _join_usage_plan(target, usage_plan_id or outputs["UsagePlanId"], hash_token(token), usage_key)
    tokens = target.session().client("dynamodb", endpoint_url=target.endpoint_url)
    DynamoDbTokenStore(tokens, outputs["TokensTableName"]).save(
        TokenGrant(
            token_hash=hash_token(token),
            tenant_id=wanted.tenant_id,
            projects=wanted.projects,
            level=wanted.level,
            tools=wanted.tools,
            usage_key=usage_key,
            expires_at=time.time() + wanted.days * _DAY if wanted.days is not None else None,
            label=wanted.label,
        )
    )
    return token


def check(wanted: Wanted) -> None:
    """Raises ValueError, with the way out, for a token that could never be used."""
    for name, value in (("tenant", wanted.tenant_id), *(("project", each) for each in wanted.projects if each != "*")):
        if not is_id(value):
            raise ValueError(f"a {name} is written in a-z, 0-9, '_' and '-', at most 63 of them")
    known = [*(tool.name for tool in TOOLS), SETTINGS]
    unknown = sorted(set(wanted.tools) - set(known))
    if unknown:
        raise ValueError(f"there is no tool {unknown[0]}; there are {', '.join(known)}")
    if wanted.days is not None and wanted.days <= 0:
        raise ValueError("a token must be valid for more than 0 days; to take one back use --revoke")


def revoke(target: Target, token: str) -> bool:
    """Take a token and its usage plan key back; False for a token that the stack does not know."""
    table = target.outputs()["TokensTableName"]
    session = target.session()
    gateway = session.client("apigateway", endpoint_url=target.endpoint_url)
    for page in gateway.get_paginator("get_api_keys").paginate(nameQuery=_key_name(target, hash_token(token))):
        for key in page["items"]:
            gateway.delete_api_key(apiKey=key["id"])
    tokens = session.client("dynamodb", endpoint_url=target.endpoint_url)
    return DynamoDbTokenStore(tokens, table).revoke(hash_token(token))


def ensure_hash_key(target: Target, settings_root: str) -> None:
    """Give the stack its key for query hashes; CloudFormation cannot make a SecureString. An old key stays."""
    parameters = target.session().client("ssm", endpoint_url=target.endpoint_url)
    try:
        parameters.put_parameter(
            Name=f"{settings_root}/{HASH_KEY}", Value=secrets.token_hex(32), Type="SecureString", Overwrite=False
        )
    except parameters.exceptions.ParameterAlreadyExists:
        return


def _join_usage_plan(target: Target, plan_id: str, token_hash: str, usage_key: str) -> None:
    gateway = target.session().client("apigateway", endpoint_url=target.endpoint_url)
    key = gateway.create_api_key(name=_key_name(target, token_hash), value=usage_key, enabled=True)
    gateway.create_usage_plan_key(usagePlanId=plan_id, keyId=key["id"], keyType="API_KEY")


def _key_name(target: Target, token_hash: str) -> str:
    return f"{target.stack_name}-{token_hash[:16]}"


def local_target() -> Target:
    """The stack of `make serve`."""
    if not places.STACK_FILE.exists():
        raise SystemExit("No local stack is up: start one with `make serve`, or name yours with --stack-name.")
    known = json.loads(places.STACK_FILE.read_text())
    return Target(stack_name=known["stack_name"], endpoint_url=known["endpoint_url"])


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="stack.token", description=__doc__)
    parser.add_argument("--stack-name", help="a stack in AWS; default: the local stack")
    parser.add_argument("--tenant", default=TENANT, help="the tenant that the token belongs to (default: local)")
    parser.add_argument("--project", action="append", help=_PROJECT_HELP)
    parser.add_argument(
        "--level",
        type=int,
        default=1,
        choices=range(5),
        help="what it may do: 0 nothing yet, 1 read-only tools (default), 4 change settings; 2 and 3 add nothing yet",
    )
    parser.add_argument("--tool", action="append", default=[], help="a tool, or settings; repeatable (default: all)")
    parser.add_argument("--days", type=float, help="how long it is valid (default: until it is revoked)")
    parser.add_argument("--label", default="", help="a note for whoever looks at the table")
    parser.add_argument("--revoke", metavar="TOKEN", help="take this token back instead")
    given = parser.parse_args(arguments)
    target = Target(stack_name=given.stack_name) if given.stack_name else local_target()
    try:
        if given.revoke:
            if not revoke(target, given.revoke):
                raise SystemExit("there is no such token")
            sys.stdout.write("revoked\n")
            return
        wanted = _wanted(given)
        sys.stdout.write(f"{issue(target, wanted)}\n")
        if wanted.projects == _ALL:
            sys.stderr.write("it names no project: calls do, by project_id, --project NAME or ZARNIWOOP_PROJECT\n")
    except ValueError as error:
        parser.error(str(error))
    except (BotoCoreError, ClientError) as error:
        raise SystemExit(f"AWS does not answer for stack {target.stack_name}: {error}") from error


def _wanted(given: argparse.Namespace) -> Wanted:
    """On the local stack, for the project that its own token is for, where nothing else is said."""
    usual = (PROJECT,) if given.tenant == TENANT and not given.stack_name else _ALL
    return Wanted(
        tenant_id=given.tenant,
        projects=tuple(given.project or usual),
        level=given.level,
        tools=tuple(given.tool),
        days=given.days,
        label=given.label,
    )


if __name__ == "__main__":
    main()
