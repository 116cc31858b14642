"""The jobs of a repository of vLLM recipes: one for each command that its site shows, with all places that show it."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial

from botlint.catalogs.versions import version_key
from botlint.core.span import Problem, Span
from botlint.core.unknown import Unknown
from botlint.documents.yaml import Node, Schema, load_yaml
from botlint.layouts.base import Command, CommandJob, Loaded, RowPath, Start, Word
from botlint.layouts.recipes.choices import Choice, choices, is_omni, shown_hardware
from botlint.layouts.recipes.commands import Maker, Pick, Shown, Site, Unreadable, deploy_type
from botlint.layouts.recipes.hardware import read_profile
from botlint.layouts.recipes.images import image_of
from botlint.layouts.recipes.tasks import tasks_of
from botlint.layouts.recipes.values import Table, at, js_text, node_of, read, size_of, table
from botlint.repo.files import Files

MODELS = "models"
TAXONOMY = "taxonomy.yaml"
STRATEGIES = ("strategies", "kv_store")

MAX_RECIPES = 5_000
MAX_COMMANDS = 2_000
"""Commands of one recipe."""

MAX_STEPS = 500_000
"""Values that are looked at for the commands of one recipe."""

MAX_ALL_STEPS = 5_000_000
"""The same for all recipes."""

_LEAST = 20
"""What making a command costs beside the recipe's values."""

Make = Callable[[], list[Shown]]

_UNUSED = frozenset({"guide", "dependencies"})
"""Keys of a recipe that no command is made of."""

_PLAIN = re.compile(r"[A-Za-z0-9_./=:@,+%-]+")
_VARIABLE = re.compile(r"\$([A-Z_][A-Z0-9_]*)")


def recognise(files: Files) -> bool:
    """Whether a repository has recipes, strategies and hardware where vLLM's recipes have them."""
    return files.is_file(TAXONOMY) and files.is_dir(MODELS) and files.is_dir(STRATEGIES[0])


def load(files: Files, options: Mapping[str, object]) -> Loaded:
    """The jobs of a revision; what could not be read is a problem.

    With the option `every: true` there is a job for each command that the site has, not for those only that differ in
    more than KV offload.
    """
    whole = options.get("every") is True
    problems: list[Problem] = []
    read_file = _Reader(files, problems)
    taxonomy = read_file(TAXONOMY)
    if taxonomy is None:
        return Loaded((), tuple(problems))
    strategies: dict[str, Table] = {}
    for folder in STRATEGIES:
        for path in files.paths(folder):
            if path.endswith(".yaml") and path.count("/") == 1:
                strategy = read_file(path)
                name = at(strategy, "name")
                if strategy is not None and isinstance(name, str):
                    strategies[str(name)] = strategy
    profiles = {name: read_profile(name, one) for name, one in table(at(taxonomy, "hardware_profiles")).items()}
    site = Site(strategies, profiles, table(at(taxonomy, "kv_offload")))
    shared = read_file.digest()
    jobs: list[CommandJob] = []
    paths = [path for path in files.paths(MODELS) if path.endswith((".yaml", ".yml"))]
    left = MAX_ALL_STEPS
    for path in paths[:MAX_RECIPES]:
        recipe = read_file(path)
        if recipe is None:
            continue
        stamp = f"{shared} {files.content_id(path)}"
        given = min(MAX_STEPS, left)
        one = _Recipe(path, recipe, site, stamp, problems, whole, given)
        jobs.extend(one.jobs())
        left -= given - one.left
    if len(paths) > MAX_RECIPES:
        where = Span(paths[MAX_RECIPES], 1, 1, 1, 1)
        problems.append(Problem(f"only {MAX_RECIPES} recipes are read", where, "budget"))
    return Loaded(jobs, tuple(problems))


class _Reader:
    """Reads YAML files and keeps what is wrong with them."""

    def __init__(self, files: Files, problems: list[Problem]) -> None:
        self.files = files
        self.problems = problems
        self._read: list[str] = []

    def __call__(self, path: str) -> Table | None:
        source = self.files.text(path)
        if source is None:
            return None
        self._read.append(f"{path} {self.files.content_id(path)}")
        document = load_yaml(source.text, path, Schema.CORE)
        self.problems.extend(document.problems)
        value = read(document.root, _UNUSED)
        if isinstance(value, Table):
            return value
        self.problems.append(Problem("not a mapping", Span(path, 1, 1, 1, 1), "form"))
        return None

    def digest(self) -> str:
        """A digest of what was read so far."""
        return hashlib.blake2b("\0".join(self._read).encode("utf-8", "surrogateescape"), digest_size=12).hexdigest()


@dataclass(slots=True)
class _Found:
    """A command with what it was first shown for, and all that shows it."""

    choice: Choice
    shown: tuple[Shown, ...]
    image: str | None
    oldest: str
    places: list[str] = field(default_factory=list)


class _Recipe:
    """Makes the jobs of one recipe."""

    def __init__(
        self, path: str, recipe: Table, site: Site, stamp: str, problems: list[Problem], whole: bool, left: int
    ) -> None:
        self.path = path
        self.recipe = recipe
        self.site = site
        self.stamp = stamp
        self.problems = problems
        self.whole = whole
        self.left = left
        self.size = _LEAST + size_of(recipe)
        self.maker = Maker(recipe, site)
        self._made: dict[tuple[str, str, int, int], Command] = {}
        self.name = path.removeprefix(f"{MODELS}/").rpartition(".")[0]
        model = at(recipe, "model")
        self.model_place = model.key("model_id") if isinstance(model, Table) else recipe.block

    def jobs(self) -> Iterator[CommandJob]:
        """The jobs, in the order in which they are first shown."""
        found: dict[object, _Found] = {}
        told: set[str] = set()
        for choice, shown in self._commands(told):
            if len(found) >= MAX_COMMANDS or self.left <= 0:
                self._problem(f"only {len(found)} commands of this recipe are read", self.recipe.block, "budget")
                break
            profile = self.site.profiles[choice.pick.hardware]
            variant = at(self.recipe, "variants", choice.pick.variant)
            image = image_of(self.recipe, variant, profile)
            oldest = self._oldest(choice.pick)
            # Equal words and variables of a recipe are one object.
            whole = tuple((one.role, one.model, id(one.words), id(one.env)) for one in shown)
            key = (profile.brand, profile.generation, image, oldest, whole)
            one = found.get(key)
            if one is None:
                one = found[key] = _Found(choice, shown, image, oldest)
            extra = f" {choice.extra}" if choice.extra else ""
            where = f"{choice.shown_variant} {choice.shown_strategy}"
            one.places.extend(f"{where} {hardware}{extra}" for hardware in choice.hardware)
        for index, one in enumerate(found.values()):
            yield self._job(index, one)

    def _commands(self, told: set[str]) -> Iterator[tuple[Choice, tuple[Shown, ...]]]:
        for choice, make in self._omni() if is_omni(self.recipe) else self._served():
            self.left -= self.size
            try:
                shown = tuple(make())
            except Unreadable as error:
                if str(error) not in told:
                    told.add(str(error))
                    self._problem(str(error), self.model_place, "form")
                continue
            yield choice, shown

    def _problem(self, message: str, node: Node | None, kind: str) -> None:
        span = Span(self.path, 1, 1, 1, 1) if node is None else node.span
        self.problems.append(Problem(message, span, kind))

    def _served(self) -> Iterator[tuple[Choice, Make]]:
        for choice in choices(self.recipe, self.site, whole=self.whole):
            yield choice, partial(self.maker.commands, choice.pick, followers=False)

    def _omni(self) -> Iterator[tuple[Choice, Make]]:
        for variant, value in table(at(self.recipe, "variants")).items():
            for hardware in shown_hardware(self.recipe, self.site, value):
                profile = self.site.profiles[hardware]
                choice = Choice(Pick(variant, "omni", hardware), variant, "omni", (hardware,))
                for name, task in tasks_of(self.recipe):
                    yield replace(choice, extra=name), partial(self.maker.of_task, variant, task, profile)

    # -------------------------------------------------------------------------------------------------------- a job

    def _oldest(self, pick: Pick) -> str:
        """The version of vLLM from which on a command has to do; empty where that is not said, or another one serves.

        What vllm-omni adds to the options of vLLM is in no catalog.
        """
        if pick.strategy == "omni":
            return ""
        variant = at(self.recipe, "variants", pick.variant)
        store = self.site.strategies.get(pick.offload or "")
        given = [at(one, "min_vllm_version") for one in (at(self.recipe, "model"), variant, store)]
        keys = [(key, one) for one in given if isinstance(one, str) and (key := version_key(one)) is not None]
        return str(max(keys)[1]) if keys else ""

    def _deploy_type(self, pick: Pick) -> str:
        if pick.offload is not None and (own := deploy_type(self.site, pick.offload)):
            return own
        return deploy_type(self.site, pick.strategy) or "single_node"

    def _places(self, found: _Found) -> Mapping[RowPath, Span]:
        """Where what rules know of a job is written."""
        places = {("model",): node_of(found.shown[0].model), ("image",): node_of(found.image)}
        return {path: node.span for path, node in places.items() if node is not None}

    def _command(self, shown: Shown) -> Command:
        key = (shown.role, shown.model, id(shown.words), id(shown.env))
        found = self._made.get(key)
        if found is None:
            found = self._made[key] = _command(shown)
        return found

    def _job(self, index: int, found: _Found) -> CommandJob:
        choice, pick = found.choice, found.choice.pick
        variant = at(self.recipe, "variants")
        variant_place = variant.key(choice.shown_variant) if isinstance(variant, Table) else None
        model = found.shown[0].model
        here = Span(self.path, 1, 1, 1, 1)
        place = node_of(model) or self.model_place
        start = here if place is None else place.span
        row: dict[str, object] = {
            "hardware": pick.hardware,
            "strategy": pick.offload or pick.strategy,
            "variant": pick.variant,
            "node_count": pick.nodes,
            "deploy_type": self._deploy_type(pick),
            "docker_image": None if found.image is None else str(found.image),
        }
        if pick.offload is not None:
            row["serving_strategy"] = pick.strategy
        if choice.extra:
            row["turned_on"] = choice.extra
        row["shown_for"] = found.places
        known: dict[str, object] = {"model": str(model), "framework": "vllm", "runner": pick.hardware}
        if found.image is not None:
            known["image"] = str(found.image)
        return CommandJob(
            entry=self.name,
            config=start,
            arm=start if variant_place is None else variant_place.span,
            scenario=choice.shown_strategy,
            arm_index=index,
            row=row,
            start=Start("", start, commands=tuple(self._command(one) for one in found.shown if one.rank == 0)),
            places=self._places(found),
            known=known,
            oldest={"vllm": found.oldest} if found.oldest else {},
            stamp=f"{self.stamp} {index}",
        )


def _command(shown: Shown) -> Command:
    """A command as a shell takes it: the site quotes values, and leaves names of variables to be filled in."""
    words: list[Word] = ["vllm", "serve", _word(str(shown.model), quoted=False)]
    places: list[Node | None] = [None, None, node_of(shown.model)]
    follows = False
    for word in shown.words:
        if word.startswith("-") or not follows:
            parts = word.split()
            words.extend([_word(part, quoted=False) for part in parts])
            places.extend([node_of(word)] * len(parts))
            follows = word.startswith("-")
        else:
            words.append(_word(str(word), quoted=True))
            places.append(node_of(word))
            follows = False
    env = {name: _word(js_text(value), quoted=False) for name, (value, _) in shown.env.items()}
    return Command(
        tuple(words),
        env,
        tuple(places),
        {name: place for name, (_, place) in shown.env.items()},
        role=shown.role if shown.role in ("prefill", "decode") else "",
    )


@lru_cache(maxsize=20_000)
def _word(text: str, *, quoted: bool) -> Word:
    """A word of the command; one that a shell would change is not known, unless the site puts it in quotes."""
    variable = _VARIABLE.fullmatch(text)
    if variable is not None:
        return Unknown(f"{variable[1]} is for the reader to fill in")
    if quoted or not text or _PLAIN.fullmatch(text):
        return text
    return Unknown("a shell does not take it as it is written")
