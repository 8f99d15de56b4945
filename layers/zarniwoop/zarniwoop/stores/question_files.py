"""Files of questions in the inbox, their answers beside them, and what is answered so far.

`<tenant>/<project>/<name>.questions.jsonl` is put there by whoever asks, and never changed here;
`<tenant>/<project>/<name>.answers.jsonl` is put when all is answered, with the ETag of the questions in its metadata.
The endings keep them apart for EventBridge's rule and for IAM, wherever a folder is called what. What is answered so
far is `<tenant>/<project>/content/questions/<sha256>/<number>.jsonl` in the bucket of temporary content. All of it
belongs to one version of the file, by key and ETag; answers are put over those that were seen there, or not at all.
Quirk: the ETag of a file under a KMS key is another one with every upload.
"""

import hashlib
import re
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from zarniwoop.stores.failure import StoreError, StoreUnavailable
from zarniwoop.stores.keys import partition
from zarniwoop.stores.project import ProjectKey
from zarniwoop.stores.s3_calls import ObjectChanged, ObjectMissing, call, read_object

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

QUESTIONS = ".questions.jsonl"
ANSWERS = ".answers.jsonl"
_ETAG_OF_QUESTIONS = "questions-etag"
_PART = re.compile(r"([0-9]{6})\.jsonl")
_JSON_LINES = "application/jsonl"


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionFile:
    """One version of a file of questions."""

    project: ProjectKey
    key: str
    etag: str

    @property
    def answers_key(self) -> str:
        return self.key.removesuffix(QUESTIONS) + ANSWERS

    @property
    def sha256(self) -> str:
        """Names this version."""
        return hashlib.sha256(f"{self.key}\n{self.etag}".encode()).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class PutAnswers:
    """The answers that lie beside a file; `to_this` says whether they are to this version of it. No ETag: none do."""

    etag: str | None
    to_this: bool


class QuestionsChanged(StoreError):  # noqa: N818 - named by its consequence
    """The file was put again or deleted meanwhile; whoever put it has caused an event of its own."""


class AnswersMoved(StoreUnavailable):
    """Other answers were put or deleted since they were looked at; nothing was changed."""


class QuestionFiles(Protocol):
    """Every method raises StoreUnavailable when S3 does not answer."""

    def read(self, file: QuestionFile, most_bytes: int) -> bytes:
        """Its bytes, or so many and one of a larger file. Raises QuestionsChanged."""
        ...

    def answers(self, file: QuestionFile) -> PutAnswers: ...

    def put_answers(self, file: QuestionFile, body: bytes, over: PutAnswers) -> None:
        """Raises QuestionsChanged, or AnswersMoved when others than `over` lie there."""
        ...

    def parts(self, file: QuestionFile) -> frozenset[int]:
        """The numbers of the parts that are answered."""
        ...

    def part(self, file: QuestionFile, number: int) -> bytes: ...

    def put_part(self, file: QuestionFile, number: int, body: bytes) -> None: ...


def question_file(key: str, etag: str) -> QuestionFile | None:
    """None for an object that is no file of questions of a project."""
    tenant_id, _, rest = key.partition("/")
    project_id, _, name = rest.partition("/")
    project = ProjectKey(tenant_id=tenant_id, project_id=project_id)
    try:
        partition(project)
    except ValueError:
        return None
    named = name.endswith(QUESTIONS) and name != QUESTIONS and not name.endswith("/" + QUESTIONS)
    return QuestionFile(project=project, key=key, etag=etag) if named else None


class S3QuestionFiles:
    """`QuestionFiles` on two buckets."""

    def __init__(self, client: "S3Client", inbox: str, content: str) -> None:
        self._client = client
        self._inbox = inbox
        self._content = content

    def read(self, file: QuestionFile, most_bytes: int) -> bytes:
        def read() -> bytes:
            answer = self._client.get_object(Bucket=self._inbox, Key=file.key, IfMatch=f'"{file.etag}"')
            with closing(answer["Body"]) as body:
                return body.read(most_bytes + 1)

        try:
            return call(read)
        except (ObjectMissing, ObjectChanged) as error:
            raise QuestionsChanged("the questions were put again or deleted meanwhile") from error

    def answers(self, file: QuestionFile) -> PutAnswers:
        try:
            found = call(partial(self._client.head_object, Bucket=self._inbox, Key=file.answers_key))
        except ObjectMissing:
            return PutAnswers(etag=None, to_this=False)
        return PutAnswers(etag=found["ETag"], to_this=found["Metadata"].get(_ETAG_OF_QUESTIONS) == file.etag)

    def put_answers(self, file: QuestionFile, body: bytes, over: PutAnswers) -> None:
        condition: dict[str, Any] = {"IfMatch": over.etag} if over.etag else {"IfNoneMatch": "*"}

        try:
            call(partial(self._client.head_object, Bucket=self._inbox, Key=file.key, IfMatch=f'"{file.etag}"'))
        except (ObjectMissing, ObjectChanged) as error:
            raise QuestionsChanged("the questions were put again or deleted meanwhile") from error
        put = partial(
            self._client.put_object,
            Bucket=self._inbox,
            Key=file.answers_key,
            Body=body,
            ContentType=_JSON_LINES,
            Metadata={_ETAG_OF_QUESTIONS: file.etag},
        )
        try:
            call(partial(put, **condition))
        except (ObjectMissing, ObjectChanged) as error:
            raise AnswersMoved("other answers were put or deleted meanwhile") from error

    def parts(self, file: QuestionFile) -> frozenset[int]:
        """At most 1,000, which is one page of S3's list."""
        folder = _folder(file)
        listed = call(partial(self._client.list_objects_v2, Bucket=self._content, Prefix=folder))
        names = (each["Key"].removeprefix(folder) for each in listed.get("Contents", ()))
        return frozenset(int(found[1]) for found in map(_PART.fullmatch, names) if found)

    def part(self, file: QuestionFile, number: int) -> bytes:
        return read_object(self._client, self._content, _part_key(file, number))

    def put_part(self, file: QuestionFile, number: int, body: bytes) -> None:
        key = _part_key(file, number)
        call(partial(self._client.put_object, Bucket=self._content, Key=key, Body=body, ContentType=_JSON_LINES))


def _folder(file: QuestionFile) -> str:
    return f"{file.project.tenant_id}/{file.project.project_id}/content/questions/{file.sha256}/"


def _part_key(file: QuestionFile, number: int) -> str:
    return f"{_folder(file)}{number:06}.jsonl"
