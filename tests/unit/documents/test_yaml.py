"""YAML with spans: values as PyYAML gives them, places that are right, and input that tries to break the reader."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from timing import within

from botlint.documents import yaml as module
from botlint.documents.yaml import Mapping, Scalar, Schema, Sequence, find, load_yaml, load_yaml_all, to_plain

PATH = "configs/demo.yaml"


def exact(value: Any) -> Any:
    """A form in which equal values of different types, `1` and `True`, differ."""
    if isinstance(value, dict):
        return {repr(key): exact(item) for key, item in value.items()}
    return [exact(item) for item in value] if isinstance(value, list) else repr(value)


def kinds(text: str) -> list[str]:
    return [problem.kind for problem in load_yaml(text, PATH).problems]


def scalar(text: str, *path: str | int) -> Scalar:
    found = find(load_yaml(text, PATH).root, path)
    assert isinstance(found, Scalar)
    return found


def mapping(text: str, *path: str | int) -> Mapping:
    found = find(load_yaml(text, PATH).root, path)
    assert isinstance(found, Mapping)
    return found


def slow_reader(text: str) -> module._Reader:
    return module._Reader(text, PATH, Schema.PYYAML, parser=None)


SAME_AS_SAFE_LOAD = [
    "",
    "# only a comment\n",
    "---\n",
    "---\n...\n",
    "a: 1\n",
    "words: [yes, no, on, off, Yes, NO, y, n, true, True, TRUE, tRUE, 'yes', \"no\"]",
    "nulls: [~, null, Null, NULL, nUll, '', 'null']\nempty:\n",
    "integers: [0, 7, 010, 08, 0o17, 0x1F, 0b101, 1_000, +3, -4, 1:30, 1:2:3, 190:20:30, 0_, '12']",
    "floats: [1.5, 1., .5, 1e3, 1.5e3, 1.0e+3, 1.e-2, .inf, -.INF, 190:20:30.15, 1_0.5, 6.02E+23]",
    "dates: [2026-01-02, 2026-01-02T03:04:05Z, 2026-1-2 3:4:5, '2026-01-02', 2026-01]",
    "2026-01-02: key\n1: one\nyes: flag\n~: none\n1.5: half\n",
    "literal: |\n  one\n   two\n\nfolded: >-\n  a\n  b\n\n  c\nkeep: |+\n  x\n\n",
    "quoted: \"a\\tb\\u00e9\\\n  c\"\nsingle: 'it''s'\nplain: a b\n  c\n",
    "anchors:\n  - &x {a: 1, b: [2]}\n  - *x\n",
    "base: &b {tp: 1, ep: 2}\none:\n  <<: *b\n  ep: 3\n",
    "a: &a {x: 1, y: 1}\nb: &b {z: 2}\nc: {<<: [*a, *b], w: 0}\nd: {w: 0, <<: *b, z: 9}\n",
    "a: &a {x: 1}\nb: &b {<<: *a, y: 2}\nc: {<<: *b}\nd: {<<: *a, <<: *b}\n",
    "quoted-merge: {'<<': 1}\n",
    "a: 1\nb: 2\na: 3\n1: x\ntrue: y\n",
    "tags: [!!str 12, !!int '12', !!float 3, !!bool 'yes', !!null '', !!timestamp '2026-01-02', ! 12]",
    "map: !!map {a: 1}\nseq: !!seq [1]\n",
    "? long\n: value\n? other\n",
    "flow: {a, b: 2, c: [], 'd':1}\n",
    "a: 1\r\nb:\r\n  - x\r\n  - |\r\n    y\r\n    z\r\n",
    "\ufeffa: 1\n",
    "tabs: |\n  a\tb\n  \tc\nquoted: 'a\tb'\n",
    "é: ü\n日本: 🚀\n",
    "long: " + "1" * 1500 + "x\n",
    "%YAML 1.1\n---\na: 1\n",
]


@pytest.mark.parametrize("text", SAME_AS_SAFE_LOAD)
def test_values_are_those_of_safe_load(text: str) -> None:
    document = load_yaml(text, PATH)
    wanted = yaml.safe_load(text)
    plain = to_plain(document.root)
    assert plain == wanted
    assert exact(plain) == exact(wanted)
    assert {problem.kind for problem in document.problems} <= {"duplicate-key"}


@pytest.mark.parametrize("text", SAME_AS_SAFE_LOAD)
def test_without_the_c_extension_everything_is_the_same(text: str) -> None:
    fast = load_yaml(text, PATH)
    reader = slow_reader(text)
    loaded = reader.read(limit=2)
    slow_root = loaded[0].root if loaded else None
    assert exact(to_plain(slow_root)) == exact(to_plain(fast.root))
    assert _places(slow_root) == _places(fast.root)
    assert reader.problems == fast.problems


def _places(node: module.Node | None) -> list[Any]:
    if node is None:
        return []
    if isinstance(node, Scalar):
        return [(node.kind, node.span, node.text, node.style, node.tag)]
    if isinstance(node, Sequence):
        return [(node.kind, node.span), *(_places(item) for item in node.items)]
    return [(node.kind, node.span), *((_places(key), _places(value)) for key, value in node.items)]


_WORDS = st.sampled_from(
    [
        "yes",
        "off",
        "~",
        "",
        "0x1f",
        "017",
        "1:30",
        "1e3",
        "1.5",
        ".inf",
        "2026-01-02",
        "text",
        "'q'",
        '"d"',
        "<<",
        "- x",
        "&a b",
    ]
)
_TREES = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text(max_size=12), st.dates(), _WORDS
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(st.one_of(st.text(max_size=8), st.integers(), _WORDS), inner, max_size=4),
    ),
    max_leaves=12,
)


@settings(max_examples=150, deadline=None)
@given(tree=_TREES, flow=st.sampled_from([True, False, None]), width=st.sampled_from([20, 80]))
def test_what_pyyaml_writes_is_read_as_pyyaml_reads_it(tree: Any, flow: bool | None, width: int) -> None:
    text = yaml.safe_dump(tree, default_flow_style=flow, width=width, allow_unicode=True)
    document = load_yaml(text, PATH)
    assert document.problems == []
    assert repr(to_plain(document.root)) == repr(yaml.safe_load(text))


@settings(max_examples=300, deadline=None)
@given(st.text(alphabet="ab1:-[]{}&*!|>'\"#%? \n\t\r~<,.\\\x00\x85\u2028\ufeffé\ud800", max_size=60))
def test_no_text_makes_it_raise(text: str) -> None:
    document = load_yaml(text, PATH)
    load_yaml_all(text, PATH)
    to_plain(document.root)
    _places(document.root)
    lines = text.count("\n") + 1
    assert all(1 <= problem.span.line <= lines for problem in document.problems)
    try:
        wanted = yaml.load(text, yaml.CSafeLoader), yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, TypeError, AttributeError, KeyError, RecursionError):
        return
    if any(problem.kind == "recursive-alias" for problem in document.problems) or repr(wanted[0]) != repr(wanted[1]):
        return  # PyYAML builds a list that holds itself; and its two parsers do not read all texts alike
    assert exact(to_plain(document.root)) == exact(wanted[0])


@settings(max_examples=100, deadline=None)
@given(st.text(alphabet="ab1:-[]{}&*!|'\"# \n", max_size=40), st.integers(0, 4))
def test_the_other_entries_survive_any_broken_one(broken: str, at: int) -> None:
    entries = [f"entry-{number}:\n  tp: {number}\n  list: [1, {number}]\n" for number in range(4)]
    body = "".join(f"  {line}\n" for line in broken.split("\n"))
    entries.insert(at, f"broken:\n{body}")
    document = load_yaml("".join(entries), PATH)
    assert isinstance(document.root, Mapping)
    for number in range(4):
        if (node := document.root.get(f"entry-{number}")) is not None:
            assert node.line == "".join(entries).split("\n").index(f"entry-{number}:") + 2
    unclosed = '"' in broken or "'" in broken or "[" in broken or "{" in broken or "|" in broken
    assert unclosed or all(f"entry-{number}" in document.root for number in range(4))


# --- places


def test_spans_of_keys_values_and_collections() -> None:
    text = "entry:\n  image: 'x:1'   # comment\n  arms:\n  - { tp: 2 }\n  - tp: 4\n\n# after\nnext: 1\n"
    root = mapping(text)
    key = root.key_node("entry")
    assert key is not None
    assert (key.span.line, key.span.column, key.span.end_column) == (1, 1, 6)
    image = scalar(text, "entry", "image")
    assert (image.span.line, image.span.column, image.span.end_line, image.span.end_column) == (2, 10, 2, 15)
    assert image.source == "'x:1'"
    assert str(image.span) == f"{PATH}:2"
    arms = find(root, ["entry", "arms"])
    assert isinstance(arms, Sequence)
    assert (arms.span.line, arms.span.column, arms.span.end_line, arms.span.end_column) == (4, 3, 5, 10)
    assert arms.items[0].source == "{ tp: 2 }"
    entry = find(root, ["entry"])
    assert entry is not None
    assert (entry.line, entry.span.end_line, entry.span.end_column) == (2, 5, 10)
    assert len(arms) == 2
    assert [item.kind for item in arms] == ["mapping", "mapping"]


def test_columns_count_characters_and_lines_end_at_newlines_only() -> None:
    text = "日本: '🚀' \nb: \"x\u2028y\x85z\"\nc: 1\n"
    value = scalar(text, "日本")
    assert (value.span.column, value.span.end_column) == (5, 8)
    assert scalar(text, "c").line == 3


def test_windows_line_ends_and_byte_order_mark_keep_places_right() -> None:
    text = "\ufeffa: 1\r\nb: two\r\n"
    assert (scalar(text, "a").span.column, scalar(text, "b").span.line, scalar(text, "b").span.end_column) == (5, 2, 7)
    assert load_yaml(text, PATH).problems == []


@pytest.mark.parametrize(
    ("text", "begin", "end", "place"),
    [
        ("run: |\n  echo a\n  echo bc\n", 12, 14, (3, 8, 3, 10)),
        ("run: |-\n\n    echo a\n      b\n", 10, 11, (4, 7, 4, 8)),
        ("run: |\r\n  one\r\n  two\r\n", 4, 7, (3, 3, 3, 6)),
        ("run: ${{ a }} b\n", 4, 5, (1, 10, 1, 11)),
        ("run: &x 'abc'\n", 1, 2, (1, 11, 1, 12)),
        ('run: "a\\tbc"\n', 2, 3, (1, 6, 1, 13)),
        ('run: "\\\\b"\n', 0, 1, (1, 6, 1, 11)),
        ("run: >\n  a\n  b\n", 2, 3, (1, 6, 3, 4)),
        ("run: a\n  b\n", 2, 3, (1, 6, 2, 4)),
    ],
)
def test_places_inside_a_scalar(text: str, begin: int, end: int, place: tuple[int, int, int, int]) -> None:
    span = scalar(text, "run").subspan(begin, end)
    assert (span.line, span.column, span.end_line, span.end_column) == place


def test_a_node_of_an_alias_is_the_node_of_its_anchor() -> None:
    root = mapping("a: &x\n  tp: 1\nb: *x\nc:\n  d: *x\n")
    assert root.get("a") is root.get("b")
    assert root.span.end_line == 5


# --- mappings


def test_duplicate_keys_are_kept_reported_and_the_last_counts() -> None:
    text = "a: 1\nb: 2\na: 3\n"
    document = load_yaml(text, PATH)
    root = document.root
    assert isinstance(root, Mapping)
    assert [(key.text, to_plain(value)) for key, value in root.items] == [("a", 1), ("b", 2), ("a", 3)]
    assert scalar(text, "a").value == 3
    assert root.keys() == ["a", "b"]
    assert len(root) == 2
    (problem,) = document.problems
    assert (problem.kind, problem.span.line, problem.span.column) == ("duplicate-key", 3, 1)
    assert "line 1" in problem.message


def test_merged_keys_say_where_they_were_written() -> None:
    root = mapping("base: &b\n  tp: 1\n  ep: 2\nentry:\n  <<: *b\n  ep: 3\n")
    entry = root.get("entry")
    assert isinstance(entry, Mapping)
    merged = entry.get("tp")
    assert merged is not None
    assert merged.line == 2
    assert [key.text for key, _ in entry.own_items] == ["<<", "ep"]
    assert [key.text for key, _ in entry.items] == ["tp", "ep", "ep"]
    assert "<<" not in entry
    assert {key.text: value.line for key, value in entry.pairs()} == {"tp": 2, "ep": 6}


def test_the_earlier_mapping_of_a_merged_list_wins() -> None:
    text = "a: &a {tp: 1}\nb: &b {tp: 2, ep: 2}\nc: {<<: [*a, *b]}\nd: {<<: *a, <<: *b}\n"
    assert to_plain(find(load_yaml(text, PATH).root, ["c"])) == {"tp": 1, "ep": 2}
    assert to_plain(find(load_yaml(text, PATH).root, ["d"])) == {"tp": 2, "ep": 2}


def test_keys_are_values_so_on_is_true_for_pyyaml_and_text_for_github() -> None:
    text = "on: push\nyes: 1\n012: x\n0o12: y\n"
    pyyaml = load_yaml(text, PATH).root
    github = load_yaml(text, PATH, Schema.CORE).root
    assert isinstance(pyyaml, Mapping)
    assert isinstance(github, Mapping)
    assert pyyaml.keys() == [True, 10, "0o12"]
    assert github.keys() == ["on", "yes", 12, 10]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("yes", "yes"),
        ("on", "on"),
        ("True", True),
        ("FALSE", False),
        ("~", None),
        ("", None),
        ("NULL", None),
        ("-12", -12),
        ("0x1F", 31),
        ("0b1", "0b1"),
        ("1_000", "1_000"),
        ("1:30", "1:30"),
        ("1e3", 1000.0),
        (".5", 0.5),
        ("1.", 1.0),
        (".", "."),
        ("-.inf", float("-inf")),
        ("2026-01-02", "2026-01-02"),
        ("'1'", "1"),
        ("!!int '1'", 1),
    ],
)
def test_values_of_the_core_schema(text: str, value: Any) -> None:
    found = find(load_yaml(f"k: {text}\n", PATH, Schema.CORE).root, ["k"])
    assert isinstance(found, Scalar)
    assert (found.value, type(found.value)) == (value, type(value))


def test_core_schema_has_no_merge_keys() -> None:
    document = load_yaml("a: &a {x: 1}\nb: {<<: *a}\n", PATH, Schema.CORE)
    assert find(document.root, ["b", "<<", "x"]) is not None
    assert find(document.root, ["b", "x"]) is None


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (["a", 0, "b"], 1),
        (["a", -1], 2),
        (["a", 2], None),
        (["a", "0"], None),
        (["a", 0, "c"], None),
        (["z"], None),
        ([1], "one"),
    ],
)
def test_find(path: list[str | int], value: Any) -> None:
    assert to_plain(find(load_yaml("a:\n- b: 1\n- 2\n1: one\n", PATH).root, path)) == value


def test_timestamps_are_text_with_a_tag() -> None:
    node = scalar("d: 2026-01-02\n", "d")
    assert (node.value, node.tag) == ("2026-01-02", "timestamp")


# --- input that cannot be read as it is meant


@pytest.mark.parametrize(
    ("text", "kind", "line", "root"),
    [
        ("a: !function x.y\n", "unknown-tag", 1, {"a": "x.y"}),
        ("a: !!python/object/apply:os.system ['true']\n", "unknown-tag", 1, {"a": ["true"]}),
        ("a: !local {b: 1}\n", "unknown-tag", 1, {"a": {"b": 1}}),
        ("a: !!binary aGk=\n", "unknown-tag", 1, {"a": "aGk="}),
        ("a: !!str [1]\n", "unknown-tag", 1, {"a": [1]}),
        ("a: !!int x\n", "bad-value", 1, {"a": "x"}),
        ("a: !!bool maybe\n", "bad-value", 1, {"a": "maybe"}),
        ("a: 0b_\n", "bad-value", 1, {"a": "0b_"}),
        ("a: 2026-13-40\n", "bad-value", 1, {"a": "2026-13-40"}),
        ("a: =\n", "unknown-tag", 1, {"a": "="}),
        ("? [1, 2]\n: x\n", "complex-key", 1, {"[1, 2]": "x"}),
        ("a: 1\n<<: 2\n", "bad-merge", 2, {"a": 1}),
        ("a: &x [*x]\n", "recursive-alias", 1, {"a": [None]}),
        ("a: 1\n---\nb: 2\n", "multiple-documents", 2, {"a": 1}),
    ],
)
def test_odd_content_is_a_problem_and_a_value(text: str, kind: str, line: int, root: Any) -> None:
    document = load_yaml(text, PATH)
    assert [(problem.kind, problem.span.line) for problem in document.problems] == [(kind, line)]
    assert to_plain(document.root) == root


@pytest.mark.parametrize(
    ("name", "block", "line"),
    [
        ("unclosed list", "bad:\n  x: [1, 2\n", None),
        ("unclosed quote", 'bad:\n  x: "abc\n', None),
        ("wrong indentation", "bad:\n  x: 1\n y: 2\n", 5),
        ("tab", "bad:\n\tx: 1\n", 4),
        ("two colons", "bad: a: b\n", 3),
        ("no colon", "bad\n  x: 1\n", None),
        ("control character", "bad: a\x01b\n", 3),
        ("NUL", "bad: \x00\n", 3),
        ("half of a pair", "bad: \ud800\n", 3),
        ("unknown anchor", "bad: *nowhere\n", 3),
        ("too deep", "bad: " + "[" * 150 + "]" * 150 + "\n", 3),
        ("far too deep", "bad: " + "[" * 5000 + "\n", 3),
        ("reserved character", "bad: @x\n", 3),
    ],
)
def test_only_the_broken_entry_is_lost(name: str, block: str, line: int | None) -> None:
    before, after = "first:\n  tp: 1\n", "'last':\n- tp: 2\n# end\n"
    document = load_yaml(before + block + after, PATH)
    root = document.root
    assert isinstance(root, Mapping)
    assert to_plain(root) == {"first": {"tp": 1}, "last": [{"tp": 2}]}, name
    assert list(document.lost) == ["bad"]
    (problem,) = document.problems
    assert problem == document.lost["bad"]
    assert problem.kind in ("yaml-syntax", "yaml-depth")
    if line is not None:
        assert problem.span.line == line
    last = root.get("last")
    assert last is not None
    assert last.line == (before + block + after).split("\n").index("- tp: 2") + 1


def test_recovery_knows_anchors_of_other_entries_and_duplicates() -> None:
    text = "a: &x {tp: 1}\nbad: [\nb:\n  <<: *x\na: 2\n"
    document = load_yaml(text, PATH)
    assert to_plain(document.root) == {"a": 2, "b": {"tp": 1}}
    assert sorted(problem.kind for problem in document.problems) == ["duplicate-key", "yaml-syntax"]


def test_recovery_of_a_list_keeps_the_other_items() -> None:
    document = load_yaml("- a: 1\n- b: [\n- c: 3\n", PATH)
    assert to_plain(document.root) == [{"a": 1}, {"c": 3}]
    assert [(problem.kind, problem.span.line) for problem in document.problems] == [("yaml-syntax", 3)]


def test_recovery_keeps_closing_brackets_and_items_at_the_margin_with_their_key() -> None:
    document = load_yaml("a: {\n  x: 1\n}\nlist:\n- 1\n- 2\nbad: ]\n", PATH)
    assert to_plain(document.root) == {"a": {"x": 1}, "list": [1, 2]}
    assert list(document.lost) == ["bad"]


def test_an_error_between_blocks_is_still_reported() -> None:
    document = load_yaml("a: 1\n}\nb: 2\n", PATH)
    assert "yaml-syntax" in [problem.kind for problem in document.problems]
    assert find(document.root, ["b"]) is not None


@pytest.mark.parametrize("text", ["[", "'", "a: [", "\x00", "@", "%", "\t- x", "--- a\n--- [", "&", "*", "}"])
def test_hopeless_text_is_a_problem(text: str) -> None:
    assert "yaml-syntax" in [problem.kind for document in load_yaml_all(text, PATH) for problem in document.problems]


def test_all_documents() -> None:
    text = "a: 1\n---\n# nothing\n---\nb: &x 2\n...\n---\nc: 3\n"
    assert [to_plain(document.root) for document in load_yaml_all(text, PATH)] == list(yaml.safe_load_all(text))
    assert find(load_yaml_all(text, PATH)[3].root, ["c"]).line == 8  # type: ignore[union-attr]
    assert load_yaml_all("", PATH) == []


def test_all_documents_around_a_broken_one() -> None:
    documents = load_yaml_all("a: 1\n---\nb: [\nc: 3\n--- \nd: 4\n", PATH)
    assert [to_plain(document.root) for document in documents] == [{"a": 1}, {"c": 3}, {"d": 4}]
    assert documents[1].lost.keys() == {"b"}
    assert find(documents[2].root, ["d"]).line == 6  # type: ignore[union-attr]


# --- bounds


def bomb(levels: int, width: int) -> str:
    lines = ["l0: &l0 [" + ", ".join(["x"] * width) + "]"]
    lines += [f"l{n}: &l{n} [" + ", ".join([f"*l{n - 1}"] * width) + "]" for n in range(1, levels)]
    return "\n".join([*lines, "after: 1\n"])


def walk(node: module.Node | None) -> int:
    if isinstance(node, Mapping):
        return 1 + sum(1 + walk(value) for _, value in node.items)
    return 1 + sum(map(walk, node.items)) if isinstance(node, Sequence) else 1


def test_alias_bomb_is_defused() -> None:
    document = load_yaml(bomb(9, 10), PATH)
    assert {problem.kind for problem in document.problems} == {"alias-bomb"}
    assert to_plain(find(document.root, ["after"])) == 1
    assert walk(document.root) < 3 * module.MAX_ALIASED_NODES


def test_merge_bomb_is_defused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_MERGED_KEYS", 500)
    wide = "base: &m0 {" + ", ".join(f"k{n}: 1" for n in range(100)) + "}\n"
    text = wide + "".join(f"e{n}: {{<<: [*m0, *m0]}}\n" for n in range(10)) + "after: 1\n"
    document = load_yaml(text, PATH)
    assert {problem.kind for problem in document.problems} == {"alias-bomb"}
    assert to_plain(find(document.root, ["after"])) == 1


def test_a_usual_number_of_aliases_is_no_bomb() -> None:
    text = "base: &b {tp: 1, ep: 2}\n" + "".join(f"e{n}: *b\n" for n in range(2000))
    assert kinds(text) == []


@pytest.mark.parametrize("text", ["x" * 200, "a: 1\n" * 40])
def test_a_text_that_is_too_large_is_not_read(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_CHARACTERS", 100)
    document = load_yaml(text, PATH)
    assert document.root is None
    assert [problem.kind for problem in document.problems] == ["yaml-size"]


@pytest.mark.parametrize("text", ["- a\n" * 200, "[" + "a," * 200 + "]", "a: [" + "{}," * 200 + "]\n"])
def test_too_many_nodes_end_the_reading(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_NODES", 100)
    assert kinds(text) == ["yaml-size"]


def test_a_depth_of_ninety_is_fine() -> None:
    assert kinds("[" * 90 + "]" * 90) == []
    assert kinds("- " * 90 + "x\n") == []


def test_the_number_of_problems_is_bounded() -> None:
    assert len(load_yaml("a: 1\n" * 5000, PATH).problems) == module.MAX_PROBLEMS


@pytest.mark.parametrize(
    "text",
    [
        "a: '" + "x" * 2_000_000,
        "a:\n" + "  - [\n" * 50_000,
        "? " * 100_000,
        "bad: [\n" + "".join(f"k{n}: 'v\n" for n in range(15_000)),
        "a: " + "1:" * 200_000 + "1\n",
        "a: " + "9" * 400_000 + "\n",
        "!" * 200_000,
        "&a" * 100_000,
        "a: b\n" + "\n" * 1_000_000 + "c: [\n",
    ],
    ids=range(9),
)
def test_hostile_text_takes_bounded_time(text: str) -> None:
    with within(5):
        load_yaml(text, PATH)


def test_a_large_file_is_read_fast() -> None:
    arm = "      - {{ tp: {0}, ep: 1, dp-attn: false, conc-list: [1, 2, 4, 8], kv-offloading: none }}\n"
    entry = "entry-{0}:\n  image: engine:v1.{0}\n  scenarios:\n    agentic-coding:\n    - search-space:\n"
    text = "".join(entry.format(n) + "".join(arm.format(k) for k in range(20)) for n in range(100))
    with within(1):
        load_yaml(text, PATH)
