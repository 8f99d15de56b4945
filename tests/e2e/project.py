"""Projects of the stack's tenant: their settings, and who may call for them."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import httpx

from stack.running import Stack
from stack.token import Wanted, issue
from zarniwoop.settings.levels import Place
from zarniwoop.settings.writer import SsmSettingsWriter


def save_settings(stack: Stack, project_id: str, settings: Mapping[str, str]) -> None:
    """Settings of one project; the others keep the tenant's."""
    ssm = stack.session().client("ssm", endpoint_url=stack.endpoint_url)
    writer = SsmSettingsWriter(ssm, stack.outputs["SettingsRoot"])
    for key, value in settings.items():
        writer.put(Place(tenant_id=stack.tenant_id, project_id=project_id), key, value)


@contextmanager
def caller(stack: Stack, *projects: str, **wanted: Any) -> Iterator[httpx.Client]:
    """Somebody with a token for these projects."""
    token = issue(stack.target, Wanted(tenant_id=stack.tenant_id, projects=projects, **wanted))
    headers = {"Authorization": f"Bearer {token}"}
    with httpx.Client(base_url=stack.api_url, headers=headers, timeout=40, trust_env=False) as client:
        yield client
