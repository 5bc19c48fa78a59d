"""Writes the page about providers: what is kept of each, and what each is sent."""

from memoranda.conversations.wire.capabilities import CAPABILITIES, Capabilities
from memoranda.conversations.wire.fidelity import FIDELITY, RuntimeFidelity

INTRODUCTION = """\
A conversation is kept in one form, whichever provider its messages came from, and each provider's own
answer can be built from it again. What nobody but the provider can read (signatures, encrypted reasoning,
items of its own tools) is kept as it came and goes back to that provider alone.

```python
from memoranda.conversations.wire import anthropic, streams
from memoranda.conversations.wire.requests import build_request

messages += anthropic.from_response(response)  # an object of the SDK, or its JSON
messages += streams.anthropic.from_stream(events)  # or the events of one that was streamed
request = build_request("anthropic", messages)  # {"system": ..., "messages": [...]}
request = build_request("gemini", messages)  # the same talk, for another provider
```

`openai_responses`, `openai_chat`, `anthropic` and `gemini` each have `from_response`, `from_input` (the list of
a request that you wrote; `requests.read_request` takes the whole of it) and `to_input`; `wire.streams` has a module for each with
`from_stream`, as in `streams.gemini.from_stream(chunks)`, which also takes what
came until a stream broke off. What they give is JSON: an SDK takes it as it is, and so does the API itself.
No SDK has to be installed. What is not in the form of its API is refused as `invalid_input`, and nothing of it
is kept: an error in the place of an answer, an answer or stream of another provider, a message of a request that the API does not
have. An answer that says nothing, such as one that was blocked, is none of these.

## What is kept

`provider_replayable` means that what is kept builds the provider's next request, with nothing lost that
the provider exposed. `portable` means that the talk goes on without the provider's own state. `observable`
means that what was shown can be read. Nothing here is a claim on state that a provider never shows.
"""

SENT = """\
## What is sent

What is stored stays as it is; these hold for the request alone.

* Calls without a result are answered with a note that they may have run or not, or that they were not
  run where the call itself broke off; each result stands right after its call, and results that answer nothing are left out.
* An answer that broke off is sent as far as it is text or a call. Reasoning without its end is not sent,
  nor is reasoning of OpenAI's whose next item broke off, since both are refused.
* Arguments stay as the model wrote them. A provider that needs an object gets one: what is no JSON object
  becomes `{"INVALID_JSON": "..."}`.
* Ids of calls and names of tools that the provider would refuse are replaced, for a call and its result alike.
* What came from elsewhere goes without signatures, encrypted reasoning, citations and items of server
  tools. Thinking is dropped, or sent as text where the capabilities say so.
* Images and documents go along. What can't be shown is named as left out; a file's id is only good at
  its own provider. Images of a result, where results hold text alone, follow as the user's; so do the
  assistant's own.
* A system message after the first user message is sent as the user's where the provider takes none there.
  Nothing that a user or a tool wrote becomes the system's.
* Text of whitespace alone is left out where it would be refused, and so is a message that then says nothing.
* A request is never empty. Where nothing of the messages can be said, such as a first message of the user's that
  holds only a tool's result or thinking, or only a system's where that is no message, the user says
  `[The conversation goes on from here.]`.
* Where a system's message may hold text alone, what it shows is named as left out.
"""

ENDPOINTS = """\
## Endpoints that speak Chat Completions

An endpoint that nobody tried is `openai_compatible`: it is sent the portable form that the strictest takes.
`verification.verify(ask, model, endpoint="its-name")` tries a round trip with a tool in six short requests.
Where the endpoint takes back its own message and reads the result, its capabilities say `state_of`
that name, and what came from it (`from_response(..., provider="its-name")`) is sent back in full.

## Before sending

`valid.check_request(provider, request)` lists what the provider is known to refuse: calls without results and
results without calls, roles out of order, empty content, ids and names that it does not take. Whether
a signature or a file is still good, only the provider knows.

What is said here is held to the SDKs' own types and to what the SDKs themselves would send, and the rules are
the published ones; the services themselves are not asked by any test.
"""


def providers_page(made: str) -> str:
    """What is kept of each runtime, and what each provider takes."""
    lines = ["# Providers", "", made, "", INTRODUCTION]
    lines += [
        "| runtime | fidelity | what is kept | gone on with | not claimed |",
        "| --- | --- | --- | --- | --- |",
    ]
    lines += [runtime(row) for row in FIDELITY]
    lines += ["", SENT]
    lines += ["| what it takes | " + " | ".join(CAPABILITIES) + " |"]
    lines += ["| --- |" + " --- |" * len(CAPABILITIES)]
    lines += [
        f"| `{name}` | "
        + " | ".join(shown(getattr(found, name)) for found in CAPABILITIES.values())
        + " |"
        for name in Capabilities.model_fields
    ]
    return "\n".join([*lines, "", ENDPOINTS]).rstrip("\n") + "\n"


def runtime(row: RuntimeFidelity) -> str:
    fidelity = f"`{row.fidelity}`"
    if row.condition:
        fidelity += f" where {row.condition}, otherwise `{row.otherwise}`"
    going_on = {
        "by_request": "the next request",
        "by_binding": "the runtime's own id",
        "no": "nothing",
    }
    cells = [
        row.name,
        fidelity,
        "; ".join(row.kept),
        going_on[row.resumable],
        "; ".join(row.not_claimed),
    ]
    return "| " + " | ".join(cells) + " |"


def shown(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple):
        return ", ".join(f"`{part}`" for part in value) or "none"
    return "none" if value is None else f"`{str(value).replace('|', chr(92) + '|')}`"
