"""What is kept of each runtime's conversations, and what nobody can claim of them, as data."""

from typing import Final, Literal

from pydantic import BaseModel, ConfigDict

from memoranda.conversations.wire.capabilities import Wire

Fidelity = Literal["provider_replayable", "portable", "observable"]
"""`provider_replayable`: what is kept builds the provider's next request, with nothing it exposed lost.
`portable`: what was said, called and answered goes on, without the provider's own state.
`observable`: what the runtime showed is kept to be read."""


class RuntimeFidelity(BaseModel):
    """One runtime's row."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    runtime: str
    name: str
    fidelity: Fidelity
    provider: Wire | None = None
    """The converter that reads and builds its messages, where there is one."""
    condition: str | None = None
    """What has to hold for this fidelity."""
    otherwise: Fidelity | None = None
    """The fidelity where the condition does not hold."""
    kept: tuple[str, ...]
    resumable: Literal["by_request", "by_binding", "no"]
    """Gone on with by sending what is kept, by an id that the runtime knows its own session by, or not at all."""
    not_claimed: tuple[str, ...]


HIDDEN: Final = "state that the provider keeps to itself"

FIDELITY: Final[tuple[RuntimeFidelity, ...]] = (
    RuntimeFidelity(
        runtime="openai",
        name="OpenAI (Responses)",
        fidelity="provider_replayable",
        provider="openai_responses",
        kept=(
            "output items in their order, with their ids, status and phase",
            "reasoning items with their summaries and encrypted content",
            "function and custom tool calls with their raw arguments",
            "items of server tools, refusals, annotations",
        ),
        resumable="by_request",
        not_claimed=("reasoning that is neither summarized nor encrypted in the answer", HIDDEN),
    ),
    RuntimeFidelity(
        runtime="anthropic",
        name="Anthropic (Messages)",
        fidelity="provider_replayable",
        provider="anthropic",
        kept=(
            "content blocks in their order",
            "thinking with its signatures, and redacted thinking",
            "tool calls, with their raw input where it was streamed",
            "blocks of server tools, citations",
        ),
        resumable="by_request",
        not_claimed=("what redacted thinking says", HIDDEN),
    ),
    RuntimeFidelity(
        runtime="gemini",
        name="Gemini (generate_content)",
        fidelity="provider_replayable",
        provider="gemini",
        kept=(
            "parts in their order",
            "thought signatures, on whichever part they came",
            "function calls with and without ids",
            "code and its results, media, calls of server tools",
        ),
        resumable="by_request",
        not_claimed=(
            "grounding and safety metadata, which requests have no place for",
            "function calls whose arguments are streamed in parts",
            HIDDEN,
        ),
    ),
    RuntimeFidelity(
        runtime="openai_compatible",
        name="OpenAI-compatible endpoints (Chat Completions)",
        fidelity="provider_replayable",
        provider="openai_chat",
        condition="the endpoint passed the verification",
        otherwise="portable",
        kept=(
            "messages with every field that came, such as visible reasoning",
            "tool calls with their raw arguments",
        ),
        resumable="by_request",
        not_claimed=("that an endpoint takes back what it sent, before that was tried", HIDDEN),
    ),
    RuntimeFidelity(
        runtime="claude_code",
        name="Claude Code",
        fidelity="observable",
        kept=("the stream of its events, exactly", "the id of its session, where a host binds it"),
        resumable="by_binding",
        not_claimed=("what its own session file holds", HIDDEN),
    ),
    RuntimeFidelity(
        runtime="vertex",
        name="Vertex AI agents",
        fidelity="observable",
        kept=(
            "the events that were seen, exactly",
            "the ids of its interaction and environment, where a host binds them",
        ),
        resumable="by_binding",
        not_claimed=("what its environment holds", HIDDEN),
    ),
    RuntimeFidelity(
        runtime="codex_cli",
        name="Codex CLI",
        fidelity="observable",
        kept=("what it printed",),
        resumable="no",
        not_claimed=("its session", HIDDEN),
    ),
    RuntimeFidelity(
        runtime="rlm",
        name="Recursive language models",
        fidelity="observable",
        kept=("what it showed",),
        resumable="no",
        not_claimed=("the state of its environment and of its inner calls", HIDDEN),
    ),
)
