"""Settings: seen, changed, tried out. They need a token of level 4; a model is never given them."""

from collections.abc import Mapping
from typing import Any, Unpack

from zarniwoop_client.answer import Answer
from zarniwoop_client.api import segments
from zarniwoop_client.exchange import Flow
from zarniwoop_client.operation import Operation
from zarniwoop_client.options import Options
from zarniwoop_client.results.settings import SecretShown, SettingsTold, SettingsView, TrialReport
from zarniwoop_client.surface import Surface, as_json, reader


class SettingsMethods(Surface):
    """`client.settings`. A change that may have arrived is never sent again."""

    @Operation
    def read(self, **options: Unpack[Options]) -> Flow[Answer[SettingsView]]:
        """What is in force, at which level it stands, and the versions that a change must name."""
        return self._api.get("/v1/settings", dict(options), reader(SettingsView))

    @Operation
    def form(self, **options: Unpack[Options]) -> Flow[Answer[Any]]:
        """Everything that can be set, as JSON Schema."""
        return self._api.get("/v1/settings/form", dict(options), as_json)

    @Operation
    def save(
        self,
        settings: Mapping[str, Any],
        *,
        version: str,
        level: str | None = None,
        **options: Unpack[Options],
    ) -> Flow[Answer[SettingsTold]]:
        """New values by their whole keys; None takes one away. `version` is that of the level, or `*` for whichever."""
        given = {"settings": dict(settings), "version": version, "level": level, **options}
        return self._api.change("PUT", "/v1/settings", given, reader(SettingsTold))

    @Operation
    def delete(
        self, name: str, *, version: str, level: str | None = None, **options: Unpack[Options]
    ) -> Flow[Answer[SettingsTold]]:
        """Take a setting away, or an endpoint by its id with all that it has."""
        path = segments("/v1/settings/{name}", name=name)
        given = {"version": version, "level": level, **options}
        return self._api.change("DELETE", path, given, reader(SettingsTold), in_body=False)

    @Operation
    def test(
        self,
        endpoint_id: str,
        settings: Mapping[str, Any] | None = None,
        *,
        query: str | None = None,
        modality: str | None = None,
        level: str | None = None,
        **options: Unpack[Options],
    ) -> Flow[Answer[TrialReport]]:
        """Try an endpoint out, with a draft laid over what is saved; one call to its provider."""
        path = segments("/v1/settings/endpoints/{endpoint_id}/test", endpoint_id=endpoint_id)
        given = {"settings": dict(settings or {}), "query": query, "modality": modality, "level": level, **options}
        return self._api.change("POST", path, given, reader(TrialReport))

    @Operation
    def reveal(self, key: str, *, level: str | None = None, **options: Unpack[Options]) -> Flow[Answer[SecretShown]]:
        """A saved key, whole, where the operator allows it; each time is recorded."""
        given = {"key": key, "level": level, **options}
        return self._api.change("POST", "/v1/settings/reveal", given, reader(SecretShown))
