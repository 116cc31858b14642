"""Launch commands in Markdown: each command of a document that may start a server becomes a job of its own.

What the document sets before a command is known to it, as if a reader had gone through it in order: variables and
exports of the same section and of those above it; of other sections only what the command's own words name. What a
reader has to fill in (`<model>`, `/path/to/...`, a variable that nothing sets) is not known.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest

from botlint.catalogs.images import resolve_image
from botlint.core.span import Problem, Span
from botlint.core.unknown import Unknown
from botlint.documents import bash, bash_nodes
from botlint.documents.markdown import Block, Line, markdown_blocks
from botlint.layouts.base import CommandJob, Loaded, Start
from botlint.repo.files import Files

MAX_DOCUMENT = 1_000_000
"""Characters of a document that is read."""

MAX_COMMANDS = 400
"""Commands of one document that become jobs."""

MAX_BLOCK = 40_000
"""Characters of a block of code that is read, with those before its lines."""

MAX_KNOWN = 200
"""Statements of one document that set variables for what follows."""

MAX_SETTING = 2_000
"""Characters of such a statement."""

MAX_STATEMENT = 10_000
"""Characters of a command in which an image is looked for."""

MAX_GAP = 4
"""Lines between a command and options that were cut off it: comments, and a blank line."""

MAX_SHOWN = 120
"""Characters of options that are told."""

MAX_DEPTH = 4
"""Lists of commands and here-documents inside of each other."""

ENDINGS = (".md", ".mdx", ".markdown")
EMBEDDING = (".yaml", ".yml")
"""Files that may hold documents as texts."""

_BLOCK_TEXT = re.compile(r"(?P<indent> *)(?:- +)?[\w-]+: *[|>][-+]?[0-9]?[-+]?[ ]*(?:#.*)?$")

SCENARIO = "command"
CLIENT = "client"
"""The scenarios of commands that start a server, and of those that ask one."""

DESCRIPTION = "description"
"""What stands for a path in the names of commands of a pull request's description."""

_SHELLS = frozenset(
    "bash sh shell zsh ksh console shell-session shellsession shellscript terminal text txt plaintext none cmd".split()
)
"""Languages of fences that hold commands; so does a fence without one."""

_SKIPPED = re.compile(r"(?:^|/)(?:node_modules|third_party|vendor|\.git)/")

_PROGRAMMES = (
    r"vllm[ \t]+serve|vllm\.entrypoints\.(?:openai\.api_server|cli\.main)|sglang\.launch_server|sglang[ \t]+serve"
    r"|atom\.entrypoints\.openai_server|trtllm-serve|tensorrt_llm\.commands\.serve|dynamo\.(?:vllm|sglang|trtllm)"
)
_NEXT = r"(?!\b(?:docker|podman)[ \t])"
"""No other container's command begins here, so that each text is gone through once."""

_RUNS = rf"(?:docker|podman)[ \t](?>(?:{_NEXT}[^\n]){{0,400}}?\brun\b)"
_SERVER = rf"{_PROGRAMMES}|(?:docker\.io/)?vllm/vllm-openai"
_NAMED = re.compile(
    rf"(?<![\w./-])(?:{_PROGRAMMES})(?![\w.])|/(?:vllm[ \t]+serve|trtllm-serve)(?![\w.])"
    r"|--entrypoint[= \t]+[\"']?(?:vllm|python3?)\b"
)
_LAUNCH = re.compile(rf"(?<![\w./-])(?:{_SERVER})(?![\w.])|/(?:vllm[ \t]+serve|trtllm-serve)(?![\w.])")
_MENTIONS = ("vllm", "sglang", "openai_server", "trtllm", "tensorrt_llm", "dynamo.")

_SETTING = re.compile(
    r"^[ \t]*(?:(?:export|declare|typeset|readonly|unset)[ \t]|[A-Za-z_]\w*\+?=)|[;&][ \t]*export[ \t]", re.MULTILINE
)
"""What sets variables."""

_CLIENT = re.compile(
    r"(?<![\w-])(?:lm[-_]eval(?:uate)?|vllm[ \t]+bench[ \t]+serve|sglang\.bench_serving|sglang\.test\.\w+"
    r"|benchmark_serving|vllm\.benchmarks\.serve)(?![\w-])"
)

_TALKS = frozenset(
    "echo printf grep pkill pgrep kill killall ps pip pip3 which command hash man tail less cat cd git ls".split()
)
"""Programmes that only speak of a server."""

_SETS = frozenset("export declare typeset readonly unset".split())
_PROMPT = re.compile(
    r"[ \t]*(?:\([\w.-]+\)[ \t]*)?(?:[\w.-]+@[\w.-]+[^\n$#%]{0,80})?(?:\$|%|#(?=[ \t]+[a-z]+[ \t]))[ \t]+"
)
_DOLLAR = re.compile(r"[ \t]*(?:\([\w.-]+\)[ \t]*)?(?:[\w.-]+@[\w.-]+[^\n$#%]{0,80})?\$[ \t]+\S")
_BARE = re.compile(
    rf"(?:[A-Za-z_]\w*=\S*[ \t]+)*(?:\\?$|(?:(?:nohup|sudo|python3?[ \t]+-m)[ \t]+)?(?:{_SERVER}|lm_eval)(?![\w.]))"
)

_PLACEHOLDER = re.compile(
    r"""(?<![<\w$])<(?P<angle>[A-Za-z0-9](?:[\w .,:/|*+-]*[\w.*])?)>(?!>)
    |(?P<dots>\.\.\.|…)
    |(?P<path>(?<![\w.])/?path/to(?:/[\w.@+-]+)*/?)
    |(?P<your>(?<![\w$/{.-])(?:/?(?:your|YOUR|Your)[-_/][\w./-]+))
    |(?P<braces>\{\{[ ]?[\w.-]+[ ]?\}\})
    |(?P<synopsis>(?<!\S)\[[A-Za-z<-][\w <>.=-]*\](?!\S))""",
    re.VERBOSE,
)
_READ = re.compile(r"\$(?:(?P<bare>[A-Za-z_]\w*)|\{[#!]?(?P<name>[A-Za-z_]\w*)(?P<op>:?[-=])?)")
_SHELL_OWN = frozenset(
    "BASH BASH_SOURCE BASH_REMATCH BASH_VERSION BASHPID EUID UID FUNCNAME GROUPS HOSTNAME IFS LINENO OLDPWD OPTARG "
    "OPTIND OSTYPE PIPESTATUS PPID PWD RANDOM REPLY SECONDS SHLVL _".split()
)
"""Variables that the shell itself sets."""

_SET = re.compile(r"(?<![\w$\"'{.-])([A-Za-z_]\w*)=")
_RUNNER = re.compile(
    r"\b(?:uv|poetry|pixi|pipenv)[ \t]+run[ \t]+(?:--?[\w-]+(?:[= \t]+[^\s\\-]\S*)?[ \t]+)*"
    r"(?=vllm|python|sglang)|\buvx[ \t]+(?:--[\w-]+[ \t]+\S+[ \t]+)*(?=vllm)"
)
_ENTRYPOINT = re.compile(
    rf"({_RUNS}(?:{_NEXT}(?!--entrypoint)[\s\S]){{0,4000}}?[ \t])"
    r"((?:[\w.-]+(?::[0-9]+)?/)*vllm/vllm-openai[\w-]*(?:[:@][^\s\\]+)?)"
    r"(?=(?:[ \t]|\\\n)+(?:[\w\ue002'$-]))(?!(?:[ \t]|\\\n)*(?:vllm|bash|sh|python3?|/bin/\w+)\b)"
)
"""An image whose entrypoint is `vllm serve`, so that the words behind it are the server's."""

_PREPARES = re.compile(
    r"\b(?:pre-?requisites?|requirements?|install\w*|set-?up|prepar\w*|environment|docker|containers?|images?|pull\w*|download\w*"
    r"|build\w*|getting started|step [01])\b",
    re.IGNORECASE,
)
"""Titles of sections after which the others work."""

_IMAGE = re.compile(
    r"(?<![\w./=-])((?:[\w.-]++(?::[0-9]++)?/)++(?=[^\sA-Za-z:/]*+[A-Za-z])[\w.-]++:\w[\w.-]*)(?![\w/])"
)
_CONTAINER = re.compile(r"(?:^|[\s;&|])(?:docker|podman)[ \t]+(?:run|pull|create)\b")
_LINE_END = re.compile(r"(?<!\\)\n")
_PINNED = re.compile(r"(?<![\w-])(vllm|sglang)(?:\[[\w,-]+\])?==([0-9][\w.+]*)")

Piece = tuple[int, int, str]
"""Line and column, from 1, and the text that is written there."""


@dataclass(frozen=True, slots=True)
class _Known:
    """A statement that sets variables, with the headings that it is below."""

    headings: tuple[str, ...]
    piece: Piece


@dataclass(slots=True)
class _Reading:
    """What was read of a document so far."""

    path: str
    name: str
    known: list[_Known] = field(default_factory=list)
    images: dict[tuple[tuple[str, ...], str], None] = field(default_factory=dict)
    pins: dict[tuple[tuple[str, ...], str, str], None] = field(default_factory=dict)
    """Images, and versions of packages, each with the headings that it is below."""
    entries: dict[str, int] = field(default_factory=dict)
    marks: dict[str, str] = field(default_factory=dict)
    """What stands for a text that a reader has to fill in."""
    unknowns: dict[str, Unknown] = field(default_factory=dict)
    jobs: list[CommandJob] = field(default_factory=list)
    clients: list[CommandJob] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)


def load_commands(files: Files) -> Loaded:
    """The commands of all Markdown documents of a revision."""
    jobs: list[CommandJob] = []
    clients: list[CommandJob] = []
    problems: list[Problem] = []
    for path in files.paths():
        lower = path.lower()
        if not lower.endswith((*ENDINGS, *EMBEDDING)) or _SKIPPED.search(path):
            continue
        source = files.text(path)
        if source is None or (lower.endswith(EMBEDDING) and "```" not in source.text) or not may_launch(source.text):
            continue
        for first, indent, text in _embedded(source.text) if lower.endswith(EMBEDDING) else ((1, 0, source.text),):
            found = document_commands(path, text, first=first, indent=indent)
            jobs.extend(found.jobs)
            clients.extend(found.clients)
            problems.extend(found.problems)
    return Loaded(jobs, tuple(problems), clients)


def _embedded(text: str) -> Iterator[tuple[int, int, str]]:
    """The documents that a YAML file holds as texts with fences: first line, indentation, and text of each."""
    if len(text) > MAX_DOCUMENT:
        return
    lines = text.split("\n")
    number = 0
    while number < len(lines):
        key = _BLOCK_TEXT.match(lines[number])
        number += 1
        if key is None:
            continue
        start, outer = number, len(key["indent"])
        while number < len(lines) and (not lines[number].strip() or _indent(lines[number]) > outer):
            number += 1
        body = lines[start:number]
        indent = min((_indent(line) for line in body if line.strip()), default=0)
        if any("```" in line for line in body):
            yield start + 1, indent, "\n".join(line[indent:] for line in body)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def is_described(entry: str) -> bool:
    """Whether a command's name is that of one of a pull request's description."""
    return entry.startswith(f"{DESCRIPTION}#")


def looked_at_with(entry: str, scenario: str) -> str:
    """The name under which a job is looked at together with others: an entry's jobs, and a document's commands."""
    return entry.partition("#")[0] if scenario == SCENARIO else entry


def may_launch(text: str) -> bool:
    """Whether a text can have a launch command at all."""
    return any(word in text for word in _MENTIONS) and _LAUNCH.search(text) is not None


def document_commands(path: str, text: str, name: str = "", *, first: int = 1, indent: int = 0) -> Loaded:
    """The commands of one document in their order; never raises.

    A document that is no file has a `name` instead of a path; one inside of a file says at which line it begins, and
    how far its lines are indented there.

    A block of code that is not bash up to its end gives those before the fault, and a problem.
    """
    if len(text) > MAX_DOCUMENT:
        return Loaded((), (Problem(f"more than {MAX_DOCUMENT:,} characters", Span(path, 1, 1, 1, 1), "document"),))
    reading = _Reading(path, name or path)
    for block in markdown_blocks(text):
        if first > 1 or indent:
            block = _moved(block, first - 1, indent)
        lines = _command_lines(block)
        if lines and sum(line.before + len(line.text) + 1 for line in lines) <= MAX_BLOCK:
            _read_block(reading, block, lines, 0)
        for name, version in _PINNED.findall("\n".join(line.text for line in block.lines)):
            reading.pins[block.headings, name, version] = None
    return Loaded(reading.jobs, tuple(reading.problems), reading.clients)


def _moved(block: Block, lines: int, columns: int) -> Block:
    moved = tuple(Line(one.number + lines, one.before + columns, one.text) for one in block.lines)
    return replace(block, lines=moved, heading_line=block.heading_line and block.heading_line + lines)


# --------------------------------------------------------------------------------------------------------- single lines


def _command_lines(block: Block) -> list[Line]:
    """The lines of a block that a reader would give to a shell; none of a block in another language."""
    lines = list(block.lines)
    if block.kind == "paragraph":
        start = next((number for number, line in enumerate(lines) if _is_bare(lines, number)), None)
        return [] if start is None else lines[start:]
    if block.kind == "fence" and block.language and block.language not in _SHELLS:
        return []
    if any(_DOLLAR.match(line.text) for line in lines):
        return list(_typed(lines))
    return lines


def _is_bare(lines: Sequence[Line], number: int) -> bool:
    """Whether a command starts on a line of a paragraph: with options, or going on in the next line."""
    text = lines[number].text
    found = _BARE.match(text)
    if found is None:
        return False
    if found[0].endswith("\\") or not found[0].strip():
        following = lines[number + 1].text if number + 1 < len(lines) else ""
        return bool(found[0].strip(" \\")) and _BARE.match(following.lstrip()) is not None
    rest = text[found.end() :]
    return " --" in rest or text.rstrip().endswith("\\")


def _typed(lines: Iterable[Line]) -> Iterator[Line]:
    """What was typed at prompts, without the prompts and what came back."""
    goes_on = False
    for line in lines:
        prompt = _PROMPT.match(line.text)
        if goes_on:
            mark = re.match(r"[ \t]*>[ \t]", line.text)
            cut = mark.end() if mark is not None else 0
        elif prompt is not None:
            cut = prompt.end()
        else:
            continue
        text = line.text[cut:]
        yield Line(line.number, line.before + cut, text)
        goes_on = text.endswith("\\")


# -------------------------------------------------------------------------------------------------------------- blocks


def _read_block(reading: _Reading, block: Block, lines: Sequence[Line], depth: int) -> None:
    """Adds the commands of the lines of a block, and what they set."""
    first = lines[0].number
    flat = any("<<" in line.text for line in lines)
    text = ""
    at = first
    for line in lines:
        text += "\n" * (line.number - at) + ("" if flat else " " * line.before) + line.text
        at = line.number
    if not (_SETTING.search(text) or _LAUNCH.search(text) or _CLIENT.search(text) or _CONTAINER.search(text)):
        return
    if _CONTAINER.search(text):
        reading.images.update(dict.fromkeys((block.headings, image) for image in _images(text)))
    marked = _PLACEHOLDER.sub(lambda match: _mark(reading, match), text)
    script = bash.parse_script(marked, reading.path, first - 1)
    local: list[Piece] = []
    for statement in script:
        if isinstance(statement, bash.Bad):
            if _LAUNCH.search(marked, statement.pos):
                span = script.source.span(statement.pos, statement.pos)
                if block.language:
                    # Of a block that does not say that it is one for a shell, nothing is expected.
                    reading.problems.append(Problem(f"not bash: {statement.message}", span, "document"))
                rest = _after_fault(lines, span.line)
                if rest and depth < MAX_DEPTH:
                    _read_block(reading, block, rest, depth + 1)
            return
        _read_statement(reading, block, _Scope(script.source, local), statement, depth)


def _after_fault(lines: Sequence[Line], fault: int) -> Sequence[Line]:
    """The lines of a block from the first command below a line that bash cannot read."""
    for number, line in enumerate(lines):
        found = _BARE.match(line.text.lstrip()) if line.number > fault else None
        if found is not None and _LAUNCH.search(line.text):
            return lines[number:]
    return ()


@dataclass(frozen=True, slots=True)
class _Scope:
    """The text that statements are in, and what its earlier statements define."""

    source: bash_nodes.Source
    local: list[Piece]

    def piece(self, start: int, end: int) -> Piece:
        return self.source.line(start), self.source.column(start), self.source.text[start:end]


def _read_statement(reading: _Reading, block: Block, scope: _Scope, statement: bash.Statement, depth: int) -> None:
    if isinstance(statement, bash.AndOr) and depth < MAX_DEPTH:
        for item in statement.items:
            _read_statement(reading, block, scope, item, depth + 1)
        return
    text = scope.source.text[statement.pos : statement.end]
    if _head(statement).startswith("--"):
        _cut_off(reading, scope, statement.pos, text)
        return
    here = _here_documents(statement)
    if not _LAUNCH.search(text) and not any(_LAUNCH.search(body.text) for body in here):
        if _CLIENT.search(text) and _head(statement) not in _TALKS and len(reading.clients) < MAX_COMMANDS:
            reading.clients.append(_job(reading, block, scope, statement.pos, statement.end, CLIENT))
        elif _sets(statement):
            if len(reading.known) < MAX_KNOWN and len(text) <= MAX_SETTING:
                reading.known.append(_Known(block.headings, scope.piece(statement.pos, statement.end)))
        elif isinstance(statement, (bash.Function, bash.If, bash.Case)):
            scope.local.append(scope.piece(statement.pos, statement.end))
        return
    if isinstance(statement, bash.Function):
        scope.local.append(scope.piece(statement.pos, statement.end))
        return
    starts = _NAMED.search(text) or _with_entrypoint(text) != text or any(_NAMED.search(body.text) for body in here)
    if _head(statement) in _TALKS or not starts:
        for body in here if depth < MAX_DEPTH else ():
            start = scope.source.text.find(body.text.rstrip("\n"), statement.pos)
            if start >= 0 and _LAUNCH.search(body.text):
                number = scope.source.line(start)
                lines = [Line(number + k, 0, one) for k, one in enumerate(body.text.rstrip("\n").split("\n"))]
                _read_block(reading, block, lines, depth + 1)
        return
    if len(reading.jobs) < MAX_COMMANDS:
        end = statement.end
        if here:
            end = max(end, *(scope.source.text.find(body.text, statement.pos) + len(body.text) for body in here))
            end = scope.source.text.find("\n", end)
            end = len(scope.source.text) if end < 0 else end
        reading.jobs.append(_job(reading, block, scope, statement.pos, end))


def _cut_off(reading: _Reading, scope: _Scope, start: int, text: str) -> None:
    """Says of the command just before that options stand behind it which are not its own any more."""
    last = reading.jobs[-1] if reading.jobs else None
    if last is None or last.arm.line <= scope.source.base_line or last.known["cut-off"]:
        return
    if not all(unknown.nonempty for unknown in last.start.unknowns.values()):
        # What has dots in it is the sketch of a command.
        return
    if 0 < scope.source.line(start) - last.arm.end_line <= MAX_GAP:
        reading.jobs[-1] = replace(last, known={"cut-off": text.split("\n")[0][:MAX_SHOWN].rstrip(" \\")})


def _with_entrypoint(text: str) -> str:
    """A command with what an image's entrypoint starts."""
    if "vllm/vllm-openai" not in text or len(text) > MAX_STATEMENT:
        return text
    return _ENTRYPOINT.sub(r"\1\2 vllm serve ", text, count=4)


def _sets(statement: bash.Statement) -> bool:
    """Whether a statement does nothing but set variables."""
    if isinstance(statement, bash.AndOr):
        return all(map(_sets, statement.items))
    if not isinstance(statement, bash.Command):
        return False
    return (bool(statement.assigns) and not statement.words) or _head(statement) in _SETS


def _head(statement: bash.Statement) -> str:
    """The programme of a simple command or of the first one of a pipeline, without its folder."""
    while not isinstance(statement, bash.Command):
        if isinstance(statement, bash.Pipeline):
            statement = statement.stages[0]
        elif isinstance(statement, bash.Background):
            statement = statement.body
        else:
            return ""
    return (statement.words[0].literal or "").rpartition("/")[2] if statement.words else ""


def _here_documents(statement: bash.Statement) -> list[bash.Word]:
    while isinstance(statement, (bash.Pipeline, bash.Background)):
        statement = statement.stages[0] if isinstance(statement, bash.Pipeline) else statement.body
    if not isinstance(statement, bash.Command):
        return []
    return [one.target for one in statement.redirects if one.op == "<<"]


# ---------------------------------------------------------------------------------------------------------------- jobs


def _job(reading: _Reading, block: Block, scope: _Scope, start: int, end: int, scenario: str = SCENARIO) -> CommandJob:
    text = scope.source.text[start:end]
    own = _with_entrypoint(_RUNNER.sub(lambda match: " " * len(match[0]), text))
    line, column, _ = scope.piece(start, end)
    pieces: list[Piece] = []
    for known in reading.known:
        if known.headings == block.headings[: len(known.headings)]:
            pieces.append(known.piece)
        else:
            pieces.extend(_unexported(known.piece))
    pieces += [*scope.local, (line, column, own)]
    first, run = _sparse(pieces)
    span = scope.source.span(start, end)
    if _CONTAINER.search(text):
        images = list(dict.fromkeys(_images(text)))
    else:
        engine = _engine(text)
        here = dict.fromkeys(image for above, image in reading.images if _holds_for(above, block.headings))
        images = [image for image in here if resolve_image(image).framework == engine]
    row: dict[str, object] = {"document": reading.name, "section": " > ".join(block.headings)}
    if len(images) == 1:
        row["image"] = images[0]
    here_pins = ((name, one) for above, name, one in reading.pins if _holds_for(above, block.headings))
    pins = list(dict.fromkeys(here_pins))
    versions = dict(pins) if len(images) == 0 and len({name for name, _ in pins}) == len(pins) else {}
    heading = Span(reading.path, block.heading_line, 1, block.heading_line, 1) if block.heading_line else span
    entry = _entry(reading, block, "" if scenario == SCENARIO else f"-{scenario}")
    return CommandJob(
        entry=entry,
        config=heading,
        arm=span,
        scenario=scenario,
        arm_index=0,
        row=row,
        start=Start(
            run=run,
            run_span=Span(reading.path, first, 1, span.end_line, span.end_column),
            values={name: Unknown(f"nothing in the document sets ${name}") for name in unset_variables(run)},
            run_origin=(first, 1),
            unknowns={mark: unknown for mark, unknown in reading.unknowns.items() if mark in run},
            shell="",
        ),
        versions=versions,
        known={"cut-off": ""},
    )


def _mark(reading: _Reading, match: re.Match[str]) -> str:
    """The mark of a text that a reader has to fill in."""
    text = match[0]
    mark = reading.marks.get(text)
    if mark is None:
        mark = reading.marks[text] = f"\ue002{len(reading.marks)}\ue003"
        # Dots may stand for nothing at all, and for many words.
        reading.unknowns[mark] = Unknown(f"the reader fills in {text[:60]}", nonempty=match["dots"] is None)
    return mark


def _unexported(piece: Piece) -> Iterator[Piece]:
    """What a statement of another section sets, without giving it to the server."""
    line, column, text = piece
    found = re.match(r"(?:export|readonly|(?:declare|typeset)(?:[ \t]+-[a-zA-Z]+)*)[ \t]+", text)
    if found is not None:
        yield line, column + found.end(), text[found.end() :]
    elif not text.startswith("unset"):
        yield piece


def _sparse(pieces: Iterable[Piece]) -> tuple[int, str]:
    """The first line, and a text in which each piece is where it is written, with nothing else between them."""
    ordered = sorted(pieces)
    first = ordered[0][0]
    line, column, text = first, 1, ""
    for at, start, piece in ordered:
        if at > line:
            text += "\n" * (at - line) + " " * (start - 1)
        elif text:
            text += ";" + " " * max(0, start - column - 1)
        else:
            text += " " * (start - 1)
        text += piece
        line = max(at, line) + piece.count("\n")
        column = len(piece) - piece.rfind("\n") if "\n" in piece else start + len(piece)
    return first, f"{text}\n"


def unset_variables(text: str) -> list[str]:
    """The variables that a text reads and does not set: they are whoever's who runs it; not those with a default."""
    found: dict[str, None] = {}
    # What is given to a shell is exported: what the text itself sets is left to it, unless it adds to what is there.
    own: set[str] = set()
    extended: set[str] = set()
    for setting in _SET.finditer(text):
        name, value = setting[1], text[setting.end() : setting.end() + MAX_SETTING].partition("\n")[0].partition(";")[0]
        (extended if any((one["bare"] or one["name"]) == name for one in _READ.finditer(value)) else own).add(name)
    own -= extended
    for match in _READ.finditer(text):
        name = match["bare"] or match["name"]
        if match["op"] is None and name not in own and name not in _SHELL_OWN:
            found[name] = None
    return list(found)


def _holds_for(above: tuple[str, ...], headings: tuple[str, ...]) -> bool:
    """Whether what a section prepares holds for another: one that it contains, or that follows a preparing one."""
    outer = above[:-1] if above and _PREPARES.search(above[-1]) else above
    return outer == headings[: len(outer)]


def _engine(text: str) -> str:
    """The framework that a command names first."""
    found = re.search(r"vllm|sglang|atom|trtllm|dynamo", text)
    return found[0] if found is not None else ""


def _images(text: str) -> Iterator[str]:
    """The images of container engines' commands."""
    commands = list(_CONTAINER.finditer(text))
    for match, following in zip_longest(commands, commands[1:]):
        last = len(text) if following is None else following.start()
        end = _LINE_END.search(text, match.end(), last)
        found = _IMAGE.search(text, match.end(), end.start() if end is not None else last)
        if found is not None:
            yield found[1]


def _entry(reading: _Reading, block: Block, suffix: str) -> str:
    """The name of a command: its document and section, which stay the same when lines move."""
    title = block.headings[-1] if block.headings else ""
    slug = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:60] or "commands"
    name = f"{reading.name}#{slug}{suffix}"
    number = reading.entries[name] = reading.entries.get(name, 0) + 1
    return name if number == 1 else f"{name}/{number}"
