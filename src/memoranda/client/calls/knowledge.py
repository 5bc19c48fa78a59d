"""Documents: taken in, followed, searched and removed."""

from collections.abc import Sequence

from memoranda.client.answers import SourceTaken
from memoranda.client.call import Call, Content, File, Form, Id, changed, given
from memoranda.knowledge.models import ModelStatus, SearchAnswer, Source, SourceKind
from memoranda.words.page import Page


def add_source(
    file: Content,
    *,
    filename: str | None = None,
    title: str | None = None,
    kind: SourceKind | None = None,
    uri: str | None = None,
    object_key: str | None = None,
    summary: str | None = None,
    platform: bool = False,
) -> Call[SourceTaken]:
    """Put a document in line to be taken in. GET the source to see how it goes."""
    return Call(
        "POST",
        "/v1/knowledge/sources",
        SourceTaken,
        body=Form(
            File(file, filename),
            given(
                title=title,
                kind=kind,
                uri=uri,
                object_key=object_key,
                summary=summary,
                platform=platform,
            ),
        ),
    )


def list_sources(*, cursor: str | None = None, limit: int = 50) -> Call[Page[Source]]:
    """List sources, the newest first."""
    return Call(
        "GET", "/v1/knowledge/sources", Page[Source], query=given(cursor=cursor, limit=limit)
    )


def get_source(source_id: Id) -> Call[Source]:
    """Get a source: its status, the reason why it failed, how far it is."""
    return Call("GET", "/v1/knowledge/sources/{source_id}", Source, at={"source_id": source_id})


def remove_source(source_id: Id) -> Call[None]:
    """Remove a source with all that was made of it."""
    return Call(
        "DELETE", "/v1/knowledge/sources/{source_id}", type(None), at={"source_id": source_id}
    )


def describe_source(source_id: Id, summary: str | None) -> Call[Source]:
    """Say what a source is about, as the dossier tells it."""
    return Call(
        "PUT",
        "/v1/knowledge/sources/{source_id}/summary",
        Source,
        at={"source_id": source_id},
        body=changed(summary=summary),
    )


def retry_source(source_id: Id) -> Call[SourceTaken]:
    """Put a failed source in line again."""
    return Call(
        "POST", "/v1/knowledge/sources/{source_id}/retry", SourceTaken, at={"source_id": source_id}
    )


def search_knowledge(
    query: str,
    *,
    limit: int = 8,
    include_organization: bool = True,
    include_platform: bool = False,
    source_ids: Sequence[Id] | None = None,
) -> Call[SearchAnswer]:
    """Find the passages that answer a query, best first."""
    return Call(
        "POST",
        "/v1/knowledge/search",
        SearchAnswer,
        body=given(
            query=query,
            limit=limit,
            include_organization=include_organization,
            include_platform=include_platform,
            source_ids=source_ids,
        ),
        repeatable=True,
    )


def get_model(*, platform: bool = False) -> Call[ModelStatus]:
    """Say which model's vectors answer searches, and how far a switch to the next one is."""
    return Call("GET", "/v1/knowledge/model", ModelStatus, query=given(platform=platform))


def switch_model(model: str, *, force: bool = False, platform: bool = False) -> Call[ModelStatus]:
    """Begin to switch to another model, or go on. GET it to see how far it is."""
    return Call(
        "POST",
        "/v1/knowledge/model",
        ModelStatus,
        body=given(model=model, force=force, platform=platform),
    )


def cancel_switch(*, platform: bool = False) -> Call[ModelStatus]:
    """Leave the model that serves as it is, and no other to come."""
    return Call("DELETE", "/v1/knowledge/model", ModelStatus, query=given(platform=platform))
