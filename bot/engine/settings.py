"""`.botlint.yaml`: which rules run, how bad their findings are, what is left out, and where the baseline is."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal, NoReturn, TypeVar, get_args

from botlint.core.errors import UsageError
from botlint.core.finding import SEVERITIES, Severity
from botlint.core.globs import MAX_GLOB, matches
from botlint.core.ruleinfo import RuleInfo
from botlint.core.span import Span
from botlint.documents.yaml import Mapping as MappingNode
from botlint.documents.yaml import Node, Scalar, Schema, load_yaml
from botlint.documents.yaml import Sequence as SequenceNode
from botlint.layouts.choose import NAMES, Choice
from botlint.repo.files import Files, is_safe_path

SETTINGS_PATH = ".botlint.yaml"
DEFAULT_BASELINE = ".botlint/baseline.json"
DEFAULT_RULES = ".botlint/rules"
VERSION = 1

MAX_SETTINGS = 200_000
"""Characters of a settings file."""

MAX_COMMENTS = 100
"""Comments of one review that settings may ask for; GitHub slows down who posts more at once."""

MAX_WORDS = 20_000
"""Characters of a text that is said on pull requests."""

MIN_PHRASE = 8
"""Characters of the words that sign a pull request off."""

MAX_ITEMS = 1_000
"""Entries of one list or mapping of the settings."""

MAX_DEPTH = 4
"""Lists and mappings inside of each other that an option of a layout may be."""

MAX_SMOKE_JOBS = 8
"""Smoke jobs of one run that settings may ask for: one node starts them one after another."""

MAX_SMOKE_GPUS = 64
MAX_MINUTES = 1_440
"""Minutes that settings may let a smoke run wait or take."""

MAX_LABEL = 50
"""Characters of a label, as GitHub bounds them."""

Level = Literal["off", "error", "warning", "info"]
Language = Literal["en", "zh"]
LEVELS: tuple[Level, ...] = get_args(Level)
LANGUAGES: tuple[Language, ...] = get_args(Language)

T = TypeVar("T")

_WORKFLOW = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}\.ya?ml")


@dataclass(frozen=True, slots=True)
class RuleSetting:
    """What the settings say about a rule or a family, and where."""

    level: Level
    span: Span


@dataclass(frozen=True, slots=True)
class SignOff:
    """The words that sign a pull request off, and who may say them: code owners of what changes, or who may write."""

    phrase: str
    by: Literal["codeowners", "write"] = "codeowners"


@dataclass(frozen=True, slots=True)
class ReviewSettings:
    """How pull requests are reviewed.

    `first_contact` is a text, or the path of a file with one; `checklist` the heading below which all boxes of the
    description have to be ticked, `*` for any.
    """

    max_inline_comments: int = 30
    resolve_threads: bool = False
    drafts: Literal["summary", "off"] = "summary"
    fail_closed: bool = False
    first_contact: str = ""
    sign_off: SignOff | None = None
    checklist: str = ""
    require_dco: bool = False


@dataclass(frozen=True, slots=True)
class SmokeSettings:
    """How jobs of a pull request are started for minutes on a node of GPUs.

    `workflow` is the file of that name in `.github/workflows` of the default branch, `label` asks for a run as the
    command does (empty: no label does), `automatic` starts one for each push of somebody who may write. `runners` are
    globs of the runners whose jobs the node can start, `images` of the images that may run there, `max_jobs` and
    `max_gpus` the budget: jobs of one run, and GPUs of one job. Times are in minutes: until a runner takes the run, and
    until its end from then on.
    """

    workflow: str = "botlint-smoke.yml"
    label: str = "botlint-smoke"
    automatic: bool = False
    runners: tuple[str, ...] = ("*mi355x*",)
    images: tuple[str, ...] = ("*",)
    max_jobs: int = 2
    max_gpus: int = 8
    queue_timeout: int = 60
    timeout: int = 60


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of a repository; a repository without a file has these defaults."""

    fail_level: Severity = "error"
    rules: Mapping[str, RuleSetting] = field(default_factory=dict)
    exclude: tuple[str, ...] = ()
    baseline: str = DEFAULT_BASELINE
    require_suppression_reason: bool = False
    languages: tuple[Language, ...] = ("en",)
    layout: str = ""
    layout_options: Mapping[str, object] = field(default_factory=dict)
    custom_rules: str = DEFAULT_RULES
    review: ReviewSettings = ReviewSettings()
    smoke: SmokeSettings | None = None
    """None where the repository does not ask for smoke jobs."""

    @property
    def layout_choice(self) -> Choice:
        """The layout with its options; without a name the repository's files decide."""
        return Choice(self.layout, self.layout_options)

    def level(self, rule: RuleInfo, layout: str = "") -> Level:
        """How bad a rule's findings are: what is said of its name, else of its id, a former name or its family.

        In a repository of a known layout, a rule of other layouts is off where nothing is said.
        """
        for name in rule.names:
            setting = self.rules.get(name)
            if setting is not None:
                return setting.level
        if layout and rule.layouts and layout not in rule.layouts:
            return "off"
        asked = not rule.asked_by or bool(getattr(self.review, rule.asked_by.replace("-", "_"), False))
        return rule.severity if asked else "off"

    def excludes(self, path: str) -> bool:
        """Whether findings in a file are left out; those about no file are not."""
        return bool(path) and any(matches(pattern, path) for pattern in self.exclude)

    def fails(self, severity: Severity) -> bool:
        """Whether a finding of this severity reaches the fail level."""
        return SEVERITIES.index(severity) <= SEVERITIES.index(self.fail_level)

    def check_names(self, rules: Iterable[RuleInfo]) -> None:
        """Raises UsageError for a rule or family that does not exist, with the closest one."""
        known = {name for rule in rules for name in rule.names}
        for name, setting in self.rules.items():
            if name not in known:
                _fail(setting.span, f"there is no rule or family {name!r}{_hint(name, known)}")


def read_settings(files: Files) -> Settings:
    """The settings of a revision, the defaults if it has none. Raises UsageError with the place of a wrong setting."""
    text = own_text(files, SETTINGS_PATH)
    return Settings() if text is None else parse_settings(text)


def own_text(files: Files, path: str) -> str | None:
    """The text of a file that is about botlint itself; None if there is none.

    Raises UsageError if there is something that is not read, for other findings would count without it.
    """
    source = files.text(path)
    if source is not None:
        return source.text
    refuse_links(files, path)
    if files.is_dir(path):
        raise UsageError(f"{path}: a folder, where a file is expected")
    found = [problem for problem in files.problems if problem.span.path == path]
    if found:
        raise UsageError(f"{path}: {found[0].message}")
    return None


def refuse_links(files: Files, path: str) -> None:
    """Raises UsageError if a path is, or leads through, a symbolic link, which is not followed."""
    parts = path.split("/")
    for number in range(1, len(parts) + 1):
        part = "/".join(parts[:number])
        if files.symlink_target(part) is not None:
            raise UsageError(f"{part}: a symbolic link is not followed; put what it leads to in its place")


def parse_settings(text: str, path: str = SETTINGS_PATH) -> Settings:
    """The settings of a text. Raises UsageError with the place of a wrong setting."""
    if len(text) > MAX_SETTINGS:
        _fail(Span(path, 1, 1, 1, 1), f"{len(text)} characters, more than {MAX_SETTINGS}")
    # In the schema of YAML 1.2 `off` is a text, not false.
    document = load_yaml(text, path, Schema.CORE)
    for problem in document.problems:
        _fail(problem.span, problem.message)
    root = document.root
    if not isinstance(root, MappingNode):
        _fail(Span(path, 1, 1, 1, 1) if root is None else root.span, "the settings are a mapping that has `version: 1`")
    values: dict[str, object] = {}
    for key, node in _items(root, set(_READERS)):
        values[_FIELDS.get(key.text, key.text.replace("-", "_"))] = _READERS[key.text](node)
    version = root.get("version")
    if version is None:
        _fail(root.span, f"`version: {VERSION}` is missing")
    values.pop("version")
    return Settings(**values)  # type: ignore[arg-type]


# --- readers of the single settings


def _version(node: Node) -> int:
    if not isinstance(node, Scalar) or node.value != VERSION or node.tag != "int":
        _fail(node.span, f"this botlint reads version {VERSION}")
    return VERSION


def _choice(node: Node, choices: Iterable[T]) -> T:
    listed = list(choices)
    found = [one for one in listed if isinstance(node, Scalar) and node.value == one and type(node.value) is type(one)]
    if found:
        return found[0]
    return _fail(node.span, f"expected one of {', '.join(map(str, listed))}{_got(node)}")


def _rules(node: Node) -> dict[str, RuleSetting]:
    found = {}
    for key, value in _items(node, None):
        level = "off" if isinstance(value, Scalar) and value.value is False else _choice(value, LEVELS)
        found[key.text] = RuleSetting(level, key.span)
    return found


def _paths(node: Node) -> tuple[str, ...]:
    found: tuple[str, ...] = ()
    for _, value in _items(node, {"exclude"}):
        found = _list(value, _glob)
    return found


def _glob(node: Node) -> str:
    text = _text(node)
    if not text or len(text) > MAX_GLOB:
        _fail(node.span, f"expected a glob of 1 to {MAX_GLOB} characters")
    return text


def _language(node: Node) -> Language:
    return _choice(node, LANGUAGES)


def _languages(node: Node) -> tuple[Language, ...]:
    found = _list(node, _language)
    if not found or len(set(found)) != len(found):
        _fail(node.span, "expected one or more different languages")
    return found


def _list(node: Node, read: Callable[[Node], T]) -> tuple[T, ...]:
    if not isinstance(node, SequenceNode):
        _fail(node.span, f"expected a list{_got(node)}")
    if len(node.items) > MAX_ITEMS:
        _fail(node.span, f"more than {MAX_ITEMS} items")
    return tuple(read(item) for item in node.items)


def _path(node: Node) -> str:
    text = _text(node)
    if not is_safe_path(text):
        _fail(node.span, f"expected a path inside the repository{_got(node)}")
    return text


def _text(node: Node) -> str:
    if not isinstance(node, Scalar) or not isinstance(node.value, str):
        _fail(node.span, f"expected a text{_got(node)}")
    return node.value


def _words(node: Node) -> str:
    text = _text(node)
    if not text.strip() or len(text) > MAX_WORDS:
        _fail(node.span, f"expected a text of 1 to {MAX_WORDS} characters")
    return text


def _phrase(node: Node) -> str:
    text = " ".join(_words(node).split())
    if len(text) < MIN_PHRASE:
        _fail(node.span, f"expected a phrase of at least {MIN_PHRASE} characters, which nobody says by chance")
    return text


def _sign_off(node: Node) -> SignOff:
    values = {key.text: _SIGN_OFF[key.text](value) for key, value in _items(node, set(_SIGN_OFF))}
    if "phrase" not in values:
        _fail(node.span, "`phrase` is missing: the words that sign a pull request off")
    return SignOff(**values)  # type: ignore[arg-type]


def _truth(node: Node) -> bool:
    return _choice(node, (True, False))


def _number(least: int, most: int) -> Callable[[Node], int]:
    def read(node: Node) -> int:
        if isinstance(node, Scalar) and type(node.value) is int and least <= node.value <= most:
            return node.value
        return _fail(node.span, f"expected a number from {least} to {most}{_got(node)}")

    return read


def _workflow(node: Node) -> str:
    text = _text(node)
    if _WORKFLOW.fullmatch(text) is None:
        _fail(node.span, f"expected the name of a file in .github/workflows{_got(node)}")
    return text


def _label(node: Node) -> str:
    text = _text(node)
    if len(text) > MAX_LABEL or text != text.strip():
        _fail(node.span, f"expected a label of at most {MAX_LABEL} characters")
    return text


def _globs(node: Node) -> tuple[str, ...]:
    found = _list(node, _glob)
    if not found:
        _fail(node.span, "expected one or more globs")
    return found


def _smoke(node: Node) -> SmokeSettings:
    values = {key.text.replace("-", "_"): _SMOKE[key.text](value) for key, value in _items(node, set(_SMOKE))}
    return SmokeSettings(**values)  # type: ignore[arg-type]


def _review(node: Node) -> ReviewSettings:
    values = {key.text.replace("-", "_"): _REVIEW[key.text](value) for key, value in _items(node, set(_REVIEW))}
    return ReviewSettings(**values)  # type: ignore[arg-type]


def _options(node: Node) -> dict[str, object]:
    left = [MAX_ITEMS]
    return {key.text: _plain(value, MAX_DEPTH, left) for key, value in _items(node, None)}


def _plain(node: Node, depth: int, left: list[int]) -> object:
    """A value as plain data, as long as not more than `left` values came together."""
    left[0] -= 1
    if left[0] < 0:
        _fail(node.span, f"more than {MAX_ITEMS} values")
    if isinstance(node, Scalar):
        return node.value
    if not depth:
        _fail(node.span, "lists and mappings that are nested too deeply")
    if isinstance(node, SequenceNode):
        return [_plain(item, depth - 1, left) for item in node.items]
    return {key.text: _plain(value, depth - 1, left) for key, value in _items(node, None)}


def _items(node: Node, allowed: set[str] | None) -> Iterable[tuple[Scalar, Node]]:
    if not isinstance(node, MappingNode):
        _fail(node.span, f"expected a mapping{_got(node)}")
    if len(node) > MAX_ITEMS:
        _fail(node.span, f"more than {MAX_ITEMS} entries")
    for key, value in node.pairs():
        if not isinstance(key.value, str):
            _fail(key.span, f"expected a name, got {key.text[:80]!r}")
        if allowed is not None and key.value not in allowed:
            _fail(key.span, f"there is no setting {key.text[:80]!r}{_hint(key.text, allowed)}")
        yield key, value


_SIGN_OFF: dict[str, Callable[[Node], object]] = {
    "phrase": _phrase,
    "by": lambda node: _choice(node, ("codeowners", "write")),
}
_REVIEW: dict[str, Callable[[Node], object]] = {
    "max-inline-comments": _number(0, MAX_COMMENTS),
    "resolve-threads": _truth,
    "drafts": lambda node: _choice(node, ("summary", "off")),
    "fail-closed": _truth,
    "first-contact": _words,
    "sign-off": _sign_off,
    "checklist": _words,
    "require-dco": _truth,
}
_SMOKE: dict[str, Callable[[Node], object]] = {
    "workflow": _workflow,
    "label": _label,
    "automatic": _truth,
    "runners": _globs,
    "images": _globs,
    "max-jobs": _number(1, MAX_SMOKE_JOBS),
    "max-gpus": _number(1, MAX_SMOKE_GPUS),
    "queue-timeout": _number(1, MAX_MINUTES),
    "timeout": _number(1, MAX_MINUTES),
}
_READERS: dict[str, Callable[[Node], object]] = {
    "version": _version,
    "fail-level": lambda node: _choice(node, SEVERITIES),
    "rules": _rules,
    "paths": _paths,
    "baseline": _path,
    "require-suppression-reason": _truth,
    "languages": _languages,
    "layout": lambda node: _choice(node, NAMES),
    "layout-options": _options,
    "custom-rules": _path,
    "review": _review,
    "smoke": _smoke,
}
_FIELDS = {"paths": "exclude"}


def _got(node: Node) -> str:
    if isinstance(node, Scalar):
        return f", got {node.text[:80]!r}"
    return f", got a {'list' if isinstance(node, SequenceNode) else 'mapping'}"


def _hint(name: str, known: Iterable[str]) -> str:
    close = difflib.get_close_matches(name[:80], sorted(known), n=1)
    return f"; did you mean {close[0]!r}?" if close else ""


def _fail(span: Span, message: str) -> NoReturn:
    raise UsageError(f"{span.path}:{span.line}:{span.column}: {message}")
