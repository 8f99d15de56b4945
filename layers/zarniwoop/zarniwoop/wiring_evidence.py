"""The part of the composition root that evidence needs; table and bucket are reached when they are needed."""

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_s3 import S3Client

    from zarniwoop.contract.deadline import Clock
    from zarniwoop.contract.request import SearchScope
    from zarniwoop.evidence.ledger import EvidenceLedger
    from zarniwoop.evidence.verify import Verifier
    from zarniwoop.pages.service import PageService
    from zarniwoop.stores.evidence import EvidenceStore

_DAY = 86_400


class EvidenceWiring:
    """What `wiring.Environment` is made of for evidence."""

    _variables: Mapping[str, str]
    clock: "Clock"
    begun_at: float

    if TYPE_CHECKING:  # declared for the type checker; the root makes them

        def dynamodb(self) -> DynamoDBClient: ...

        def _hash_key(self) -> bytes: ...

        @cached_property
        def _s3(self) -> S3Client: ...

        @cached_property
        def pages(self) -> PageService: ...

    @cached_property
    def evidence(self) -> "EvidenceStore":
        from zarniwoop.stores.content import S3ContentStore
        from zarniwoop.stores.dynamodb_evidence import DynamoDbEvidenceStore
        from zarniwoop.stores.evidence import FOLDER

        table = self._variables["EVIDENCE_TABLE"]
        kept_seconds = float(self._variables.get("EVIDENCE_RETENTION_DAYS", "90")) * _DAY
        bodies = S3ContentStore(
            self._s3,
            self._variables["EVIDENCE_BUCKET"],
            items=self.dynamodb(),
            table_name=table,
            clock=self.clock,
            kept_seconds=kept_seconds,
            folder=FOLDER,
        )
        return DynamoDbEvidenceStore(
            self.dynamodb(),
            table,
            self.clock,
            bodies=bodies,
            kept_seconds=kept_seconds,
            page_key=self._hash_key,
            begun_at=lambda: self.begun_at,
        )

    @cached_property
    def ledger(self) -> "EvidenceLedger":
        """For whoever reads something that answers may stand on."""
        from zarniwoop.evidence.ledger import EvidenceLedger

        return EvidenceLedger(store=self.evidence, clock=self.clock)

    def verifier(self, scope: "SearchScope") -> "Verifier":
        """By the settings of the project; in turn, like every fetch. Raises as `Dispatcher.search` does."""
        from zarniwoop.evidence.verify import Verifier
        from zarniwoop.pages.in_turn import InTurn

        return Verifier(InTurn(chain=self.pages.chain(scope)), self.clock)
