"""Images and documents, as far as a target can be shown them; in words where it can't."""

import base64
import binascii
import mimetypes
from typing import Final, TypedDict

from memoranda.conversations.wire.blocks import Document, Image, Text
from memoranda.conversations.wire.capabilities import Capabilities


class Origin(TypedDict, total=False):
    """Where a medium is: its bytes in base64, or its address."""

    media_type: str
    data: str
    url: str


NOT_SHOWN: Final = {
    "image": Text(text="[An image is left out here: it can't be sent to this model.]"),
    "document": Text(text="[A document is left out here: it can't be sent to this model.]"),
}


def shown_media(
    block: Image | Document, target: Capabilities, *, own: bool
) -> Image | Document | Text:
    """The block as the target may be sent it; else its text, or a word that something is left out.

    A file's id says something to its own provider alone.
    """
    shown = block if own else block.model_copy(update={"extra": {}})
    if block.file_id is not None:
        return shown if own else NOT_SHOWN[block.type]
    if own or _taken(block, target):
        return shown
    text = text_within(block) if isinstance(block, Document) else None
    return Text(text=text) if text and text.strip() else NOT_SHOWN[block.type]


def media_type_of(block: Image | Document) -> str:
    """What is said, or what the address ends with, or the usual kind."""
    guessed = mimetypes.guess_type(block.url)[0] if block.url else None
    usual = "image/png" if isinstance(block, Image) else "application/pdf"
    return block.media_type or guessed or usual


def data_url(block: Image | Document) -> str:
    """The address of its bytes, or the bytes as an address."""
    return block.url or f"data:{media_type_of(block)};base64,{block.data or ''}"


def from_data_url(url: str) -> Origin:
    """The media type and base64 of a data URL; any other address as it is."""
    head, comma, data = url.partition(",")
    if not (comma and head.startswith("data:") and head.endswith(";base64")):
        return {"url": url}
    media_type = head.removeprefix("data:").removesuffix(";base64")
    return {"media_type": media_type, "data": data} if media_type else {"url": url}


def text_within(block: Document) -> str | None:
    """The text of a document that is text, and None for any other."""
    if block.data is None or not media_type_of(block).startswith("text/"):
        return None
    try:
        return base64.b64decode(block.data, validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return None


def _taken(block: Image | Document, target: Capabilities) -> bool:
    if isinstance(block, Image):
        return target.images and (block.url is None or target.image_urls)
    if block.url is not None:
        return target.document_urls and target.takes_document(media_type_of(block))
    return target.takes_document(block.media_type)
