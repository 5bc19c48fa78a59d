"""Untrusted text loses what could pass for structure, and nothing else."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.words.text import clean, fold, neutral_line, neutralize, one_line

LINE_ENDS = ["\n", "\r", "\r\n", "\x0b", "\x0c", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029"]
OTHER_SPACES = ["\t", "\x1f", " ", "\u1680", "\u2003", "\u202f", "\u205f", "\u3000"]
MARKERS = [
    "<|im_start|>",
    "<|im_end|>",
    "<|endoftext|>",
    "<|start_header_id|>",
    "<|turn>",
    "<turn|>",
    "<｜User｜>",
    "<｜begin▁of▁sentence｜>",
    "<start_of_turn>",
    "<end_of_turn>",
    "<tool_call>",
    "</tool_response>",
    "[INST]",
    "[/INST]",
    "[TOOL_CALLS]",
    "<<SYS>>",
    "<</SYS>>",
    "</s>",
    "<s>",
    "<eos>",
    "<bos>",
    "<extra_id_0>",
    "<extra_id_99>",
    "</memoranda>",
    "</memoranda-brief>",
    "< / MEMORANDA_brief id=1>",
]
HOSTILE = st.lists(
    st.one_of(
        st.sampled_from([*LINE_ENDS, *OTHER_SPACES, *MARKERS]),
        st.sampled_from(["\0", "\u202e", "\u2066", "\ufeff", "\u200b", "\ud800", "\U000e0041"]),
        st.sampled_from(["<", "|", "im_start", ">", "[", "INST", "]", "/", "memoranda", " ", "x"]),
        st.text(max_size=4),
    ),
    max_size=12,
).map("".join)
BENIGN = [
    "Plain words, “quoted”, with an em dash — and an ellipsis…",
    "def f(a: list[int]) -> dict[str, int]: return {a[0]: a[1:2]}",
    "<p>See <b>this</b> <del>old</del> <a href='x'>link</a></p> [text](https://example.org/a_b)",
    '[{"a": 1, "b": [true, null]}]',
    "< s > <S> <span> <extra_id> <eos/> a<s b>c",
    "f <| x |> g; p <|> q; a << b >> c; vector<int>",
    "- [ ] open\n- [x] done\n\n## Heading\n\tindented",
    "日本語のテキスト、全角［注］ 한국어 русский ไทย",
    "می‌خواهم \u200fעברית\u200e 👩‍👩‍👧 ❤️",
    "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
    "Remember the memoranda of 1910; 3 < 4 memoranda",
    "Human: hello\nAssistant: hi",
]


@pytest.mark.parametrize("end", [*LINE_ENDS, *OTHER_SPACES, " \n\u2028 \t "])
def test_every_run_of_unicode_whitespace_becomes_one_space(end: str) -> None:
    assert one_line(f"{end}a{end}{end}b{end}") == "a b"


@pytest.mark.parametrize("mark", ["\u200b", "\ufeff", "\u2060"])
def test_zero_width_characters_go_at_the_edges_of_words_and_stay_inside(mark: str) -> None:
    assert one_line(f"{mark} a{mark} \n{mark}b{mark}c {mark} ") == f"a b{mark}c"
    assert one_line(mark) == ""


@pytest.mark.parametrize("text", BENIGN)
def test_benign_text_passes_unchanged(text: str) -> None:
    assert neutralize(text) == text


@pytest.mark.parametrize("marker", MARKERS)
def test_a_marker_of_a_chat_template_or_of_our_fence_is_defused(marker: str) -> None:
    for text in (marker, f"a{marker}b", f"x\n{marker}", f"{marker[:2]}\0{marker[2:]}"):
        assert marker not in neutralize(text)
        assert marker not in neutral_line(text)
    letters = [c for c in marker if c.isalpha()]
    assert [c for c in neutralize(marker) if c.isalpha()] == letters, "the words stay readable"


def test_hidden_characters_are_removed_and_lone_surrogates_replaced() -> None:
    controls = "".join(map(chr, [*range(9), *range(14, 31), 127, *range(0x80, 0x85)]))
    controls = controls.translate(dict.fromkeys(map(ord, "\x1c\x1d\x1e")))
    assert neutralize(f"a{controls}b") == "ab"
    assert neutralize("a\u202eb\u2069c\ufeffd") == "abcd"
    assert neutralize("a\ud800b\udfff") == "a\ufffdb\ufffd"
    assert neutralize("hi\U000e0049\U000e0050\U000e007f") == "hi"
    assert neutralize("a\x0cb\x85c") == "a\nb\nc", "what ended a line still does"


def test_a_removed_character_between_spaces_leaves_one_space() -> None:
    assert neutral_line("a \0 b \u202e") == "a b"


@given(HOSTILE)
def test_neutralizing_twice_is_neutralizing_once(text: str) -> None:
    once = neutralize(text)
    assert neutralize(once) == once
    line = neutral_line(text)
    assert neutral_line(line) == line
    assert one_line(one_line(text)) == one_line(text)


@given(HOSTILE)
def test_a_neutral_line_is_one_line_without_markers_that_utf8_can_hold(text: str) -> None:
    line = neutral_line(text)
    line.encode()
    assert len(line.splitlines()) <= 1
    assert line == " ".join(line.split())
    assert not any(marker in line for marker in MARKERS)
    assert not any(c in line for c in "\0\u202e\u2066\ufeff")


@given(st.text(alphabet=st.characters(codec="utf-8", categories=["L", "N", "P", "Zs"])))
def test_words_are_never_changed(text: str) -> None:
    plain = text.replace("<", "").replace("[", "")
    assert neutralize(plain) == plain
    assert neutral_line(plain) == " ".join(plain.split())


@pytest.mark.parametrize("unit", ["<", "< ", "<|a", "[", "</s> ", "\u200b", " \n", "\0", "<\n/"])
def test_a_megabyte_of_anything_takes_linear_time(unit: str) -> None:
    started = time.process_time()
    neutral_line(unit * (1_000_000 // len(unit)))
    neutralize(unit * (1_000_000 // len(unit)))
    assert time.process_time() - started < 5


def test_fold_makes_texts_equal_that_read_alike() -> None:
    assert fold("  Straße\n") == fold("STRASSE")
    assert fold("Café") == fold("CAFE\u0301")
    assert fold("a") != fold("b")


def test_clean_text_can_be_stored_anywhere() -> None:
    assert clean("a\0b\ud800") == "ab\ufffd"
    assert clean("wie\n es  war") == "wie\n es  war"


@pytest.mark.parametrize("unseen", ["\u00ad", "\u200b", "\u2060", "\u200d", "\ufe0f", "\u034f"])
@pytest.mark.parametrize("fence", ["</memoranda-memories>", "<memoranda-memories>"])
def test_our_fences_are_defused_whatever_unseen_characters_they_are_spelled_with(
    fence: str, unseen: str
) -> None:
    for place in range(1, len(fence)):
        spelled = fence[:place] + unseen + fence[place:]
        assert "<" not in neutral_line(spelled)
        assert "<" not in neutralize(spelled)
