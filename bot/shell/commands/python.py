"""A small part of Python: programs in scripts that read a YAML or JSON file and some variables and print text.

Nothing is executed: the syntax tree is evaluated over plain data, with bounds on steps and sizes. What lies outside of
the part that is known here raises Unmodelled.
"""

from __future__ import annotations

import ast
import json
import operator
import posixpath
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import Any

from botlint.documents.yaml import load_yaml, to_plain
from botlint.shell.commands.base import Unmodelled

MAX_PROGRAM = 40_000
MAX_STEPS = 40_000
MAX_SIZE = 1 << 20
MAX_DEPTH = 30
MAX_BITS = 4_096

Files = Callable[[str], str | None]


class _Exit(BaseException):
    """`sys.exit`."""

    def __init__(self, status: int) -> None:
        super().__init__()
        self.status = status


class _Return(BaseException):
    def __init__(self, value: Any) -> None:
        super().__init__()
        self.value = value


class _Break(BaseException):
    """`break`."""


class _Continue(BaseException):
    """`continue`."""


class _File:
    """A text file that is open for reading, or one of the standard streams."""

    __slots__ = ("at", "name", "text")

    def __init__(self, name: str, text: str) -> None:
        self.name = name
        self.text = text
        self.at = 0

    def read(self) -> str:
        """The rest of the text."""
        rest, self.at = self.text[self.at :], len(self.text)
        return rest

    def lines(self) -> list[str]:
        """The rest of the lines."""
        return self.read().splitlines(keepends=True)


class _Module:
    """A module of which some names are known."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name


class _Function:
    """A function of the programme."""

    __slots__ = ("node",)

    def __init__(self, node: ast.FunctionDef) -> None:
        self.node = node


class _Bound:
    """A method or a function of a module, before it is called."""

    __slots__ = ("name", "owner")

    def __init__(self, owner: Any, name: str) -> None:
        self.owner = owner
        self.name = name


class _Builtin:
    """A builtin function or a type, before it is called."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name


_MODULES = frozenset({"yaml", "json", "os", "os.path", "shlex", "sys"})
_TYPES: Mapping[str, type] = MappingProxyType(
    {"int": int, "float": float, "str": str, "bool": bool, "list": list, "dict": dict, "tuple": tuple}
)
_ERRORS: Mapping[str, type[Exception]] = MappingProxyType(
    {
        e.__name__: e
        for e in (
            Exception,
            ValueError,
            TypeError,
            KeyError,
            IndexError,
            AttributeError,
            NameError,
            ZeroDivisionError,
            OverflowError,
            ArithmeticError,
            LookupError,
            FileNotFoundError,
            OSError,
            RuntimeError,
        )
    }
)
_BUILTINS = frozenset(
    "print len range enumerate zip sorted reversed min max sum any all abs round isinstance repr open eval".split()
) | frozenset(_TYPES)

_OPERATORS: Mapping[type, Callable[[Any, Any], Any]] = MappingProxyType(
    {
        ast.Add: operator.add,
        ast.Sub: operator.sub,
        ast.Mult: operator.mul,
        ast.Div: operator.truediv,
        ast.FloorDiv: operator.floordiv,
        ast.Mod: operator.mod,
        ast.BitOr: operator.or_,
        ast.BitAnd: operator.and_,
    }
)
_COMPARISONS: Mapping[type, Callable[[Any, Any], bool]] = MappingProxyType(
    {
        ast.Eq: operator.eq,
        ast.NotEq: operator.ne,
        ast.Lt: operator.lt,
        ast.LtE: operator.le,
        ast.Gt: operator.gt,
        ast.GtE: operator.ge,
        ast.Is: operator.is_,
        ast.IsNot: operator.is_not,
        ast.In: lambda a, b: a in b,
        ast.NotIn: lambda a, b: a not in b,
    }
)
_STRING_METHODS = frozenset(
    "strip lstrip rstrip lower upper title capitalize split rsplit splitlines startswith endswith replace join isdigit "
    "partition rpartition removeprefix removesuffix find rfind count isalpha isalnum index".split()
)
_DICT_METHODS = frozenset({"get", "items", "keys", "values", "setdefault", "update", "pop", "copy"})
_LIST_METHODS = frozenset({"append", "extend", "index", "count", "pop", "copy", "insert"})


def run_python(
    program: str, arguments: Sequence[str], environment: Mapping[str, str], files: Files
) -> tuple[int, str] | None:
    """The exit status and the standard output of a programme, None if it does something that is not known here.

    `files` gives the text of a file, None if there is none; what it raises is passed on.
    """
    tree = _parsed(program)
    if tree is None or all(isinstance(statement, (ast.Import, ast.ImportFrom)) for statement in tree.body):
        # Whether a module is installed, only the machine knows.
        return None
    machine = _Machine(arguments, environment, files)
    status = 0
    try:
        machine.block(tree.body, machine.names)
    except _Exit as done:
        status = done.status
    except (Unmodelled, RecursionError, MemoryError, _Break, _Continue, _Return):
        return None
    except tuple(_ERRORS.values()):
        status = 1
    return status, "".join(machine.out)


@lru_cache(maxsize=64)
def _parsed(program: str) -> ast.Module | None:
    if len(program) > MAX_PROGRAM:
        return None
    try:
        return ast.parse(program)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


class _Machine:
    """Evaluates a syntax tree."""

    def __init__(self, arguments: Sequence[str], environment: Mapping[str, str], files: Files) -> None:
        self.arguments = ["-c", *arguments]
        self.environment = dict(environment)
        self.files = files
        self.names: dict[str, Any] = {"__name__": "__main__"}
        self.out: list[str] = []
        self.size = 0
        self.steps = 0
        self.depth = 0

    def step(self) -> None:
        self.steps += 1
        if self.steps > MAX_STEPS:
            raise Unmodelled("too many steps")

    def sized(self, value: Any) -> Any:
        """A value that is not too large."""
        if isinstance(value, (str, list, tuple, dict)) and len(value) > MAX_SIZE:
            raise Unmodelled("too large a value")
        if isinstance(value, int) and not isinstance(value, bool) and value.bit_length() > MAX_BITS:
            raise Unmodelled("too large a number")
        return value

    # -- statements

    def block(self, body: Iterable[ast.stmt], names: dict[str, Any]) -> None:
        for statement in body:
            self.step()
            method = getattr(self, f"do_{type(statement).__name__.lower()}", None)
            if method is None:
                raise Unmodelled(type(statement).__name__)
            method(statement, names)

    def do_import(self, node: ast.Import, names: dict[str, Any]) -> None:
        for alias in node.names:
            if alias.name not in _MODULES:
                raise Unmodelled(f"import of {alias.name}")
            names[alias.asname or alias.name.partition(".")[0]] = _Module(
                alias.name if alias.asname else alias.name.partition(".")[0]
            )

    def do_expr(self, node: ast.Expr, names: dict[str, Any]) -> None:
        self.value(node.value, names)

    def do_pass(self, _node: ast.Pass, _names: dict[str, Any]) -> None:
        """Nothing."""

    def do_assign(self, node: ast.Assign, names: dict[str, Any]) -> None:
        value = self.value(node.value, names)
        for target in node.targets:
            self.bind(target, value, names)

    def do_annassign(self, node: ast.AnnAssign, names: dict[str, Any]) -> None:
        if node.value is not None:
            self.bind(node.target, self.value(node.value, names), names)

    def do_augassign(self, node: ast.AugAssign, names: dict[str, Any]) -> None:
        if not isinstance(node.target, ast.Name):
            raise Unmodelled("an augmented assignment")
        left = self.lookup(node.target.id, names)
        names[node.target.id] = self.operate(node.op, left, self.value(node.value, names))

    def bind(self, target: ast.expr, value: Any, names: dict[str, Any]) -> None:
        if isinstance(target, ast.Name):
            names[target.id] = value
        elif isinstance(target, (ast.Tuple, ast.List)):
            values = list(self.items(value))
            if len(values) != len(target.elts):
                raise ValueError("unpacking")
            for element, part in zip(target.elts, values, strict=True):
                self.bind(element, part, names)
        elif isinstance(target, ast.Subscript):
            owner = self.value(target.value, names)
            if not isinstance(owner, (dict, list)) or owner is self.environment:
                raise Unmodelled("an assignment to an element")
            owner[self.value(target.slice, names)] = value
            self.sized(owner)
        else:
            raise Unmodelled("an assignment")

    def do_if(self, node: ast.If, names: dict[str, Any]) -> None:
        self.block(node.body if self.value(node.test, names) else node.orelse, names)

    def do_for(self, node: ast.For, names: dict[str, Any]) -> None:
        for item in self.items(self.value(node.iter, names)):
            self.step()
            self.bind(node.target, item, names)
            try:
                self.block(node.body, names)
            except _Continue:
                continue
            except _Break:
                return
        self.block(node.orelse, names)

    def do_while(self, node: ast.While, names: dict[str, Any]) -> None:
        while self.value(node.test, names):
            self.step()
            try:
                self.block(node.body, names)
            except _Continue:
                continue
            except _Break:
                return
        self.block(node.orelse, names)

    def do_break(self, _node: ast.Break, _names: dict[str, Any]) -> None:
        raise _Break

    def do_continue(self, _node: ast.Continue, _names: dict[str, Any]) -> None:
        raise _Continue

    def do_return(self, node: ast.Return, names: dict[str, Any]) -> None:
        raise _Return(None if node.value is None else self.value(node.value, names))

    def do_functiondef(self, node: ast.FunctionDef, names: dict[str, Any]) -> None:
        arguments = node.args
        if node.decorator_list or arguments.vararg or arguments.kwarg or arguments.kwonlyargs or arguments.posonlyargs:
            raise Unmodelled("a function of an unusual form")
        names[node.name] = _Function(node)

    def do_with(self, node: ast.With, names: dict[str, Any]) -> None:
        for item in node.items:
            value = self.value(item.context_expr, names)
            if not isinstance(value, _File):
                raise Unmodelled("a context that is no file")
            if item.optional_vars is not None:
                self.bind(item.optional_vars, value, names)
        self.block(node.body, names)

    def do_try(self, node: ast.Try, names: dict[str, Any]) -> None:
        try:
            try:
                self.block(node.body, names)
            except tuple(_ERRORS.values()) as error:
                handler = next((h for h in node.handlers if self.handles(h, error)), None)
                if handler is None:
                    raise
                if handler.name is not None:
                    names[handler.name] = str(error)
                self.block(handler.body, names)
            else:
                self.block(node.orelse, names)
        finally:
            self.block(node.finalbody, names)

    def handles(self, handler: ast.ExceptHandler, error: Exception) -> bool:
        if isinstance(error, Unmodelled):
            return False
        if handler.type is None:
            return True
        listed = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
        for kind in listed:
            if not isinstance(kind, ast.Name) or kind.id not in _ERRORS:
                raise Unmodelled("an unknown exception")
            if isinstance(error, _ERRORS[kind.id]):
                return True
        return False

    def do_raise(self, node: ast.Raise, names: dict[str, Any]) -> None:
        call = node.exc
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "SystemExit":
            self.leave([self.value(a, names) for a in call.args])
        raise Unmodelled("raise")

    # -- expressions

    def value(self, node: ast.expr, names: Mapping[str, Any]) -> Any:
        self.step()
        self.depth += 1
        if self.depth > MAX_DEPTH * 3:
            raise Unmodelled("nested too deeply")
        try:
            method = getattr(self, f"of_{type(node).__name__.lower()}", None)
            if method is None:
                raise Unmodelled(type(node).__name__)
            return self.sized(method(node, names))
        finally:
            self.depth -= 1

    def lookup(self, name: str, names: Mapping[str, Any]) -> Any:
        if name in names:
            return names[name]
        if name in self.names:
            return self.names[name]
        if name in _BUILTINS:
            return _Builtin(name)
        raise NameError(f"name {name!r} is not defined")

    def of_constant(self, node: ast.Constant, _names: Mapping[str, Any]) -> Any:
        if node.value is not None and not isinstance(node.value, (str, int, float, bool)):
            raise Unmodelled("a constant")
        return node.value

    def of_name(self, node: ast.Name, names: Mapping[str, Any]) -> Any:
        return self.lookup(node.id, names)

    def of_joinedstr(self, node: ast.JoinedStr, names: Mapping[str, Any]) -> str:
        return "".join(str(self.value(part, names)) for part in node.values)

    def of_formattedvalue(self, node: ast.FormattedValue, names: Mapping[str, Any]) -> str:
        if node.format_spec is not None:
            raise Unmodelled("a format")
        value = self.plain(self.value(node.value, names))
        return repr(value) if node.conversion == ord("r") else str(value)

    def plain(self, value: Any) -> Any:
        """A value whose text is known."""
        if isinstance(value, (_File, _Module, _Function, _Bound, _Builtin)):
            raise Unmodelled("the text of an object")
        return value

    def of_tuple(self, node: ast.Tuple, names: Mapping[str, Any]) -> tuple[Any, ...]:
        return tuple(self.value(e, names) for e in node.elts)

    def of_list(self, node: ast.List, names: Mapping[str, Any]) -> list[Any]:
        return [self.value(e, names) for e in node.elts]

    def of_dict(self, node: ast.Dict, names: Mapping[str, Any]) -> dict[Any, Any]:
        if any(key is None for key in node.keys):
            raise Unmodelled("an unpacked dictionary")
        return {
            self.value(k, names): self.value(v, names)
            for k, v in zip(node.keys, node.values, strict=True)
            if k is not None
        }

    def of_ifexp(self, node: ast.IfExp, names: Mapping[str, Any]) -> Any:
        return self.value(node.body if self.value(node.test, names) else node.orelse, names)

    def of_boolop(self, node: ast.BoolOp, names: Mapping[str, Any]) -> Any:
        result: Any = None
        for part in node.values:
            result = self.value(part, names)
            if bool(result) != isinstance(node.op, ast.And):
                break
        return result

    def of_unaryop(self, node: ast.UnaryOp, names: Mapping[str, Any]) -> Any:
        value = self.value(node.operand, names)
        if isinstance(node.op, ast.Not):
            return not value
        return -value if isinstance(node.op, ast.USub) else +value

    def of_binop(self, node: ast.BinOp, names: Mapping[str, Any]) -> Any:
        return self.operate(node.op, self.value(node.left, names), self.value(node.right, names))

    def operate(self, kind: ast.operator, left: Any, right: Any) -> Any:
        function = _OPERATORS.get(type(kind))
        if function is None:
            raise Unmodelled("an operator")
        if isinstance(kind, ast.Mod) and isinstance(left, str):
            raise Unmodelled("a format")
        if isinstance(kind, ast.Mult):
            for text, count in ((left, right), (right, left)):
                if isinstance(text, (str, list, tuple)) and isinstance(count, int) and len(text) * count > MAX_SIZE:
                    raise Unmodelled("too large a value")
        return self.sized(function(left, right))

    def of_compare(self, node: ast.Compare, names: Mapping[str, Any]) -> bool:
        left = self.value(node.left, names)
        for kind, part in zip(node.ops, node.comparators, strict=True):
            right = self.value(part, names)
            if not _COMPARISONS[type(kind)](left, right):
                return False
            left = right
        return True

    def of_subscript(self, node: ast.Subscript, names: Mapping[str, Any]) -> Any:
        owner = self.value(node.value, names)
        if not isinstance(owner, (str, list, tuple, dict)):
            if owner is None or isinstance(owner, (int, float)):
                raise TypeError("not subscriptable")
            raise Unmodelled("an element of an object")
        if isinstance(node.slice, ast.Slice):
            bounds = [
                None if part is None else self.value(part, names)
                for part in (node.slice.lower, node.slice.upper, node.slice.step)
            ]
            return owner[slice(*bounds)]
        return owner[self.value(node.slice, names)]

    def of_listcomp(self, node: ast.ListComp, names: Mapping[str, Any]) -> list[Any]:
        return list(self.comprehend(node.elt, node.generators, names))

    def of_generatorexp(self, node: ast.GeneratorExp, names: Mapping[str, Any]) -> list[Any]:
        return list(self.comprehend(node.elt, node.generators, names))

    def of_dictcomp(self, node: ast.DictComp, names: Mapping[str, Any]) -> dict[Any, Any]:
        pair = ast.Tuple([node.key, node.value], ast.Load())
        return dict(self.comprehend(pair, node.generators, names))

    def comprehend(
        self, element: ast.expr, generators: Sequence[ast.comprehension], names: Mapping[str, Any]
    ) -> Iterator[Any]:
        if not generators:
            yield self.value(element, names)
            return
        first, *others = generators
        for item in self.items(self.value(first.iter, names)):
            self.step()
            inner = dict(names)
            self.bind(first.target, item, inner)
            if all(self.value(test, inner) for test in first.ifs):
                yield from self.comprehend(element, others, inner)

    def items(self, value: Any) -> Iterable[Any]:
        if isinstance(value, _File):
            return value.lines()
        if isinstance(value, (str, list, tuple, range)):
            return value
        if isinstance(value, dict):
            return list(value)
        if value is None or isinstance(value, (int, float)):
            raise TypeError("not iterable")
        raise Unmodelled("iteration over an object")

    def of_attribute(self, node: ast.Attribute, names: Mapping[str, Any]) -> Any:
        owner = self.value(node.value, names)
        name = node.attr
        if isinstance(owner, _Module):
            return self.member(owner.name, name)
        if isinstance(owner, str) and name in _STRING_METHODS:
            return _Bound(owner, name)
        if isinstance(owner, dict) and name in _DICT_METHODS:
            return _Bound(owner, name)
        if isinstance(owner, list) and name in _LIST_METHODS:
            return _Bound(owner, name)
        if isinstance(owner, _File) and name in ("read", "readlines", "write", "close"):
            return _Bound(owner, name)
        if isinstance(owner, (type(None), str, int, float, list, dict, tuple)) and not hasattr(owner, name):
            raise AttributeError(name)
        raise Unmodelled(f"attribute {name}")

    def member(self, module: str, name: str) -> Any:
        if module == "os":
            if name == "environ":
                return self.environment
            if name == "path":
                return _Module("os.path")
            if name == "getenv":
                return _Bound(self.environment, "get")
        elif module == "sys":
            if name == "argv":
                return list(self.arguments)
            if name in ("stdout", "stderr"):
                return _File(name, "")
        return _Bound(_Module(module), name)

    # -- calls

    def of_call(self, node: ast.Call, names: Mapping[str, Any]) -> Any:
        if any(isinstance(a, ast.Starred) for a in node.args) or any(k.arg is None for k in node.keywords):
            raise Unmodelled("unpacked arguments")
        function = self.value(node.func, names)
        arguments = [self.value(a, names) for a in node.args]
        keywords = {str(k.arg): self.value(k.value, names) for k in node.keywords}
        if isinstance(function, _Function):
            return self.call(function.node, arguments, keywords)
        if isinstance(function, _Builtin):
            return self.builtin(function.name, arguments, keywords)
        if isinstance(function, _Bound):
            if isinstance(function.owner, _Module):
                return self.library(function.owner.name, function.name, arguments, keywords)
            return self.method(function.owner, function.name, arguments, keywords)
        if function is None or isinstance(function, (str, int, float, list, dict)):
            raise TypeError("not callable")
        raise Unmodelled("a call")

    def call(self, node: ast.FunctionDef, arguments: list[Any], keywords: dict[str, Any]) -> Any:
        parameters = [a.arg for a in node.args.args]
        defaults = node.args.defaults
        names: dict[str, Any] = {
            name: self.value(default, self.names)
            for name, default in zip(parameters[len(parameters) - len(defaults) :], defaults, strict=True)
        }
        if len(arguments) > len(parameters) or not keywords.keys() <= set(parameters):
            raise TypeError("arguments")
        names.update(zip(parameters, arguments, strict=False))
        names.update(keywords)
        if not names.keys() >= set(parameters):
            raise TypeError("missing arguments")
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise Unmodelled("nested too deeply")
        try:
            self.block(node.body, names)
        except _Return as returned:
            return returned.value
        finally:
            self.depth -= 1
        return None

    def builtin(self, name: str, arguments: list[Any], keywords: dict[str, Any]) -> Any:
        if name == "print":
            return self.print(arguments, keywords)
        if name == "isinstance":
            return self.is_instance(arguments)
        if name == "open":
            return self.open(arguments, keywords)
        if name == "eval":
            return self.evaluate(arguments)
        if keywords and not (name == "sorted" and keywords.keys() == {"reverse"}):
            raise Unmodelled(f"arguments of {name}")
        for argument in arguments:
            if not isinstance(argument, (range, dict, list, tuple)):
                self.plain(argument)
        if name == "range":
            found = range(*arguments)
            if len(found) > MAX_STEPS:
                raise Unmodelled("too long a range")
            return found
        if name in ("enumerate", "zip", "reversed"):
            function: Callable[..., Any] = {"enumerate": enumerate, "zip": zip, "reversed": reversed}[name]
            return list(function(*arguments))
        if name in _TYPES:
            if name == "int" and arguments and isinstance(arguments[0], str) and len(arguments[0]) > MAX_BITS // 4:
                raise Unmodelled("too large a number")
            return _TYPES[name](*arguments)
        simple: Mapping[str, Callable[..., Any]] = {
            "len": len,
            "sorted": sorted,
            "min": min,
            "max": max,
            "sum": sum,
            "any": any,
            "all": all,
            "abs": abs,
            "round": round,
            "repr": repr,
        }
        return simple[name](*arguments, **keywords)

    def print(self, arguments: list[Any], keywords: dict[str, Any]) -> None:
        if not keywords.keys() <= {"sep", "end", "file", "flush"}:
            raise TypeError("arguments of print")
        target = keywords.get("file")
        text = str(keywords.get("sep", " ")).join(str(self.plain(a)) for a in arguments) + str(
            keywords.get("end", "\n")
        )
        self.write("stdout" if target is None else target.name if isinstance(target, _File) else "", text)

    def write(self, stream: str, text: str) -> None:
        if stream == "stderr":
            return
        if stream != "stdout":
            raise Unmodelled("a file is written")
        self.size += len(text)
        if self.size > MAX_SIZE:
            raise Unmodelled("too much output")
        self.out.append(text)

    def is_instance(self, arguments: list[Any]) -> bool:
        value, kinds = arguments
        listed = kinds if isinstance(kinds, tuple) else (kinds,)
        if not all(isinstance(k, _Builtin) and k.name in _TYPES for k in listed):
            raise Unmodelled("isinstance")
        return isinstance(value, tuple(_TYPES[k.name] for k in listed))

    def open(self, arguments: list[Any], keywords: dict[str, Any]) -> _File:
        mode = arguments[1] if len(arguments) > 1 else keywords.get("mode", "r")
        if not arguments or not isinstance(arguments[0], str) or mode not in ("r", "rt"):
            raise Unmodelled("a file is opened in an unusual way")
        text = self.files(arguments[0])
        if text is None:
            raise FileNotFoundError(arguments[0])
        return _File(arguments[0], text)

    def evaluate(self, arguments: list[Any]) -> Any:
        """`eval(text, globals, locals)` of an arithmetic expression over names that are given."""
        if len(arguments) != 3 or not isinstance(arguments[0], str) or len(arguments[0]) > 1_000:
            raise Unmodelled("eval")
        try:
            tree = ast.parse(arguments[0].strip(), mode="eval")
        except (SyntaxError, ValueError):
            raise ValueError("invalid syntax") from None
        allowed = (ast.Expression, ast.BinOp, ast.UnaryOp, ast.Name, ast.Constant, ast.operator, ast.unaryop, ast.Load)
        if not all(isinstance(part, allowed) for part in ast.walk(tree)):
            raise Unmodelled("eval")
        scope = {k: v for k, v in {**arguments[1], **arguments[2]}.items() if k != "__builtins__"}
        for part in ast.walk(tree):
            if isinstance(part, ast.Name) and part.id not in scope:
                raise NameError(part.id)
        return self.value(tree.body, scope)

    def library(self, module: str, name: str, arguments: list[Any], keywords: dict[str, Any]) -> Any:
        if module == "sys" and name == "exit":
            self.leave(arguments)
        if keywords:
            raise Unmodelled(f"arguments of {module}.{name}")
        if module == "yaml" and name == "safe_load" and len(arguments) == 1:
            return self.load_yaml(self.source(arguments[0]))
        if module == "json" and name in ("load", "loads") and len(arguments) == 1:
            return json.loads(self.source(arguments[0]))
        if module == "json" and name == "dumps" and len(arguments) == 1:
            return json.dumps(arguments[0])
        if module == "shlex" and name in ("split", "quote", "join") and len(arguments) == 1:
            return self.words(name, arguments[0])
        if module == "os.path" and all(isinstance(a, str) for a in arguments):
            if name in ("join", "basename", "dirname"):
                return getattr(posixpath, name)(*arguments)
            if name in ("exists", "isfile") and len(arguments) == 1:
                return self.files(arguments[0]) is not None
        raise Unmodelled(f"{module}.{name}")

    def words(self, name: str, value: Any) -> Any:
        """`shlex.split`, `shlex.quote` and `shlex.join`."""
        if name == "join":
            return shlex.join([self.source(one) for one in self.items(value)])
        text = self.source(value)
        return shlex.split(text) if name == "split" else shlex.quote(text)

    def source(self, value: Any) -> str:
        if isinstance(value, _File):
            return value.read()
        if not isinstance(value, str):
            raise TypeError("not a text")
        return value

    def load_yaml(self, text: str) -> Any:
        document = load_yaml(text, "")
        if any(p.kind in ("yaml-syntax", "yaml-depth", "yaml-size") for p in document.problems):
            raise Unmodelled("YAML that is not read without a problem")
        return to_plain(document.root)

    def leave(self, arguments: list[Any]) -> None:
        code = arguments[0] if arguments else 0
        if code is None or isinstance(code, int):
            raise _Exit(int(code or 0) & 255)
        raise _Exit(1)

    def method(self, owner: Any, name: str, arguments: list[Any], keywords: dict[str, Any]) -> Any:
        if isinstance(owner, _File):
            if name == "write":
                self.write(owner.name, str(arguments[0]))
                return len(str(arguments[0]))
            return owner.read() if name == "read" else owner.lines() if name == "readlines" else None
        if keywords:
            raise Unmodelled(f"arguments of {name}")
        if owner is self.environment and name not in ("get", "items", "keys", "values", "copy"):
            raise Unmodelled("the environment is changed")
        if isinstance(owner, str) and name == "replace" and len(arguments) >= 2:
            old, new = str(arguments[0]), str(arguments[1])
            if (owner.count(old) + 1) * len(new) + len(owner) > MAX_SIZE:
                raise Unmodelled("too large a value")
        if isinstance(owner, str) and name == "join":
            arguments = [[self.plain(a) for a in self.items(arguments[0])]]
        result = getattr(owner, name)(*arguments)
        if isinstance(owner, dict) and name in ("items", "keys", "values"):
            return list(result)
        return result
