"""What the memory tool is asked. The words of each field are what a model reads."""

from datetime import datetime
from typing import Annotated
from uuid import UUID

from pydantic import BeforeValidator, Field
from pydantic.json_schema import SkipJsonSchema

from memoranda.tools.models import Input
from memoranda.words.inputs import is_written_time

MOST_LISTED = 50


def _written(time: object) -> object:
    if not is_written_time(time):
        raise ValueError(
            "This must be a date and time with its zone, such as 2027-01-31T09:00:00Z."
        )
    return time


# Strict would refuse the text that the check before it hands on.
Time = Annotated[datetime, Field(strict=False), BeforeValidator(_written)]
Names = Annotated[list[str], Field(max_length=20)]
Limit = Annotated[int, Field(ge=1, le=MOST_LISTED, description="At most so many, 1 to 50.")]
Cursor = Annotated[
    str | None, Field(description="next_cursor of the page before, to go on from there.")
]
MemoryId = Annotated[UUID, Field(description="The id of a memory, as recall and list give it.")]
Version = Annotated[
    int,
    Field(
        ge=1,
        description="The version that you read. If it has changed since, nothing is done and you are "
        "told what it says now.",
    ),
]

# Whether the content keeps the blanks at its ends. For adapters whose model writes files; no model is told of it.
AsWritten = SkipJsonSchema[bool]
# Whether no other memory of the same audience may have the title. Likewise: there, titles are paths.
TitleOnce = SkipJsonSchema[bool]


class About(Input):
    """A row of the application."""

    kind: Annotated[str, Field(description="Its kind, such as crm.company.")]
    id: Annotated[str, Field(description="Its id.")]


class Remember(Input):
    """Something to keep."""

    content: Annotated[
        str, Field(description="One fact in a sentence or two that stand by themselves.")
    ]
    title: Annotated[str | None, Field(description="A short name for it.")] = None
    category: Annotated[str | None, Field(description="One word for its kind.")] = None
    tags: Annotated[Names, Field(default_factory=list, description="Words to filter by later.")]
    expires_at: Annotated[
        Time | None,
        Field(description="When it stops being true: a time with a zone. Leave it out for never."),
    ] = None
    attribute: Annotated[
        str | None,
        Field(
            description="What it is a value of, as observation.NAME or preference.NAME. A later "
            "memory with the same attribute replaces it."
        ),
    ] = None
    about: Annotated[
        About | None,
        Field(
            description="The row that it is about, as a brief or a result names it. It is shown only "
            "while that row is there."
        ),
    ] = None
    as_written: AsWritten = False
    title_once: TitleOnce = False


class Recall(Input):
    """A question to the memories."""

    query: Annotated[str, Field(description="What you want to know, in plain words.")]
    categories: Annotated[
        Names, Field(default_factory=list, description="Only memories of one of these.")
    ]
    tags: Annotated[
        Names, Field(default_factory=list, description="Only memories with one of these.")
    ]
    limit: Limit = 10
    cursor: Cursor = None


class List(Input):
    """A page of the memories, the newest first."""

    categories: Annotated[
        Names, Field(default_factory=list, description="Only memories of one of these.")
    ]
    tags: Annotated[
        Names, Field(default_factory=list, description="Only memories with one of these.")
    ]
    limit: Limit = 20
    cursor: Cursor = None


class Get(Input):
    """One memory."""

    memory_id: MemoryId


class Patch(Input):
    """What is to change. What is left out stays; null empties what may be empty."""

    content: Annotated[str | None, Field(description="What it is to say; it can't be empty.")] = (
        None
    )
    title: str | None = None
    category: str | None = None
    tags: Names | None = None
    expires_at: Time | None = None
    as_written: AsWritten = False
    title_once: TitleOnce = False


class Update(Input):
    """A change of one memory."""

    memory_id: MemoryId
    expected_version: Version
    patch: Patch


class Forget(Input):
    """A memory to forget."""

    memory_id: MemoryId
    expected_version: Version
