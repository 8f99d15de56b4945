"""Files of questions that were put into the inbox; the answers of each are put beside it when all are there.

A message is an S3 event that EventBridge put on the queue. Eight lines at a time are answered, four at once, and kept:
when a round dies, the message comes again and asks those eight anew, no others. When its time is over, the same message
is sent for the rest. A file's lease keeps a second delivery from asking at the same time; answers that lie beside this
version of the file end every later one. What cannot be asked now goes back to the queue, and after five times to its
dead letters; from there it goes on where it was.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

import orjson

from zarniwoop.contract.problem import InvalidArgument
from zarniwoop.entry.invocation import log_fault
from zarniwoop.entry.lambda_context import LambdaContext
from zarniwoop.entry.question_lines import (
    MAX_FILE_BYTES,
    Line,
    NotNowError,
    answer_to,
    answer_to_the_file,
    lines_of,
)
from zarniwoop.observe.metrics import Metric
from zarniwoop.stores.failure import ILLEGIBLE, StoreUnavailable
from zarniwoop.stores.keys import question_file_key
from zarniwoop.stores.question_files import (
    AnswersMoved,
    PutAnswers,
    QuestionFile,
    QuestionFiles,
    QuestionsChanged,
    question_file,
)
from zarniwoop.wiring import Environment, environment

AT_A_TIME = 8
AT_ONCE = 4
LEFT_FOR_PUTTING_MS = 75_000
"""The last eight lines take 20 s each, two after the other; the rest is for fetching and putting answers."""
_LEASE_MARGIN_SECONDS = 5.0
_LEASE_KEPT_SECONDS = 3_600.0

Event = Mapping[str, Any]


def answer_questions(
    environment: Callable[[], Environment] = environment,
) -> Callable[[Event, LambdaContext], dict[str, Any]]:
    """The Lambda handler behind the queue."""

    def handler(event: Event, context: LambdaContext) -> dict[str, Any]:
        services = environment()
        services.begin(context.aws_request_id)
        try:
            failed = [each["messageId"] for each in event["Records"] if not _is_done(each["body"], services, context)]
            return {"batchItemFailures": [{"itemIdentifier": message_id} for message_id in failed]}
        finally:
            services.finish()

    return handler


def _is_done(body: str, services: Environment, context: LambdaContext) -> bool:
    """Whether the message may go."""
    try:
        file = _file(body)
        return file is None or _is_answered(file, body, services, context)
    except QuestionsChanged:
        return True
    except (StoreUnavailable, NotNowError) as failure:
        services.log.warning("a file of questions could not be answered now", extra={"reason": str(failure)})
    except Exception as error:  # noqa: BLE001 - one file's trouble must not keep the others waiting
        log_fault(services, "answer_questions", error)
    return False


def _file(body: str) -> QuestionFile | None:
    """None for an object that is no file of questions. Raises ValueError for what is no event of S3's."""
    try:
        put = orjson.loads(body)["detail"]["object"]
        return question_file(put["key"], put["etag"])
    except ILLEGIBLE as error:
        raise ValueError("the message is no event of a bucket") from error


def _is_answered(file: QuestionFile, body: str, services: Environment, context: LambdaContext) -> bool:
    """False when somebody else is at it: it is looked at again when they are done, or dead."""
    over = services.question_files.answers(file)
    if over.to_this:
        return True
    held = services.leased_memory.take(
        file.project,
        question_file_key(file.sha256),
        lease_seconds=context.get_remaining_time_in_millis() / 1000 + _LEASE_MARGIN_SECONDS,
        keep_seconds=_LEASE_KEPT_SECONDS,
    )
    if held is None:
        return False
    try:
        is_all = _answer(file, over, services, context)
    finally:
        with suppress(StoreUnavailable):
            services.leased_memory.let_go(held)
    if not is_all:
        services.questions_queue.send(body)
    return True


def _answer(file: QuestionFile, over: PutAnswers, services: Environment, context: LambdaContext) -> bool:
    """Whether all is answered, and the answers put; if not, there is no time for it now."""
    files = services.question_files
    try:
        lines = lines_of(files.read(file, MAX_FILE_BYTES))
    except InvalidArgument as refusal:
        services.metrics.count(Metric.QUESTIONS, outcome="file_refused")
        _put(files, file, answer_to_the_file(refusal), over)
        return True
    pieces = [lines[start : start + AT_A_TIME] for start in range(0, len(lines), AT_A_TIME)]
    kept, made = files.parts(file), dict[int, bytes]()
    for number, piece in enumerate(pieces):
        if number in kept:
            continue
        if context.get_remaining_time_in_millis() < LEFT_FOR_PUTTING_MS:
            return False
        made[number] = _answers(piece, file, services, context)
        files.put_part(file, number, made[number])
    whole = b"".join(made[number] if number in made else files.part(file, number) for number in range(len(pieces)))
    _put(files, file, whole, over)
    services.log.info("questions answered", extra={"lines": len(lines)})
    return True


def _answers(piece: Sequence[Line], file: QuestionFile, services: Environment, context: LambdaContext) -> bytes:
    """Raises NotNowError."""
    _ = services.tools, services.continuations, services.evidence  # made before the threads
    with ThreadPoolExecutor(max_workers=AT_ONCE) as pool:
        answered = list(pool.map(lambda line: answer_to(line, file.project, services, context), piece))
    for outcome, count in Counter("answered" if each.ok else "failed" for each in answered).items():
        services.metrics.count(Metric.QUESTIONS, count, outcome=outcome)
    return b"".join(each.told for each in answered)


def _put(files: QuestionFiles, file: QuestionFile, body: bytes, over: PutAnswers) -> None:
    """Also over answers that came meanwhile: to an earlier version of the file, whose round was late."""
    try:
        files.put_answers(file, body, over)
    except AnswersMoved:
        files.put_answers(file, body, files.answers(file))
