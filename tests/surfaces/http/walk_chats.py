"""One call of every operation of chats and their runs, as the walk goes through them."""

from collections.abc import Awaitable, Callable
from typing import Any

import httpx

from tests.surfaces.http.house import Api, Rows
from tests.surfaces.http.steps import EVERYBODY, WRITERS, Step, get, post, put, subject

CHAT = "/v1/chats/{chat}"
RUN = "/v1/chat-runs/{chat_run}"

Sends = Callable[[Api, Rows, dict[str, Any]], Awaitable[httpx.Response]]


def quietly(send: Sends) -> Step:
    """What can be done only where no run is live: one that is live is stopped, and what is shown is handed on."""

    async def called(api: Api, rows: Rows) -> httpx.Response:
        shown = await api.get(f"/v1/chats/{rows.chat}/thread")
        if not shown.is_success:
            return shown
        thread = shown.json() if shown.content else NOTHING
        if thread["run"] is not None:
            stopped = await api.post(f"/v1/chat-runs/{thread['run']['id']}/stop")
            if not stopped.is_success:
                return stopped
        return await send(api, rows, thread)

    return Step(called, names_rows=True, roles=WRITERS)


NOTHING: dict[str, Any] = {"chat": {"revision": 0}, "messages": [], "run": None}


def _revision(thread: dict[str, Any]) -> dict[str, int]:
    return {"expected_revision": thread["chat"]["revision"]}


async def sent(api: Api, rows: Rows, _: dict[str, Any]) -> httpx.Response:
    body = {"content": f"{rows.word} asks"}
    return await api.post(f"/v1/chats/{rows.chat}/messages", body)


async def edited(api: Api, rows: Rows, thread: dict[str, Any]) -> httpx.Response:
    path = f"/v1/chats/{rows.chat}/messages/{rows.chat_message}/edit"
    return await api.post(path, {"content": f"{rows.word} asks again", **_revision(thread)})


async def regenerated(api: Api, rows: Rows, thread: dict[str, Any]) -> httpx.Response:
    return await api.post(f"/v1/chats/{rows.chat}/regenerate", _revision(thread))


async def switched(api: Api, rows: Rows, thread: dict[str, Any]) -> httpx.Response:
    body = {"message_id": rows.chat_message, **_revision(thread)}
    return await api.post(f"/v1/chats/{rows.chat}/switch", body)


def of_new_run(path: str, body: object, *, picked_up: bool = False) -> Step:
    """What is done with a run that was begun for it."""

    async def done(api: Api, rows: Rows, thread: dict[str, Any]) -> httpx.Response:
        begun = await sent(api, rows, thread)
        if begun.is_error:
            return begun
        run = begun.json()["run"]["id"] if begun.content else rows.chat_run
        if picked_up:
            await api.post(f"/v1/chat-runs/{run}/pick-up")
        return await api.post(f"/v1/chat-runs/{run}/{path}", body)

    return quietly(done)


async def note_taken_back(api: Api, rows: Rows) -> httpx.Response:
    return await api.delete(f"/v1/chats/{rows.chat}/notes?key=form")


async def rating_taken_back(api: Api, rows: Rows) -> httpx.Response:
    return await api.delete(f"/v1/chats/{rows.chat}/messages/{rows.chat_answer}/feedback")


async def deleted(api: Api, rows: Rows) -> httpx.Response:
    return await api.delete(f"/v1/chats/{rows.chat}")


CHATS: dict[str, list[Step]] = {
    "POST /v1/chats": [post("/v1/chats", WRITERS, subject, names_rows=True)],
    "GET /v1/chats": [get("/v1/chats", EVERYBODY)],
    "GET /v1/chats/{chat_id}": [get(CHAT, EVERYBODY)],
    "GET /v1/chats/{chat_id}/thread": [
        get(f"{CHAT}/thread", EVERYBODY),
        get(f"{CHAT}/thread?limit=1", EVERYBODY),
    ],
    "GET /v1/chats/{chat_id}/export": [get(f"{CHAT}/export", EVERYBODY)],
    "POST /v1/chats/{chat_id}/notes": [
        post(f"{CHAT}/notes", WRITERS, lambda rows: {"key": "form", "text": f"{rows.word} saved"})
    ],
    "GET /v1/chats/{chat_id}/notes": [get(f"{CHAT}/notes", EVERYBODY)],
    "DELETE /v1/chats/{chat_id}/notes": [Step(note_taken_back, names_rows=True, roles=WRITERS)],
    "PUT /v1/chats/{chat_id}/messages/{message_id}/feedback": [
        put(
            f"{CHAT}/messages/{{chat_answer}}/feedback",
            WRITERS,
            lambda rows: {"rating": "up", "comment": f"{rows.word} is right"},
        )
    ],
    "GET /v1/chats/{chat_id}/feedback": [get(f"{CHAT}/feedback", EVERYBODY)],
    "DELETE /v1/chats/{chat_id}/messages/{message_id}/feedback": [
        Step(rating_taken_back, names_rows=True, roles=WRITERS)
    ],
    "GET /v1/chat-runs": [get("/v1/chat-runs", EVERYBODY)],
    "GET /v1/chat-runs/{run_id}": [get(RUN, EVERYBODY)],
    "POST /v1/chat-runs/{run_id}/pick-up": [
        post(f"{RUN}/pick-up?picked_up_by=host", WRITERS),
        post(f"{RUN}/pick-up?picked_up_by=host", WRITERS),
    ],
    "POST /v1/chat-runs/{run_id}/prepare": [
        post(f"{RUN}/prepare", WRITERS, lambda rows: {"agent_id": rows.agent})
    ],
    "POST /v1/chat-runs/{run_id}/wait": [
        post(f"{RUN}/wait", WRITERS, lambda _: {"reason": "Approval."})
    ],
    "POST /v1/chat-runs/{run_id}/resume": [post(f"{RUN}/resume", WRITERS)],
    "POST /v1/chat-runs/{run_id}/events": [
        post(
            f"{RUN}/events",
            WRITERS,
            lambda rows: {"events": [{"type": "text.delta", "text": f"{rows.word} says"}]},
        )
    ],
    "GET /v1/chat-runs/{run_id}/events": [get(f"{RUN}/events", EVERYBODY)],
    "GET /v1/chat-runs/{run_id}/snapshot": [get(f"{RUN}/snapshot", EVERYBODY)],
    "GET /v1/chat-runs/{run_id}/stream": [get(f"{RUN}/stream", EVERYBODY)],
    "POST /v1/chat-runs/{run_id}/answer": [
        post(f"{RUN}/answer", WRITERS, lambda rows: {"content": f"{rows.word} answers"}),
        of_new_run("answer", {"content": "It grows.", "stopped": True}, picked_up=True),
    ],
    "POST /v1/chats/{chat_id}/messages": [quietly(sent)],
    "POST /v1/chat-runs/{run_id}/stop": [of_new_run("stop", None)],
    "POST /v1/chat-runs/{run_id}/fail": [of_new_run("fail", {"reason": "It broke."})],
    "POST /v1/chats/{chat_id}/regenerate": [quietly(regenerated)],
    "POST /v1/chats/{chat_id}/messages/{message_id}/edit": [quietly(edited)],
    "POST /v1/chats/{chat_id}/switch": [quietly(switched)],
    "POST /v1/chats/{chat_id}/clear": [post(f"{CHAT}/clear", WRITERS)],
    "DELETE /v1/chats/{chat_id}": [Step(deleted, names_rows=True, roles=WRITERS)],
}
