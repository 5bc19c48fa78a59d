"""Transcripts to try things on: whole ones, ones that broke off anywhere, and ones that were cut in front."""

from typing import Any

from hypothesis import strategies as st

from memoranda.conversations.models import Message

Block = dict[str, Any]
PIECES = ["a", "ü", "漢", "👩‍👩‍👧", "é", "\n", " word", "🇩🇪", "[", "]"]
TEXTS = st.lists(st.sampled_from(PIECES), min_size=1, max_size=12).map("".join)
LONG_TEXTS = st.builds(lambda piece, times: piece * times, TEXTS, st.integers(1, 400))


def call(id: str, name: str = "look_up", arguments: str = "{}") -> Block:
    return {"type": "tool_call", "id": id, "name": name, "arguments": arguments}


def result(id: str, content: Any = "found", **more: Any) -> Block:
    return {
        "type": "tool_result",
        "tool_call_id": id,
        "name": "look_up",
        "content": content,
        **more,
    }


def asking(*blocks: Block, text: str = "") -> Message:
    said: list[Block] = [{"type": "text", "text": text}] if text else []
    return Message(role="assistant", content=[*said, *blocks])


def answering(*blocks: Block) -> Message:
    return Message(role="tool", content=list(blocks))


def says(role: Any, text: str, **more: Any) -> Message:
    return Message(role=role, content=text, **more)


@st.composite
def turns(draw: st.DrawFn, texts: st.SearchStrategy[str] = TEXTS, most: int = 5) -> list[Message]:
    """Whole turns: what a user says, rounds of calls with all their results, and an answer."""
    messages = [says("system", draw(texts))] if draw(st.booleans()) else []
    number = 0
    for _ in range(draw(st.integers(0, most))):
        messages.append(says("user", draw(texts), pinned=draw(st.integers(0, 5)) == 0))
        for _ in range(draw(st.integers(0, 2))):
            ids = [f"c{number + each}" for each in range(draw(st.integers(1, 3)))]
            number += len(ids)
            messages.append(asking(*map(call, ids), text=draw(texts)))
            results = [result(each, draw(contents(texts))) for each in draw(st.permutations(ids))]
            if draw(st.booleans()):
                messages.append(answering(*results))
            else:
                messages += [answering(each) for each in results]
        if draw(st.booleans()):
            messages.append(says("assistant", draw(texts), pinned=draw(st.integers(0, 5)) == 0))
    return messages


def contents(texts: st.SearchStrategy[str]) -> st.SearchStrategy[Any]:
    part = st.builds(lambda text: {"type": "text", "text": text}, texts)
    image = st.just({"type": "image", "media_type": "image/png", "data": "aGk="})
    return texts | st.lists(part | image, max_size=3)


@st.composite
def broken(draw: st.DrawFn) -> list[Message]:
    """Whole turns of which messages are missing, moved or doubled, wherever it may hurt."""
    messages = draw(turns())
    for _ in range(draw(st.integers(0, 3))):
        if not messages:
            break
        at = draw(st.integers(0, len(messages) - 1))
        taken = messages.pop(at)
        becomes = draw(st.sampled_from(["gone", "moved", "doubled", "note"]))
        if becomes == "moved":
            messages.insert(draw(st.integers(0, len(messages))), taken)
        elif becomes == "doubled":
            messages[at:at] = [taken, taken]
        elif becomes == "note":
            messages[at:at] = [taken, says("developer", "a note")]
    return messages


def open_calls(messages: list[Message]) -> list[str]:
    """The ids of calls that are not answered right after the messages that ask for them, told simply."""
    wrong: list[str] = []
    place = 0
    while place < len(messages):
        asked: list[str] = []
        while place < len(messages) and messages[place].role == "assistant":
            asked += [b["id"] for b in blocks(messages[place]) if b["type"] == "tool_call"]
            place += 1
        while place < len(messages) and messages[place].role == "tool":
            for block in blocks(messages[place]):
                if block["tool_call_id"] in asked:
                    asked.remove(block["tool_call_id"])
                else:
                    wrong.append("unasked " + block["tool_call_id"])
            place += 1
        wrong += asked
        if place < len(messages) and messages[place].role not in {"assistant", "tool"}:
            place += 1
    return wrong


def blocks(message: Message) -> list[Block]:
    return message.content if isinstance(message.content, list) else []
