"""One form for the syntax trees of three readers of bash, so that they can be compared.

The readers are botlint's own (botlint.documents.bash), mvdan/sh (`shfmt -tojson`) and bashlex. The common form is
nested tuples: commands by kind, words as runs of quoted text, unquoted text and expansions. Spelling that has no
meaning is gone: which quotes were used, `$x` or `${x}`, blanks in arithmetic, where a redirection stands.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterable, Sequence
from typing import Any

import bashlex  # type: ignore[import-untyped]

from botlint.documents import bash

Form = tuple[Any, ...]
SHFMT = shutil.which("shfmt") or "shfmt"


class CannotReadError(Exception):
    """The second reader refuses the text, or reads something that has no common form."""


# ------------------------------------------------------------------------------------------------------------ the form


def _runs(atoms: Iterable[Form]) -> Form:
    """Joins neighbouring literals of the same kind; drops empty unquoted ones."""
    joined: list[Form] = []
    for atom in atoms:
        if atom[0] in ("text", "quoted") and joined and joined[-1][0] == atom[0]:
            joined[-1] = (atom[0], joined[-1][1] + atom[1])
        elif atom != ("text", ""):
            joined.append(atom)
    return tuple(joined)


def _expression(text: str) -> str:
    """Arithmetic without what cannot change its meaning: blanks and double quotes."""
    return re.sub(r'[\s"]|\\\n', "", text)


def _literal(atoms: Form) -> Form:
    """The word of a default inside double quotes, where it does not matter whether a piece of it is quoted again."""
    same: list[Form] = [("quoted", "")]
    for atom in atoms:
        if atom[0] == "parameter":
            *head, operator, arguments = atom[2:]
            inner = tuple(_literal(word) for word in arguments) if operator in DEFAULTS else arguments
            same.append((atom[0], True, *head, operator, inner))
        elif atom[0] in ("substitution", "arithmetic"):
            same.append((atom[0], True, *atom[2:]))
        else:
            same.append(("quoted", atom[1]) if atom[0] == "text" else atom)
    return _runs(same)


DEFAULTS = frozenset([":-", "-", ":=", "=", ":+", "+", ":?", "?", "@"])


def _command(assigns: Sequence[Form], words: Sequence[Form], redirects: Iterable[Form]) -> Form:
    return ("command", tuple(assigns), tuple(words), tuple(redirects))


def _compound(body: Form, redirects: Iterable[Form]) -> Form:
    wanted = tuple(redirects)
    return ("redirected", body, wanted) if wanted else body


# ------------------------------------------------------------------------------------------------------- botlint's tree


def read_botlint(text: str) -> Form:
    """The common form of botlint's own reading; raises CannotReadError where it says that the text is not bash."""
    script = bash.parse_script(text, "script.sh")
    statements = list(script)
    if script.problem is not None:
        raise CannotReadError(script.problem.message)
    return _Botlint().statements(statements)


class _Botlint:
    def statements(self, items: Sequence[bash.Statement]) -> Form:
        return tuple(self.statement(item) for item in items)

    def statement(self, node: bash.Statement) -> Form:
        match node:
            case bash.Command():
                return self.command(node)
            case bash.Pipeline():
                stages = tuple(self.statement(stage) for stage in node.stages)
                # A stage that also pipes its standard error.
                return ("pipeline", node.negated, stages, tuple(node.both[: len(stages) - 1]))
            case bash.AndOr():
                return ("list", tuple(self.statement(item) for item in node.items), tuple(node.operators))
            case bash.Background():
                return ("background", self.statement(node.body))
            case bash.Function():
                return ("function", node.name, self.statement(node.body))
            case bash.Coproc():
                raise CannotReadError("coproc")
            case bash.Bad():
                raise CannotReadError(node.message)
            case _:
                return _compound(self.body(node), (self.redirect(item) for item in node.redirects))

    def body(self, node: bash.Statement) -> Form:
        match node:
            case bash.If():
                clauses = tuple((self.statements(test), self.statements(body)) for test, body in node.clauses)
                return ("if", clauses, None if node.orelse is None else self.statements(node.orelse))
            case bash.While():
                return ("while", node.until, self.statements(node.condition), self.statements(node.body))
            case bash.For():
                words = None if node.words is None else tuple(self.word(word) for word in node.words)
                return ("for", node.name, words, self.statements(node.body))
            case bash.ArithFor():
                parts = tuple(_expression(part.text) for part in (node.init, node.condition, node.update))
                return ("for((", parts, self.statements(node.body))
            case bash.Case():
                items = tuple(
                    (tuple(self.word(word) for word in patterns), self.statements(body), end)
                    for patterns, body, end in node.items
                )
                return ("case", self.word(node.word), items)
            case bash.Group():
                return ("group", self.statements(node.body))
            case bash.Subshell():
                return ("subshell", self.statements(node.body))
            case bash.Cond():
                return ("[[", self.condition(node.expr))
            case bash.Arith():
                return ("((", _expression(node.expr.text))
            case _:
                raise CannotReadError(type(node).__name__)

    def command(self, node: bash.Command) -> Form:
        declares = node.declares or {}
        words = [
            self.assign(declares[index]) if index in declares else self.word(word)
            for index, word in enumerate(node.words)
        ]
        return _command(
            [self.assign(item) for item in node.assigns], words, (self.redirect(item) for item in node.redirects)
        )

    def assign(self, node: bash.Assign) -> Form:
        index = None if node.index is None else _expression(node.index.text)
        if node.array is not None:
            value: Form = (
                "array",
                tuple(
                    (None if key is None else _expression(key.text), append, self.word(element))
                    for key, append, element in node.array
                ),
            )
        else:
            value = () if node.value is None else self.word(node.value)
        return ("assign", node.name, index, node.append, value)

    def redirect(self, node: bash.Redirect) -> Form:
        return ("redirect", node.op, node.fd, self.word(node.target))

    def condition(self, node: bash.CondExpr) -> Form:
        match node:
            case bash.CondUnary():
                return ("unary", node.op, self.word(node.word))
            case bash.CondBinary():
                operator = "==" if node.op == "=" else node.op
                return ("binary", operator, self.word(node.left), self.word(node.right))
            case bash.CondNot():
                return ("not", self.condition(node.expr))
            case bash.CondLogic():
                return (node.op, self.condition(node.left), self.condition(node.right))

    def word(self, word: bash.Word) -> Form:
        return _runs(self.atoms(word.parts, quoted=False))

    def atoms(self, parts: Iterable[bash.Part], quoted: bool) -> Iterable[Form]:
        for part in parts:
            match part:
                case str():
                    yield ("quoted" if quoted else "text", part)
                case bash.Quoted():
                    yield ("quoted", part.text)
                case bash.DoubleQuoted():
                    yield ("quoted", "")
                    yield from self.atoms(part.parts, quoted=True)
                case bash.Param():
                    yield self.parameter(part, quoted)
                case bash.CommandSub():
                    yield ("substitution", quoted, self.statements(part.body))
                case bash.ProcessSub():
                    yield ("process", part.write, self.statements(part.body))
                case bash.ArithSub():
                    yield ("arithmetic", quoted, _expression(part.expr.text))

    def parameter(self, node: bash.Param, quoted: bool) -> Form:
        index = node.index.text if isinstance(node.index, bash.Word) else node.index
        if node.prefix:
            return ("names", node.name, index)
        operator, words = node.op, [word for word in (node.arg, node.arg2) if word is not None]
        kind = "keys" if node.keys else "length" if node.length else "indirect" if node.indirect else "value"
        arguments: Form
        if operator == ":":
            arguments = tuple(_expression(word.text) for word in words)
        elif operator[:1] == "/":
            pattern = self.word(node.arg) if node.arg is not None else ()
            if operator[1:] in ("#", "%"):
                pattern = _runs([("text", operator[1:]), *pattern])
            replacement = self.word(node.arg2) if node.arg2 is not None else ()
            operator, arguments = ("//" if operator == "//" else "/"), (pattern, replacement)
        else:
            arguments = tuple(self.word(word) for word in words) or ((),)
            if not operator:
                arguments = ()
            elif quoted and operator in DEFAULTS:
                arguments = tuple(_literal(word) for word in arguments)
        shown = None if index is None else _expression(index)
        return ("parameter", quoted, kind, node.name, shown, operator, arguments)


# ------------------------------------------------------------------------------------------------------------- mvdan/sh


def read_shfmt(text: str) -> Form:
    """The common form of mvdan/sh's reading; raises CannotReadError when it refuses the text."""
    if "\r" in text:
        raise CannotReadError("drops carriage returns")
    done = subprocess.run(
        [SHFMT, "-ln", "bash", "-tojson"], input=text.encode(), capture_output=True, timeout=10, check=False
    )
    if done.returncode != 0:
        raise CannotReadError(done.stderr.decode("utf-8", "replace").strip())
    return _Shfmt(text).statements(json.loads(done.stdout).get("Stmts", ()))


class _Shfmt:
    """Reads the JSON of `shfmt -tojson`; its positions are byte offsets."""

    def __init__(self, text: str) -> None:
        self.raw = text.encode()

    def statements(self, items: Iterable[Any]) -> Form:
        return tuple(self.statement(item) for item in items)

    def statement(self, node: Any) -> Form:
        if node.get("Coprocess"):
            raise CannotReadError("coproc")
        redirects = [self.redirect(item) for item in node.get("Redirs", ())]
        form = self.bare(node.get("Cmd"), redirects)
        if node.get("Negated"):
            form = ("pipeline", True, form[2], form[3]) if form[0] == "pipeline" else ("pipeline", True, (form,), ())
        return ("background", form) if node.get("Background") else form

    def bare(self, node: Any, redirects: list[Form]) -> Form:
        if node is None:
            return _command((), (), redirects)
        match node["Type"]:
            case "CallExpr":
                assigns = [self.assign(item) for item in node.get("Assigns", ())]
                return _command(assigns, [self.word(item) for item in node.get("Args", ())], redirects)
            case "DeclClause":
                words = [(("text", node["Variant"]["Value"]),), *(self.declared(item) for item in node.get("Args", ()))]
                return _command((), words, redirects)
            case "BinaryCmd":
                return self.binary(node, redirects)
            case "FuncDecl":
                return ("function", node["Name"]["Value"], self.statement(node["Body"]))
            case "TimeClause":
                if "Stmt" not in node:
                    raise CannotReadError("time without a command")
                return self.statement(node["Stmt"])
            case _:
                return _compound(self.body(node), redirects)

    def binary(self, node: Any, redirects: list[Form]) -> Form:
        if redirects:
            raise CannotReadError("a redirection after a list")
        left, right = self.statement(node["X"]), self.statement(node["Y"])
        if (operator := node["Op"]) in ("|", "|&"):
            stages, both = (left[2], left[3]) if left[0] == "pipeline" and not left[1] else ((left,), ())
            return ("pipeline", False, (*stages, right), (*both, operator == "|&"))
        items, operators = (left[1], left[2]) if left[0] == "list" else ((left,), ())
        return ("list", (*items, right), (*operators, operator))

    def body(self, node: Any) -> Form:
        match node["Type"]:
            case "IfClause":
                return self.condition_chain(node)
            case "WhileClause":
                body = self.statements(node.get("Do", ()))
                return ("while", node.get("Until", False), self.statements(node.get("Cond", ())), body)
            case "ForClause":
                return self.loop(node)
            case "CaseClause":
                items = tuple(
                    (
                        tuple(self.word(word) for word in item["Patterns"]),
                        self.statements(item.get("Stmts", ())),
                        item.get("Op", ";;"),
                    )
                    for item in node.get("Items", ())
                )
                return ("case", self.word(node["Word"]), items)
            case "Block":
                return ("group", self.statements(node.get("Stmts", ())))
            case "Subshell":
                return ("subshell", self.statements(node.get("Stmts", ())))
            case "TestClause":
                return ("[[", self.condition(node["X"]))
            case "ArithmCmd":
                return ("((", self.source(node["X"]))
            case other:
                raise CannotReadError(other)

    def loop(self, node: Any) -> Form:
        if node.get("Select"):
            raise CannotReadError("select")
        loop, body = node["Loop"], self.statements(node.get("Do", ()))
        if loop["Type"] == "WordIter":
            words = tuple(self.word(word) for word in loop.get("Items", ())) if "InPos" in loop else None
            return ("for", loop["Name"]["Value"], words, body)
        parts = tuple(self.source(loop[part]) if part in loop else "" for part in ("Init", "Cond", "Post"))
        return ("for((", parts, body)

    def condition_chain(self, node: Any) -> Form:
        clauses = []
        orelse = None
        while True:
            clauses.append((self.statements(node["Cond"]), self.statements(node.get("Then", ()))))
            following = node.get("Else")
            if following is None:
                break
            if "Cond" not in following:
                orelse = self.statements(following.get("Then", ()))
                break
            node = following
        return ("if", tuple(clauses), orelse)

    def source(self, node: Any) -> str:
        return _expression(self.raw[node["Pos"]["Offset"] : node["End"]["Offset"]].decode())

    def assign(self, node: Any) -> Form:
        index = self.source(node["Index"]) if "Index" in node else None
        if "Array" in node:
            elements = node["Array"].get("Elems", ())
            value: Form = ("array", tuple(self.element(item) for item in elements))
        else:
            value = self.word(node["Value"]) if "Value" in node else ()
        return ("assign", node["Name"]["Value"], index, node.get("Append", False), value)

    def element(self, node: Any) -> Form:
        key = self.source(node["Index"]) if "Index" in node else None
        append = key is not None and self.raw[node["Index"]["End"]["Offset"] :].lstrip(b" \t]")[:1] == b"+"
        return (key, append, self.word(node["Value"]) if "Value" in node else ())

    def declared(self, node: Any) -> Form:
        if not node.get("Naked"):
            return self.assign(node)
        return (("text", node["Name"]["Value"]),) if "Name" in node else self.word(node["Value"])

    def redirect(self, node: Any) -> Form:
        number = node.get("N", {}).get("Value")
        descriptor: int | str | None = None
        if number is not None:
            descriptor = int(number) if number.isdigit() else number.strip("{}")
        operator = node["Op"]
        if "Hdoc" not in node and operator not in ("<<", "<<-"):
            return ("redirect", operator, descriptor, self.word(node["Word"]))
        plain = self.word(node["Word"])
        parts = node.get("Hdoc", {}).get("Parts", ())
        if any(atom[0] == "quoted" for atom in plain):
            text = "".join(part["Value"] for part in parts)
            atoms: Iterable[Form] = [("quoted", text)]
        else:
            atoms = [("quoted", ""), *self.atoms(parts, quoted=True, here=True)]
        word = _runs(atoms)
        if operator == "<<-":
            word = _without_tabs(word)
        return ("redirect", "<<", descriptor, word)

    def condition(self, node: Any) -> Form:
        match node["Type"]:
            case "ParenTest":
                return self.condition(node["X"])
            case "UnaryTest":
                if node["Op"] == "!":
                    if node["X"]["Type"] == "BinaryTest" and node["X"]["Op"] in ("&&", "||"):
                        raise CannotReadError("binds `!` weaker than `&&` and `||`")
                    return ("not", self.condition(node["X"]))
                return ("unary", node["Op"], self.word(node["X"]))
            case "BinaryTest":
                if node["Op"] in ("&&", "||"):
                    return (node["Op"], self.condition(node["X"]), self.condition(node["Y"]))
                operator = "==" if node["Op"] == "=" else node["Op"]
                return ("binary", operator, self.word(node["X"]), self.word(node["Y"]))
            case _:
                # A word alone asks whether it is not empty.
                return ("unary", "-n", self.word(node))

    def word(self, node: Any) -> Form:
        return _runs(self.atoms(node.get("Parts", ()), quoted=False))

    def atoms(self, parts: Iterable[Any], quoted: bool, here: bool = False) -> Iterable[Form]:
        for part in parts:
            match part["Type"]:
                case "Lit" if quoted:
                    yield ("quoted", _unescaped(part["Value"], "$`\\\\" if here else '$`"\\\\'))
                case "Lit":
                    yield from _unquoted(part["Value"])
                case "SglQuoted":
                    yield (
                        "quoted",
                        bash.ansi_c(part.get("Value", "")) if part.get("Dollar") else part.get("Value", ""),
                    )
                case "DblQuoted":
                    yield ("quoted", "")
                    yield from self.atoms(part.get("Parts", ()), quoted=True)
                case "ParamExp":
                    yield self.parameter(part, quoted)
                case "CmdSubst":
                    if part.get("Backquotes"):
                        # Their text is read again after a level of backslashes is gone; its offsets are not the file's.
                        raise CannotReadError("backquotes")
                    yield ("substitution", quoted, self.statements(part.get("Stmts", ())))
                case "ProcSubst":
                    yield ("process", part["Op"] == ">(", self.statements(part.get("Stmts", ())))
                case "ArithmExp":
                    yield ("arithmetic", quoted, self.source(part["X"]))
                case "ExtGlob":
                    yield from _unquoted(part["Op"] + part["Pattern"]["Value"] + ")")
                case other:
                    raise CannotReadError(other)

    def parameter(self, node: Any, quoted: bool) -> Form:
        name = node["Param"]["Value"]
        if "Names" in node:
            return ("names", name, node["Names"])
        index = self.source(node["Index"]) if "Index" in node else None
        kind = "value"
        if node.get("Excl"):
            kind = "keys" if index in ("@", "*") else "indirect"
        elif node.get("Length"):
            kind = "length"
        operator = ""
        arguments: Form = ()
        if "Slice" in node:
            piece = node["Slice"]
            bounds = [self.source(piece[part]) for part in ("Offset", "Length") if part in piece]
            operator, arguments = ":", tuple(bounds)
        elif "Repl" in node:
            change = node["Repl"]
            words = [self.word(change[part]) if part in change else () for part in ("Orig", "With")]
            operator, arguments = ("//" if change.get("All") else "/"), tuple(words)
        elif "Exp" in node:
            operator = node["Exp"]["Op"]
            if operator == "@":
                letter = node["Exp"]["Word"]["Parts"][0]["Value"]
                return ("parameter", quoted, kind, name, index, operator, ((("quoted", letter),),))
            arguments = (self.operand(node["Exp"].get("Word", {}), quoted and operator in DEFAULTS),)
        return ("parameter", quoted, kind, name, index, operator, arguments)

    def operand(self, node: Any, quoted_default: bool) -> Form:
        if not quoted_default:
            return self.word(node)
        atoms: list[Form] = []
        for part in node.get("Parts", ()):
            if part["Type"] == "SglQuoted" and not part.get("Dollar"):
                raise CannotReadError("takes single quotes inside a quoted default for quotes")
            if part["Type"] == "Lit":
                atoms.append(("quoted", _unescaped(part["Value"], '$`"\\\\}')))
            else:
                atoms.extend(self.atoms([part], quoted=True))
        return _literal(_runs(atoms))


def _unquoted(text: str) -> Iterable[Form]:
    """Splits literal text at its backslashes."""
    for piece in re.split(r"(\\[\s\S])", text):
        if piece != "\\\n":
            yield ("quoted", piece[1:]) if piece[:1] == "\\" and piece[1:] else ("text", piece)


def _unescaped(text: str, special: str) -> str:
    """Text inside double quotes: a backslash goes before a special character, with a newline it goes altogether."""
    return re.sub(rf"\\(\n|[{special}])", lambda found: found[1].strip("\n"), text)


def _without_tabs(word: Form) -> Form:
    """The body of `<<-`: no tabs at the start of a line."""
    atoms = []
    fresh = True
    for atom in word:
        if atom[0] == "quoted":
            text = re.sub(r"^\t+" if fresh else r"(?<=\n)\t+", "", atom[1])
            text = re.sub(r"(?<=\n)\t+", "", text)
            fresh = text.endswith("\n")
            atoms.append(("quoted", text))
        else:
            fresh = False
            atoms.append(atom)
    return tuple(atoms)


# -------------------------------------------------------------------------------------------------------------- bashlex


def read_bashlex(text: str) -> list[list[str]]:
    """The words of each simple command outside of substitutions, as bashlex reads them.

    Raises CannotReadError when bashlex refuses the text, for which it has many exceptions.
    """
    try:
        trees = bashlex.parse(text)
    except Exception as error:
        raise CannotReadError(f"{type(error).__name__}: {error}") from error
    found: list[list[str]] = []

    def visit(node: Any) -> None:
        if node.kind == "command":
            words = [part for part in node.parts if part.kind in ("word", "assignment")]
            found.append([text[slice(*part.pos)] for part in words])
        elif node.kind == "compound":
            for item in node.list:
                visit(item)
        else:
            for item in getattr(node, "parts", ()):
                visit(item)

    for tree in trees:
        visit(tree)
    return found


def read_words(text: str) -> list[list[str]]:
    """The words of each simple command outside of substitutions, as botlint reads them; the pair of read_bashlex."""
    script = bash.parse_script(text, "script.sh")
    found: list[list[str]] = []

    def visit(node: bash.Statement) -> None:
        match node:
            case bash.Command():
                declared = node.declares or {}
                words = [text[item.pos : item.end] for item in node.assigns]
                for index, word in enumerate(node.words):
                    item = declared.get(index)
                    words.append(word.text if item is None else text[item.pos : item.end])
                found.append(words)
            case bash.Pipeline():
                below(node.stages)
            case bash.AndOr():
                below(node.items)
            case bash.Background() | bash.Function():
                visit(node.body)
            case bash.If():
                for condition, body in node.clauses:
                    below(condition)
                    below(body)
                below(node.orelse or ())
            case bash.While():
                below(node.condition)
                below(node.body)
            case bash.For() | bash.Group() | bash.Subshell():
                below(node.body)
            case _:
                raise CannotReadError(type(node).__name__)

    def below(nodes: Iterable[bash.Statement]) -> None:
        for node in nodes:
            visit(node)

    below(list(script))
    return found
