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
