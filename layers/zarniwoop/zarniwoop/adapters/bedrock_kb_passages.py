"""A passage of a knowledge base as a hit.

Format: https://docs.aws.amazon.com/bedrock/latest/APIReference/API_agent-runtime_KnowledgeBaseRetrievalResult.html
Quirks: where a document lies is a union with a member for each kind of source; S3 gives `s3://`, which becomes the
https address of the object (reading it there takes permission); a custom document has nothing but an id and a row of a
database not even that: such a hit has an address that names it and leads nowhere. Pictures come as data: URIs, and only
what was read off them is a passage. Extras: `score`, `location`, `source_uri`, `page`, `chunk_id`, `document_id`,
`metadata` (the attributes that the house gave to the document).
"""

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, unquote, urlsplit

from zarniwoop.contract.hit import ContentInline, ContentReference, SearchHit
from zarniwoop.contract.modality import SearchModality
from zarniwoop.text.plain import clip, plain, verbatim
from zarniwoop.text.urls import http_url

_MEMBERS = {
    "S3": ("s3Location", "uri"),
    "WEB": ("webLocation", "url"),
    "CONFLUENCE": ("confluenceLocation", "url"),
    "SALESFORCE": ("salesforceLocation", "url"),
    "SHAREPOINT": ("sharePointLocation", "url"),
    "ONEDRIVE": ("oneDriveLocation", "url"),
    "GOOGLEDRIVE": ("googleDriveLocation", "url"),
    "KENDRA": ("kendraDocumentLocation", "uri"),
    "CUSTOM": ("customDocumentLocation", "id"),
}
_OWN = "x-amz-bedrock-kb-"
_NOWHERE = "https://bedrock-agent-runtime.amazonaws.com/knowledgebases"
_MOST_ATTRIBUTES = 30


def to_hit(passage: Mapping[str, Any], modality: SearchModality, knowledge_base: str) -> SearchHit | None:
    text = _text(passage["content"])
    if text is None:
        return None
    attributes = passage.get("metadata") or {}
    location = passage.get("location") or {}
    uri = _uri(location, attributes)
    page = _page(attributes)
    address = _address(uri) or _named(uri, passage, knowledge_base)
    return SearchHit(
        title=_title(attributes, uri, text),
        url=f"{address}#page={page}" if page and "#" not in address else address,
        modality=modality,
        snippet=clip(plain(text) or text, 300),
        source=plain(attributes.get(f"{_OWN}data-source-name")) or "Amazon Bedrock knowledge base",
        content=ContentReference(inline=ContentInline.EMBED_TEXT, text=text),
        extras=_known(
            {
                "score": passage.get("score"),
                "location": plain(location.get("type")),
                "source_uri": uri,
                "page": page,
                "chunk_id": plain(attributes.get(f"{_OWN}chunk-id")),
                "document_id": plain(passage.get("documentId")),
                "metadata": _own_attributes(attributes) or None,
            }
        ),
    )


def _known(parts: Mapping[str, Any]) -> dict[str, Any]:
    return {name: part for name, part in parts.items() if part is not None}


def _text(content: Mapping[str, Any]) -> str | None:
    """The passage: written, spoken, told of a film, or a row of a table."""
    if content.get("row"):
        return verbatim("\n".join(f"{cell['columnName']}: {cell.get('columnValue', '')}" for cell in content["row"]))
    spoken, told = content.get("audio") or {}, content.get("video") or {}
    return verbatim(content.get("text") or spoken.get("transcription") or told.get("summary"))


def _uri(location: Mapping[str, Any], attributes: Mapping[str, Any]) -> str | None:
    """Where the document lies, as its source says."""
    member, name = _MEMBERS.get(location.get("type", ""), ("", ""))
    return plain((location.get(member) or {}).get(name)) or plain(attributes.get(f"{_OWN}source-uri"))


def _address(uri: str | None) -> str | None:
    if uri is None or not uri.startswith("s3://"):
        return http_url(uri)
    bucket, _, key = uri.removeprefix("s3://").partition("/")
    return http_url(f"https://{bucket}.s3.amazonaws.com/{quote(key)}")


def _named(uri: str | None, passage: Mapping[str, Any], knowledge_base: str) -> str:
    attributes = passage.get("metadata") or {}
    name = uri or plain(passage.get("documentId")) or plain(attributes.get(f"{_OWN}chunk-id")) or "passage"
    return f"{_NOWHERE}/{knowledge_base.rpartition('/')[2]}#{quote(name, safe='')}"


def _title(attributes: Mapping[str, Any], uri: str | None, text: str) -> str:
    """What the document is called; else its file; else how the passage begins."""
    stated = plain(attributes.get("title")) or plain(attributes.get(f"{_OWN}title"))
    file = plain(unquote(urlsplit(uri).path.rstrip("/").rpartition("/")[2])) if uri else None
    return stated or file or uri or clip(plain(text) or text, 80)


def _page(attributes: Mapping[str, Any]) -> int | None:
    number = attributes.get(f"{_OWN}document-page-number")
    return int(number) if isinstance(number, (int, float)) and number >= 1 else None


def _own_attributes(attributes: Mapping[str, Any]) -> dict[str, Any]:
    own = {name: value for name, value in attributes.items() if not name.startswith(_OWN) and _is_plain(value)}
    return dict(list(own.items())[:_MOST_ATTRIBUTES])


def _is_plain(value: Any) -> bool:
    if isinstance(value, list):
        return all(isinstance(each, str) for each in value)
    return isinstance(value, (str, int, float, bool))
