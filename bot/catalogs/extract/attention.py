"""Which block sizes, head sizes, KV dtypes and devices an attention backend of vLLM takes, read from syntax trees."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field
from pathlib import Path

from botlint.catalogs.extract.common import Attributes, Records, parse_file

_FOLDERS = ("attention", "model_executor/layers/attention", "models", "v1/attention")
_MAX_BASES = 12


@dataclass(slots=True)
class _Class:
    """A backend class: its own assignments and methods, its bases, and what its module imports them as."""

    module: str
    name: str
    bases: list[str]
    imports: dict[str, str]
    values: dict[str, ast.expr] = field(default_factory=dict)
    methods: dict[str, ast.FunctionDef] = field(default_factory=dict)


def attention_facts(source: Path, members: dict[str, str]) -> Records:
    """Return each backend (name to class path) with the facts that its class and bases state plainly."""
    classes = _read_classes(source)
    base = next(
        (c for c in classes.values() if c.name == "AttentionBackend" and "supports_block_size" in c.methods), None
    )
    records: Records = {}
    for name, path in members.items():
        line = _lineage(classes.get(path), classes) if path else []
        records[name] = _facts(line, base) if line else {}
    return dict(sorted(records.items()))


def _read_classes(source: Path) -> dict[str, _Class]:
    classes: dict[str, _Class] = {}
    for folder in _FOLDERS:
        for path in sorted((source / "vllm" / folder).rglob("*.py")):
            module = ".".join(path.relative_to(source).with_suffix("").parts)
            tree = parse_file(path)
            imports = _imports(module, tree)
            for node in ast.walk(tree):
                if isinstance(node, ast.ClassDef) and "Backend" in node.name:
                    classes[f"{module}.{node.name}"] = _read_class(module, node, imports)
    return classes


def _imports(module: str, tree: ast.Module) -> dict[str, str]:
    """Return the full name behind each name that the module imports from another."""
    found: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            package = module.split(".")[: -node.level] if node.level else []
            origin = ".".join([*package, *([node.module] if node.module else [])])
            found.update({alias.asname or alias.name: f"{origin}.{alias.name}" for alias in node.names})
    return found


def _read_class(module: str, node: ast.ClassDef, imports: dict[str, str]) -> _Class:
    bases = [ast.unparse(base).rpartition(".")[2].partition("[")[0] for base in node.bases]
    result = _Class(module, node.name, bases, imports)
    for item in node.body:
        if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name) and item.value is not None:
            result.values[item.target.id] = item.value
        elif isinstance(item, ast.Assign) and isinstance(item.targets[0], ast.Name):
            result.values[item.targets[0].id] = item.value
        elif isinstance(item, ast.FunctionDef):
            result.methods[item.name] = item
    return result


def _lineage(start: _Class | None, classes: dict[str, _Class]) -> list[_Class]:
    """Return the class and its bases, nearest first; empty when a base is not found."""
    line: list[_Class] = []
    current = start
    while current is not None and len(line) < _MAX_BASES:
        line.append(current)
        names = [name for name in current.bases if name not in ("ABC", "Generic", "object", "Protocol")]
        if not names:
            return line
        current = _base(current, names[0], classes)
    return []


def _base(cls: _Class, name: str, classes: dict[str, _Class]) -> _Class | None:
    """Return the class behind the name of a base: of the same module, imported, or the only one of that name."""
    exact = classes.get(f"{cls.module}.{name}") or classes.get(cls.imports.get(name, ""))
    if exact is not None:
        return exact
    found = [other for other in classes.values() if other.name == name]
    return found[0] if len(found) == 1 else None


def _facts(line: list[_Class], base: _Class | None) -> Attributes:
    facts: Attributes = {}
    sizes = _literal_list(line, "get_supported_head_sizes", "supported_head_sizes")
    if sizes and not _overridden(line, "supports_head_size"):
        facts["head_sizes"] = sizes
    facts |= _block_facts(line, base)
    kinds = _literal_list(line, "", "supported_kv_cache_dtypes")
    if kinds and not _overridden(line, "supports_kv_cache_dtype", "supported_kv_cache_dtypes"):
        facts["kv_cache_dtypes"] = sorted(map(str, kinds))
    dtypes = _expression(line, "get_supported_dtypes", "supported_dtypes")
    if isinstance(dtypes, ast.List) and all(isinstance(item, ast.Attribute) for item in dtypes.elts):
        facts["dtypes"] = sorted(item.attr for item in dtypes.elts if isinstance(item, ast.Attribute))
    for key, method in (("mla", "is_mla"), ("sparse", "is_sparse")):
        value = _expression(line, method, "")
        if isinstance(value, ast.Constant) and value.value is True:
            facts[key] = True
    capability = _capability(_expression(line, "supports_compute_capability", ""))
    if capability:
        facts["compute_capability"] = capability
    return facts


def _block_facts(line: list[_Class], base: _Class | None) -> Attributes:
    """Return exact block sizes and sizes of which a multiple is accepted."""
    own = next((c.methods["supports_block_size"] for c in line if "supports_block_size" in c.methods), None)
    if own is not None and (base is None or own is not base.methods["supports_block_size"]):
        divisors = sorted({d for node in ast.walk(own) if (d := _divisor(node)) is not None})
        return {"block_multiples": divisors} if divisors else {}
    listed = _expression(line, "get_supported_kernel_block_sizes", "supported_kernel_block_sizes")
    if not isinstance(listed, ast.List) or not listed.elts:
        return {}
    exact: set[int] = set()
    multiples: set[int] = set()
    # Newer versions only ask that the size is a multiple of the kernel's, even where the kernel names a fixed one.
    only_multiples = own is not None and "isinstance(supported_size, int)" not in ast.unparse(own)
    for item in listed.elts:
        if isinstance(item, ast.Call) and ast.unparse(item.func).endswith("MultipleOf") and len(item.args) == 1:
            number, target = item.args[0], multiples
        else:
            number, target = item, multiples if only_multiples else exact
        if not isinstance(number, ast.Constant) or not isinstance(number.value, int):
            return {}
        target.add(number.value)
    facts: Attributes = {}
    if multiples and 1 not in multiples:
        facts["block_multiples"] = sorted(multiples)
    if exact and 1 not in multiples:
        facts["block_sizes"] = sorted(exact)
    return facts


def _divisor(node: ast.AST) -> int | None:
    """Return N of `block_size % N == 0`."""
    match = re.fullmatch(r"block_size % (\d+) == 0", ast.unparse(node)) if isinstance(node, ast.Compare) else None
    return int(match[1]) if match else None


def _overridden(line: list[_Class], method: str, unless_reads: str = "") -> bool:
    """Whether a class below the last base has its own `method` that reads neither `unless_reads` nor `super()`."""
    for cls in line[:-1]:
        own = cls.methods.get(method)
        if own is None:
            continue
        code = ast.unparse(own)
        return not (unless_reads and (unless_reads in code or "super()" in code))
    return False


def _expression(line: list[_Class], method: str, value: str) -> ast.expr | None:
    """Return what the nearest class returns from `method` or assigns to `value`; None when that is computed."""
    for cls in line:
        if method in cls.methods:
            return _only_return(cls.methods[method])
        if value in cls.values:
            return cls.values[value]
    return None


def _only_return(function: ast.FunctionDef) -> ast.expr | None:
    body = [item for item in function.body if not (isinstance(item, ast.Expr) and isinstance(item.value, ast.Constant))]
    return body[0].value if len(body) == 1 and isinstance(body[0], ast.Return) else None


def _literal_list(line: list[_Class], method: str, value: str) -> list[int | str]:
    expression = _expression(line, method, value)
    if not isinstance(expression, ast.List | ast.Tuple):
        return []
    items = [item.value for item in expression.elts if isinstance(item, ast.Constant)]
    if len(items) != len(expression.elts):
        return []
    return [item for item in items if isinstance(item, int | str)]


_COMPARISON = re.compile(r"capability (>=|<=|==) DeviceCapability\((?:major=)?(\d+), ?(?:minor=)?(\d+)\)")
_MAJOR = re.compile(r"capability\.major (==|>=|in) (\d+|[\[(][\d, ]+[\])])")


def _capability(expression: ast.expr | None) -> str | None:
    """Return a condition on the compute capability, as `>=8.0 <=12.1` or `9.x 10.x`; None when it is not plain."""
    if expression is None:
        return None
    code = ast.unparse(expression)
    parts = code.split(" and ")
    compared = [_COMPARISON.fullmatch(part) for part in parts]
    if all(compared):
        return " ".join(f"{m[1]}{m[2]}.{m[3]}" for m in compared if m)
    major = _MAJOR.fullmatch(code)
    if major is None:
        return None
    numbers = re.findall(r"\d+", major[2])
    return f">={numbers[0]}.0" if major[1] == ">=" else " ".join(f"{number}.x" for number in numbers)
