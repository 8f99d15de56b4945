"""The part of the composition root that asking models needs; a search makes the settings of it and nothing else."""

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

    from zarniwoop.contract.deadline import Clock
    from zarniwoop.contract.transport import Transport
    from zarniwoop.llm.gateway import ModelGateway
    from zarniwoop.llm.recipes import Overrides
    from zarniwoop.observe.metrics import MetricsBuffer
    from zarniwoop.observe.trace import Tracing
    from zarniwoop.settings.cascade import EffectiveSettings, SettingsReader
    from zarniwoop.settings.endpoints import ResearchSettings
    from zarniwoop.settings.key_ring import SettingsKeyRing
    from zarniwoop.settings.models import ModelSettingsReader


class ModelWiring:
    """What `wiring.Environment` is made of for models; everything is made when it is first needed."""

    _variables: Mapping[str, str]
    _given_transport: "Transport | None"
    clock: "Clock"
    metrics: "MetricsBuffer"
    tracing: "Tracing"

    if TYPE_CHECKING:  # declared for the type checker; the root makes them

        @cached_property
        def _settings(self) -> SettingsReader: ...

        @cached_property
        def _keys(self) -> SettingsKeyRing: ...

        @cached_property
        def _key_marks(self) -> Mapping[str, str]: ...

        @cached_property
        def _model_transport(self) -> Transport: ...

        @cached_property
        def _s3(self) -> S3Client: ...

    def _with_model_faults(self, settings: "ResearchSettings", effective: "EffectiveSettings") -> "ResearchSettings":
        """What is wrong with the models, told beside what is wrong with the endpoints."""
        from zarniwoop.settings.names import PREFIX_MODEL

        if not any(key.startswith(PREFIX_MODEL) for key in effective.values):
            return settings
        faults = self._model_settings.models_in(effective).misconfigured
        return replace(settings, misconfigured=(*settings.misconfigured, *faults))

    @cached_property
    def models(self) -> "ModelGateway":
        from zarniwoop.llm.builtin import BUILTIN_ANSWERS
        from zarniwoop.llm.gateway import ModelGateway
        from zarniwoop.llm.recipes import RecipeBook
        from zarniwoop.stores.clients import KeptClients, bedrock_runtime_client

        return ModelGateway(
            models=self._model_settings.read,
            recipes=RecipeBook(self._recipe_overrides),
            builtin=BUILTIN_ANSWERS,
            transport=self._model_transport,
            keys=self._keys,
            bedrock=KeptClients(bedrock_runtime_client),
            clock=self.clock,
            metrics=self.metrics,
            tracing=self.tracing,
        )

    @cached_property
    def _recipe_overrides(self) -> "Overrides":
        from zarniwoop.stores.recipe_overrides import S3RecipeOverrides

        return S3RecipeOverrides(self._s3, self._variables["RECIPES_BUCKET"], self.clock)

    @cached_property
    def _model_settings(self) -> "ModelSettingsReader":
        from zarniwoop.llm.protocols import MODEL_PROTOCOLS
        from zarniwoop.settings.models import HARVEST_MAX_PARALLEL, ModelSettingsReader

        stated = self._variables.get("HARVEST_MAX_PARALLEL", "")
        return ModelSettingsReader(
            self._settings,
            MODEL_PROTOCOLS,
            self._key_marks,
            max_parallel=int(stated) if stated.isdecimal() and int(stated) > 0 else HARVEST_MAX_PARALLEL,
        )
