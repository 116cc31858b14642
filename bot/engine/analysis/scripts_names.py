"""Which variables of scripts get a value from anywhere: the script, what shares its process, the job, the machine."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import TypeAlias

from botlint.engine.analysis.scripts import Scripts, is_archived, is_host, scripts
from botlint.engine.analysis.scripts_walk import CHECKS_NAMES, Read, ScriptFacts
from botlint.engine.analysis.spelling import one_edit
from botlint.engine.context import Context

_WORKFLOW_NAME = re.compile(r"(?<![\w.$-])(?:([A-Z][A-Z0-9_]*)[ \t]*:|([A-Za-z_]\w*)=)")
_GIVING = (".yml", ".yaml", ".py", ".json", ".toml", ".env", ".j2", ".txt", ".cfg", ".ini", ".sh", ".slurm", ".sbatch")
_SYSTEM = re.compile(
    r"""(?:HOME|PATH|PWD|OLDPWD|USER|LOGNAME|SHELL|HOSTNAME|HOSTTYPE|LANG|TERM|TMPDIR|TZ|UID|EUID|PPID|RANDOM|SECONDS
    |SRANDOM|EPOCHSECONDS|EPOCHREALTIME|LINENO|IFS|OPTARG|OPTIND|OPTERR|REPLY|FUNCNAME|PIPESTATUS|SHLVL|SHELLOPTS|MACHTYPE
    |OSTYPE|GROUPS|DIRSTACK|COLUMNS|LINES|PS[0-4]|MAPFILE|COPROC|DEBUG|VERBOSE|CI|LD_LIBRARY_PATH|LD_PRELOAD|PYTHONPATH
    |VIRTUAL_ENV|MASTER_ADDR|MASTER_PORT|RANK|WORLD_SIZE|LOCAL_RANK|NODE_RANK|HOSTS|DISPLAY|EDITOR|MAIL|NPROC|NO_COLOR
    |no_proxy|http_proxy|https_proxy|_
    |(?:BASH|LC|SLURM|SLURMD|SBATCH|SALLOC|SRUN|GITHUB|RUNNER|ACTIONS|CUDA|NVIDIA|HIP|ROCR|ROCM|HSA|GPU|NCCL|RCCL|UCX|PMI
      |PMIX|OMPI|MPI|I_MPI|HYDRA|HF|HUGGINGFACE|TRANSFORMERS|XDG|SSH|SUDO|CONDA|UV|PIP|PYTHON|TORCH|TRITON|ENROOT|PYXIS
      |MELLANOX|DOCKER|PODMAN|COMP|HTTP|HTTPS|NO|SINGULARITY|APPTAINER|KUBERNETES|LSB|PBS|AWS|AZURE|GOOGLE)_\w+
    |BASH\w*|SLURM\w*)\Z""",
    re.VERBOSE,
)
_GIVES = r"""(?<![\w$]){0}["']?\]?[ \t]*(?:=(?!=)|:(?![-=?+]))"""
_HANDED = r"""(?:(?:-e|--env|export)[ =]|--export=\S*?)["'\\]*{0}\b"""
_TESTS = re.compile(r"(?:^|/)(?:\w*tests?|deprecated|\.claude)/|/test_|_test\.")

COMMON = 5
LONG = 8
"""What no list of names of the machine says, use does: a long name that one script reads and many nearly do."""

MAX_SEARCHED_FILES = 4_000
MAX_FILE = 2 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class NameUse:
    """A name that one script reads and that nothing gives a value, with its reads in order.

    `closest` is a name that has one and is nearly the same, else empty.
    """

    facts: ScriptFacts
    name: str
    reads: tuple[Read, ...]
    closest: str
    case_only: bool


class Names:
    """Where names of scripts come from. What is expensive is looked up only for names that nothing else explains."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self.scripts: Scripts = scripts(context)

    @cached_property
    def _by_workflow(self) -> Mapping[str, frozenset[str]]:
        """The names that each workflow gives: environments, `NAME=value` of its steps."""
        found: dict[str, frozenset[str]] = {}
        for path in self.context.files.paths(".github"):
            source = self.context.files.text(path) if path.endswith((".yml", ".yaml")) else None
            if source is not None:
                matches = _WORKFLOW_NAME.finditer(source.text)
                found[path] = frozenset(match.group(1) or match.group(2) for match in matches)
        return found

    @cached_property
    def workflow(self) -> frozenset[str]:
        """The names that workflows give."""
        return frozenset().union(*self._by_workflow.values())

    def workflow_names(self, several: bool) -> frozenset[str]:
        """The names that the workflows of benchmarks give: those for several nodes, or the others."""
        found = [
            names
            for path, names in self._by_workflow.items()
            if ("multi" in path.rpartition("/")[2]) == several and "MODEL" in names
        ]
        return frozenset().union(*found)

    @cached_property
    def handed_over(self) -> frozenset[str]:
        """The names that some script exports or hands to a command."""
        found: set[str] = set()
        for facts in self.scripts.by_path.values():
            found |= facts.exported | facts.handed
        return frozenset(found)

    @cached_property
    def environment(self) -> frozenset[str]:
        """The names that a script may find in its environment, as far as workflows and scripts say."""
        return self.workflow | self.handed_over

    @cached_property
    def _environment_spellings(self) -> Spellings:
        return Spellings(self.environment)

    def closest(self, name: str, path: str) -> str:
        """The name that a misspelt one in a script meant, empty if there is none."""
        return closest_name(name, self._environment_spellings, Spellings(self.shared(path) - self.environment))[0]

    def shared(self, path: str) -> set[str]:
        """The names that get a value in the script or in one that shares its process."""
        found: set[str] = set()
        for facts in self.scripts.around(path):
            found |= facts.names() if facts.path == path else facts.visible_names()
        return found

    def is_dynamic(self, path: str) -> bool:
        """Whether names come from computed text around the script."""
        return any(facts.dynamic for facts in self.scripts.around(path))

    @cached_property
    def unset(self) -> list[NameUse]:
        """The names that are read and that nothing gives, by script.

        A name that may be unset (it has a default, or the script tests for it) is left out unless a name that has a
        value differs from it by a slip only, and so is a name that the unknown environment of a runner may give.
        """
        found: list[tuple[ScriptFacts, str, list[Read], tuple[str, bool]]] = []
        for path, facts in self.scripts.by_path.items():
            if is_archived(path):
                continue
            own = facts.names()
            reads: dict[str, list[Read]] = {}
            for read in facts.reads:
                if read.name not in own and read.name not in self.environment:
                    reads.setdefault(read.name, []).append(read)
            for name in [name for name in reads if _SYSTEM.match(name)]:
                some = reads.pop(name)
                meant = self._system_name(name)
                if meant:
                    found.append((facts, name, some, (meant, False)))
            left = reads
            if not left:
                continue
            shared = self.shared(path)
            missing = sorted(left.keys() - shared)
            around = Spellings(shared - self.environment) if missing else None
            for name in missing:
                near = closest_name(name, self._environment_spellings, *([around] if around else ()))
                if near[0] or not self._may_be_unset(facts, name, left[name]):
                    found.append((facts, name, left[name], near))
        written = [self._written(facts, name) for facts, name, *_ in found]
        searched = self.elsewhere(one[1] for one, said in zip(found, written, strict=True) if not said)
        return [
            NameUse(facts, name, tuple(reads), *near)
            for (facts, name, reads, near), said in zip(found, written, strict=True)
            # A key in lower case (`model: x`) is no variable of an environment.
            if not said and (name not in searched or (near[1] and name == name.lower()))
        ]

    @cached_property
    def _system_names(self) -> tuple[Counter[str], Spellings]:
        """In how many scripts each name of the machine is read, and those that are read in several."""
        counts: Counter[str] = Counter()
        for facts in self.scripts.by_path.values():
            counts.update({read.name for read in facts.reads if _SYSTEM.match(read.name)})
        return counts, Spellings(name for name, count in counts.items() if count >= COMMON)

    def _system_name(self, name: str) -> str:
        """The name of the machine that many scripts read, where one script reads a name that differs by a slip."""
        counts, common = self._system_names
        return closest_name(name, common)[0] if counts[name] == 1 and len(name) >= LONG else ""

    @staticmethod
    def _may_be_unset(facts: ScriptFacts, name: str, reads: list[Read]) -> bool:
        if name in facts.tested or name in facts.defaulted or all(one.use in _HARMLESS for one in reads):
            return True
        return is_host(facts.path) and name == name.upper()

    def _written(self, facts: ScriptFacts, name: str) -> bool:
        """Whether text around a script that evaluates text writes the name, or a call passes it by its name."""
        for one in self.scripts.around(facts.path):
            if name not in one.code:
                continue
            if one.dynamic and re.search(rf"(?<![\w$]){name}(?:\[[^]]*\])?\+?=(?!=)", one.code):
                return True
            for call in one.calls:
                named = any(word.text == name for word in call.words[1:])
                if named and call.name not in _NAMES_ONLY and not CHECKS_NAMES.match(call.name):
                    return True
        return False

    def elsewhere(self, names: Iterable[str]) -> frozenset[str]:
        """Those of the names that a file other than a walked script writes: `NAME=x`, `NAME: x`, `"NAME": x`."""
        wanted = set(names)
        found: set[str] = set()
        for name in sorted(wanted):
            if any(
                name in one.text and re.search(_HANDED.format(name), one.text) for one in self.scripts.by_path.values()
            ):
                found.add(name)
                wanted.discard(name)
        for path in self._searched if wanted else ():
            source = self.context.files.text(path)
            if source is None or len(source.text) > MAX_FILE:
                continue
            for name in [one for one in wanted if one in source.text]:
                if re.search(_GIVES.format(name), source.text):
                    found.add(name)
                    wanted.discard(name)
            if not wanted:
                break
        return frozenset(found)

    @cached_property
    def _searched(self) -> list[str]:
        known = self.scripts.by_path
        found = [
            path
            for path in self.context.files.paths()
            if path not in known
            and (path.endswith(_GIVING) or "Dockerfile" in path)
            and not path.startswith(("docs/", "tests/", "experimental/"))
            and not _TESTS.search(path)
            and not path.endswith(("changelog.yaml", "package-lock.json"))
        ]
        return found[:MAX_SEARCHED_FILES]

    @cached_property
    def required(self) -> Mapping[str, list[tuple[ScriptFacts, int]]]:
        """The names that scripts insist on and that nothing at all gives, with where they do."""
        asked: dict[str, list[tuple[ScriptFacts, int]]] = {}
        for path, facts in self.scripts.by_path.items():
            if is_archived(path):
                continue
            left = {name for name in facts.required if not _SYSTEM.match(name)} - self.environment
            if left:
                left -= self.shared(path)
            for name in sorted(left):
                asked.setdefault(name, []).append((facts, facts.required[name]))
        left_over = {
            name: [(facts, at) for facts, at in places if not self._written(facts, name)]
            for name, places in asked.items()
        }
        searched = self.elsewhere(name for name, places in left_over.items() if places)
        return {name: places for name, places in left_over.items() if places and name not in searched}


MAX_COMPARED = 1_000
"""Names that a name is compared with, one by one."""

MAX_ALIKE = 200
"""Names that one slip may have led to."""

MAX_INDEXED = 100
"""Length of a name that is sought among more of them."""

_Spelling: TypeAlias = tuple[str, str]
"""A name in lower case, and as it is written."""

_NAMES_ONLY = frozenset(("echo", "printf", "unset", "local"))
_HARMLESS = frozenset(("print", "fallback", "default"))


def names(context: Context) -> Names:
    """Where the names of a revision's scripts come from."""
    return context.once(Names)


class Spellings:
    """Names among which the one that a misspelt name meant is sought."""

    def __init__(self, known: Iterable[str]) -> None:
        self._by_length: dict[int, list[_Spelling]] = {}
        for name in known:
            self._by_length.setdefault(len(name), []).append((name.lower(), name))

    def near(self, name: str) -> tuple[list[str], list[str]]:
        """The names that differ in case only, and those that differ by a slip."""
        lowered = name.lower()
        size = len(name)
        same: list[str] = []
        near: list[str] = []
        half = (size - 1) // 2
        start, end = lowered[:half], lowered[-half:] if half else ""
        for other, one in self._candidates(lowered):
            if other == lowered:
                if one != name:
                    same.append(one)
            elif size > 2 and (other.startswith(start) or other.endswith(end)) and _one_slip(lowered, other):
                near.append(one)
        return same, near

    def _candidates(self, lowered: str) -> Iterable[_Spelling]:
        """All names of about the same length; of many names those that may be a slip away."""
        alike = [self._by_length.get(length, []) for length in range(len(lowered) - 2, len(lowered) + 3)]
        if sum(map(len, alike)) <= MAX_COMPARED:
            return chain.from_iterable(alike)
        return dict.fromkeys(one for key in _slips(lowered) for one in self._by_slip.get(key, ()))

    @cached_property
    def _by_slip(self) -> Mapping[str, list[_Spelling]]:
        """The names by what a slip may leave of them."""
        found: dict[str, list[_Spelling]] = {}
        for one in chain.from_iterable(self._by_length.values()):
            for key in _slips(one[0]):
                some = found.setdefault(key, [])
                if len(some) < MAX_ALIKE:
                    some.append(one)
        return found


def _slips(name: str) -> Iterable[str]:
    """What names that differ by one letter or by underscores have in common: the name without one of its letters."""
    if len(name) > MAX_INDEXED:
        return ()
    return {name, name.replace("_", ""), *(name[:place] + name[place + 1 :] for place in range(len(name)))}


def closest_name(name: str, *known: Spellings) -> tuple[str, bool]:
    """The known name that a misspelt one is nearest to, or an empty text, and whether they differ in case only."""
    found = [one.near(name) for one in known]
    same = [one for names, _ in found for one in names]
    near = [one for _, names in found for one in names]
    return (min(same), True) if same else (min(near), False) if near else ("", False)


def _one_slip(one: str, other: str) -> bool:
    """Whether two names differ by one letter more, less, changed or swapped, or by underscores only."""
    if abs(len(one) - len(other)) <= 2 and one.replace("_", "") == other.replace("_", ""):
        return True
    if len(one) < 4 or abs(len(one) - len(other)) > 1:
        return False
    return one_edit(one, other) and _numbers(one) == _numbers(other)


def _numbers(name: str) -> list[str]:
    return re.findall(r"[0-9]+", name)
