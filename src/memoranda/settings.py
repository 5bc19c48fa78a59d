"""Every setting of the product, each with one sentence; read from the environment as `MEMORANDA_…`."""

import re
from datetime import time
from pathlib import Path
from typing import Any, Final, Literal, Self

from platformdirs import user_data_path
from pydantic import Field, SecretStr, ValidationError, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from memoranda.words.errors import Invalid
from memoranda.words.shape import misshapen

MEGABYTE = 1024 * 1024
# Two letters at least: a single one is a drive.
_SCHEME: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):(?!//)")


def default_db() -> str:
    """The file that is used when no database is named: `memoranda.db` in the user's data directory."""
    return str(Path(user_data_path("memoranda", appauthor=False)) / "memoranda.db")


def database_address(named: str) -> str:
    """The database that was named, in the one form that is passed on: `postgres://` is `postgresql://`.

    Raises ValueError for what is half an address, which would else be taken for a file's name.
    """
    if not named:
        raise ValueError("The name of the database is empty. Name a file or postgresql://….")
    half = _SCHEME.match(named)
    if half:
        right = "postgresql://…" if half[1].lower().startswith("postgres") else "sqlite:///file"
        raise ValueError(
            f"{half[1]}: is half an address. Write {right}, or ./ before a file of that name."
        )
    scheme, mark, rest = named.partition("://")
    return f"postgresql://{rest}" if mark and scheme.lower() == "postgres" else named


class Settings(BaseSettings):
    """What can be set, with its default. Values given in code go before the environment."""

    model_config = SettingsConfigDict(env_prefix="MEMORANDA_", frozen=True, extra="forbid")

    db: str = Field(
        default_factory=default_db,
        repr=False,  # it may hold a password
        description="The database: a file, `sqlite:///file` or `postgresql://…`; by default "
        "`memoranda.db` in the user's data directory.",
    )
    host: str = Field(
        default="127.0.0.1", description="The address that `memoranda serve` listens on."
    )
    port: int = Field(
        default=8321, ge=0, le=65535, description="The port that `memoranda serve` listens on."
    )
    secret: SecretStr | None = Field(
        default=None,
        min_length=32,
        description="A long random text, without which `memoranda serve` listens to this machine alone.",
    )
    key: SecretStr | None = Field(
        default=None,
        description="The key that `memoranda mcp` acts with; without one it acts as the owner.",
    )
    max_upload_bytes: int = Field(
        default=20 * MEGABYTE, ge=1, description="The most bytes that a document may have."
    )
    max_body_bytes: int = Field(
        default=2 * MEGABYTE,
        ge=1024,
        description="The most bytes that the body of any other request may have.",
    )
    body_idle_s: float = Field(
        default=30.0,
        gt=0,
        le=3600,
        description="How many seconds the body of a request may pause before the request is refused.",
    )
    max_memory_chars: int = Field(
        default=500,
        ge=1,
        le=8000,
        description="The most characters that the text of a memory may have.",
    )
    max_memories: int = Field(
        default=2_000, ge=1, description="The most active memories that an organization may have."
    )
    max_pinned: int = Field(
        default=20, ge=0, description="The most memories that an organization may pin."
    )
    max_proposals: int = Field(
        default=200,
        ge=0,
        description="The most proposals that may wait in an organization; what comes then is dropped and counted.",
    )
    embedder: Literal["bundled", "endpoint", "none"] = Field(
        default="bundled",
        description="What finds memories and documents by meaning: the `bundled` model, an `endpoint`, "
        "or `none`; all processes of one database set the same.",
    )
    embedder_url: str | None = Field(
        default=None,
        description="The endpoint's address before `/embeddings`, such as `http://localhost:11434/v1`.",
    )
    embedder_model: str | None = Field(
        default=None, description="The model that the endpoint is asked for."
    )
    embedder_key: SecretStr | None = Field(
        default=None, description="The key that is sent to the endpoint, where it wants one."
    )
    embedder_dimensions: int = Field(
        default=0,
        ge=0,
        le=65_536,
        description="How many numbers the endpoint's vectors have, as a part of the model's name here; "
        "0 takes what it answers.",
    )
    embedder_slope: float | None = Field(
        default=None,
        gt=0,
        le=200,
        description="How fast scores rise with the cosines of the endpoint's model; "
        "`memoranda embedder fit` finds it.",
    )
    embedder_middle: float | None = Field(
        default=None,
        ge=-1,
        le=1,
        description="The cosine of the endpoint's model that scores 0.5; found with the slope.",
    )
    embedder_timeout_s: float = Field(
        default=1.5,
        gt=0,
        le=60,
        description="How many seconds a search waits for the embedder before it goes on by words alone.",
    )
    conversation_max_bytes: int = Field(
        default=8 * MEGABYTE,
        ge=1024,
        description="The most bytes that a conversation may hold; saving, appending and loading keep to it.",
    )
    summarizer: Literal["extractive", "endpoint"] = Field(
        default="extractive",
        description="What shortens earlier turns of a conversation: the built-in `extractive` one, which needs no "
        "model, or an `endpoint`.",
    )
    summarizer_url: str | None = Field(
        default=None,
        description="The endpoint's address before `/chat/completions`, such as `http://localhost:11434/v1`.",
    )
    summarizer_model: str | None = Field(
        default=None, description="The model that this endpoint is asked for."
    )
    summarizer_key: SecretStr | None = Field(
        default=None, description="The key that is sent to this endpoint, where it wants one."
    )
    summarizer_timeout_s: float = Field(
        default=120.0,
        gt=0,
        le=3600,
        description="How many seconds this endpoint has for a summary.",
    )
    summary_tokens: int = Field(
        default=2_000,
        ge=64,
        le=100_000,
        description="About how many tokens the summary of earlier turns may have.",
    )
    tool_result_chars: int = Field(
        default=100_000,
        ge=300,
        description="The most characters of a tool's result that are sent to a model again.",
    )
    seed_bytes: int = Field(
        default=1_000_000,
        ge=1_000,
        description="About how many bytes of a conversation a run begins with; old results of tools make room.",
    )
    vector_cache_mb: int = Field(
        default=256,
        ge=1,
        description="The most megabytes of memories' vectors that a process keeps in memory, "
        "and on SQLite of documents' as many again.",
    )
    writes_per_minute: int = Field(
        default=60,
        ge=0,
        description="How often a user may change memories, and how often files, over HTTP within a minute; 0 takes the limit away.",
    )
    lists_per_minute: int = Field(
        default=120,
        ge=0,
        description="How often a user may list or search memories over HTTP within a minute; "
        "0 takes the limit away.",
    )
    tool_calls_per_run: int = Field(
        default=200,
        ge=0,
        description="How often one run may call the same tool; 0 takes the limit away.",
    )
    tool_reply_chars: int = Field(
        default=32_000,
        ge=1_000,
        le=1_000_000,
        description="About how many characters a tool's list or search answers at once; "
        "what has no room is on the next page.",
    )
    max_approvals: int = Field(
        default=200,
        ge=1,
        le=100_000,
        description="How many calls of an organization's agents may wait for a person.",
    )
    receipts_days: int = Field(
        default=30,
        ge=1,
        le=3650,
        description="For how many days a call that comes again under its idempotency key is known, "
        "and the journal of calls is kept.",
    )
    blocks_days: int = Field(
        default=90,
        ge=1,
        le=3650,
        description="For how many days the text that a run was given is kept after the run has ended; "
        "which rows it was made of, and what became of each, stays.",
    )
    chat_queued_s: int = Field(
        default=600,
        ge=1,
        le=2_592_000,
        description="How many seconds a chat's run may wait to be picked up before a worker ends it as failed.",
    )
    chat_silent_s: int = Field(
        default=900,
        ge=1,
        le=2_592_000,
        description="How many seconds a chat's run may go on without a word of its host before a worker ends it "
        "as failed, with what it had told until then.",
    )
    chat_waiting_s: int = Field(
        default=604_800,
        ge=1,
        le=2_592_000,
        description="How many seconds a chat's run may wait for somebody before a worker ends it as failed.",
    )
    chat_stopping_s: int = Field(
        default=60,
        ge=1,
        le=2_592_000,
        description="How many seconds the host of a chat's run has to stop before a worker ends the run, with "
        "what it had told until then.",
    )
    state: str | None = Field(
        default=None,
        min_length=1,
        description="The TOML file that declares which rows of an application's own database briefs may show.",
    )
    estimator: Literal["bytes", "pieces"] = Field(
        default="bytes",
        description="How the tokens of a text are estimated: by a quarter of its `bytes`, or by the `pieces` "
        "that tokenizers cut texts into, which is slower and rarely too low.",
    )
    source_timeout_s: float = Field(
        default=1.0,
        gt=0,
        le=60,
        description="How many seconds each source of a brief has to answer.",
    )
    worker: bool = Field(
        default=True,
        description="Whether `memoranda serve` also takes in what is added; turn it off where "
        "`memoranda worker` runs by itself.",
    )
    worker_poll_s: float = Field(
        default=0.5,
        gt=0,
        le=60,
        description="How many seconds an idle worker waits before it looks for work again.",
    )

    nightly_at: time = Field(
        default=time(4, 13),
        description="When what was forgotten long ago is purged and indexes are mended, as hours and "
        "minutes in UTC; a worker does it.",
    )

    @field_validator("nightly_at")
    @classmethod
    def _in_utc(cls, at: time) -> time:
        if at.tzinfo is not None:
            raise ValueError("This must be a time of day without a zone, which is read as UTC")
        return at

    @field_validator("db")
    @classmethod
    def _address(cls, named: str) -> str:
        return database_address(named)

    def on(self, db: str) -> Self:
        """The same settings on another database. Raises `Invalid` for half an address."""
        try:
            return self.model_copy(update={"db": database_address(db)})
        except ValueError as error:
            raise Invalid(str(error), field="db") from None

    @classmethod
    def load(cls, **given: Any) -> Self:
        """The settings of the environment, under what is `given`. Raises `Invalid`, naming each wrong one."""
        try:
            return cls(**given)
        except ValidationError as error:
            wrong = "; ".join(
                f"MEMORANDA_{'.'.join(str(part) for part in each['loc']).upper()}: {misshapen(each)}"
                for each in error.errors()
            )
            raise Invalid(f"Some settings can't be used: correct them. {wrong}") from None
