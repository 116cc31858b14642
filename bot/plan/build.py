"""From a revision to one launch plan per job."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import replace
from functools import cached_property
from typing import Literal

from botlint.core.errors import CannotFinish
from botlint.core.span import Problem
from botlint.core.unknown import Unknown
from botlint.documents.bash import Script, parse_script
from botlint.layouts.base import MARK_END, MARK_START, Command, CommandJob, Environment, Job, Loaded
from botlint.layouts.base import Word as Given
from botlint.layouts.choose import AUTOMATIC, INFERENCEX, Choice, load_jobs
from botlint.layouts.commands import load_commands
from botlint.layouts.inferencex.callers import Kind
from botlint.layouts.inferencex.environments import Workflows
from botlint.layouts.inferencex.job import Job as MatrixJob
from botlint.layouts.inferencex.jobs import Mode, expand_all, load_configs, load_runners
from botlint.plan.files import Question, ScriptFiles
from botlint.plan.model import Alternative, Exit, Launch, LaunchPlan, Location, Outcome, Role, Server, Word
from botlint.plan.multinode import Recipes, RecipeServer, Start, edits, group, submission
from botlint.plan.origins import OriginFinder, Origins, command_origins
from botlint.plan.servers import identify, identify_client, may_ask, may_serve
from botlint.plan.versions import image_version
from botlint.repo.files import Files
from botlint.repo.memory import MemoryFiles
from botlint.shell.paths import WORKSPACE, Context
from botlint.shell.process import Call, Inputs, Leaf, Place, Solved, Variable
from botlint.shell.values import Hole, Input, Resolved, Text, resolve
from botlint.shell.world import Programmes, World

_DIGITS = re.compile(r"[0-9]+")

MAX_POSSIBLE = 12
"""Alternatives that a plan lists."""

MAX_CALLS = 10
"""Scripts that start scripts, deep, among which a missing one is looked for."""

STEP = "step.sh"
"""What the script of a workflow's step is called."""

MAX_ERROR = 300
"""Characters of an internal error that a plan's reason holds."""

HIDDEN = frozenset({"PATH", "PWD", "OLDPWD", "SHLVL", "_"})
"""Variables that the shell itself keeps: every process has them, and they say nothing of the server."""


Identify = Callable[[Sequence[str | None]], str | None]
"""Names what a command line starts; None for what is of no concern."""

Giver = Literal["job", "script", "runtime", "again", "kept"]

_KINDS: dict[Mode, Kind] = {"evals": "eval", "all-evals": "eval", "every-eval": "own-eval"}


class Planner:
    """Plans the jobs of one revision; everything that jobs share is computed once."""

    def __init__(
        self,
        files: Files,
        mode: Mode = "throughput",
        *,
        with_origins: bool = False,
        with_possible: bool = True,
        layout: Choice = AUTOMATIC,
    ) -> None:
        """`with_origins` also finds where each variable and option of a server is written, which takes memory.

        Without `with_possible` a plan does not say what undecided tests would change, which takes time.
        """
        self.files = files
        self.with_origins = with_origins
        self.with_possible = with_possible
        self.mode: Mode = mode
        self.kind = _KINDS.get(mode, "throughput")
        self.layout, loaded = load_jobs(files, layout)
        whole = files
        if self.layout != INFERENCEX:
            files = MemoryFiles({})
        configs = load_configs(files)
        self.configs = configs
        self.runners = load_runners(files)
        expansion = expand_all(configs, self.runners, mode)
        self.workflows = Workflows.load(files)
        self.matrix: list[MatrixJob] = expansion.jobs
        """The jobs that the repository's generator makes; none in other layouts."""
        self.jobs: Sequence[Job] = loaded.jobs if self.layout != INFERENCEX else self.matrix
        self.problems: tuple[Problem, ...] = (
            *configs.problems,
            *self.runners.problems,
            *expansion.problems,
            *self.workflows.problems,
            *loaded.problems,
        )
        self.script_files = ScriptFiles(whole)
        self.world = _world(self.script_files, identify, may_serve)
        self.world.plain = 0 if with_possible else 1
        self.identify = identify
        self.recipes = Recipes(self.world.revision)
        self.origins = OriginFinder()
        self.failures: list[Exception] = []
        self._given: dict[Problem, None] = {}
        self._steps: dict[tuple[object, ...], tuple[Script, str]] = {}
        self._names: dict[tuple[int, ...], tuple[list[Leaf], list[tuple[str, Giver]]]] = {}
        self._groups: dict[tuple[str, str], list[tuple[str, tuple[str, ...]]]] = {}
        self._group_questions: dict[tuple[str, str], frozenset[Question]] = {}

    @cached_property
    def commands(self) -> Sequence[CommandJob]:
        """The launch commands of the revision's documents, which are jobs beside those of the layout."""
        return self._documents.jobs

    @cached_property
    def clients(self) -> Sequence[CommandJob]:
        """The commands of the revision's documents that ask a server; `plan_clients` plans them."""
        return self._documents.clients

    @cached_property
    def _documents(self) -> Loaded:
        loaded = load_commands(self.files)
        self._given.update(dict.fromkeys(loaded.problems))
        return loaded

    def plan_clients(self, jobs: Iterable[Job]) -> list[LaunchPlan]:
        """What clients of documents start: as for servers, with the client's name as the framework."""
        other = copy(self)
        other.identify = identify_client
        other.world = _world(self.script_files, identify_client, may_ask)
        other.recipes = Recipes(other.world.revision)
        other._steps, other._names = {}, {}
        return list(other.plans(jobs))

    def plans(self, jobs: Iterable[Job] | None = None) -> Iterator[LaunchPlan]:
        """The plan of each job, in the generator's order; an error of ours costs one plan and is kept in `failures`."""
        for job in self.jobs if jobs is None else jobs:
            yield self._plan_or_failure(job)

    def plans_with_questions(self, jobs: Iterable[Job]) -> Iterator[tuple[LaunchPlan, frozenset[Question] | None]]:
        """The plan of each job with what it asked the revision; equal sets of questions are one object."""
        sets: dict[frozenset[Question], frozenset[Question]] = {}
        for job in jobs:
            failed, given = len(self.failures), len(self._given)
            with self.questions() as asked:
                plan = self._plan_or_failure(job)
            whole = len(self.failures) == failed and len(self._given) == given
            found = frozenset(asked)
            yield plan, sets.setdefault(found, found) if whole else None

    def _plan_or_failure(self, job: Job) -> LaunchPlan:
        try:
            return self.plan(job)
        except Exception as error:
            self.failures.append(error)
            reason = f"internal error: {type(error).__name__}: {error}"[:MAX_ERROR]
            launch = Launch((str(job.facts.get("runner", "")),), None, None, "undecided", reason=reason)
            return LaunchPlan(job.entry, job.config, job.arm, job.scenario, job.arm_index, job.row, launch)

    @property
    def all_problems(self) -> list[Problem]:
        """What could not be read or passed on so far, each once, by place."""
        found = dict.fromkeys([*self.problems, *self._given, *self.files.problems])
        return sorted(found, key=lambda one: (one.span.path, one.span.line, one.span.column, one.kind, one.message))

    def findings_of_own(self) -> tuple[list[str], list[Problem]]:
        """Errors of ours and problems so far, in a form that another process can `absorb`."""
        return [f"{type(e).__name__}: {e}" for e in self.failures], [*self._given, *self.files.problems]

    def absorb(self, failures: list[str], problems: list[Problem]) -> None:
        """Takes over what another process found while it planned some of the jobs."""
        self.failures.extend(CannotFinish(text) for text in failures)
        self._given.update(dict.fromkeys(problems))

    def plan(self, job: Job) -> LaunchPlan:
        """The plan of one job."""
        launches = [self._launch(job, runners, name) for name, runners in self._runner_groups(job)]
        return plan_of(job, launches)

    @contextmanager
    def questions(self) -> Iterator[set[Question]]:
        """What is asked of the revision's scripts and recipes inside of the block; the set is full at its end."""
        world, files = self.world, self.script_files
        outer, visited = files.asked, world.visited
        asked: set[Question] = set()
        files.asked, world.visited = asked, set()
        try:
            yield asked
        finally:
            asked.update(*(process.asked for process in world.visited))
            visited |= world.visited
            files.asked, world.visited = outer, visited

    # ------------------------------------------------------------------------------------------------------ runners

    def _runner_groups(self, job: Job) -> list[tuple[str, tuple[str, ...]]]:
        """The runners that may take the job, grouped by what they start; (representative, all of the group)."""
        label = str(job.facts.get("runner", ""))
        if isinstance(job, CommandJob):
            return [(label, (label,))]
        key = (label, "prefill" if "prefill" in job.row else "")
        found = self._groups.get(key)
        if found is None:
            names = [runner.name for runner in self.runners.for_label(label)] or [label]
            # Runners whose names differ in digits only are alike: one of each kind is looked at.
            shapes: dict[str, list[str]] = {}
            for name in names:
                shapes.setdefault(_DIGITS.sub("0", name), []).append(name)
            groups: dict[tuple[object, ...], list[str]] = {}
            with self.questions() as asked:
                for alike in shapes.values():
                    launch = self._launch(job, (alike[0],), alike[0])
                    groups.setdefault((launch.launcher, launch.recipe, launch.outcome), []).extend(alike)
            self._group_questions[key] = frozenset(asked)
            found = self._groups[key] = [(members[0], tuple(members)) for members in groups.values()]
        self.script_files.asked |= self._group_questions[key]
        return found

    # --------------------------------------------------------------------------------------------------- one launch

    def solve(self, job: Job, runner: str) -> tuple[Solved | None, Environment]:
        """How the launch step of a job ends on a runner; None with the environment's reason where nothing takes it."""
        environment: Environment
        if isinstance(job, CommandJob):
            environment = job.start
        else:
            environment = self.workflows.environment(job.row, self.kind, runner)
        if environment.problems:
            self._given.update(dict.fromkeys(environment.problems))
        if environment.reason is not None or (isinstance(job, CommandJob) and job.start.commands):
            return None, environment
        script, identity = self._step(environment)
        inputs = Inputs()
        for name, word in environment.values.items():
            inputs[name] = word if isinstance(word, str) else _pieces(name, word)
        names = frozenset(inputs)
        unknown = frozenset(n for n, v in inputs.items() if not isinstance(v, str))
        directory = environment.working_directory.strip("./")
        context = Context(f"{WORKSPACE}/{directory}" if directory else WORKSPACE)
        options = "e" if environment.shell.startswith(("bash", "sh")) else ""
        process = self.world.process(script, identity, STEP, names, unknown, 0, context, options)
        return process.solve(self.world, inputs), environment

    def _step(self, environment: Environment) -> tuple[Script, str]:
        span = environment.run_span
        key = (environment.run, span.path, span.line, *environment.run_lines)
        found = self._steps.get(key)
        if found is None:
            text = environment.run
            for mark, unknown in environment.unknowns.items():
                number = self.world.hole_number(Text((Hole(unknown.reason),)))
                text = text.replace(mark, f"{MARK_START}{number}{MARK_END}")
            line, column = environment.run_origin
            found = self._steps[key] = (
                parse_script(text, span.path, line - 1, column - 1, environment.run_lines),
                f"step {span.path}:{span.line} {environment.run_lines} {text}",
            )
        return found

    def _launch(self, job: Job, runners: tuple[str, ...], runner: str) -> Launch:
        if isinstance(job, CommandJob) and job.start.commands:
            return self._shown(job, runners)
        solved, environment = self.solve(job, runner)
        if solved is None:
            return Launch(runners, None, None, "undecided", reason=environment.reason)
        image = job.facts.get("image")
        versions = job.versions if isinstance(job, CommandJob) else {}
        launch = _Reading(
            self, solved, runners, environment, image if isinstance(image, str) else "", versions
        ).launch()
        if self._is_unlisted(job, runner) and not (launch.launcher and self.world.files.is_file(launch.launcher)):
            return Launch(runners, None, None, "undecided", reason=f"no runner has the label {runner}")
        return launch

    def _shown(self, job: CommandJob, runners: tuple[str, ...]) -> Launch:
        """The launch of a job whose commands are known word by word."""
        first, *_ = commands = job.start.commands
        self._given.update(dict.fromkeys(job.start.problems))
        path, line = job.start.run_span.path, job.start.run_span.line
        argv = _known_words(first)
        framework = identify([word if isinstance(word, str) else None for word in argv])
        if framework is None:
            return Launch(runners, None, path, "undecided", reason="no server is known by this command")
        roles = tuple(
            Role(one.role, one.workers, None, _known_words(one), _known_env(one), path, line)
            for one in commands
            if len(commands) > 1
        )
        version = _version(job.versions, str(job.facts.get("image", "")), framework)
        origins = command_origins(commands) if self.with_origins else {}
        server = Server(framework, version, path, line, argv, _known_env(first), {}, roles, origins)
        return Launch(runners, None, path, "serves", server=server)

    def _is_unlisted(self, job: Job, runner: str) -> bool:
        """Whether a job's label stands in for its runners, as the table has neither label nor runner of that name.

        A label that the table lost may still be on machines, so what is planned is a runner of that name.
        """
        if runner != job.facts.get("runner") or not self.runners.labels or self.runners.for_label(runner):
            return False
        return not any(r.name == runner for group in self.runners.labels.values() for r in group)

    def changed_names(self, chain: list[Solved], environment: dict[str, Variable]) -> list[tuple[str, Giver]]:
        """Names in a server's environment that the job did not simply hand down, and whether the runtime set them."""
        leaves = [s.leaf for s in chain]
        key = tuple(map(id, leaves))
        found = self._names.get(key)
        if found is None:
            giver = {n: _giver(n, environment, chain) for n in sorted(environment) if n not in HIDDEN}
            names: list[tuple[str, Giver]] = [(n, g) for n, g in giver.items() if g != "job"]
            # The leaves are kept with the names, so that no other leaf can get the identity of one of them.
            found = self._names[key] = (leaves, names)
        return found[1]


def plan_of(job: Job, launches: Sequence[Launch], asked: Collection[Question] | None = None) -> LaunchPlan:
    """The plan of a job from its launches, with the questions on whose answers they depend."""
    first, *others = launches
    return LaunchPlan(
        job.entry, job.config, job.arm, job.scenario, job.arm_index, job.row, first, tuple(others), asked=asked
    )


def _world(files: ScriptFiles, identify: Identify, may: Callable[[str], bool]) -> World:
    """A world whose scripts are followed to the programmes that `identify` knows, among those that `may` be one."""
    programmes = Programmes(
        is_server=lambda argv: identify(argv) is not None, may_serve=may, submits=submission, edits=edits
    )
    return World(files, programmes)


def _version(versions: Mapping[str, str], image: str, framework: str) -> str | None:
    """The version of a framework: what the job itself says, else its image."""
    return versions.get(framework) or image_version(image, framework)


def _known_words(command: Command) -> tuple[Word, ...]:
    return tuple(known_word(word) for word in command.argv)


def _known_env(command: Command) -> dict[str, Word]:
    return {name: known_word(word) for name, word in command.env.items()}


def known_word(word: Given) -> Word:
    """A word of a layout in the form of plans."""
    if isinstance(word, str):
        return word
    return (word,) if isinstance(word, Unknown) else tuple(word)


def _giver(name: str, environment: dict[str, Variable], chain: list[Solved]) -> Giver:
    """Who gave a variable its value.

    The job, a script, the command line of a scheduler or container engine, a script that exports again what that
    command line gave, or one that changes what is exported for no other reason than that.
    """
    only_given = _is_only_given(name, environment, chain)
    level = len(chain) - 1
    here = environment
    again = False
    while True:
        var = here[name]
        if var.by_runtime:
            return "again" if again and not only_given else "runtime"
        value = var.value
        again = again or var.place is not None
        piece = value.pieces[0] if isinstance(value, Text) and len(value.pieces) == 1 else None
        if not isinstance(piece, Input) or piece.name != name:
            return "kept" if only_given else "script"
        call = chain[level].inputs.call
        level -= 1
        if call is None or level < 0:
            return "script" if again else "job"
        here = call.environment


def _is_only_given(name: str, environment: dict[str, Variable], chain: list[Solved]) -> bool:
    """Whether a variable is exported because a scheduler or container engine set it, and by no script."""
    here = environment[name]
    for solved in reversed(chain):
        call = solved.inputs.call
        if not here.inherited or call is None or name not in call.environment:
            break
        here = call.environment[name]
    return here.by_runtime


_ALWAYS_SET = frozenset({"HOME", "USER", "PATH"})
"""Variables of the runner's own environment that are never empty; so are GitHub's (GITHUB_*, RUNNER_*)."""


def _pieces(name: str, word: Unknown | list[str | Unknown]) -> tuple[str | Unknown, ...]:
    if isinstance(word, Unknown):
        given = name in _ALWAYS_SET or name.startswith(("GITHUB_", "RUNNER_"))
        return (Unknown(word.reason, True) if given else word,)
    return tuple(word)


class _Reading:
    """Turns how a launch step ends into a launch."""

    def __init__(
        self,
        planner: Planner,
        solved: Solved,
        runners: tuple[str, ...],
        environment: Environment,
        image: str,
        versions: Mapping[str, str],
    ) -> None:
        self.image = image
        self.versions = versions
        self.planner = planner
        self.solved = solved
        self.runners = runners
        self.environment = environment

    def launch(self) -> Launch:
        chain = _chain(self.solved, [])
        outcome, exit_, server, reason, at = self._outcome(chain)
        launcher, recipe = self._scripts(chain)
        recipe = self._submitted(chain, server) or recipe
        possible = self._possible(chain, outcome, server, exit_, reason)
        if server is not None and self.planner.with_origins:
            server = replace(server, origins=self._origins(chain, server))
        container = self._container(chain) if server is not None else ()
        return Launch(self.runners, launcher, recipe, outcome, exit_, server, reason, at, possible, container)

    def _container(self, chain: list[Solved]) -> tuple[Word, ...]:
        """The words that start the container in which the server starts."""
        for solved in reversed(chain):
            if solved.leaf.container:
                return tuple(resolve(value, solved.inputs) for value in solved.leaf.container)
        return ()

    def _outcome(self, chain: list[Solved]) -> tuple[Outcome, Exit | None, Server | None, str | None, Location | None]:
        last = chain[-1]
        leaf = last.leaf
        if leaf.kind == "serves":
            return self._serves(chain)
        if leaf.kind == "exits" and not leaf.reason:
            skipped = leaf.skipped
            if skipped is not None and len(chain) == 1 and leaf.call is None:
                return "undecided", None, None, skipped.reason, Location(skipped.place.path, skipped.place.line)
            return "exits", self._exit(last), None, None, None
        place = leaf.place
        at = None if place is None else Location(place.path, place.line)
        return "undecided", None, None, leaf.reason or "a script that could not be followed", at

    def _serves(self, chain: list[Solved]) -> tuple[Outcome, Exit | None, Server | None, str | None, Location | None]:
        last = chain[-1]
        start = last.leaf.server
        assert start is not None
        if start.submitted is None:
            return "serves", None, self._server(chain, None), None, None
        found = self.planner.recipes.server(start, last.inputs)
        if found.exit is not None:
            return "exits", found.exit, None, None, None
        if found.reason is not None:
            return "undecided", None, None, found.reason, found.reason_at
        return "serves", None, self._server(chain, found), None, None

    @staticmethod
    def _submitted(chain: list[Solved], server: Server | None) -> str | None:
        """The recipe that a launcher submits."""
        start = chain[-1].leaf.server
        return server.path if server is not None and start is not None and start.submitted is not None else None

    def _server(self, chain: list[Solved], recipe: RecipeServer | None) -> Server:
        if recipe is None:
            starts = [self._start(other) for other in self._together(chain, 0)]
            argv, env, runtime_env, start = starts[0]
            framework = self.planner.identify([w if isinstance(w, str) else None for w in argv]) or ""
            version = self._version(framework)
            roles = tuple(group(starts)) if len(starts) > 1 else ()
            return Server(framework, version, start.place.path, start.place.line, argv, env, runtime_env, roles)
        argv, env, runtime_env, _ = self._start(chain)
        version = self._version(recipe.framework)
        return Server(recipe.framework, version, recipe.path, recipe.line, argv, env, runtime_env, recipe.roles)

    def _version(self, framework: str) -> str | None:
        return _version(self.versions, self.image, framework)

    def _origins(self, chain: list[Solved], server: Server) -> Origins:
        """Where the values of a server and of its roles are written."""
        start = chain[-1].leaf.server
        assert start is not None
        parts = [("", self._origins_of(chain, server.argv))]
        if start.submitted is not None:
            parts.append(("", self.planner.recipes.server(start, chain[-1].inputs).origins))
        elif server.roles:
            ways = [(way, self._start(way).argv) for way in self._together(chain, 0)]
            for role in server.roles:
                way = next(way for way, argv in ways if argv == role.argv)
                parts.append((role.name, self._origins_of(way, role.argv)))
        return self.planner.origins.joined(parts)

    def _origins_of(self, chain: list[Solved], argv: Sequence[Word]) -> Origins:
        start = chain[-1].leaf.server
        assert start is not None
        names = [name for name, _ in self.planner.changed_names(chain, start.environment)]
        return self.planner.origins.origins(chain, self.environment, names, argv)

    def _together(self, chain: list[Solved], level: int) -> Iterator[list[Solved]]:
        """The way to a server, and to those that start together with it on other nodes."""
        yield chain
        for number in range(level, len(chain)):
            solved = chain[number]
            for leaf in solved.leaf.beside:
                child = self.planner.world.child(leaf, solved.inputs, 0)
                other = _chain(Solved(leaf, solved.inputs, solved.process, child), chain[:number])
                if other[-1].leaf.kind == "serves":
                    yield from self._together(other, number + 1)

    def _start(self, chain: list[Solved]) -> Start:
        """Command line and environment of the server at the end of a way."""
        last = chain[-1]
        start = last.leaf.server
        assert start is not None
        inputs = last.inputs
        argv = tuple(resolve(v, inputs) for v in start.argv)
        given = self.environment.values
        env: dict[str, Word] = {}
        runtime_env: dict[str, Word] = {}
        for name, giver in self.planner.changed_names(chain, start.environment):
            value = start.environment[name].value
            if not isinstance(value, (str, Text)):
                # Exported without a value, as a container leaves what it is not given, or an array: nobody sees it.
                continue
            word = resolve(value, inputs)
            if given.get(name) != word:
                by_runtime = giver == "runtime" or giver == ("again" if name in given else "kept")
                (runtime_env if by_runtime else env)[name] = word
        return Start(argv, env, runtime_env, start)

    def _exit(self, solved: Solved) -> Exit:
        leaf, inputs = solved.leaf, solved.inputs
        code = leaf.code
        for _ in range(20):
            if leaf.call is None:
                break
            outcome, child = self.planner.world.outcome(leaf.call, inputs, False, 0)
            if child is None:
                place = leaf.call.place
                shown = _script_name(leaf.call, inputs)
                return Exit(code, place.path, place.line, f"{shown}: No such file or directory")
            last = child.last()
            if outcome[0] != "exits" or last.leaf.kind != "exits" or last.leaf.code == 0:
                break
            leaf, inputs = last.leaf, last.inputs
        if solved.process.label == STEP and leaf is solved.leaf:
            # The step only finds that a result is not there: a script that is missing is why.
            missing = _missing(self.planner.world, solved, 0)
            if missing is not None:
                place, shown = missing
                return Exit(code, place.path, place.line, f"{shown}: No such file or directory")
        assert leaf.place is not None
        message = "" if leaf.message is None else _shown(resolve(leaf.message, inputs))
        return Exit(code, leaf.place.path, leaf.place.line, message.strip())

    def _scripts(self, chain: list[Solved]) -> tuple[str | None, str | None]:
        """(launcher, recipe): the first script that the step starts, and the last one before the server."""
        paths = [s.process.script.source.path for s in chain[1:] if not s.process.options.startswith("c")]
        last = chain[-1]
        call, inputs = last.leaf.call, last.inputs
        for _ in range(20):
            if last.leaf.kind != "exits" or call is None:
                break
            _, child = self.planner.world.outcome(call, inputs, False, 0)
            if not call.is_text:
                paths.append(_script_name(call, inputs))
            if child is None:
                break
            final = child.last()
            call, inputs = final.leaf.call, final.inputs
        if not paths:
            return None, None
        return paths[0], paths[-1] if len(paths) > 1 else None

    def _possible(
        self, chain: list[Solved], outcome: Outcome, server: Server | None, exit_: Exit | None, reason: str | None
    ) -> tuple[Alternative, ...]:
        out: list[Alternative] = []
        seen: set[object] = {_identity(outcome, exit_, server, reason)}
        truncated = False
        for level, solved in enumerate(chain):
            truncated = truncated or solved.truncated or solved.leaf.truncated
            for conditions, other in solved.alternatives:
                other_chain = _chain(other, chain[:level])
                outcome, other_exit, other_server, reason, _ = self._outcome(other_chain)
                identity = _identity(outcome, other_exit, other_server, reason)
                if identity in seen:
                    continue
                seen.add(identity)
                when = tuple(f"{place.path}:{place.line}: {text}" for place, text in conditions)
                recipe = self._scripts(other_chain)[1]
                out.append(Alternative(when, outcome, other_exit, other_server, reason, recipe))
        if len(out) > MAX_POSSIBLE:
            out, truncated = out[:MAX_POSSIBLE], True
        if truncated:
            out.append(Alternative(("more undecided tests",), "undecided", reason="not all paths were followed"))
        return tuple(out)


def _identity(outcome: str, exit_: Exit | None, server: Server | None, reason: str | None) -> object:
    if server is not None:
        return outcome, server.argv, tuple(sorted(server.env.items()))
    return outcome, exit_, reason


def _chain(solved: Solved, above: list[Solved]) -> list[Solved]:
    chain = [*above, solved]
    while solved.leaf.kind == "call" and solved.child is not None:
        solved = solved.child
        chain.append(solved)
    return chain


def _missing(world: World, solved: Solved, depth: int) -> tuple[Place, str] | None:
    """The first script that is started on a way and is not there: where it is started, and its name."""
    if depth >= MAX_CALLS:
        return None
    for call, outcome, child in solved.process.calls(world, solved.inputs, solved.forced):
        if outcome and outcome[0] == "missing":
            return call.place, _script_name(call, solved.inputs)
        found = None if child is None else _missing(world, child, depth + 1)
        if found is not None:
            return found
    return None


def _script_name(call: Call, inputs: Inputs) -> str:
    shown = _shown(resolve(call.script, inputs))
    return shown.removeprefix(f"{WORKSPACE}/")


def _shown(value: Resolved) -> str:
    return value if isinstance(value, str) else "".join(p if isinstance(p, str) else f"<{p.reason}>" for p in value)
