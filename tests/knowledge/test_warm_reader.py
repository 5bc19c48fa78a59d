"""Documents are read one after another by a process that stays warm, and none has to do with another."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from memoranda.knowledge.errors import ReadingBroke, ReadingTooSlow, TooMuchText
from memoranda.knowledge.extract import extract
from memoranda.knowledge.formats import apart
from memoranda.knowledge.formats.apart import read_apart
from memoranda.knowledge.formats.bounds import Bounds
from memoranda.knowledge.formats.warm import CAN_FORK, WarmReaders
from tests.knowledge.made_documents import docx, paragraph, pdf
from tests.knowledge.strange_readers import READERS

pytestmark = pytest.mark.skipif(not CAN_FORK, reason="a process can't be forked on this system")

LIMIT = 1 << 20
BOUNDS = replace(Bounds(), seconds=20)
DOCUMENTS = [
    (pdf("Words"), "pdf"),
    (docx(paragraph("Words")), "docx"),
    (b"<p>Words", "html"),
    (b"Words\n", "csv"),
]


@pytest.fixture
def warm() -> Iterator[WarmReaders]:
    made = WarmReaders(readers=READERS)
    yield made
    made.close()


def told(warm: WarmReaders, deed: str, bounds: Bounds = BOUNDS) -> str:
    return read_apart(deed.encode(), "html", LIMIT, bounds, warm=warm).text.strip()


def process_of(warm: WarmReaders) -> int:
    """The process that forks, as a document that it reads sees it."""
    return int(told(warm, "processes").split()[1])


def there(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def gone(*processes: int) -> bool:
    """Whether these processes end within a few seconds."""
    until = time.monotonic() + 10
    while any(there(each) for each in processes):
        if time.monotonic() > until:
            return False
        time.sleep(0.02)
    return True


def test_documents_in_turn_have_a_process_each_from_one_that_stays(warm: WarmReaders) -> None:
    seen = [told(warm, "processes").split() for _ in range(3)]
    assert len({forked for forked, _ in seen}) == 3
    assert len({staying for _, staying in seen}) == 1


def test_what_one_document_leaves_behind_no_other_finds(warm: WarmReaders) -> None:
    assert [told(warm, f"leave_a_mark {number}") for number in range(3)] == ["nothing"] * 3


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_a_document_holds_nothing_of_another_and_no_way_to_whoever_asks(warm: WarmReaders) -> None:
    told(warm, "echo first")
    # Its own end, with the copy to answer on, and what tells that it has ended.
    assert told(warm, "open_files") == "pipe socket socket"


def test_no_document_kills_forks_or_writes(warm: WarmReaders, tmp_path: Path) -> None:
    assert told(warm, f"forbidden {tmp_path / 'made'}") == "nothing"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("deed", "bounds", "error"),
    [
        ("hang", replace(BOUNDS, seconds=1), ReadingTooSlow),
        ("spin", replace(BOUNDS, seconds=1), ReadingTooSlow),
        ("stick", replace(BOUNDS, seconds=1), ReadingTooSlow),
        ("fill", BOUNDS, ReadingBroke),
        ("end 0", BOUNDS, ReadingBroke),
        ("end 9", BOUNDS, ReadingBroke),
        ("crash", BOUNDS, ReadingBroke),
        ("chatter", replace(BOUNDS, characters=1_000), TooMuchText),
    ],
)
def test_a_document_that_breaks_its_process_has_its_reason_and_the_next_is_read_by_another(
    warm: WarmReaders, deed: str, bounds: Bounds, error: type[Exception]
) -> None:
    before = process_of(warm)
    with pytest.raises(error):
        told(warm, deed, bounds)
    assert told(warm, "echo next") == "next"
    assert process_of(warm) != before
    assert gone(before)


def test_a_reader_is_replaced_after_its_share_of_documents() -> None:
    warm = WarmReaders(documents=2, readers=READERS)
    seen = [process_of(warm) for _ in range(5)]
    warm.close()
    assert len(set(seen)) == 3
    assert gone(*seen)


def test_a_reader_that_nobody_asks_for_a_while_is_ended() -> None:
    warm = WarmReaders(idle_seconds=0.2, readers=READERS)
    assert gone(process_of(warm))
    assert told(warm, "echo again") == "again"
    assert gone(process_of(warm))


def test_a_reader_that_died_while_it_waited_is_replaced(warm: WarmReaders) -> None:
    process = process_of(warm)
    os.kill(process, signal.SIGKILL)
    assert gone(process)
    assert told(warm, "echo again") == "again"


def test_many_at_once_get_each_its_own_answer_and_one_reader_stays(warm: WarmReaders) -> None:
    with ThreadPoolExecutor(6) as threads:
        asked = [f"echo {number}{'x' * number * 1_000}" for number in range(18)]
        answers = list(threads.map(lambda each: told(warm, each), asked))
    assert answers == [each.removeprefix("echo ") for each in asked]
    assert process_of(warm) == process_of(warm)


@pytest.mark.parametrize("deed", ["stick", "leave_the_group"])
@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_a_document_that_nobody_waits_for_any_more_is_ended_with_its_processes(
    warm: WarmReaders, deed: str
) -> None:
    class Gone(Exception):
        pass

    before = process_of(warm)
    reading: list[int] = []

    def keep_on() -> None:
        if forked := children_of(before):
            time.sleep(0.5)
            reading.extend([before, *forked])
            raise Gone

    with pytest.raises(Gone):
        read_apart(deed.encode(), "html", LIMIT, BOUNDS, keep_on, warm=warm)
    assert len(reading) == 2
    assert gone(*reading)


def test_a_host_that_ignores_the_end_of_its_children_gets_its_answers_too() -> None:
    ignores = f"import signal; signal.signal(signal.SIGCHLD, signal.SIG_IGN)\n{ASKS}"
    asks = subprocess.run(
        [sys.executable, "-c", ignores, "echo again"],
        input=b"",
        capture_output=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        check=True,
    )
    assert asks.stdout.strip().isdigit()


ASKS = """
import sys
from dataclasses import replace
from memoranda.knowledge.formats.apart import read_apart
from memoranda.knowledge.formats.bounds import Bounds
from memoranda.knowledge.formats.warm import WarmReaders
from tests.knowledge.strange_readers import READERS
warm = WarmReaders(readers=READERS)
print(read_apart(b"processes", "html", 1000, Bounds(), warm=warm).text.split()[1], flush=True)
if sys.argv[1] != "idle":
    read_apart(sys.argv[1].encode(), "html", 1000, Bounds(), warm=warm)
sys.stdin.read()
"""


@pytest.mark.parametrize("deed", ["idle", "hang", "stick"])
@pytest.mark.parametrize("ending", [signal.SIGKILL, signal.SIGTERM])
@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_a_worker_that_is_killed_leaves_no_process(deed: str, ending: signal.Signals) -> None:
    asks = subprocess.Popen(
        [sys.executable, "-c", ASKS, deed],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )
    assert asks.stdout is not None
    with asks:
        staying = int(asks.stdout.readline())
        until = time.monotonic() + 10
        while deed != "idle" and len(group_of(staying)) < 2 and time.monotonic() < until:
            time.sleep(0.02)
        processes = group_of(staying)
        assert len(processes) == (1 if deed == "idle" else 2)
        asks.send_signal(ending)
    assert gone(*processes)


def group_of(leader: int) -> list[int]:
    """The living processes of a group."""
    return _processes(2, leader)


def children_of(parent: int) -> list[int]:
    return _processes(1, parent)


def _processes(place: int, value: int) -> list[int]:
    """Those that live and have this value there, from their state on."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[place]) == value and fields[0] != "Z":
            found.append(int(path.parent.name))
    return found


def test_a_process_that_is_forked_off_this_one_takes_a_reader_of_its_own(
    warm: WarmReaders,
) -> None:
    before = process_of(warm)
    read_end, write_end = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            other = process_of(warm)
            warm.close()
            os.write(write_end, str(other).encode())
        finally:
            os._exit(0)
    os.close(write_end)
    with os.fdopen(read_end) as said:
        other = int(said.read())
    os.waitpid(child, 0)
    assert other != before
    assert process_of(warm) == before
    assert gone(other)


@pytest.mark.parametrize(("data", "kind"), DOCUMENTS)
@pytest.mark.parametrize("cold", [False, True])
def test_every_format_is_read_warm_and_where_nothing_can_be_forked(
    data: bytes, kind: str, cold: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if cold:
        use(monkeypatch, None)
    for _ in range(2):
        [chunk] = extract(data, kind, limit=LIMIT)
        assert chunk.text.endswith("Words")


def test_where_nothing_can_be_forked_a_bound_has_its_reason_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    use(monkeypatch, None)
    with pytest.raises(ReadingBroke):
        extract(b"a,b\n" * 200_000, "csv", limit=LIMIT, bounds=replace(BOUNDS, memory=1 << 25))


def use(monkeypatch: pytest.MonkeyPatch, warm: WarmReaders | None) -> None:
    read: Callable[..., object] = read_apart

    def reading(*args: object) -> object:
        return read(*args, warm=warm)

    monkeypatch.setattr(sys.modules["memoranda.knowledge.extract"], "read_apart", reading)
    assert apart.read_apart is read
