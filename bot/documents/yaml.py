"""YAML with a place for every key and value, duplicate keys kept, and bounds that a hostile file cannot break.

Events come from PyYAML's C parser (the pure Python one where the C extension is missing). A plain text becomes exactly
the value that `yaml.safe_load` gives it (YAML 1.1: `yes` is true, `010` is 8), or with `Schema.CORE` the value of the
YAML 1.2 core schema, which GitHub uses for workflow files (`on` is a text). Reading never raises: what could
not be read is a `Problem`.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from collections.abc import Sequence as AbstractSequence
from dataclasses import dataclass, field
from enum import Enum
from functools import lru_cache
from typing import Any, ClassVar, TypeAlias

import yaml
from yaml.constructor import SafeConstructor
from yaml.error import MarkedYAMLError, YAMLError
from yaml.events import (
    AliasEvent,
    DocumentEndEvent,
    DocumentStartEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
    StreamEndEvent,
)
from yaml.reader import ReaderError
from yaml.resolver import Resolver

from botlint.core.span import Problem, Span

_FAST_PARSER: Callable[[str], Any] | None
try:
    from yaml._yaml import CParser as _CParser

    _FAST_PARSER = _CParser
except ImportError:  # PyYAML was built without libyaml
    _FAST_PARSER = None

Value: TypeAlias = str | int | float | bool | None
Node: TypeAlias = "Scalar | Mapping | Sequence"

MAX_CHARACTERS = 16 * 1024 * 1024
MAX_DEPTH = 100
MAX_NODES = 500_000
# A walk over the tree visits an aliased node once per alias; this bounds what that adds to the nodes that are written.
MAX_ALIASED_NODES = 1_000_000
MAX_MERGED_KEYS = 200_000
MAX_PROBLEMS = 1_000
MAX_NUMBER_LENGTH = 1_000
MAX_RECOVERED_BLOCKS = 20_000

_TAG_PREFIX = "tag:yaml.org,2002:"
_SCALAR_TAGS = frozenset({"bool", "float", "int", "null", "str", "timestamp"})


class Schema(Enum):
    """Which values plain texts have: PyYAML's (YAML 1.1) or the YAML 1.2 core schema, which has no merge keys."""

    PYYAML = "pyyaml"
    CORE = "core"


class _Source:
    """The text that nodes point into; line starts are found when the first span is asked for."""

    __slots__ = ("_starts", "path", "text")

    def __init__(self, path: str, text: str) -> None:
        self.path = path
        self.text = text
        self._starts: list[int] | None = None

    @property
    def starts(self) -> list[int]:
        if self._starts is None:
            # Lines end at "\n" only, as in git and editors; libyaml also counts "\r", U+0085, U+2028 and U+2029.
            self._starts = [0, *(match.end() for match in re.finditer("\n", self.text))]
        return self._starts

    def position(self, offset: int) -> tuple[int, int]:
        line = bisect_right(self.starts, offset)
        return line, offset - self.starts[line - 1] + 1

    def span(self, start: int, end: int) -> Span:
        line, column = self.position(start)
        end_line, end_column = self.position(end)
        return Span(self.path, line, column, end_line, end_column)

    def line_text(self, line: int) -> str:
        starts = self.starts
        end = starts[line] if line < len(starts) else len(self.text)
        return self.text[starts[line - 1] : end].rstrip("\r\n")


class _Placed:
    """What all nodes share: offsets into the source text, and the spans computed from them."""

    __slots__ = ("_end", "_source", "_start")
    kind: ClassVar[str]

    _source: _Source
    _start: int
    _end: int

    @property
    def span(self) -> Span:
        """Where the node is written; for an aliased node that is where its anchor is."""
        return self._source.span(self._start, self.end)

    @property
    def line(self) -> int:
        return self._source.position(self._start)[0]

    @property
    def start(self) -> int:
        """Offset of the first character in the document's text."""
        return self._start

    @property
    def end(self) -> int:
        """Offset after the last character in the document's text, without the blank lines and comments that follow."""
        return self._end

    @property
    def source(self) -> str:
        """The characters as written, with quotes and indentation."""
        return self._source.text[self._start : self.end]


class Scalar(_Placed):
    """A single value: `text` is its content, `value` what that means.

    `tag` is one of bool float int null str timestamp merge; a timestamp's `value` is its text. `style` is empty for a
    plain scalar, else the character that starts it: ' " | >
    """

    __slots__ = ("style", "tag", "text", "value")
    kind: ClassVar[str] = "scalar"

    def __init__(self, source: _Source, start: int, end: int, value: Value, text: str, tag: str, style: str) -> None:
        self._source = source
        self._start = start
        self._end = end
        self.value = value
        self.text = text
        self.tag = tag
        self.style = style

    def __repr__(self) -> str:
        return f"Scalar({self.value!r})"

    @property
    def end(self) -> int:
        if self.style in ("|", ">"):
            text = self._source.text
            return self._start + len(text[self._start : self._end].rstrip())
        return self._end

    def subspan(self, begin: int, end: int) -> Span:
        """Where the characters `begin` to `end` of `text` are written; the whole span if escapes or folding hide it."""
        first, last = self._locate(begin), self._locate(end)
        if first is None or last is None:
            return self.span
        return Span(self._source.path, *first, *last)

    def _locate(self, offset: int) -> tuple[int, int] | None:
        if self.style == "|":
            before = self.text[:offset]
            row = before.count("\n")
            lines = self.text.split("\n")
            line = self.line + 1 + row
            if row >= len(lines) or line > len(self._source.starts):
                return None
            written = self._source.line_text(line)
            if not written.endswith(lines[row]):
                return None
            return line, len(written) - len(lines[row]) + len(before) - (before.rfind("\n") + 1) + 1
        if self.style == ">":
            return None
        # An anchor or tag may stand before the text, so it is looked for at the end; with escapes it is not there.
        written = self.style + self.text + self.style
        if not self.source.endswith(written):
            return None
        return self._source.position(self._end - len(written) + len(self.style) + offset)


class Sequence(_Placed):
    """A list of nodes."""

    __slots__ = ("_flow", "items")
    kind: ClassVar[str] = "sequence"

    def __init__(self, source: _Source, start: int, end: int, items: list[Node], flow: bool) -> None:
        self._source = source
        self._start = start
        self._end = end
        self.items = items
        self._flow = flow

    def __repr__(self) -> str:
        return f"Sequence({len(self.items)})"

    def __len__(self) -> int:
        return len(self.items)

    def __iter__(self) -> Iterator[Node]:
        return iter(self.items)

    @property
    def end(self) -> int:
        return self._end if self._flow else _block_end(self, self.items)


class Mapping(_Placed):
    """Pairs of key and node in written order.

    `own_items` are the pairs as written, duplicates and merge keys (`<<`) included. `items` are the pairs that count:
    merged ones first (their nodes say where they were written), then the written ones without `<<`, duplicates kept.
    """

    __slots__ = ("_flow", "_index", "items", "own_items")
    kind: ClassVar[str] = "mapping"

    def __init__(
        self,
        source: _Source,
        start: int,
        end: int,
        own_items: list[tuple[Scalar, Node]],
        items: list[tuple[Scalar, Node]],
        index: dict[Value, tuple[Scalar, Node]],
        flow: bool,
    ) -> None:
        self._source = source
        self._start = start
        self._end = end
        self.own_items = own_items
        self.items = items
        self._index = index
        self._flow = flow

    def __repr__(self) -> str:
        return f"Mapping({', '.join(map(repr, self._index))})"

    def __len__(self) -> int:
        return len(self._index)

    def __contains__(self, key: Value) -> bool:
        return key in self._index

    def __iter__(self) -> Iterator[Value]:
        return iter(self._index)

    def get(self, key: Value) -> Node | None:
        """The value of `key`, merged keys included, the last one if it is written twice; None if there is none."""
        pair = self._index.get(key)
        return None if pair is None else pair[1]

    def key_node(self, key: Value) -> Scalar | None:
        """The key that belongs to `get(key)`."""
        pair = self._index.get(key)
        return None if pair is None else pair[0]

    def keys(self) -> list[Value]:
        """The distinct keys in the order of `yaml.safe_load`."""
        return list(self._index)

    def pairs(self) -> Iterable[tuple[Scalar, Node]]:
        """One pair for each distinct key: the one that `get` answers from."""
        return self._index.values()

    @property
    def end(self) -> int:
        return self._end if self._flow else _block_end(self, [value for _, value in self.own_items])


@dataclass(frozen=True, slots=True)
class YamlDocument:
    """What could be read of one document; `lost` names the top-level keys whose block could not be read, with why."""

    path: str
    text: str = field(repr=False)
    root: Node | None
    problems: list[Problem]
    lost: dict[str, Problem] = field(default_factory=dict)


def load_yaml(text: str, path: str, schema: Schema = Schema.PYYAML) -> YamlDocument:
    """Reads the only document of `text` (the first, with a problem, if there are several); never raises on bad input.

    After a syntax error the top-level blocks are read one by one, so that only the broken ones are lost.
    """
    reader = _Reader(text, path, schema)
    document = reader.read(limit=2)
    if len(document) > 1:
        marker = document[1].start
        reader.problem("multiple-documents", "more than one document; only the first is read", marker, marker + 3)
    first = document[0] if document else _Loaded(None, 0, {})
    return YamlDocument(path, text, first.root, reader.problems, first.lost)


def load_yaml_all(text: str, path: str, schema: Schema = Schema.PYYAML) -> list[YamlDocument]:
    """Reads all documents of `text`; the first one holds the problems of the whole file. An empty file has none."""
    reader = _Reader(text, path, schema)
    loaded = reader.read(limit=None)
    if not loaded and reader.problems:
        return [YamlDocument(path, text, None, reader.problems)]
    return [
        YamlDocument(path, text, one.root, reader.problems if number == 0 else [], one.lost)
        for number, one in enumerate(loaded)
    ]


def find(node: Node | None, path: AbstractSequence[str | int]) -> Node | None:
    """The node below `node` at `path` (keys of mappings, indices of sequences); None where a step does not exist."""
    for step in path:
        if isinstance(node, Mapping):
            node = node.get(step)
        elif isinstance(node, Sequence) and isinstance(step, int) and -len(node.items) <= step < len(node.items):
            node = node.items[step]
        else:
            return None
    return node


def to_plain(node: Node | None) -> Any:
    """The Python values that `yaml.safe_load` gives for the same text; aliased nodes give the same object again."""
    return _plain(node, {})


def _plain(node: Node | None, done: dict[int, Any]) -> Any:
    if node is None:
        return None
    if isinstance(node, Scalar):
        return _plain_scalar(node)
    known = done.get(id(node))
    if known is not None:
        return known
    if isinstance(node, Sequence):
        items = [_plain(item, done) for item in node.items]
        done[id(node)] = items
        return items
    values = {_plain_scalar(key): _plain(value, done) for key, value in node.items}
    done[id(node)] = values
    return values


def _plain_scalar(node: Scalar) -> Any:
    if node.tag == "timestamp":
        try:
            return _construct("timestamp", node.text)
        except ValueError:
            return node.text
    return node.value


def _block_end(node: _Placed, children: list[Node]) -> int:
    """Where a block collection ends: the parser's own mark is at the next token, after comments and blank lines."""
    node_end: int = node._end
    # An aliased child lies elsewhere, so only a last child inside the node's own range says where the node ends.
    if children and node._start <= children[-1].start <= node_end:
        return children[-1].end
    text = node._source.text
    lines = text[node._start : node_end].splitlines(keepends=True)
    while lines and (not lines[-1].strip() or lines[-1].lstrip().startswith("#")):
        lines.pop()
    return node._start + len("".join(lines).rstrip())


_CONSTRUCTOR = SafeConstructor()
_CONSTRUCTORS: dict[str, Callable[[Any], Any]] = {
    "bool": _CONSTRUCTOR.construct_yaml_bool,
    "float": _CONSTRUCTOR.construct_yaml_float,
    "int": _CONSTRUCTOR.construct_yaml_int,
    "null": _CONSTRUCTOR.construct_yaml_null,
    "str": _CONSTRUCTOR.construct_yaml_str,
    "timestamp": _CONSTRUCTOR.construct_yaml_timestamp,
}


def _construct(tag: str, text: str) -> Any:
    """PyYAML's own value of a scalar; raises ValueError where safe_load fails too (`0b_`, `!!int x`, month 13)."""
    try:
        return _CONSTRUCTORS[tag](yaml.ScalarNode(_TAG_PREFIX + tag, text))
    except (AttributeError, IndexError, KeyError, OverflowError, TypeError) as error:
        raise ValueError(str(error)) from error


@lru_cache(maxsize=20_000)
def _pyyaml_tag(text: str) -> str:
    """The short tag that PyYAML's resolver gives a plain text; `merge` and `value` for `<<` and `=`."""
    resolvers = Resolver.yaml_implicit_resolvers
    for tag, pattern in resolvers.get(text[:1], ()):
        if pattern.match(text):
            return str(tag).removeprefix(_TAG_PREFIX)
    return "str"


# The YAML 1.2 core schema, chapter 10.3.2 of the YAML specification.
_CORE_INT = re.compile(r"[-+]?[0-9]+")
_CORE_BASED = re.compile(r"0o[0-7]+|0x[0-9a-fA-F]+")
_CORE_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_CORE_WORDS: dict[str, tuple[Value, str]] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), (None, "null")),
    **dict.fromkeys(("true", "True", "TRUE"), (True, "bool")),
    **dict.fromkeys(("false", "False", "FALSE"), (False, "bool")),
    **dict.fromkeys((".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"), (math.inf, "float")),
    **dict.fromkeys(("-.inf", "-.Inf", "-.INF"), (-math.inf, "float")),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), (math.nan, "float")),
}


def _core_value(text: str) -> tuple[Value, str]:
    if text in _CORE_WORDS:
        return _CORE_WORDS[text]
    if _CORE_INT.fullmatch(text):
        return int(text), "int"
    if _CORE_BASED.fullmatch(text):
        return int(text, 0), "int"
    if _CORE_FLOAT.fullmatch(text):
        return float(text), "float"
    return text, "str"


class _Refused(Exception):  # noqa: N818 - a refusal of the input, not an error of ours
    """Ends the reading of one stretch of text."""

    def __init__(self, kind: str, message: str, offset: int) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.offset = offset


class _OverBudget(_Refused):
    """Ends the reading of the file: what is left would not fit either."""


@dataclass(frozen=True, slots=True)
class _Loaded:
    root: Node | None
    start: int
    lost: dict[str, Problem]


_DOCUMENT_START = re.compile(r"^---(?=[ \t\r]|$)", re.MULTILINE)
# Lines at column 1 that begin a block of a mapping (also one whose colon is missing) and of a sequence. Items of a
# sequence and closing brackets may stand at column 1 inside the block of the key before them.
_KEY_LINE = re.compile(r"^(?:[^\s#\-\[\]{}.%\ufeff]|-(?![\s-])|\.(?!\.\.[ \t\r]|\.\.$))", re.MULTILINE)
_ITEM_LINE = re.compile(r"^-(?=[ \t\r]|$)", re.MULTILINE)
_WRITTEN_KEY = re.compile(r"\"([^\"\n]*)\"|'([^'\n]*)'|((?:[^\n:]|:(?!\s))*)")
_CONTENT = re.compile(r"^[ \t]*[^\s#%]", re.MULTILINE)
_UNREADABLE = frozenset({"yaml-syntax", "yaml-depth", "yaml-size"})
_TAG_NAMES = {
    "bool": "a truth value",
    "float": "a number",
    "int": "an integer",
    "null": "a null",
    "str": "a text",
    "timestamp": "a date",
}


def _document_ranges(text: str, begin: int) -> list[tuple[int, int]]:
    """Where the documents of a text lie: from each `---` line to the next one; directives go with the first one."""
    starts = [match.start() for match in _DOCUMENT_START.finditer(text, begin)]
    if not starts or _CONTENT.search(text, begin, starts[0]):
        starts.insert(0, begin)
    else:
        starts[0] = begin
    return list(zip(starts, [*starts[1:], len(text)], strict=True))


def _block_ranges(text: str, start: int, end: int) -> tuple[list[tuple[int, int]], bool]:
    """Where the top-level blocks of a document lie, and whether they are keys of a mapping (else items of a list)."""
    keys = [match.start() for match in _KEY_LINE.finditer(text, start, end)]
    items = [match.start() for match in _ITEM_LINE.finditer(text, start, end)]
    is_mapping = bool(keys) and (not items or keys[0] < items[0])
    starts = keys if is_mapping else items
    return list(zip(starts, [*starts[1:], end][: len(starts)], strict=True)), is_mapping


def _written_key(text: str, start: int, end: int) -> str:
    """The key that a block begins with, as far as it can be told without reading the block."""
    match = _WRITTEN_KEY.match(text, start, end)
    return "" if match is None else (match[1] or match[2] or match[3] or "").strip()


def _shown_tag(tag: str) -> str:
    return "!!" + tag.removeprefix(_TAG_PREFIX) if tag.startswith(_TAG_PREFIX) else tag


class _Reader:
    """Reads one text into nodes; holds what a whole file shares: anchors, known values, budgets, problems."""

    def __init__(
        self, text: str, path: str, schema: Schema, parser: Callable[[str], Any] | None = _FAST_PARSER
    ) -> None:
        self.source = _Source(path, text)
        self.schema = schema
        self.problems: list[Problem] = []
        self._parser = parser
        self._values: dict[str, tuple[Value, str]] = {}
        self._anchors: dict[str, tuple[Node, int]] = {}
        self._open_anchors: set[str] = set()
        self._nodes = 0
        self._aliased = 0
        self._merged = 0

    # -- problems

    def problem(self, kind: str, message: str, start: int, end: int) -> Problem:
        found = Problem(message, self.source.span(start, max(start, min(end, len(self.source.text)))), kind)
        if len(self.problems) < MAX_PROBLEMS:
            self.problems.append(found)
        return found

    # -- files

    def read(self, limit: int | None) -> list[_Loaded]:
        """All documents, at most `limit`; what is broken is read block by block."""
        text = self.source.text
        if len(text) > MAX_CHARACTERS:
            self.problem("yaml-size", f"{len(text)} characters, more than {MAX_CHARACTERS}; the file is not read", 0, 0)
            return []
        begin = 1 if text.startswith("\ufeff") else 0
        loaded: list[_Loaded] = []
        try:
            for one in self._documents(begin, len(text)):
                loaded.append(one)
                if len(loaded) == limit:
                    break
        except _OverBudget as refused:
            self._report(refused)
        except _Refused as refused:
            return self._recover(refused, begin, limit)
        return loaded

    def _report(self, refused: _Refused) -> Problem:
        return self.problem(refused.kind, refused.message, refused.offset, refused.offset + 1)

    def _recover(self, refused: _Refused, begin: int, limit: int | None) -> list[_Loaded]:
        """Reads the documents one by one after an error, and the broken ones by their top-level blocks."""
        self._restart()
        self.problems.clear()
        loaded: list[_Loaded] = []
        ranges = _document_ranges(self.source.text, begin)
        try:
            for start, end in ranges:
                loaded.extend(self._recovered(start, end, refused if len(ranges) == 1 else None))
                if limit is not None and len(loaded) >= limit:
                    break
        except _OverBudget as over:
            self._report(over)
        if not any(problem.kind in _UNREADABLE for problem in self.problems):
            # Each block can be read alone and only the whole cannot, so the first error is the one to show.
            self._report(refused)
        return loaded

    def _restart(self) -> None:
        """Forgets what an attempt that failed has counted, so that its budget does not run out twice as fast."""
        self._anchors.clear()
        self._nodes = self._aliased = self._merged = 0

    def _recovered(self, start: int, end: int, refused: _Refused | None) -> list[_Loaded]:
        """What can be read between two offsets; `refused` is the error of that stretch where it is known already."""
        known = len(self.problems)
        if refused is None:
            try:
                return list(self._documents(start, end))
            except _OverBudget:
                raise
            except _Refused as found:
                refused = found
        del self.problems[known:]
        self._restart()
        blocks, is_mapping = _block_ranges(self.source.text, start, end)
        if len(blocks) > MAX_RECOVERED_BLOCKS or not blocks:
            self._report(refused)
            return [_Loaded(None, start, {})]
        return [self._from_blocks(blocks, is_mapping, start)]

    def _from_blocks(self, blocks: list[tuple[int, int]], is_mapping: bool, start: int) -> _Loaded:
        pairs: list[tuple[Scalar, Node]] = []
        items: list[Node] = []
        lost: dict[str, Problem] = {}
        for block_start, block_end in blocks:
            known = len(self.problems)
            try:
                # Anchors stay known from block to block, as in the whole document.
                roots = [one.root for one in self._documents(block_start, block_end, keep_anchors=True)]
            except _OverBudget:
                raise
            except _Refused as refused:
                del self.problems[known:]
                problem = self._report(refused)
                if is_mapping:
                    lost[_written_key(self.source.text, block_start, block_end)] = problem
                continue
            for root in roots:
                if is_mapping and isinstance(root, Mapping):
                    pairs.extend(root.own_items)
                elif not is_mapping and isinstance(root, Sequence):
                    items.extend(root.items)
                elif is_mapping and root is not None:
                    key = _written_key(self.source.text, block_start, block_end)
                    lost[key] = self.problem(
                        "yaml-syntax", f"expected a key and its value: {key!r}", root.start, root.end
                    )
        first, last = blocks[0][0], blocks[-1][1]
        if is_mapping:
            # Duplicates inside one block were reported when it was read; those between blocks are found now.
            return _Loaded(self._mapping(first, last, pairs, flow=False), start, lost)
        return _Loaded(Sequence(self.source, first, last, items, flow=False), start, lost)

    # -- documents

    def _documents(self, start: int, end: int, keep_anchors: bool = False) -> Iterator[_Loaded]:
        """The documents between two offsets; raises _Refused at the first place that cannot be read."""
        text = self.source.text
        stretch = text if start == 0 and end == len(text) else text[start:end]
        try:
            get_event = self._start_parser(stretch)
            while True:
                event = get_event()
                kind = event.__class__
                if event is None or kind is StreamEndEvent:
                    return
                if kind is DocumentStartEvent:
                    if not keep_anchors:
                        self._anchors.clear()
                    self._open_anchors.clear()
                    yield _Loaded(self._compose(get_event, start), start + event.start_mark.index, {})
        except UnicodeEncodeError as error:
            # libyaml reads UTF-8; half of a surrogate pair has no such form.
            raise _Refused("yaml-syntax", "half of a surrogate pair is not a character", start + error.start) from error
        except YAMLError as error:
            raise self._refusal(error, stretch, start) from error

    def _start_parser(self, text: str) -> Callable[[], Any]:
        if self._parser is not None:
            get_event: Callable[[], Any] = self._parser(text).get_event
            return get_event
        slow: Callable[[], Any] = yaml.SafeLoader(text).get_event
        return slow

    def _refusal(self, error: YAMLError, text: str, base: int) -> _Refused:
        if isinstance(error, ReaderError):
            offset = error.position
            if self._parser is not None:  # the C reader counts bytes
                offset = len(text.encode("utf-8")[:offset].decode("utf-8", "ignore"))
            code = error.character if isinstance(error.character, int) else ord(error.character[:1] or "\0")
            return _Refused("yaml-syntax", f"{error.reason} (U+{code:04X})", base + offset)
        if not isinstance(error, MarkedYAMLError):
            return _Refused("yaml-syntax", str(error), base)
        message = error.problem or "cannot be read"
        if error.context:
            message = f"{message}, {error.context}"
            if error.context_mark is not None:
                message += f" that starts on line {self.source.position(base + error.context_mark.index)[0]}"
        mark = error.problem_mark or error.context_mark
        return _Refused("yaml-syntax", message, base + (0 if mark is None else min(int(mark.index), len(text))))

    def _compose(self, get_event: Callable[[], Any], base: int) -> Node | None:
        """Builds the nodes of one document from its events; the event after the document's start comes first."""
        source = self.source
        values = self._values
        root: Node | None = None
        stack: list[tuple[list[Node], Any, int]] = []
        children: list[Node] | None = None
        count = self._nodes
        node: Node
        while True:
            event = get_event()
            kind = event.__class__
            if kind is ScalarEvent:
                count += 1
                text = event.value
                if event.tag is None or (event.tag == "!" and self.schema is Schema.PYYAML):
                    # safe_load resolves a text with the tag `!` as if it were plain, quotes or not.
                    if event.implicit[0] or event.tag is not None:
                        try:
                            value, tag = values[text]
                        except KeyError:
                            value, tag = self._plain_value(text, base, event)
                    else:
                        value, tag = text, "str"
                else:
                    value, tag = self._tagged_value(text, base, event)
                node = Scalar(
                    source,
                    base + event.start_mark.index,
                    base + event.end_mark.index,
                    value,
                    text,
                    tag,
                    event.style or "",
                )
                if event.anchor is not None:
                    self._anchors[event.anchor] = (node, 1)
            elif kind is MappingStartEvent or kind is SequenceStartEvent:
                count += 1
                if len(stack) >= MAX_DEPTH:
                    raise _Refused(
                        "yaml-depth", f"nested deeper than {MAX_DEPTH} levels", base + event.start_mark.index
                    )
                if event.anchor is not None:
                    self._open_anchors.add(event.anchor)
                children = []
                stack.append((children, event, count + self._aliased))
                continue
            elif kind is MappingEndEvent or kind is SequenceEndEvent:
                members, opening, nodes_before = stack.pop()
                children = stack[-1][0] if stack else None
                start = base + opening.start_mark.index
                end = base + event.end_mark.index
                if opening.tag is not None:
                    self._check_collection_tag(opening, start)
                if kind is MappingEndEvent:
                    node = self._mapping(start, end, self._pairs(members), opening.flow_style)
                else:
                    node = Sequence(source, start, end, members, opening.flow_style)
                anchor = opening.anchor
                if anchor is not None:
                    self._open_anchors.discard(anchor)
                    self._anchors[anchor] = (node, count + self._aliased - nodes_before + 1)
            elif kind is AliasEvent:
                count += 1
                node = self._alias(event, base)
            elif kind is DocumentEndEvent:
                self._nodes = count
                return root
            else:
                continue
            if count > MAX_NODES:
                raise _OverBudget("yaml-size", f"more than {MAX_NODES} nodes", base + event.start_mark.index)
            if children is None:
                root = node
            else:
                children.append(node)

    def _alias(self, event: Any, base: int) -> Node:
        start, end = base + event.start_mark.index, base + event.end_mark.index
        name = event.anchor
        if name in self._open_anchors:
            message, kind = f"*{name} stands inside the node that it names", "recursive-alias"
        elif name not in self._anchors:
            raise _Refused("yaml-syntax", f"*{name} has no anchor &{name} before it", start)
        else:
            node, size = self._anchors[name]
            if self._aliased + size <= MAX_ALIASED_NODES:
                self._aliased += size
                return node
            message, kind = (
                f"aliases stand for more than {MAX_ALIASED_NODES} nodes; *{name} is not followed",
                "alias-bomb",
            )
        self.problem(kind, message, start, end)
        return Scalar(self.source, start, end, None, f"*{name}", "null", "")

    # -- values

    def _plain_value(self, text: str, base: int, event: Any) -> tuple[Value, str]:
        """The value of a plain text, remembered for the next time."""
        found: tuple[Value, str]
        if len(text) > MAX_NUMBER_LENGTH:
            return text, "str"
        if self.schema is Schema.CORE:
            found = _core_value(text)
        else:
            tag = _pyyaml_tag(text)
            if tag == "str" or tag == "merge":
                found = (text, tag)
            elif tag not in _SCALAR_TAGS:
                # PyYAML resolves `=` to a tag for which safe_load has no constructor.
                self._scalar_problem("unknown-tag", f"safe_load refuses the plain text {text!r}; quote it", base, event)
                return text, "str"
            else:
                try:
                    value = _construct(tag, text)
                except ValueError:
                    self._scalar_problem("bad-value", f"{text!r} looks like {_TAG_NAMES[tag]} and is none", base, event)
                    return text, "str"
                found = (text, tag) if tag == "timestamp" else (value, tag)
        self._values[text] = found
        return found

    def _tagged_value(self, text: str, base: int, event: Any) -> tuple[Value, str]:
        """The value of a scalar with a written tag; only tags of plain values construct one."""
        tag = event.tag
        if tag == "!":
            return text, "str"
        short = tag.removeprefix(_TAG_PREFIX)
        if short == tag or short not in _SCALAR_TAGS:
            self._scalar_problem(
                "unknown-tag", f"the tag {_shown_tag(tag)} is not known; its text is read as it is", base, event
            )
            return text, "str"
        if len(text) <= MAX_NUMBER_LENGTH or short == "str":
            try:
                value = _construct(short, text)
            except ValueError:
                pass
            else:
                return (text, short) if short == "timestamp" else (value, short)
        self._scalar_problem("bad-value", f"{text[:80]!r} is not {_TAG_NAMES[short]}", base, event)
        return text, "str"

    def _scalar_problem(self, kind: str, message: str, base: int, event: Any) -> None:
        self.problem(kind, message, base + event.start_mark.index, base + event.end_mark.index)

    def _check_collection_tag(self, event: Any, start: int) -> None:
        expected = "map" if event.__class__ is MappingStartEvent else "seq"
        if event.tag not in ("!", _TAG_PREFIX + expected):
            message = f"the tag {_shown_tag(event.tag)} is not known; its content is read as it is"
            self.problem("unknown-tag", message, start, start + 1)

    # -- mappings

    def _pairs(self, members: list[Node]) -> list[tuple[Scalar, Node]]:
        nodes = iter(members)
        return [
            (key if isinstance(key, Scalar) else self._complex_key(key), value)
            for key, value in zip(nodes, nodes, strict=True)
        ]

    def _complex_key(self, key: Mapping | Sequence) -> Scalar:
        """Stands for a key that is a list or a mapping, which safe_load refuses."""
        self.problem("complex-key", "a list or a mapping cannot be a key", key.start, key.end)
        written = key.source
        return Scalar(self.source, key.start, key.end, written, written, "str", "")

    def _mapping(self, start: int, end: int, pairs: list[tuple[Scalar, Node]], flow: bool) -> Mapping:
        index: dict[Value, tuple[Scalar, Node]] = {pair[0].value: pair for pair in pairs}
        items = pairs
        if len(index) != len(pairs):
            self._report_duplicates(pairs)
        if "<<" in index and any(key.tag == "merge" for key, _ in pairs):
            merged: dict[Value, tuple[Scalar, Node]] = {}
            for key, value in pairs:
                if key.tag == "merge":
                    self._merge(key, value, merged)
            written = [pair for pair in pairs if pair[0].tag != "merge"]
            items = [*merged.values(), *written]
            index = {**merged, **{pair[0].value: pair for pair in written}}
        return Mapping(self.source, start, end, pairs, items, index, flow)

    def _merge(self, key: Scalar, value: Node, merged: dict[Value, tuple[Scalar, Node]]) -> None:
        """Adds what `<<: value` brings.

        In a list the earlier mapping wins, as the YAML merge type says and PyYAML did before 6.0.4.
        """
        parts = list(reversed(value.items)) if isinstance(value, Sequence) else [value]
        for part in parts:
            if not isinstance(part, Mapping):
                self.problem("bad-merge", "only a mapping or a list of mappings can be merged", key.start, key.end)
                continue
            self._merged += len(part)
            if self._merged > MAX_MERGED_KEYS:
                message = f"merge keys bring more than {MAX_MERGED_KEYS} pairs; the rest is not merged"
                self.problem("alias-bomb", message, key.start, key.end)
                return
            merged.update({pair[0].value: pair for pair in part.pairs()})

    def _report_duplicates(self, pairs: list[tuple[Scalar, Node]]) -> None:
        first: dict[Value, Scalar] = {}
        for key, _ in pairs:
            known = first.setdefault(key.value, key)
            if known is not key and key.tag != "merge":
                message = f"the key {key.text!r} is already on line {known.line}; the last one counts"
                self.problem("duplicate-key", message, key.start, key.end)
