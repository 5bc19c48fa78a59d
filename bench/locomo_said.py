"""Conversations of LoCoMo's shape as conversations of the product: said over HTTP, read by its worker, searched."""

import time
from typing import Any, Final

import httpx
from locomo_data import Question, Talk
from over_http import send

RESULTS: Final = 20
TURNS_AT_ONCE: Final = 500
READY_TIMEOUT_S: Final = 900.0


class SaidTalk:
    """A conversation that was appended turn by turn, under its owner's key."""

    def __init__(self, client: httpx.Client, key: str, talk: Talk, *, meaning: bool) -> None:
        self._client = client
        self._key = key
        self._turns = [turn.id for turn in talk.turns]
        self._id = str(send(client, key, "POST", "/v1/conversations", json={})["id"])
        roles = dict(zip(_speakers(talk), ("user", "assistant"), strict=False))
        said = [
            {
                "role": roles.get(turn.speaker, "user"),
                "content": f"{turn.text} (picture: {turn.caption})".lstrip()
                if turn.caption
                else turn.text,
                "metadata": {"name": turn.speaker, "at": turn.at},
            }
            for turn in talk.turns
        ]
        for start in range(0, len(said), TURNS_AT_ONCE):
            turn = {"messages": said[start : start + TURNS_AT_ONCE]}
            send(client, key, "POST", f"/v1/conversations/{self._id}/messages", json=turn)
        self._wait(meaning=meaning)

    def ask(self, question: Question) -> tuple[list[str], bool]:
        """The ids of the turns that were found, best first, and whether meaning was compared."""
        answer = self._search(question.text)
        found = [self._turns[result["position"] - 1] for result in answer["results"]]
        return found, bool(answer["semantic"])

    def _wait(self, *, meaning: bool) -> None:
        """Wait until all that was said is found, by meaning too where that is asked for."""
        deadline = time.monotonic() + READY_TIMEOUT_S
        while time.monotonic() < deadline:
            answer = self._search("hello")
            compared = bool(answer["semantic"]) or not meaning
            if compared and not answer["waiting"] and not answer["words_alone"]:
                return
            time.sleep(0.2)
        raise RuntimeError(f"Not all was found after {READY_TIMEOUT_S:g} s.")

    def _search(self, query: str) -> Any:
        body = {"query": query, "limit": RESULTS, "conversation_id": self._id}
        return send(self._client, self._key, "POST", "/v1/conversations/search", json=body)


def _speakers(talk: Talk) -> list[str]:
    return list(dict.fromkeys(turn.speaker for turn in talk.turns))
