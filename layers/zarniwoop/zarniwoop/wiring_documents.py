"""The part of the composition root that documents of one's own need; nothing is made before it is asked for."""

import uuid
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from zarniwoop.contract.deadline import Clock
    from zarniwoop.contract.provider import SearchProtocol
    from zarniwoop.documents.library import Library
    from zarniwoop.documents.reader import Reader
    from zarniwoop.documents.synchronise import Synchroniser
    from zarniwoop.settings.endpoints import EndpointSettings
    from zarniwoop.stores.documents import DocumentStore
    from zarniwoop.stores.queue import ProjectQueue

_OF_PYTHON = ("LD_LIBRARY_PATH",)
"""Where Lambda's Python finds its own library; nothing else of the environment is another process's business."""
_PATIENT_SECONDS = 30.0
"""S3 answers a PUT of 200 MB when it has it all."""


class DocumentWiring:
    """What `wiring.Environment` is made of for `local-index`. A stack without the bucket has no such protocol."""

    _variables: Mapping[str, str]
    clock: "Clock"

    @cached_property
    def documents(self) -> "DocumentStore":
        """For who waits for an answer."""
        from zarniwoop.stores.clients import s3_client
        from zarniwoop.stores.documents import S3DocumentStore

        return S3DocumentStore(s3_client(), self._variables["DOCUMENTS_BUCKET"])

    @cached_property
    def documents_to_index(self) -> "DocumentStore":
        """The same, for who moves large files and is not waited for."""
        from zarniwoop.stores.clients import s3_client
        from zarniwoop.stores.documents import S3DocumentStore

        return S3DocumentStore(s3_client(_PATIENT_SECONDS), self._variables["DOCUMENTS_BUCKET"])

    @cached_property
    def library(self) -> "Library":
        from zarniwoop.documents.library import Library

        return Library(self.documents)

    @cached_property
    def documents_queue(self) -> "ProjectQueue":
        from zarniwoop.stores.clients import sqs_client
        from zarniwoop.stores.queue import SqsProjectQueue

        return SqsProjectQueue(sqs_client(), self._variables["DOCUMENTS_QUEUE_URL"])

    def reader(self) -> "Reader":
        from zarniwoop.documents.reader import Reader

        return Reader(variables=self._of_python)

    @property
    def _of_python(self) -> Mapping[str, str]:
        """What another process is given of this one's environment."""
        return {name: self._variables[name] for name in _OF_PYTHON if name in self._variables}

    def synchroniser(self, reader: "Reader", has_time: Callable[[], bool]) -> "Synchroniser":
        from zarniwoop.documents.synchronise import Synchroniser

        return Synchroniser(
            store=self.documents_to_index,
            reader=reader,
            clock=self.clock,
            version=lambda: uuid.uuid4().hex,
            has_time=has_time,
        )

    @cached_property
    def _own_protocols(self) -> "tuple[SearchProtocol, ...]":
        if not self._variables.get("DOCUMENTS_BUCKET"):
            return ()
        from zarniwoop.documents.protocol import LocalIndexProtocol

        return (
            LocalIndexProtocol(
                store=lambda: self.documents,
                library=lambda: self.library,
                ask_for_index=lambda project: self.documents_queue.send(project),
            ),
        )

    @cached_property
    def _document_endpoints(self) -> "tuple[EndpointSettings, ...]":
        from zarniwoop.settings.standing import standing_endpoint

        return tuple(standing_endpoint(protocol.id()) for protocol in self._own_protocols)
