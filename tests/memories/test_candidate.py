"""What a caller wants remembered is checked before anything is stored."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from memoranda.memories import candidate
from memoranda.memories.audience import Audience
from memoranda.words.errors import Invalid, OverLimit
from memoranda.words.ids import new_id
from memoranda.words.text import fold

ORGANIZATION = new_id()
NOW = datetime(2026, 1, 1, tzinfo=UTC)


def refused_field(check, *args) -> object:
    with pytest.raises((Invalid, OverLimit)) as refused:
        check(*args)
    return refused.value.details["field"]


def test_a_text_is_trimmed_and_counted_after_that() -> None:
    assert candidate.memory_text(" \n\u3000 likes tea \t", 9) == "likes tea"
    assert candidate.memory_text(" " * 600 + "x" * 500, 500) == "x" * 500
    with pytest.raises(OverLimit, match="501 characters and may have 500"):
        candidate.memory_text("x" * 501, 500)


def test_a_text_as_it_was_written_keeps_its_blanks_which_count() -> None:
    written = "\n  likes tea \r\n"
    assert candidate.memory_text(written, len(written), as_written=True) == written
    assert candidate.mark_of(written) == candidate.mark_of("likes tea")
    with pytest.raises(OverLimit, match="16 characters and may have 15"):
        candidate.memory_text(f"{written} ", 15, as_written=True)
    assert refused_field(lambda: candidate.memory_text(" \n", 9, as_written=True)) == "text"


@pytest.mark.parametrize(
    "text",
    [
        *("", " \t\n", "\u200b\u2060", "\ufeff", "a\0b", "\ud800", "tea\udfff"),
        # Marks of direction, joiners, controls and tags; letters and symbols without a glyph.
        *("\u202e\u2069", "\u200e \u200f", "\u00ad", "\x07\x1b", "\U000e0041\U000e007f"),
        *("\u3164", "\u115f\u1160", "\uffa0", "\u2800\u2800"),
    ],
)
def test_a_text_that_says_nothing_or_cannot_be_stored_is_refused(text: str) -> None:
    assert refused_field(candidate.memory_text, text, 500) == "text"


@pytest.mark.parametrize(
    "text",
    ["\u202etea", "\u05d0\u200f", "👩\u200d🚀", "\U000f0000", "\U0001fbff", "!", "\u0301", "가"],
)
def test_a_text_with_one_character_to_see_is_kept_as_it_is(text: str) -> None:
    assert candidate.memory_text(text, 500) == text


@pytest.mark.parametrize(
    "attribute",
    [
        *(
            "lifecycle",
            "preference",
            "preference.",
            "observation.",
            "Preference.x",
            "application.name",
        ),
        *("preference.a:b", "observation.\0", "observation.\ud800", "", "  ", "x.preference.tone"),
        "preference." + "x" * 200,
    ],
)
def test_an_attribute_outside_the_namespaces_of_memories_is_refused(attribute: str) -> None:
    assert refused_field(candidate.attribute_input, attribute) == "attribute"


def test_one_attribute_in_two_unicode_forms_is_one_key() -> None:
    assert candidate.attribute_input("preference.cafe\u0301") == candidate.attribute_input(
        "preference.caf\u00e9"
    )


def test_the_key_is_made_from_whose_facts_they_are() -> None:
    anna = new_id()
    key = candidate.subject_key
    assert (
        key(Audience(), ORGANIZATION, "preference.tone")
        == f"organization:{ORGANIZATION}:preference.tone"
    )
    assert (
        key(Audience(agent_id=new_id()), ORGANIZATION, "observation.a")
        == f"organization:{ORGANIZATION}:observation.a"
    )
    assert (
        key(Audience(user_id=anna), ORGANIZATION, "preference.tone")
        == f"user:{anna}:preference.tone"
    )
    assert key(Audience(), ORGANIZATION, None) is None


def test_an_application_field_and_an_attribute_never_make_the_same_key() -> None:
    with pytest.raises(Invalid):
        candidate.subject_key(Audience(), ORGANIZATION, "lifecycle")


def test_tags_are_trimmed_and_each_is_kept_once() -> None:
    assert candidate.tags_input([" tea ", "tea", "milk"]) == ("tea", "milk")
    assert refused_field(candidate.tags_input, "tea") == "tags"
    assert refused_field(candidate.tags_input, ["ok", "a\0"]) == "tags.1"
    assert refused_field(candidate.tags_input, ["x" * 65]) == "tags.0"
    assert refused_field(candidate.tags_input, [str(n) for n in range(21)]) == "tags"


def test_a_time_is_read_in_its_own_zone() -> None:
    local = datetime(2030, 1, 1, 12, tzinfo=timezone(timedelta(hours=5)))
    assert candidate.expiry_input(local) == datetime(2030, 1, 1, 7, tzinfo=UTC)
    assert refused_field(candidate.expiry_input, datetime(2030, 1, 1)) == "expires_at"  # noqa: DTZ001 - a time without a zone is what is refused
    edge = datetime.max.replace(tzinfo=timezone(-timedelta(hours=5)))
    assert refused_field(candidate.expiry_input, edge) == "expires_at"


def test_texts_that_fold_alike_have_one_digest() -> None:
    assert candidate.digest(fold(" STRASSE ")) == candidate.digest(fold("straße"))
    assert candidate.digest(fold("tea")) != candidate.digest(fold("teas"))


SAID = candidate.Candidate(
    Audience(), None, "likes tea", "Drinks", "food", ("a",), NOW, candidate.Author(), pinned=True
)


def test_an_edit_changes_what_is_given_and_nothing_else() -> None:
    assert candidate.Edit().of(SAID, 500) == SAID
    assert candidate.Edit(text="likes mate").of(SAID, 500) == SAID._replace(text="likes mate")
    cleared = candidate.Edit(title=None, category=None, tags=(), expires_at=None).of(SAID, 500)
    assert (cleared.title, cleared.category, cleared.tags, cleared.expires_at) == (
        *(None, None, (), None),
    )
    assert (cleared.text, cleared.pinned, cleared.audience) == ("likes tea", True, Audience())


def test_who_says_nothing_of_the_blanks_at_the_ends_leaves_them() -> None:
    file = SAID._replace(text="\n  likes tea \n")
    assert candidate.edit_input(500, text=" likes mate\n").of(file, 500).text == "\n  likes mate \n"
    assert candidate.edit_input(500, text="likes tea").of(file, 500) == file
    exactly = candidate.edit_input(500, text=" likes mate\n", as_written=True)
    assert exactly.of(file, 500).text == exactly.of(SAID, 500).text == " likes mate\n"
    assert candidate.edit_input(500, title="T").of(file, 500) == file._replace(title="T")


def test_blanks_that_have_no_room_beside_the_new_words_go_and_the_words_stay() -> None:
    file = SAID._replace(text="\n  likes tea \n")
    for text, becomes in (("x" * 15, f"\n  {'x' * 15} \n"), ("x" * 16, "x" * 16)):
        edit = candidate.edit_input(20, text=text)
        assert edit.of(file, 20).text == becomes
    # What said more when more had room stays as it is while nobody changes its words.
    assert candidate.edit_input(10, text="likes tea").of(file, 10) == file


def test_a_memory_is_found_by_all_that_it_says() -> None:
    assert SAID.words == "Drinks\nlikes tea\nfood\na"
    assert SAID._replace(title=None, category=None, tags=()).words == "likes tea"


def test_a_mark_is_the_same_for_texts_that_are_the_same() -> None:
    assert candidate.mark_of(" STRASSE ") == candidate.mark_of("straße")
    assert candidate.mark_of("tea") != candidate.mark_of("teas")
    assert candidate.mark_of("Tea") == ("tea", candidate.digest("tea"))


def test_a_key_of_an_audience_is_made_anew_for_another_one() -> None:
    anna, ben = Audience(user_id=new_id()), Audience(user_id=new_id())
    everybody, scouts = Audience(), Audience(agent_id=new_id())

    def key(of: Audience) -> str | None:
        return candidate.subject_key(of, ORGANIZATION, "preference.tone")

    for before in (anna, ben, everybody, scouts):
        for after in (anna, ben, everybody, scouts):
            assert candidate.moved_key(key(before), before, after, ORGANIZATION) == key(after)
    assert candidate.moved_key(None, anna, ben, ORGANIZATION) is None


def test_a_key_of_an_entity_moves_as_it_is() -> None:
    key = "crm_account:7:observation.size"
    assert candidate.moved_key(key, Audience(), Audience(user_id=new_id()), ORGANIZATION) == key
