"""What may be declared of a host's tables, and what is said of what may not."""

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from memoranda.state.crm import CRM
from memoranda.state.file import read_state
from memoranda.state.projections import Bridge, HostState, Projection
from memoranda.words.errors import Invalid

RIGHT: dict[str, Any] = {"kind": "a.b", "table": "t", "tenant": "org", "columns": ("name",)}
BRIDGE = Bridge(table="u", tenant="org", foreign_key="t_id")


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"tenant": None}, "name the tenant column of t, or a bridge"),
        ({"bridge": BRIDGE}, "leave the bridge out"),
        ({"table": "t; DROP TABLE u"}, "no plain name"),
        ({"table": "a.b.c"}, "no plain name"),
        ({"tenant": 'org" OR 1=1'}, "no plain name"),
        ({"columns": ("na me",)}, "no plain name"),
        ({"columns": ()}, "at least 1"),
        ({"columns": ("id",)}, "leave it out of columns"),
        ({"columns": ("name", "name")}, "name each once"),
        ({"kind": "A.b"}, "is no kind"),
        ({"kind": "a:b"}, "is no kind"),
        ({"newest": "at"}, "are for outreach"),
        ({"source": "outreach"}, "as newest"),
        ({"where": "1=1"}, "Extra inputs"),
    ],
)
def test_what_may_not_be_declared_is_refused_with_what_to_do(
    change: dict[str, Any], told: str
) -> None:
    Projection(**RIGHT)
    with pytest.raises(ValidationError, match="(?s)" + told.replace(".", r"\.")):
        Projection(**{**RIGHT, **change})


def test_a_kind_is_declared_once() -> None:
    once = Projection(**RIGHT)
    with pytest.raises(ValidationError, match="declared twice"):
        HostState(database="x.db", projections=(once, once))


def test_the_packs_shared_rows_are_reached_through_bridges_alone() -> None:
    shared = {each.kind for each in CRM if each.tenant is None}
    assert shared == {"intelligence.company", "intelligence.person"}
    assert len(CRM) == 8


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "state.toml"
    path.write_text(text, "utf-8")
    return path


def test_a_file_may_take_a_pack_and_add_to_it(tmp_path: Path) -> None:
    one = '[[projection]]\nkind = "a.b"\ntable = "t"\ntenant = "o"\ncolumns = ["name"]\n'
    state = read_state(written(tmp_path, 'packs = ["crm"]\n[database]\nurl = "h.db"\n' + one))
    assert [each.kind for each in state.projections] == [*(each.kind for each in CRM), "a.b"]
    assert state.database == str(tmp_path / "h.db")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[database", "is no TOML"),
        ("", "names no database"),
        ("[databases]\n", "'databases'"),
        ('packs = ["erp"]\n[database]\nurl = "h.db"\n', "the pack 'erp'"),
        ('[database]\nurl = "h.db"\n', "projections"),
        (
            '[database]\nurl = "h.db"\n[[projection]]\nkind = "a.b"\ntable = "t"\ncolumns = ["n"]\n',
            "projection 1: a.b says nothing of whose",
        ),
    ],
)
def test_a_file_that_can_not_be_used_says_why(text: str, told: str, tmp_path: Path) -> None:
    with pytest.raises(Invalid) as refused:
        read_state(written(tmp_path, text))
    assert told in refused.value.message


def test_a_file_that_is_not_there_names_the_setting(tmp_path: Path) -> None:
    with pytest.raises(Invalid, match="MEMORANDA_STATE"):
        read_state(tmp_path / "missing.toml")
