"""An importer that stands in for every missing module, so that an argument parser can be built without torch."""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import sys
import types
import typing
from collections.abc import Iterable, Iterator
from typing import Any

# A torch attribute whose mere existence would select another platform.
_ABSENT_ATTRIBUTES = frozenset({"torch.npu", "torch.musa", "torch.hpu"})


class Stand:
    """Stands for any object of a module that is not there: callable, iterable (empty), false, equal by name."""

    def __init__(self, name: str = "stand") -> None:
        last = name.rsplit(".", 1)[-1]
        self.__dict__.update(
            _stand_name=name,
            __name__=last,
            __qualname__=last,
            __module__=name.rpartition(".")[0] or "stand",
            __version__="99.0.0",
            __doc__=None,
        )

    def __getattr__(self, attribute: str) -> Any:
        if attribute == "__members__":
            return {}  # a compiled enumeration
        if attribute.startswith("__") and attribute.endswith("__"):
            raise AttributeError(attribute)
        value = Stand(f"{self._stand_name}.{attribute}")
        self.__dict__[attribute] = value
        return value

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if len(args) == 1 and not kwargs and isinstance(args[0], types.FunctionType | type):
            return args[0]  # used as a decorator
        return Stand(f"{self._stand_name}()")

    def __mro_entries__(self, bases: tuple[Any, ...]) -> tuple[type, ...]:
        name = str(self._stand_name).rsplit(".", 1)[-1].replace("()", "")
        return (type(name, (_AcceptsAnyKeyword,), {}),)

    def __getitem__(self, key: Any) -> Any:
        return Stand(f"{self._stand_name}[]")

    def __or__(self, other: Any) -> Any:
        return typing.Any

    __ror__ = __or__

    def __iter__(self) -> Iterator[Any]:
        return iter(())

    def __len__(self) -> int:
        return 0

    def __bool__(self) -> bool:
        return False

    def __int__(self) -> int:
        return 0

    __index__ = __int__

    def __float__(self) -> float:
        return 0.0

    def __contains__(self, item: Any) -> bool:
        return False

    def __instancecheck__(self, instance: Any) -> bool:
        return False

    def __subclasscheck__(self, subclass: Any) -> bool:
        return False

    def __hash__(self) -> int:
        return hash(self._stand_name)

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Stand) and other._stand_name == self._stand_name)

    def _false(self, _: Any) -> bool:
        return False

    __lt__ = __le__ = __gt__ = __ge__ = _false

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *details: Any) -> None:
        return None

    def __repr__(self) -> str:
        return f"<stand-in {self._stand_name}>"

    def _combine(self, *_: Any) -> Any:
        return Stand(f"{self._stand_name}()")

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _combine
    __floordiv__ = __rfloordiv__ = __mod__ = __pow__ = __rpow__ = __and__ = __neg__ = __lshift__ = __rshift__ = _combine

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
        return _any_schema()


def _any_schema() -> Any:
    from pydantic_core import core_schema

    return core_schema.any_schema()


class _AcceptsAnyKeyword:
    """A base class for classes that derive from a stand-in: takes any keyword in the class statement."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__()

    def __class_getitem__(cls, _: Any) -> type:
        return cls

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
        return _any_schema()


class StandModule(types.ModuleType):
    """A module whose every attribute is a stand-in."""

    def __getattr__(self, attribute: str) -> Any:
        if attribute == "__version__":
            return "99.0.0"
        full = f"{self.__name__}.{attribute}"
        if (attribute.startswith("__") and attribute.endswith("__")) or full in _ABSENT_ATTRIBUTES:
            raise AttributeError(attribute)
        value = Stand(full)
        setattr(self, attribute, value)
        return value


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Makes stand-in modules; `always` is a set of names to replace even where they could be imported."""

    def __init__(
        self, studied: str, always: frozenset[str], absent: frozenset[str], *, compiled: bool, last: bool
    ) -> None:
        self.studied, self.always, self.absent, self.compiled, self.last = studied, always, absent, compiled, last

    def find_spec(self, name: str, _path: Any, _target: Any = None) -> importlib.machinery.ModuleSpec | None:
        if not (self._wanted_last(name) if self.last else self._wanted_first(name)):
            return None
        spec = importlib.machinery.ModuleSpec(name, self, is_package=True)
        spec.submodule_search_locations = []
        return spec

    def _wanted_first(self, name: str) -> bool:
        parent = sys.modules.get(name.rpartition(".")[0])
        return name in self.always or name.partition(".")[0] in self.always or isinstance(parent, StandModule)

    def _wanted_last(self, name: str) -> bool:
        root = name.partition(".")[0]
        if root == self.studied:
            return self.compiled
        if root in self.absent or root in sys.stdlib_module_names or root.startswith("_"):
            return False
        # `from package import name` of a really installed package tries `package.name` as a module first.
        parent = name.rpartition(".")[0]
        return not parent or isinstance(sys.modules.get(parent), StandModule)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
        module = StandModule(spec.name)
        module.__path__ = []
        return module

    def exec_module(self, _: types.ModuleType) -> None:
        return None


def install(studied: str, *, always: Iterable[str], absent: Iterable[str], compiled: bool = False) -> None:
    """Replace the modules in `always`, and every missing one except those in `absent`, by stand-ins.

    Modules of `studied` that are missing stay so (frameworks ask which of theirs exist), unless `compiled`: then they
    are taken for compiled ones.
    """
    names = frozenset(always), frozenset(absent)
    sys.meta_path.insert(0, _Finder(studied, *names, compiled=compiled, last=False))
    sys.meta_path.append(_Finder(studied, *names, compiled=compiled, last=True))
