"""What refuses a whole file; what refuses one line of it is told in the report."""

from memoranda.words.errors import Invalid, OverLimit


class UnreadableImport(Invalid):
    """The file holds no memories in a form that is known, so that nothing was taken in."""

    code = "unreadable_import"


class ImportTooLarge(OverLimit):
    """The file is larger, or holds more, than is taken in at once. `details` carries the limit."""

    code = "import_too_large"
