"""What the tools of context files are asked. The words of each field are what a model reads."""

from typing import Annotated

from pydantic import Field

from memoranda.files.models import MOST_BYTES
from memoranda.tools.models import Input

ARGUMENT_BYTES = 6 * MOST_BYTES + 4_096
"""As JSON, a body may have six times its bytes, where each is an escape."""

Body = Annotated[
    str,
    Field(
        description="All that the file is to say from now on, 65,536 bytes at most. It takes the "
        "place of all that it says. No passwords and keys."
    ),
]
ReadHash = Annotated[
    str,
    Field(
        description="The hash that get_context_file gave with the text. If the file has changed since, "
        "nothing is done and you are told what it says now."
    ),
]


class GetContextFile(Input):
    """A file to read."""

    slug: Annotated[
        str,
        Field(
            description="about-you, organization, people, glossary, voice or roster; or, to write it anew, one "
            "of your own: SOUL.md, AGENTS.md, NOTES.md, HEARTBEAT.md, TOOLS.md, agent.yml."
        ),
    ]


class UpdateContextFile(Input):
    """What a file is to say."""

    slug: Annotated[
        str,
        Field(
            description="about-you, organization, people, glossary, voice or roster; or one of your own: "
            "SOUL.md, AGENTS.md, NOTES.md, HEARTBEAT.md, TOOLS.md, agent.yml."
        ),
    ]
    body: Body
    expected_hash: ReadHash


class UpdateNotes(Input):
    """What your notes are to say."""

    body: Body
    expected_hash: ReadHash
