"""The part of the composition root that runs, stored content and kept answers need; S3 is reached when it is needed."""

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_s3 import S3Client

    from zarniwoop.contract.deadline import Clock
    from zarniwoop.contract.transport import Transport
    from zarniwoop.dispatch.kept.result_cache import ResultCache
    from zarniwoop.observe.metrics import MetricsBuffer
    from zarniwoop.pipelines.run_end import RunEnds
    from zarniwoop.pipelines.usage.reader import UsageReader
    from zarniwoop.pipelines.watch import RunWatcher
    from zarniwoop.pipelines.webhook import WebhookSender
    from zarniwoop.stores.audit import AuditStore
    from zarniwoop.stores.content import ContentStore
    from zarniwoop.stores.continuations import Continuations
    from zarniwoop.stores.executions import Executions
    from zarniwoop.stores.insights import InsightsStore
    from zarniwoop.stores.results import ResultStore
    from zarniwoop.stores.run_files import RunFiles
    from zarniwoop.stores.runs import RunStore
    from zarniwoop.tools.research_investigate import Investigations

_DAY = 86_400


class RunWiring:
    """What `wiring.Environment` is made of besides the dispatcher; everything is made when it is first needed."""

    _variables: Mapping[str, str]
    _given_transport: "Transport | None"
    clock: "Clock"
    metrics: "MetricsBuffer"

    if TYPE_CHECKING:  # declared for the type checker; the root makes them

        def dynamodb(self) -> DynamoDBClient: ...

        def _hash_key(self) -> bytes: ...

        def _saved_hash_key(self) -> bytes | None: ...

        @cached_property
        def _calls(self) -> AuditStore: ...

        @cached_property
        def _strict_transport(self) -> Transport: ...

        def _trace_header(self) -> str | None: ...

    @property
    def content_seconds(self) -> float:
        """How long stored content is kept; the bucket's lifecycle says the same."""
        return float(self._variables.get("CONTENT_RETENTION_DAYS", "7")) * _DAY

    @cached_property
    def usage(self) -> "UsageReader":
        from zarniwoop.pipelines.usage.reader import UsageReader

        return UsageReader(calls=self._calls, runs=self.runs, files=self.run_files, clock=self.clock)

    @cached_property
    def content(self) -> "ContentStore":
        from zarniwoop.stores.content import S3ContentStore

        return S3ContentStore(
            self._s3,
            self._variables["CONTENT_BUCKET"],
            items=self.dynamodb(),
            table_name=self._variables["STATE_TABLE"],
            clock=self.clock,
            kept_seconds=self.content_seconds,
        )

    @cached_property
    def continuations(self) -> "Continuations":
        from zarniwoop.stores.continuations import S3Continuations

        return S3Continuations(self._s3, self._variables["CONTENT_BUCKET"], self.clock)

    @cached_property
    def _results(self) -> "ResultCache":
        from zarniwoop.dispatch.kept.result_cache import ResultCache

        return ResultCache(
            store=lambda: self._kept_results,
            hash_key=self._saved_hash_key,
            clock=self.clock,
            metrics=self.metrics,
        )

    @cached_property
    def _kept_results(self) -> "ResultStore":
        from zarniwoop.stores.dynamodb_results import DynamoDbResultStore

        return DynamoDbResultStore(
            self.dynamodb(),
            self._variables["STATE_TABLE"],
            self.clock,
            objects=lambda: self._s3,
            bucket=self._variables["CONTENT_BUCKET"],
        )

    @cached_property
    def runs(self) -> "RunStore":
        from zarniwoop.stores.dynamodb_runs import DynamoDbRunStore

        table = self._variables["RUNS_TABLE"]
        return DynamoDbRunStore(self.dynamodb(), table, self.clock, page_key=self._hash_key)

    @cached_property
    def run_files(self) -> "RunFiles":
        from zarniwoop.stores.run_files import S3RunFiles

        return S3RunFiles(self._s3, self._variables["CONTENT_BUCKET"])

    @cached_property
    def insights(self) -> "InsightsStore":
        from zarniwoop.stores.insights import S3InsightsStore

        return S3InsightsStore(self._s3, self._variables["CONTENT_BUCKET"])

    @cached_property
    def run_watcher(self) -> "RunWatcher":
        from zarniwoop.pipelines.watch import RunWatcher

        return RunWatcher(self.runs, self.run_files, self.clock)

    @cached_property
    def executions(self) -> "Executions":
        from zarniwoop.stores.clients import stepfunctions_client
        from zarniwoop.stores.executions import StepFunctionsExecutions

        return StepFunctionsExecutions(stepfunctions_client())

    @cached_property
    def investigations(self) -> "Investigations":
        from zarniwoop.pipelines.launch import InvestigationLauncher

        return InvestigationLauncher(
            runs=self.runs,
            files=self.run_files,
            executions=self.executions,
            ends=self.run_ends,
            state_machine_arn=self._variables["INVESTIGATE_STATE_MACHINE"],
            clock=self.clock,
            trace_header=self._trace_header,
        )

    @cached_property
    def run_ends(self) -> "RunEnds":
        """Whoever ends a run ends it through here."""
        from zarniwoop.pipelines.run_end import RunEnds

        return RunEnds(
            runs=self.runs,
            webhooks=lambda: self.webhooks,
            clock=self.clock,
            metrics=self.metrics,
        )

    @cached_property
    def webhooks(self) -> "WebhookSender":
        """Over a transport of its own: what the operator opened for search servers is closed to callers' addresses."""
        from zarniwoop.pipelines.webhook import WebhookSender

        return WebhookSender(self._strict_transport, self.clock, self._saved_hash_key)

    @cached_property
    def _s3(self) -> "S3Client":
        from zarniwoop.stores.clients import s3_client

        return s3_client()
