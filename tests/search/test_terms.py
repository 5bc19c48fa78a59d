"""How text becomes terms: what finds what, and that no text can break it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.search.terms import (
    LONGEST_TERM,
    MOST_QUERY_TERMS,
    read_passage,
    read_query,
    without_names,
)

ANY_TEXT = st.text(st.characters(codec=None))


def finds(query: str, text: str) -> bool:
    """Whether every word that the query asks for is in the passage."""
    asked = read_query(query).terms
    return bool(asked) and asked.keys() <= read_passage(text).counts.keys()


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("東京", "昨日は東京タワーに行きました。"),
        ("数据", "我们把数据存在数据库里"),
        ("猫", "白い猫が好き"),
        ("학교", "학교에서 친구를 만났다"),
        ("กรุงเทพ", "ฉันอยู่ที่กรุงเทพมหานคร"),
        ("GPU", "最新のGPUを買った"),
        ("加速", "用GPU加速计算"),
        ("python", "用Python写的"),
        ("ﾃﾞｰﾀ", "データを保存する"),
        ("ＡＢＣ", "abc"),
    ],
)
def test_words_of_scripts_without_spaces_are_found(query: str, text: str) -> None:
    assert finds(query, text)


def test_two_characters_apart_are_not_found_as_a_pair() -> None:
    assert not finds("東京", "京都は東にある")


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("adopting", "She adopted a dog."),
        ("go", "They went home."),
        ("buy", "He bought it."),
        ("child", "the children played"),
        ("cafe", "Le Café noir"),
        ("Café", "the cafe"),
        ("STRASSE", "Straße"),
        ("Καφές", "ΚΑΦΕΣ"),
        ("елка", "Ёлка"),
        ("école", "à l'école"),
        ("Smorrebrod", "smørrebrød"),
        ("Basil", "Basil's kids"),
        ("Basil’s", "basil"),
        ("1000", "it cost 1,000 dollars"),
        ("May 3", "on May 3rd"),
        ("🎉", "done 🎉!"),
        ("हिन्दी", "मैं हिन्दी बोलता हूँ"),
        ("مدرسة", "مَدرَسة"),
    ],
)
def test_forms_of_one_word_find_each_other(query: str, text: str) -> None:
    assert finds(query, text)


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("foo AND bar", {"foo", "bar"}),
        ("GB/s", {"gb", "s"}),
        ("memory:safe", {"memori", "safe"}),
        ('"unclosed quote', {"unclos", "quot"}),
        ("a* OR (b", {"b"}),
        ("NEAR(x, y) -z ^w col:{v}", {"near", "x", "y", "z", "w", "col", "v"}),
        ("don't", {"dont"}),
    ],
)
def test_nothing_in_a_query_is_syntax(query: str, words: set[str]) -> None:
    assert set(read_query(query).terms) == words


def test_stop_words_are_left_out_of_queries_and_kept_in_passages() -> None:
    assert set(read_query("what is the plan").terms) == {"plan"}
    assert "the" in read_passage("the plan").counts


def test_a_query_of_stop_words_alone_asks_for_them() -> None:
    assert set(read_query("to be or not to be").terms) == {"to", "be", "or", "not"}


@pytest.mark.parametrize("query", ["", "  ", "?!", "\0", '"*"', "___"])
def test_a_query_without_words_asks_for_nothing(query: str) -> None:
    assert read_query(query).terms == {}


def test_a_speaker_is_said_and_named() -> None:
    counts = read_passage("Hello", speaker="Ada Byron").counts
    assert {"ada", "byron", "@ada", "@byron"} <= counts.keys()
    assert "@ada" in read_query("What did Ada's friend say?").names


def test_no_word_of_a_text_passes_for_a_name() -> None:
    assert not any(term.startswith("@") for term in read_passage("@ada mailto:x@ada").counts)


@pytest.mark.parametrize("at", ["2023-05-08T13:56:00+00:00", "1:56 pm on 8 May, 2023"])
def test_a_turn_is_found_by_its_day(at: str) -> None:
    assert {"8", "may", "2023"} <= read_passage("Hello", at=at).counts.keys()


def test_the_length_of_a_passage_is_its_words() -> None:
    assert read_passage("one two two").length == 3
    assert read_passage("東京都").length == 2


@pytest.mark.parametrize(
    "query",
    [
        " ".join(f"w{number}" for number in range(2 * MOST_QUERY_TERMS)),
        "".join(chr(0x4E00 + number) for number in range(2 * MOST_QUERY_TERMS)),
    ],
)
def test_a_long_query_is_read_up_to_a_limit(query: str) -> None:
    assert len(read_query(query).terms) == MOST_QUERY_TERMS


@given(ANY_TEXT, ANY_TEXT, ANY_TEXT)
def test_any_text_makes_terms_that_any_database_can_hold(text: str, name: str, at: str) -> None:
    read = read_passage(text, speaker=name, at=at)
    query = read_query(text)
    for term in (*read.counts, *query.terms, *query.names):
        assert term
        assert len(term) <= LONGEST_TERM + 1
        assert "\0" not in term
        term.encode()
    assert read.length >= 0


@given(ANY_TEXT)
def test_a_text_is_found_by_itself(text: str) -> None:
    assert read_query(text).terms.keys() <= read_passage(text).counts.keys()


@given(st.text(st.sampled_from("aé東京のกา'’- 1,st"), max_size=30))
def test_case_never_matters(text: str) -> None:
    assert read_query(text.upper()).terms == read_query(text).terms


@pytest.mark.parametrize(
    ("query", "left"),
    [
        ("What did Ottilie build?", "What did build?"),
        ("what does OTTILIE's mother do", "what does mother do"),
        ("Ottilie, Basil and the lake", "and the lake"),
        ("Ottilie/Basil at the lake", "at the lake"),
        ("Ottilie-related plans", "Ottilie-related plans"),
        ("How old is the lake?", "How old is the lake?"),
        ("東京のOttilieの家", "東京のOttilieの家"),
    ],
)
def test_names_are_left_out_as_whole_words(query: str, left: str) -> None:
    assert without_names(query, {"@ottilie", "@basil"}) == left


@pytest.mark.parametrize("query", ["Who is Ottilie?", "Ottilie", "Ottilie and Basil", "", "?"])
def test_a_query_that_says_nothing_but_names_stays_as_it_is(query: str) -> None:
    assert without_names(query, {"@ottilie", "@basil"}) == query


@given(ANY_TEXT)
def test_without_a_name_no_word_of_a_query_is_lost(text: str) -> None:
    assert without_names(text, set()).split() == text.split()


@given(ANY_TEXT)
def test_what_is_left_of_a_query_never_says_nothing_where_it_said_something(text: str) -> None:
    left = without_names(text, read_query(text).names)
    assert bool(read_query(left).terms) == bool(read_query(text).terms)
