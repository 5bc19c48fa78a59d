"""What PostgreSQL's tables alone can't say: row security, triggers, and which roles may be used."""

from collections.abc import Iterator
from typing import Any, Final

import psycopg
from sqlalchemy import Table
from sqlalchemy.engine import Connection, make_url

from memoranda.storage.errors import StorageUnavailable, UnsafeRole
from memoranda.storage.scope import NIL, Tenant, Through, tenancy_of
from memoranda.storage.tables import APPEND_ONLY, FIXED_COLUMNS, METADATA
from memoranda.storage.version import VERSION_TABLE, require_own

SETTING: Final = "memoranda.organization"

_FUNCTIONS: Final = f"""
CREATE OR REPLACE FUNCTION memoranda_organization() RETURNS uuid LANGUAGE sql STABLE AS $$
  -- A transaction that names nobody fails here (invalid uuid), and never just finds nothing.
  SELECT CASE current_setting('{SETTING}') WHEN 'platform' THEN NULL
         ELSE current_setting('{SETTING}')::uuid END
$$;
CREATE OR REPLACE FUNCTION memoranda_refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION USING MESSAGE = TG_NAME, ERRCODE = 'raise_exception', CONSTRAINT = TG_NAME;
END
$$;
"""

# Tables are made in the first schema of the search path; Alembic finds its own in any of them.
_IN_OUR_WAY: Final = """
SELECT relname FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
WHERE relname = ANY(%s) AND (
    nspname = current_schema()
    OR relnamespace = (SELECT relnamespace FROM pg_class WHERE oid = to_regclass(%s))
)
"""

_FORCED: Final = """
SELECT quote_ident(relname) FROM pg_class
WHERE relnamespace = current_schema()::regnamespace AND relforcerowsecurity AND relname = ANY(%s)
"""

_HOW_TO: Final = """\
The PostgreSQL role {role!r} could look past row-level security ({why}), so Memoranda does not start with it. \
Make a role that can't, and give it the database:
  CREATE ROLE memoranda LOGIN PASSWORD '…' NOSUPERUSER NOBYPASSRLS;
  CREATE DATABASE memoranda OWNER memoranda;"""

_MAY_CREATE: Final = """
SELECT quote_ident(current_user), quote_ident(current_database()), quote_ident(current_schema()),
       has_schema_privilege(current_schema(), 'CREATE')
"""
_HOW_TO_LET_IN: Final = """\
The PostgreSQL role {role} may not make tables in the database {database}, so nothing was made there. \
Let an administrator run this in that database, then start again:
  GRANT USAGE, CREATE ON SCHEMA {schema} TO {role};"""


def refuse_closed_schema(connection: Connection) -> None:
    """Raise `StorageUnavailable`, saying what to grant, where the role may not make the tables.

    Since PostgreSQL 15 that is so in `public` for everybody but the database's owner.
    """
    role, database, schema, may_create = connection.exec_driver_sql(_MAY_CREATE).one()
    if not may_create:  # None where there is no schema that it may so much as look into
        raise StorageUnavailable(
            _HOW_TO_LET_IN.format(role=role, database=database, schema=schema or "public")
        )


def show_rows(connection: Connection) -> None:
    """Let a migration, which is of no organization, see the rows of all; what follows it hides them again.

    All in its one transaction, so that nobody else ever sees more than before.
    """
    forced = connection.exec_driver_sql(_FORCED, (list(METADATA.tables),))
    for (table,) in forced.all():
        connection.exec_driver_sql(f"ALTER TABLE {table} NO FORCE ROW LEVEL SECURITY")


def refuse_unsafe_role(connection: psycopg.Connection[tuple[Any, ...]]) -> None:
    """Raise `UnsafeRole` for a superuser or a role with BYPASSRLS, saying how to make the right one."""
    row = connection.execute(
        "SELECT rolname, rolsuper, rolbypassrls FROM pg_roles WHERE rolname = current_user"
    ).fetchone()
    if row is None or row[1] or row[2]:
        role, why = (row[0], "superuser" if row[1] else "BYPASSRLS") if row else ("?", "unknown")
        raise UnsafeRole(_HOW_TO.format(role=role, why=why))


def version(connection: psycopg.Connection[tuple[Any, ...]]) -> str | None:
    """The schema's version; None where there is none.

    Other tables may share the database. Raises `ForeignDatabase` for some with our names.
    """
    found = connection.execute(_IN_OUR_WAY, ([*METADATA.tables, VERSION_TABLE], VERSION_TABLE))
    place = f"The PostgreSQL database {connection.info.dbname}"
    if not require_own({row[0] for row in found}, place, "give Memoranda a database of its own"):
        return None
    row = connection.execute("SELECT version_num FROM alembic_version").fetchone()
    return row[0] if row else None


def refused_login(url: str, error: BaseException) -> str | None:
    """What to say where the server answered and let nobody in; None for any other fault.

    The driver gives no code for what happens before a session, so its text has to tell.
    """
    said = str(error)
    if "password authentication failed" in said or "no password supplied" in said:
        user = make_url(url).username or "this user"
        return f"PostgreSQL does not let {user} in: check the user and the password in the address."
    return None


def statements() -> Iterator[str]:
    """DDL that may run again and again."""
    yield _FUNCTIONS
    for table in METADATA.tables.values():
        yield from _row_security(table)
    for name, promise in APPEND_ONLY.items():
        yield f"CREATE OR REPLACE TRIGGER {promise} BEFORE UPDATE ON {name} FOR EACH ROW EXECUTE FUNCTION memoranda_refuse()"
    for name, (promise, columns) in FIXED_COLUMNS.items():
        changed = " OR ".join(f"OLD.{column} IS DISTINCT FROM NEW.{column}" for column in columns)
        yield (
            f"CREATE OR REPLACE TRIGGER {promise} BEFORE UPDATE ON {name} FOR EACH ROW "
            f"WHEN ({changed}) EXECUTE FUNCTION memoranda_refuse()"
        )


def _row_security(table: Table) -> Iterator[str]:
    rule = _rule(table)
    if rule is None:
        return
    # FORCE holds the table's owner to the policy too: the server's role owns its tables.
    yield f"ALTER TABLE {table.name} ENABLE ROW LEVEL SECURITY"
    yield f"ALTER TABLE {table.name} FORCE ROW LEVEL SECURITY"
    yield f"DROP POLICY IF EXISTS own_rows ON {table.name}"
    yield f"CREATE POLICY own_rows ON {table.name} USING ({rule}) WITH CHECK ({rule})"


def _rule(table: Table) -> str | None:
    """The policy's condition; the subselect makes PostgreSQL ask for the setting once per statement."""
    tenancy, mine = tenancy_of(table), "(SELECT memoranda_organization())"
    if isinstance(tenancy, Through):
        return (
            f"EXISTS (SELECT 1 FROM {tenancy.parent} p "  # noqa: S608 - names from the schema
            f"WHERE p.id = {table.name}.{tenancy.column})"
        )
    if not isinstance(tenancy, Tenant):
        return None
    if tenancy.listed:
        return f"{tenancy.column} = {mine} OR {mine} IS NULL"
    if tenancy.platform == "nil":
        return f"{tenancy.column} = coalesce({mine}, '{NIL}'::uuid)"
    if tenancy.platform == "null":
        return f"{tenancy.column} = {mine} OR ({tenancy.column} IS NULL AND {mine} IS NULL)"
    return f"{tenancy.column} = {mine}"
