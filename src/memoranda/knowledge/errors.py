"""Why a document can't become knowledge, in sentences for the person who added it."""

from memoranda.words.errors import Invalid, OverLimit


class UnreadableDocument(Invalid):
    """The bytes are not a document of the stated kind."""

    code = "unreadable_document"


class BinaryFile(UnreadableDocument):
    """The bytes are no text at all."""

    code = "binary_file"


class WrongEncoding(UnreadableDocument):
    """The bytes are text in an encoding that can't be told safely."""

    code = "wrong_encoding"


class EmptyDocument(UnreadableDocument):
    """There is nothing to find in the document."""

    code = "empty_document"


class BrokenTranscript(UnreadableDocument):
    """A line of a transcript is not a turn. `details` carries the line, counted from 1."""

    code = "broken_transcript"


class TranscriptWithoutTurns(UnreadableDocument):
    """No line of the transcript says anything."""

    code = "transcript_without_turns"


class DocumentTooLarge(OverLimit):
    """The document is larger than the limit. `details` carries both sizes, in bytes."""

    code = "document_too_large"


class UnknownModel(Invalid):
    """There is no embedder of the model that was named. `details` carries those that there are."""

    code = "unknown_model"


class UnsupportedDocument(BinaryFile):
    """A document of a format that is not read, such as an old Office file or a spreadsheet."""

    code = "unsupported_document"


class WrongKind(UnreadableDocument):
    """The bytes are not of the kind that the document was added as."""

    code = "wrong_kind"


class EncryptedDocument(UnreadableDocument):
    """A password is needed to read the document."""

    code = "encrypted_document"


class ScannedDocument(UnreadableDocument):
    """The document holds pictures of pages, and no text."""

    code = "scanned_document"


class BrokenDocument(UnreadableDocument):
    """The document is damaged, or is not written as its format asks."""

    code = "broken_document"


class NestedTooDeeply(UnreadableDocument):
    """Elements lie within one another without end. `details` carries the limit."""

    code = "nested_too_deeply"


class TooManyPages(UnreadableDocument):
    """The document has more pages than are read. `details` carries the limit."""

    code = "too_many_pages"


class TooManyCells(UnreadableDocument):
    """A table has more cells than are read. `details` carries the limit."""

    code = "too_many_cells"


class TooManyChunks(UnreadableDocument):
    """The document falls into more chunks than are taken in. `details` carries the limit."""

    code = "too_many_chunks"


class UnpackedTooLarge(UnreadableDocument):
    """A packed document unpacks to more than is read. `details` carries the limit."""

    code = "unpacked_too_large"


class TooMuchText(UnreadableDocument):
    """The document holds more text than is taken in. `details` carries the limit, in characters."""

    code = "too_much_text"


class ReadingTooSlow(UnreadableDocument):
    """Reading the document took too long and was ended. It is tried again."""

    code = "reading_too_slow"
    retryable = True


class ReadingBroke(UnreadableDocument):
    """Reading the document ended the process that did it, as running out of memory does. It is tried again."""

    code = "reading_broke"
    retryable = True
