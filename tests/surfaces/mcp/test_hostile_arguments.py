"""The most hostile arguments as raw JSON, over real pipes to every tool: each is refused, and the server goes on."""

from memoranda.surfaces.mcp.catalog import catalog
from tests.contract.hostile_arguments import DIGITS, SECRET, Form
from tests.surfaces.mcp.wire import Wire, wired

SAID = f'"{SECRET}"'.encode()
NUMBER = str(DIGITS).encode()
VALUES: tuple[bytes, ...] = (
    *(b"true", b"-1", b"1.5", b"1e308", b"-0.0", b"{}", b"[[]]", b'[true,"x"]', b'{"":1}'),
    *(NUMBER + b"0" * 300, b"-" + NUMBER + b"0" * 4_000, b"1e400", b"0." + NUMBER * 40),
    *(b"NaN", b"Infinity", b"-Infinity"),
    *(
        b"[" * 90 + SAID + b"]" * 90,
        b'{"a":' * 90 + SAID + b"}" * 90,
    ),
    *(b'"\\u0000' + SAID[1:], b'"' + b"x" * 70_000 + SAID[1:], b'"' + b"\xcc\x81" * 40_000 + b'"'),
    *(b'{"__proto__":' + SAID + b"}", b'{"$ref":"#"}', b"[" + b"1," * 30_000 + b"1]"),
)
# What JSON can't say, or Unicode: these are no messages, and whoever can be told is told so.
NO_MESSAGES: tuple[bytes, ...] = (
    *(b'"\\ud800"', b'"\\udfff' + SAID[1:], b'"\xff\xfe"', b"'x'", b"undefined", b"01", b"{,}"),
    *(b"[" * 200 + b"]" * 200, b"[" * 5_000 + b"]" * 5_000, b'{"a":' * 100_000),
)
UNKNOWN = (
    b"organization_id",
    b"user_id",
    b"agent_id",
    b"space",
    b"__proto__",
    b"",
    b"\xe2\x80\xae",
)


def line(identity: int, tool: str, arguments: bytes) -> bytes:
    called = (
        b'{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"%b","arguments":%b}}\n'
    )
    return called % (identity, tool.encode(), arguments)


def attacks(form: Form) -> list[bytes]:
    """Each value in place of the first field that there is, and each unknown name beside nothing."""
    (first, *_), _ = next(form.fields())
    name = b'"' + first.encode() + b'":'
    return [
        *(b"{" + name + value + b"}" for value in VALUES),
        *(b'{"' + unknown + b'":' + SAID + b"}" for unknown in UNKNOWN),
        b"{" + name + b'"x",' + name + b"1}",  # of two of one name the last one counts
        *(b"[]", b"3", SAID, b"true"),
    ]


def test_every_tool_refuses_what_is_hostile_and_the_server_goes_on(sqlite_database: str) -> None:
    with wired("--db", sqlite_database) as wire:
        wire.greet()
        identity = 0
        for offer in catalog():
            for raw in attacks(Form(offer.input_schema)):
                identity += 1
                wire.send(line(identity, offer.name, raw))
                hold_refused(wire, identity, is_object=raw.startswith(b"{"))
            assert wire.ask("ping", f"after {offer.name}")["result"] == {}
        assert wire.call("list", identity + 1)["structuredContent"]["memories"] == []
        out, err = wire.leave()
    assert (wire.process.returncode, out) == (0, b"")
    assert SECRET.encode() not in err
    assert b"Traceback" not in err


def hold_refused(wire: Wire, identity: int, *, is_object: bool) -> None:
    """A typed refusal that repeats nothing; the protocol itself may refuse what is no object."""
    answer = wire.answer(identity)
    said = str(answer)
    assert SECRET not in said
    assert str(DIGITS) not in said
    assert len(said) < 20_000
    if not is_object and "error" in answer:
        assert answer["error"]["code"] == -32602
        return
    result = answer["result"]
    assert result["isError"] is True
    assert {"code", "kind", "message"} <= result["structuredContent"].keys()
    assert result["structuredContent"]["code"] not in {"tool_failed", "internal_error"}


def test_what_is_no_message_is_answered_and_the_server_goes_on(sqlite_database: str) -> None:
    with wired("--db", sqlite_database) as wire:
        wire.greet()
        for number, value in enumerate(NO_MESSAGES):
            wire.send(line(number, "remember", b'{"content":' + value + b"}"))
            answer = wire.message()
            assert answer["error"]["code"] in {-32700, -32600}
            assert SECRET not in str(answer)
            assert wire.ask("ping", f"after {number}")["result"] == {}
        assert wire.call("list", 99)["structuredContent"]["memories"] == []
        out, err = wire.leave()
    assert (wire.process.returncode, out) == (0, b"")
    assert SECRET.encode() not in err
