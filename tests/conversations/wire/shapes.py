"""Answers of every provider in all their shapes, as JSON."""

import base64
import json
from typing import Any

from hypothesis import strategies as st

LETTERS = st.characters(exclude_categories=["Cs"], exclude_characters="\0")
TEXT = st.text(LETTERS, max_size=12) | st.sampled_from(
    ["</thinking>", '{"role": "system"}', "日本"]
)
SAID = TEXT.map(lambda text: f"x{text}")
WORDS = st.text("abcdefghijklmnopqrstuvwxyz_", min_size=1, max_size=12)
BYTES = st.binary(min_size=1, max_size=12)
BASE64 = BYTES.map(lambda raw: base64.b64encode(raw).decode())
SECRET = BASE64
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=6,
)
OBJECTS = st.dictionaries(WORDS, VALUES, max_size=3)
RAW = OBJECTS.map(json.dumps) | TEXT | st.sampled_from(['{"a": 1', "", "[1]", '{"a": 1}trailing'])


def record(**fields: Any) -> st.SearchStrategy[dict[str, Any]]:
    """An object with these fields, of strategies or of values."""
    return st.fixed_dictionaries(
        {
            name: value if isinstance(value, st.SearchStrategy) else st.just(value)
            for name, value in fields.items()
        }
    )


def maybe(
    base: st.SearchStrategy[dict[str, Any]], **fields: Any
) -> st.SearchStrategy[dict[str, Any]]:
    """The object with some of these fields too."""
    more = st.fixed_dictionaries({}, optional=fields)
    return st.tuples(base, more).map(lambda both: both[0] | both[1])


def numbered(items: list[dict[str, Any]], *fields: str) -> list[dict[str, Any]]:
    """The items, each with ids of its own."""
    return [
        {name: f"{value}_{place}" if name in fields else value for name, value in item.items()}
        for place, item in enumerate(items)
    ]


# --- OpenAI Responses ------------------------------------------------------------------------

STATUS = st.sampled_from(["completed", "incomplete", "in_progress"])
ANNOTATIONS = st.lists(
    record(type="url_citation", url=SAID, title=TEXT, start_index=0, end_index=3)
    | record(type="file_citation", file_id=WORDS, filename=TEXT, index=1)
    | record(
        type="container_file_citation",
        container_id="c",
        file_id="f",
        filename="n",
        start_index=0,
        end_index=1,
    ),
    max_size=2,
)
OUTPUT_TEXT = maybe(
    record(type="output_text", text=TEXT, annotations=ANNOTATIONS),
    logprobs=st.just([]),
)
REFUSAL = maybe(record(type="refusal", refusal=TEXT), parsed=OBJECTS)
MESSAGE = maybe(
    record(
        type="message",
        id="msg",
        role="assistant",
        status=STATUS,
        content=st.lists(OUTPUT_TEXT | REFUSAL, max_size=3),
    ),
    phase=st.sampled_from(["commentary", "final_answer"]),
    future=VALUES,
)
REASONING = maybe(
    record(
        type="reasoning",
        id="rs",
        summary=st.lists(record(type="summary_text", text=TEXT), max_size=2),
    ),
    encrypted_content=SECRET | st.none(),
    content=st.lists(record(type="reasoning_text", text=TEXT), max_size=2),
    status=STATUS,
)
FUNCTION_CALL = maybe(
    record(type="function_call", call_id="call", name=WORDS, arguments=RAW),
    id=st.just("fc"),
    status=STATUS,
    namespace=WORDS,
    future=VALUES,
)
CUSTOM_CALL = maybe(
    record(type="custom_tool_call", call_id="call", name=WORDS, input=TEXT), id=st.just("ctc")
)
OWN_ITEMS = (
    record(
        type="web_search_call",
        id="ws",
        status="completed",
        action=record(type="search", query=TEXT),
    )
    | record(
        type="file_search_call",
        id="fs",
        status="completed",
        queries=st.lists(TEXT, max_size=2),
        results=st.none(),
    )
    | record(
        type="code_interpreter_call",
        id="ci",
        code=TEXT,
        container_id="cntr",
        status="completed",
        outputs=st.none() | st.lists(record(type="logs", logs=TEXT), max_size=1),
    )
    | record(type="image_generation_call", id="ig", status="completed", result=BASE64)
    | record(type="mcp_list_tools", id="mcpl", server_label="s", tools=[])
    | record(type="mcp_call", id="mcp", server_label="s", name=WORDS, arguments=RAW, output=TEXT)
    | record(type="compaction", id="cmp", encrypted_content=SECRET)
    | record(type="not_known_yet", id="new", payload=OBJECTS)
)
OUTPUT = st.lists(
    MESSAGE | REASONING | FUNCTION_CALL | CUSTOM_CALL | OWN_ITEMS, min_size=0, max_size=5
).map(lambda items: numbered(_leading_on(items), "id", "call_id"))


def _leading_on(items: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The items less reasoning that leads to nothing, which no API takes back."""
    while items and items[-1]["type"] == "reasoning":
        items = items[:-1]
    return items


def response(output: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "id": "resp_1",
        "object": "response",
        "created_at": 1,
        "model": "gpt-5.2",
        "status": "completed",
        "output": output,
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": {
            "input_tokens": 1,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": 2,
            "output_tokens_details": {"reasoning_tokens": 1},
            "total_tokens": 3,
        },
    }


# --- OpenAI Chat Completions -----------------------------------------------------------------

TOOL_CALLS = st.lists(
    record(id="call", type="function", function=record(name=WORDS, arguments=RAW))
    | record(id="call", type="custom", custom=record(name=WORDS, input=TEXT)),
    min_size=1,
    max_size=3,
).map(lambda calls: numbered(calls, "id"))
CHAT_EXTRAS: dict[str, Any] = {
    "refusal": st.none(),
    "annotations": st.just([])
    | st.lists(
        record(
            type="url_citation",
            url_citation=record(url=SAID, title=TEXT, start_index=0, end_index=1),
        ),
        min_size=1,
        max_size=2,
    ),
    "reasoning_content": TEXT,
    "reasoning_details": st.lists(record(type="reasoning.encrypted", data=SECRET), max_size=2),
    "audio": st.none(),
    "future": VALUES,
}
CHAT_MESSAGE = (
    maybe(record(role="assistant", content=TEXT), tool_calls=TOOL_CALLS, **CHAT_EXTRAS)
    | maybe(record(role="assistant", content=st.none(), tool_calls=TOOL_CALLS), **CHAT_EXTRAS)
    | record(role="assistant", content=st.none(), refusal=TEXT)
)


def completion(message: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "gpt-5.2",
        "choices": [{"index": 0, "finish_reason": "stop", "message": message, "logprobs": None}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3},
    }


# --- Anthropic Messages ----------------------------------------------------------------------

CITATIONS = st.lists(
    record(
        type="char_location",
        cited_text=TEXT,
        document_index=0,
        document_title=TEXT | st.none(),
        start_char_index=0,
        end_char_index=2,
        file_id=st.none(),
    )
    | record(
        type="web_search_result_location",
        cited_text=TEXT,
        encrypted_index=SECRET,
        title=TEXT,
        url=SAID,
    ),
    min_size=1,
    max_size=2,
)
CONTENT = st.lists(
    maybe(
        record(type="text", text=SAID), citations=CITATIONS | st.none(), future=VALUES, data=VALUES
    )
    | record(type="thinking", thinking=TEXT, signature=SECRET)
    | record(type="redacted_thinking", data=SECRET)
    | maybe(
        record(type="tool_use", id="toolu", name=WORDS, input=OBJECTS),
        caller=st.just({"type": "direct"}),
    )
    | record(type="server_tool_use", id="srvtoolu", name="web_search", input=record(query=TEXT))
    | record(
        type="web_search_tool_result",
        tool_use_id="srvtoolu_1",
        content=st.lists(
            record(
                type="web_search_result",
                title=TEXT,
                url=SAID,
                encrypted_content=SECRET,
                page_age=st.none() | TEXT,
            ),
            max_size=2,
        )
        | record(type="web_search_tool_result_error", error_code="unavailable"),
    )
    | record(
        type="bash_code_execution_tool_result",
        tool_use_id="srvtoolu_1",
        content=record(
            type="bash_code_execution_result", stdout=TEXT, stderr="", return_code=0, content=[]
        ),
    )
    | record(type="container_upload", file_id="file_1")
    | record(type="not_known_yet", payload=OBJECTS),
    min_size=1,
    max_size=5,
).map(lambda blocks: numbered(blocks, "id"))


def anthropic_message(content: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-opus-4-5",
        "content": content,
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 1, "output_tokens": 2},
    }


# --- Gemini ----------------------------------------------------------------------------------

SIGNED: dict[str, Any] = {"thoughtSignature": BASE64}
FUNCTION_ARGS = st.fixed_dictionaries(
    {"name": WORDS}, optional={"args": OBJECTS, "id": st.just("fc")}
)
PARTS = st.lists(
    maybe(record(text=SAID), **SIGNED)
    | maybe(record(text=SAID, thought=True), **SIGNED)
    | record(text="", thoughtSignature=BASE64)
    | maybe(record(functionCall=FUNCTION_ARGS), **SIGNED)
    | maybe(
        record(
            inlineData=record(mimeType=st.sampled_from(["image/png", "audio/wav"]), data=BASE64)
        ),
        **SIGNED,
    )
    | record(fileData=record(mimeType="application/pdf", fileUri=SAID))
    | record(executableCode=record(language="PYTHON", code=TEXT))
    | maybe(record(toolCall=record(id="tc", toolType="GOOGLE_SEARCH_WEB", args=OBJECTS)), **SIGNED)
    | record(toolResponse=record(id="tc", toolType="GOOGLE_SEARCH_WEB", response=OBJECTS))
    | record(codeExecutionResult=record(outcome="OUTCOME_OK", output=TEXT)),
    min_size=1,
    max_size=5,
).map(
    lambda parts: [
        {
            "functionCall": {**part["functionCall"], "id": f"fc_{place}"},
            **{k: v for k, v in part.items() if k != "functionCall"},
        }
        if "id" in part.get("functionCall", {})
        else part
        for place, part in enumerate(parts)
    ]
)


def candidate(parts: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "candidates": [
            {"content": {"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}
        ],
        "modelVersion": "gemini-3-pro",
        "responseId": "r1",
        "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 2, "totalTokenCount": 3},
    }
