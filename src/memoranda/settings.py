"""Every setting of the product, each with one sentence; read from the environment as `MEMORANDA_…`."""

import re
from pathlib import Path
from typing import Any, Final, Self

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
