"""The names that users import: none comes or goes by accident."""

import memoranda

# To add a public name, add it here, to memoranda.__all__ and to the changelog.
EXPORTED = {
    "ContextBrief",
    "ContextItem",
    "ContextKind",
    "ContextPolicy",
    "ContextRequest",
    "ContextSourceSpec",
    "ContextSubject",
    "Memoranda",
    "MemorandaError",
    "ResourceRef",
    "__version__",
}


def test_the_exported_names_are_the_listed_ones() -> None:
    assert set(memoranda.__all__) == EXPORTED


def test_the_exported_names_are_sorted_and_named_once() -> None:
    assert list(memoranda.__all__) == sorted(set(memoranda.__all__))


def test_every_exported_name_is_there() -> None:
    assert not [name for name in memoranda.__all__ if not hasattr(memoranda, name)]
