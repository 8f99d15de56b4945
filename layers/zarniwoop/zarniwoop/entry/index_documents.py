"""Messages that say that a project's documents changed; each project among them is looked at once.

A message is an S3 event that EventBridge put on the queue, or `{"project": {tenant_id, project_id}}`: what a round left
over, or a search that found documents and no index. What cannot be done now goes back to the queue, and after five
times to its dead letters; a document that is refused, by us or by S3, is recorded and done with.
"""

from collections.abc import Callable, Mapping
from typing import Any

import orjson

from zarniwoop.contract.problem import CallerError
from zarniwoop.entry.invocation import log_fault
from zarniwoop.entry.lambda_context import LambdaContext
from zarniwoop.observe.metrics import Metric
from zarniwoop.stores.documents import project_of_key
from zarniwoop.stores.failure import StoreUnavailable
from zarniwoop.stores.state import ProjectKey
from zarniwoop.tools.arguments import Id, ToolArguments, parse_arguments
from zarniwoop.wiring import Environment, environment

_LEFT_FOR_PUTTING_MS = 45_000
"""So long may it take to put the index and switch to it, the slowest single document included."""

Event = Mapping[str, Any]


class _ProjectNamed(ToolArguments):
    tenant_id: Id
    project_id: Id


def index_documents(
    environment: Callable[[], Environment] = environment,
) -> Callable[[Event, LambdaContext], dict[str, Any]]:
    """The Lambda handler behind the queue."""

    def handler(event: Event, context: LambdaContext) -> dict[str, Any]:
        services = environment()
        services.begin(context.aws_request_id)
        try:
            failed = _handle(event["Records"], services, context)
            return {"batchItemFailures": [{"itemIdentifier": message_id} for message_id in failed]}
        finally:
            services.finish()

    return handler


def _handle(records: list[Any], services: Environment, context: LambdaContext) -> list[str]:
    """The ids of the messages that are to come again."""
    failed: list[str] = []
    waiting: dict[ProjectKey, list[str]] = {}
    for record in records:
        try:
            project = _project(orjson.loads(record["body"]))
        except (CallerError, LookupError, TypeError, ValueError):
            failed.append(record["messageId"])
            continue
        if project is not None:
            waiting.setdefault(project, []).append(record["messageId"])
    for project, message_ids in waiting.items():
        if not _is_done(project, services, context):
            failed += message_ids
    return failed


def _project(message: Any) -> ProjectKey | None:
    """Whose documents changed; None for an object that is no document.

    Raises CallerError, LookupError, TypeError, ValueError.
    """
    if "project" in message:
        named = parse_arguments(_ProjectNamed, message["project"])
        return ProjectKey(tenant_id=named.tenant_id, project_id=named.project_id)
    return project_of_key(message["detail"]["object"]["key"])


def _is_done(project: ProjectKey, services: Environment, context: LambdaContext) -> bool:
    try:
        return _synchronise(project, services, context)
    except StoreUnavailable as failure:
        services.log.warning("an index could not be brought up to date", extra={"reason": str(failure)})
    except Exception as error:  # noqa: BLE001 - one project's trouble must not keep the others waiting
        log_fault(services, "index_documents", error)
    return False


def _synchronise(project: ProjectKey, services: Environment, context: LambdaContext) -> bool:
    """Whether all is said and done. What there was no time for is a message of its own. Raises StoreUnavailable."""

    def has_time() -> bool:
        return context.get_remaining_time_in_millis() > _LEFT_FOR_PUTTING_MS

    with services.reader() as reader:
        done = services.synchroniser(reader, has_time).run(project)
    for outcome in ("indexed", "refused", "removed"):
        if count := getattr(done, outcome):
            services.metrics.count(Metric.DOCUMENTS, count, outcome=outcome)
    services.log.info("index switched", extra={"revision": done.revision, "left": done.left})
    if done.left:
        services.documents_queue.send(project)
    return not done.unanswered
