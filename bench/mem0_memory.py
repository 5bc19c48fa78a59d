"""mem0 as a side, with `infer=False`: on its default vector store in a file, or on pgvector.

Each organization is a `user_id`, which is how mem0 keeps memories apart. Nothing is sent anywhere.
"""

import logging
import os
import warnings
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final
from uuid import UUID

from made import Ask, Prepared, Size, text
from places import Place
from sides import (
    AT_ONCE,
    GET,
    ON_A_PAGE,
    PAGE,
    PUT_EMBEDDED,
    PUT_MANY,
    SEARCH,
    SEARCH_KNOWN,
    Side,
    Work,
)

IN_A_BATCH: Final = 1_000
TABLE: Final = "bench_memories"
WHEN: Final = "2025-06-01T08:00:00+00:00"
FIRST: Final = "organization-0"


@asynccontextmanager
async def mem0_sides(place: Place, size: Size, embedder: Prepared) -> AsyncIterator[list[Side]]:
    """mem0, filled. Raises ImportError where it is not installed."""
    memory = opened(place, embedder)
    embedder.prepare(range(size.each))
    try:
        fill = fill_postgres if place.kind == "postgres" else fill_file
        fill(memory, size, embedder)
        name = "mem0 on pgvector" if place.kind == "postgres" else "mem0 on Qdrant's files"
        yield [Side(name, works(memory), size)]
    finally:
        close(memory)


def opened(place: Place, embedder: Prepared) -> Any:
    """mem0 over an empty vector store. Its history is a SQLite file beside it, as it comes."""
    folder = place.folder / f"mem0-{place.kind}-{os.urandom(4).hex()}"
    folder.mkdir()
    os.environ.update(MEM0_TELEMETRY="False", MEM0_DIR=str(folder))
    logging.getLogger("mem0").setLevel(logging.ERROR)
    from mem0 import Memory  # noqa: PLC0415 - reads the environment when it is imported

    unused = {"provider": "openai", "config": {"api_key": "unused"}}
    memory = Memory.from_config(
        {
            "vector_store": store_of(place, folder, embedder.dimensions),
            "history_db_path": str(folder / "history.db"),
            "embedder": unused,
            "llm": unused,
        }
    )
    memory.embedding_model = Embedding(embedder)
    return memory


def store_of(place: Place, folder: Path, dimensions: int) -> dict[str, Any]:
    common = {"collection_name": TABLE, "embedding_model_dims": dimensions}
    if place.kind == "postgres":
        return {"provider": "pgvector", "config": {**common, "connection_string": place.empty()}}
    return {
        "provider": "qdrant",
        "config": {**common, "path": str(folder / "qdrant"), "on_disk": True},
    }


class Embedding:
    """Our embedder as mem0 asks for one."""

    def __init__(self, embedder: Prepared) -> None:
        self._embedder = embedder

    def embed(self, said: str, memory_action: str | None = None) -> list[float]:
        del memory_action
        return self._embedder.now([said])[0]

    def embed_batch(
        self, said: Sequence[str], memory_action: str | None = None
    ) -> list[list[float]]:
        del memory_action
        return self._embedder.now(said)


def fill_file(memory: Any, size: Size, embedder: Prepared) -> None:
    """Insert everything through mem0's vector store; its file does without flushes meanwhile."""
    storage = memory.vector_store.client._client.collections[TABLE].storage.storage  # noqa: SLF001 - its own connection
    storage.execute("PRAGMA synchronous=OFF")
    storage.execute("PRAGMA journal_mode=OFF")
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Local mode is not recommended")
        for organization in range(size.organizations):
            insert(memory, size, embedder, organization)
    storage.execute("PRAGMA journal_mode=DELETE")
    storage.execute("PRAGMA synchronous=FULL")


def fill_postgres(memory: Any, size: Size, embedder: Prepared) -> None:
    """Insert the first organization through mem0's vector store, and copy it in its own table."""
    store = memory.vector_store
    store._ensure_collection()  # noqa: SLF001 - makes the table, so that its indexes can wait
    with store._get_cursor(commit=True) as cursor:  # noqa: SLF001 - its own connection
        cursor.execute(
            "SELECT indexdef, indexname FROM pg_indexes"
            " WHERE tablename = %s AND indexname NOT LIKE '%%pkey'",
            (TABLE,),
        )
        indexes = cursor.fetchall()
        for _, name in indexes:
            cursor.execute(f"DROP INDEX {name}")
    insert(memory, size, embedder, 0)
    with store._get_cursor(commit=True) as cursor:  # noqa: SLF001 - its own connection, as above
        cursor.execute(
            f"INSERT INTO {TABLE} SELECT"
            " (substr(id::text, 1, 8) || '-' || lpad(to_hex(n), 4, '0') || substr(id::text, 14))::uuid,"
            " vector, jsonb_set(payload, '{user_id}', to_jsonb('organization-' || n))"
            f" FROM {TABLE}, generate_series(1, {size.organizations - 1}) AS n"
        )
        cursor.execute("SET LOCAL maintenance_work_mem = '2GB'")
        for definition, _ in indexes:
            cursor.execute(definition)
        cursor.execute(f"ANALYZE {TABLE}")


def insert(memory: Any, size: Size, embedder: Prepared, organization: int) -> None:
    for start in range(0, size.each, IN_A_BATCH):
        numbers = range(start, min(size.each, start + IN_A_BATCH))
        memory.vector_store.insert(
            vectors=embedder.now([text(number) for number in numbers]),
            payloads=[payload(organization, number) for number in numbers],
            ids=[identity(organization, number) for number in numbers],
        )


def payload(organization: int, number: int) -> dict[str, Any]:
    """What `add` keeps of a text."""
    said = text(number)
    return {
        "user_id": f"organization-{organization}",
        "role": "user",
        "data": said,
        "hash": f"{number:032x}",
        "created_at": WHEN,
        "updated_at": WHEN,
        "text_lemmatized": said.lower(),
    }


def identity(organization: int, number: int) -> str:
    """An id with the organization in its second group and the memory in its last."""
    return str(UUID(int=organization << 80 | number))


def works(memory: Any) -> dict[str, Work]:
    """What mem0 does. It can't put without embedding, nor several texts as one."""

    async def put_embedded(asked: Iterator[Ask]) -> None:
        ask = next(asked)
        memory.add(ask.text, infer=False, user_id=f"organization-{ask.organization}")

    async def put_many(asked: Iterator[Ask]) -> None:
        for _ in range(AT_ONCE):
            await put_embedded(asked)

    async def get(asked: Iterator[Ask]) -> None:
        ask = next(asked)
        assert memory.get(identity(ask.organization, ask.memory)) is not None

    async def page(asked: Iterator[Ask]) -> int:
        found = memory.get_all(filters=user(next(asked)), top_k=ON_A_PAGE)
        return len(found["results"])

    async def search(asked: Iterator[Ask]) -> int:
        ask = next(asked)
        found = memory.search(ask.query, filters=user(ask), top_k=ON_A_PAGE)
        return len(found["results"])

    async def search_known(asked: Iterator[Ask]) -> int:
        ask = next(asked)
        found = memory.search(ask.known, filters=user(ask), top_k=ON_A_PAGE)
        return len(found["results"])

    embedding: dict[str, Work] = {PUT_EMBEDDED: put_embedded, PUT_MANY: put_many}
    return {**embedding, GET: get, PAGE: page, SEARCH: search, SEARCH_KNOWN: search_known}


def user(ask: Ask) -> dict[str, str]:
    return {"user_id": f"organization-{ask.organization}"}


def close(memory: Any) -> None:
    """Close its connections; pgvector's pool closes itself when it is collected."""
    client = getattr(memory.vector_store, "client", None)
    if client is not None:
        client.close()
    memory.close()
