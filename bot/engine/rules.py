"""Rule files: read, checked against the facts that exist, and compiled."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib import resources
from typing import Any

from botlint.core.errors import UsageError
from botlint.core.finding import Certainty, Severity
from botlint.core.span import Problem, Span
from botlint.documents.plain import load_plain
from botlint.documents.yaml import Mapping as MappingNode
from botlint.documents.yaml import Scalar, YamlDocument, find, load_yaml, to_plain
from botlint.engine.predicates import (
    Expression,
    ExpressionError,
    Meter,
    Part,
    Template,
    Vocabulary,
    compile_template,
    full_names,
    guards,
    mentioned,
    template_expressions,
)
from botlint.engine.versions import VersionRange, parse_range
from botlint.engine.views.registry import anchors_of, lineage, views, vocabulary
from botlint.engine.watch import digest
from botlint.layouts.choose import INFERENCEX, NAMES

MAX_RULES = 500
"""Custom rules of a repository that are read."""

MAX_RULE_FILE = 200_000
"""Characters of one rule file."""

FAMILY_LAYOUTS: Mapping[str, tuple[str, ...]] = {"policy": (INFERENCEX,)}
"""Families whose rules are one layout's own: they are off elsewhere, unless a rule or the settings say otherwise."""

_EXPRESSIONS = ("when", "require")


class RuleError(Exception):
    """A rule file with errors; each has its place."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__("; ".join(f"{p.span.path}:{p.span.line}:{p.span.column}: {p.message}" for p in problems))
        self.problems = problems


@dataclass(frozen=True, slots=True)
class Pointer:
    """A place that a finding points at, with a few words."""

    at: str
    message: str


@dataclass(frozen=True, slots=True)
class FixEdit:
    """One edit of a rule's fix: what replaces an anchor; `line` takes the whole lines."""

    at: str
    text: str
    line: bool = False


@dataclass(frozen=True, slots=True)
class FixForm:
    """The fix that a rule offers."""

    title: str
    safe: bool
    edits: tuple[FixEdit, ...]


@dataclass(frozen=True)
class Rule:
    """One rule; its expressions are compiled when they are first needed, those of a custom rule when it is loaded."""

    id: str
    name: str
    family: str
    severity: Severity
    certainty: Certainty
    scope: str
    view: str
    message_text: str
    when_text: str | None = None
    require_text: str = "false"
    at: tuple[str, ...] = ()
    related_forms: tuple[Pointer, ...] = ()
    subject_text: str | None = None
    proof_texts: tuple[str, ...] = ()
    remedy_text: str = ""
    why: str = ""
    sources: tuple[str, ...] = ()
    versions: Mapping[str, VersionRange] | None = None
    version_texts: Mapping[str, str] | None = None
    fix_form: FixForm | None = None
    examples: tuple[Mapping[str, Any], ...] = ()
    aliases: tuple[str, ...] = ()
    asked_by: str = ""
    layouts: tuple[str, ...] = ()
    path: str = ""
    meter: Meter | None = field(default=None, repr=False, compare=False)

    @cached_property
    def digest(self) -> str:
        """A short text that is the same for rules that say the same."""
        return digest(repr(self))

    @cached_property
    def _vocabulary(self) -> Vocabulary:
        return vocabulary(self.view)

    @cached_property
    def when(self) -> Expression | None:
        return None if self.when_text is None else self._compile(self.when_text, "bool")

    @cached_property
    def require(self) -> Expression:
        return self._compile(self.require_text, "bool")

    def _compile(self, text: str, result: str | None = None) -> Expression:
        return self._vocabulary.compile(text, result).measured_by(self.meter)

    def _template(self, text: str) -> Template:
        return compile_template(text, self._compile)

    @cached_property
    def message(self) -> Template:
        return self._template(self.message_text)

    @cached_property
    def remedy(self) -> Template:
        return self._template(self.remedy_text)

    @cached_property
    def subject(self) -> Template | None:
        return None if self.subject_text is None else self._template(self.subject_text)

    @cached_property
    def related(self) -> tuple[tuple[str, Template], ...]:
        return tuple((form.at, self._template(form.message)) for form in self.related_forms)

    @cached_property
    def proof(self) -> tuple[Template, ...]:
        return tuple(self._template(text) for text in self.proof_texts)

    @cached_property
    def fix(self) -> tuple[tuple[str, Template, bool], ...]:
        form = self.fix_form
        return tuple((edit.at, self._template(edit.text), edit.line) for edit in form.edits) if form else ()

    @cached_property
    def fix_title(self) -> Template | None:
        return self._template(self.fix_form.title) if self.fix_form else None

    @cached_property
    def verdict_names(self) -> tuple[str, ...]:
        """The facts on which the verdict depends."""
        return mentioned([self.require_text, self.when_text or ""], self._vocabulary.facts)

    @cached_property
    def verdict_parts(self) -> tuple[tuple[int, str, Part], ...] | None:
        """What the verdict depends on: level of a record, fact, and part of the fact; None if that cannot be compared.

        A custom rule's expressions are measured each time that they are evaluated.
        """
        found: dict[str, Part] = {}
        for one in (self.require, self.when):
            if one is None:
                continue
            if one.parts is None or self.meter is not None:
                return None
            for name, part in one.parts:
                before = found.get(name, ())
                joined = isinstance(part, tuple) and isinstance(before, tuple)
                found[name] = tuple(sorted({*part, *before})) if joined else part
        levels = [full_names(view.name, view.facts) for view in lineage(self.view)]
        return tuple(
            (next(level for level, facts in enumerate(levels) if name in facts), name, part)
            for name, part in found.items()
        )

    @cached_property
    def guards(self) -> tuple[tuple[int, str, frozenset[object] | None], ...]:
        """Facts, by the level of their record, without one of whose values (None: any) no record violates the rule."""
        levels = [full_names(view.name, view.facts) for view in lineage(self.view)]
        found = guards(self.when_text) if self.when_text is not None else []
        return tuple(
            (level, name, allowed)
            for name, allowed in found
            for level, facts in enumerate(levels)
            if name in facts and facts[name].type in ("string", "int", "bool", "double")
        )

    @cached_property
    def known_verdicts(self) -> dict[tuple[object, ...], bool]:
        """Whether records violate the rule, by the parts on which that depends."""
        return {}

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The facts on which verdict and texts of a finding depend; nothing is compiled for that."""
        texts = [self.require_text, self.when_text or ""]
        templates = [self.message_text, self.remedy_text, self.subject_text or "", *self.proof_texts]
        templates.extend(form.message for form in self.related_forms)
        if self.fix_form is not None:
            templates += [self.fix_form.title, *(edit.text for edit in self.fix_form.edits)]
        texts.extend(part for text in templates for part in template_expressions(text))
        return mentioned(texts, self._vocabulary.facts)


def _plain_list(value: object) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, list) else () if value is None else (value,)


def rule_from(data: Mapping[str, Any], family: str, path: str) -> Rule:
    """A rule from the plain values of its file, whose form was checked."""
    versions = data.get("versions")
    fix = data.get("fix")
    scope = str(data["scope"])
    return Rule(
        id=data["id"],
        name=data["name"],
        family=family,
        severity=data["severity"],
        certainty=data.get("certainty", "certain"),
        scope=scope,
        view=data.get("view", "job"),
        message_text=data["message"].strip(),
        when_text=data.get("when"),
        require_text=data.get("require", "false"),
        at=tuple(str(one) for one in _plain_list(data.get("at"))),
        related_forms=tuple(Pointer(one["at"], one["message"]) for one in _plain_list(data.get("related"))),
        subject_text=data.get("subject"),
        proof_texts=tuple(_plain_list(data.get("proof"))),
        remedy_text=str(data.get("remedy", "")).strip(),
        why=str(data.get("why", "")).strip(),
        sources=tuple(str(one) for one in _plain_list(data.get("sources"))),
        versions={name: parse_range(text) for name, text in versions.items()} if versions else None,
        version_texts=versions,
        fix_form=FixForm(
            fix["title"],
            bool(fix.get("safe", False)),
            tuple(FixEdit(e["at"], e.get("text", ""), bool(e.get("line", False))) for e in fix["edits"]),
        )
        if fix
        else None,
        examples=tuple(_plain_list(data.get("examples"))),
        aliases=tuple(_plain_list(data.get("aliases"))),
        asked_by=str(data.get("asked-by", "")),
        layouts=tuple(_plain_list(data["layouts"])) if "layouts" in data else FAMILY_LAYOUTS.get(family, ()),
        path=path,
    )


# ------------------------------------------------------------------------------------------------------- with places


def load_rule(text: str, path: str, family: str) -> Rule:
    """A rule from its file's text, everything checked and compiled.

    Raises RuleError with the place of each error.
    """
    if len(text) > MAX_RULE_FILE:
        raise RuleError([Problem(f"longer than {MAX_RULE_FILE} characters", Span(path, 1, 1, 1, 1), "rule")])
    document = load_yaml(text, path)
    problems = list(document.problems) or _form_problems(document, path)
    if problems:
        raise RuleError(problems)
    data = to_plain(document.root)
    problems = _content_problems(data, document)
    if problems:
        raise RuleError(problems)
    rule = rule_from(data, family, path)
    problems = _expression_problems(rule, data, document)
    if problems:
        raise RuleError(problems)
    return rule


def _at(document: YamlDocument, path: Sequence[str | int]) -> Span:
    """Where the value at a path is written, else the nearest that is."""
    for length in range(len(path), -1, -1):
        node = find(document.root, path[:length])
        if node is not None:
            return node.span
    return Span(document.path, 1, 1, 1, 1)


def _form_problems(document: YamlDocument, path: str) -> list[Problem]:
    """What does not have the form of `rule.schema.json`."""
    from botlint.engine.schema import schema_errors

    if not isinstance(document.root, MappingNode):
        return [Problem("not a mapping", Span(path, 1, 1, 1, 1), "rule")]
    return [
        Problem(message, _at(document, where), "rule")
        for where, message in schema_errors("rule.schema.json", to_plain(document.root))
    ]


def _content_problems(data: Mapping[str, Any], document: YamlDocument) -> list[Problem]:
    found: list[Problem] = []

    def wrong(message: str, *path: str | int) -> None:
        found.append(Problem(message, _at(document, path), "rule"))

    view = data.get("view", "job")
    if view not in views():
        wrong(f"unknown view {view!r}; views are {', '.join(views())}", "view")
        return found
    places: list[tuple[str, tuple[str | int, ...]]] = []
    at = data.get("at")
    if isinstance(at, str):
        places.append((at, ("at",)))
    elif at:
        places.extend((name, ("at", number)) for number, name in enumerate(at))
    places.extend((one["at"], ("related", n, "at")) for n, one in enumerate(data.get("related") or ()))
    places.extend(
        (one["at"], ("fix", "edits", n, "at")) for n, one in enumerate((data.get("fix") or {}).get("edits", ()))
    )
    for number, name in enumerate(data.get("layouts") or ()):
        if name not in NAMES:
            wrong(f"unknown layout {name!r}; layouts are {', '.join(NAMES)}", "layouts", number)
    for name, where in places:
        if not any(one.has_anchor(name) for one in lineage(view)):
            known = ", ".join(sorted(set(anchors_of(view))))
            wrong(f"unknown anchor {name!r}; anchors of {view} are {known}", *where)
    if data.get("versions"):
        if "server" not in {one.name for one in lineage(view)}:
            wrong("versions need a view of a server", "versions")
        for name, text in data["versions"].items():
            try:
                parse_range(text)
            except ValueError as error:
                wrong(str(error), "versions", name)
    return found


def _expression_problems(rule: Rule, data: Mapping[str, Any], document: YamlDocument) -> list[Problem]:
    found: list[Problem] = []
    words = vocabulary(rule.view)

    def check(path: tuple[str | int, ...], kind: str) -> None:
        node = find(document.root, path)
        if not isinstance(node, Scalar):
            return
        text = node.text
        try:
            if kind == "template":
                compile_template(text, words.compile)
            else:
                words.compile(text, kind)
        except ExpressionError as error:
            found.append(Problem(error.message, _within(node, error), "rule"))

    for name in _EXPRESSIONS:
        check((name,), "bool")
    for name in ("message", "remedy", "subject"):
        check((name,), "template")
    for number in range(len(data.get("related") or ())):
        check(("related", number, "message"), "template")
    for number in range(len(_plain_list(data.get("proof")))):
        check(("proof", number), "template")
    if data.get("fix"):
        check(("fix", "title"), "template")
        for number in range(len(data["fix"]["edits"])):
            check(("fix", "edits", number, "text"), "template")
    return found


def _within(node: Scalar, error: ExpressionError) -> Span:
    """The place of an error inside a scalar's text."""
    lines = node.text.split("\n")
    offset = sum(len(line) + 1 for line in lines[: error.line - 1]) + error.column - 1
    offset = max(0, min(offset, max(0, len(node.text) - 1)))
    return node.subspan(offset, offset + 1)


# ----------------------------------------------------------------------------------------------------------- all rules


def builtin_files() -> list[tuple[str, str, Any]]:
    """Family, name and file of every rule that ships."""
    root = resources.files("botlint.rules")
    found: list[tuple[str, str, Any]] = []
    for family in sorted(root.iterdir(), key=lambda one: one.name):
        if family.is_dir() and not family.name.startswith(("_", ".")):
            files = sorted((one for one in family.iterdir() if one.name.endswith(".yaml")), key=lambda one: one.name)
            found.extend((family.name, f"rules/{family.name}/{file.name}", file) for file in files)
    return found


def builtin_rules() -> list[Rule]:
    """The rules that ship, in the order of their ids; tests have checked their form."""
    rules = []
    for family, path, file in builtin_files():
        data = load_plain(file.read_text(encoding="utf-8"))
        rules.append(rule_from(data, family, path))
    return sorted(rules, key=lambda rule: (len(rule.id), rule.id))


def custom_rules(texts: Iterable[tuple[str, str]], taken: Iterable[Rule]) -> list[Rule]:
    """A repository's own rules from (path, text) pairs; their family is `custom`.

    Raises UsageError with the place of every error.
    """
    problems: list[Problem] = []
    rules: list[Rule] = []
    known = {key for rule in taken for key in (rule.id, rule.name, *rule.aliases)}
    meter = Meter()
    for path, text in texts:
        if len(rules) >= MAX_RULES:
            problems.append(Problem(f"more than {MAX_RULES} custom rules", Span(path, 1, 1, 1, 1), "rule"))
            break
        try:
            rule = load_rule(text, path, "custom")
        except RuleError as error:
            problems.extend(error.problems)
            continue
        if {rule.id, rule.name} & known:
            problems.append(Problem(f"{rule.id} {rule.name}: the id or name is taken", Span(path, 1, 1, 1, 1), "rule"))
            continue
        known |= {rule.id, rule.name}
        rules.append(replace(rule, meter=meter))
    if problems:
        lines = [f"{p.span.path}:{p.span.line}:{p.span.column}: {p.message}" for p in problems]
        raise UsageError("\n".join(["custom rules cannot be used:", *lines]))
    return rules
