"""What a catalog answers: flags as the server's parser reads them, variables, names, histories, near names."""

from __future__ import annotations

import pytest

from botlint.catalogs.catalog import (
    FRAMEWORKS,
    Absence,
    Catalog,
    UnknownFrameworkError,
    UnknownVersionError,
    closest,
    load,
    names_in,
)

DEMO = Catalog(
    {
        "framework": "demo",
        "title": "Demo",
        "prefixes": ["DEMO_"],
        "underscores": True,
        "dotted": True,
        "shorthand": {"-O": ["--level", "--compile"]},
        "rewritten": {"DM_": "DEMO_"},
        "replaced": {"DEMO_BACKEND": {"by": "--backend", "source": "a test"}},
        "versions": {
            "0.1": {"released": "2026-01-01", "source": "a test"},
            "0.2.post1": {"released": "2026-02-01", "source": "a test"},
            "0.3": {"released": "2026-03-01", "source": "a test"},
        },
        "flags": {
            "--backend": {"in": "0.1..", "kind": "value", "values": "@backend", "any_case": True},
            "--cache": {"in": "0.1..", "kind": "toggle", "negations": ["--no-cache"], "default": True},
            "--compile": {"in": "0.1..", "kind": "value", "type": "json", "config": "Compile", "aliases": ["-c"]},
            "--dtype": {
                "in": "0.1..",
                "kind": "value",
                "choices": ["a", "b"],
                "none": True,
                "changes": {"0.3": {"choices+": ["c"]}},
            },
            "--level": {"in": "0.2.post1..", "kind": "value"},
            "--many": {"in": "0.1..", "kind": "value", "nargs": "+"},
            "--old": {
                "in": "0.1..0.2.post1",
                "kind": "switch",
                "changes": {"0.2.post1": {"deprecated": "warns", "instead": "--cache"}},
            },
            "--size": {"in": "0.1..0.2.post1", "kind": "value", "aliases": ["--tp-size"]},
            "--tp-size": {"in": "0.3..", "kind": "value", "aliases": ["--size"]},
        },
        "environment": {
            "DEMO_BACKEND": {"in": "0.1", "type": "str"},
            "DEMO_MODE": {"in": "0.1..", "type": "str", "choices": ["FP", "NONE"], "default": "NONE"},
        },
        "options": {"Compile.level": {"in": "0.1..", "type": "int", "default": 3}},
        "names": {
            "backend": {
                "FAST": {
                    "in": "0.1..",
                    "block_multiples": [16],
                    "changes": {"0.3": {"block_multiples": None, "block_sizes": [128]}},
                },
                "SLOW": {"in": "0.2.post1.."},
            }
        },
    }
)


@pytest.mark.parametrize(
    ("text", "version"),
    [("0.2.post1", "0.2.post1"), ("v0.3.0", "0.3"), ("0.3+rocm", "0.3"), ("0.4", None), ("nightly", None)],
)
def test_versions_are_found_in_any_spelling(text: str, version: str | None) -> None:
    assert DEMO.resolve(text) == version


@pytest.mark.parametrize(
    ("text", "versions"),
    [("0.3", ("0.3",)), ("0.2", ("0.1", "0.2.post1")), ("0.9", ("0.3",)), ("0.0.1", ("0.1",)), ("main", ())],
)
def test_neighbours_of_a_version(text: str, versions: tuple[str, ...]) -> None:
    assert DEMO.around(text) == versions


def test_an_unknown_version_is_never_an_answer() -> None:
    with pytest.raises(UnknownVersionError, match="no version 9"):
        DEMO.flag("--cache", "9")
    with pytest.raises(UnknownFrameworkError):
        load("nope")


@pytest.mark.parametrize(
    ("word", "name", "how", "negated", "value", "path"),
    [
        ("--cache", "--cache", "exact", False, None, ()),
        ("--no-cache", "--cache", "exact", True, None, ()),
        ("--no_cache", "--cache", "underscores", True, None, ()),
        ("--tp_size=4", "--tp-size", "underscores", False, "4", ()),
        ("--tp", "--tp-size", "abbreviation", False, None, ()),
        ("--compile.level", "--compile", "dotted", False, None, ("level",)),
        ("--compile.a_b.c=1", "--compile", "dotted", False, "1", ("a_b", "c")),
        ("-c.level=2", "--compile", "dotted", False, "2", ("level",)),
        ("-O3", "--level", "exact", False, "3", ()),
        ("-O", "--level", "exact", False, None, ()),
        ("-O.level=2", "--compile", "dotted", False, "2", ("level",)),
        ("--size", "--tp-size", "exact", False, None, ()),
    ],
)
def test_reading_a_word(
    word: str, name: str, how: str, negated: bool, value: str | None, path: tuple[str, ...]
) -> None:
    use = DEMO.read_flag(word, "0.3")
    assert use is not None
    assert (use.flag.name, use.how, use.negated, use.value, use.path) == (name, how, negated, value, path)


@pytest.mark.parametrize("word", ["--c", "--nope", "--cache.x", "-x", "-", "--", "serve", "--old", "--Cache"])
def test_words_that_name_no_flag_or_more_than_one(word: str) -> None:
    assert DEMO.read_flag(word, "0.3") is None


def test_the_shorthand_before_its_flag_existed() -> None:
    use = DEMO.read_flag("-O3", "0.1")
    assert use is not None
    assert (use.flag.name, use.value) == ("--compile", "3")


@pytest.mark.parametrize(
    ("flag", "version", "value", "accepted"),
    [
        ("--dtype", "0.1", "c", False),
        ("--dtype", "0.3", "c", True),
        ("--dtype", "0.3", "None", True),
        ("--dtype", "0.3", "A", False),
        ("--backend", "0.1", "SLOW", False),
        ("--backend", "0.3", "slow", True),
        ("--many", "0.3", "anything", None),
    ],
)
def test_values_of_a_flag(flag: str, version: str, value: str, accepted: bool | None) -> None:
    found = DEMO.flag(flag, version)
    assert found is not None
    assert found.accepts(value) is accepted


@pytest.mark.parametrize(("value", "accepted"), [("FP", True), ("fp", False), ("", False)])
def test_values_of_a_variable(value: str, accepted: bool) -> None:
    variable = DEMO.variable("DEMO_MODE", "0.3")
    assert variable is not None
    assert variable.accepts(value) is accepted


def test_a_variable_with_an_old_prefix_is_known_and_deprecated() -> None:
    variable = DEMO.variable("DM_MODE", "0.3")
    assert variable is not None
    assert (variable.name, variable.deprecated, variable.instead) == ("DM_MODE", "warns", "DEMO_MODE")
    assert DEMO.variable("DM_NOPE", "0.3") is None


def test_prefixes_say_whose_a_variable_is() -> None:
    assert DEMO.owns("DEMO_ANYTHING")
    assert not DEMO.owns("OTHER")


@pytest.mark.parametrize(
    ("version", "size", "accepted"), [("0.1", 48, True), ("0.1", 40, False), ("0.3", 128, True), ("0.3", 256, False)]
)
def test_block_sizes(version: str, size: int, accepted: bool) -> None:
    name = DEMO.name("backend", "FAST", version)
    assert name is not None
    assert name.accepts_block_size(size) is accepted


def test_an_unstated_block_size_is_not_known() -> None:
    name = DEMO.name("backend", "SLOW", "0.3")
    assert name is not None
    assert name.accepts_block_size(7) is None


def test_names_over_several_versions() -> None:
    assert names_in(DEMO, "backend", ["0.1"]) == {"FAST"}
    assert names_in(DEMO, "backend", ["0.1", "0.3"]) == {"FAST", "SLOW"}
    assert names_in(DEMO, "nope", ["0.1"]) == frozenset()


def test_keys_of_a_configuration_class() -> None:
    assert DEMO.keys_of("Compile", "0.1") == ("level",)
    option = DEMO.option("Compile", "level", "0.1")
    assert option is not None
    assert option.default == 3
    assert DEMO.option("Compile", "nope", "0.1") is None


@pytest.mark.parametrize(
    ("name", "events", "added", "removed", "instead"),
    [
        ("--old", ["0.2.post1 changed", "0.3 removed"], None, "0.3", "--cache"),
        ("--level", ["0.2.post1 added"], "0.2.post1", None, None),
        ("--size", [], None, None, None),
        ("--dtype", ["0.3 changed"], None, None, None),
        ("DEMO_BACKEND", ["0.2.post1 removed"], None, "0.2.post1", "--backend"),
        ("SLOW", ["0.2.post1 added"], "0.2.post1", None, None),
        ("--nope", [], None, None, None),
    ],
)
def test_history(name: str, events: list[str], added: str | None, removed: str | None, instead: str | None) -> None:
    history = DEMO.history(name)
    assert [f"{event.version} {event.change}" for event in history.events] == events
    assert (history.added_in, history.removed_in, history.instead) == (added, removed, instead)


@pytest.mark.parametrize(
    ("name", "known", "near"),
    [
        ("--max-num-batch-tokens", ["--max-num-batched-tokens", "--max-model-len"], "--max-num-batched-tokens"),
        ("DEMO_USE_AITR", ["DEMO_USE_AITER", "DEMO_USE"], "DEMO_USE_AITER"),
        ("flash_attn", ["FLASH_ATTN", "FLASHINFER"], "FLASH_ATTN"),
        ("--size-tp", ["--tp-size", "--pp-size"], "--tp-size"),
        ("--frobnicate", ["--tp-size"], None),
        ("", ["--tp-size"], None),
    ],
)
def test_near_names(name: str, known: list[str], near: str | None) -> None:
    assert closest(name, known) == near


# The catalogs that are shipped


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_every_version_of_every_catalog_can_be_read(framework: str) -> None:
    catalog = load(framework)
    assert load(framework) is catalog
    for version in (catalog.versions[0], catalog.versions[len(catalog.versions) // 2], catalog.newest):
        assert catalog.environment_at(version)
        spelled = [word for flag in catalog.flags_at(version).values() for word in (*flag.spellings, *flag.negations)]
        assert len(spelled) == len(set(spelled)), "one spelling names two flags"
        for group in catalog.groups:
            catalog.names(group, version)
        for flag in catalog.flags_at(version).values():
            if flag.config:
                assert catalog.keys_of(flag.config, version), flag


@pytest.mark.parametrize(
    ("framework", "first", "last"),
    [
        ("vllm", "0.11.0", "0.33.0"),
        ("sglang", "0.5.5", "0.5.23"),
        ("atom", "0.1.2", "0.1.6rc0"),
        ("lmcache", "0.3.15", "0.5.6"),
    ],
)
def test_the_catalogs_reach_from_and_to(framework: str, first: str, last: str) -> None:
    assert {first, last} <= set(load(framework).versions)


def test_every_minor_release_of_vllm_is_there() -> None:
    minors = {int(version.split(".")[1]) for version in load("vllm").versions}
    assert minors == set(range(11, max(minors) + 1))


# Facts that were checked by hand in the sources of the versions.
@pytest.mark.parametrize(
    ("framework", "name", "added", "removed"),
    [
        ("vllm", "--moe-backend", "0.17.0", None),
        ("vllm", "--calculate-kv-scales", None, "0.28.0"),
        ("vllm", "TREE_ATTN", None, "0.21.0"),
        ("vllm", "VLLM_FLASHINFER_MOE_BACKEND", None, "0.24.0"),
        ("vllm", "HiSparseConnector", "0.30.0", None),
        ("vllm", "P2pNcclConnector", None, "0.24.0"),
        ("sglang", "--cuda-graph-max-bs", None, "0.5.20"),
        ("sglang", "--tensor-parallel-size", None, None),
    ],
)
def test_when_names_came_and_went(framework: str, name: str, added: str | None, removed: str | None) -> None:
    history = load(framework).history(name)
    assert (history.added_in, history.removed_in) == (added, removed)


@pytest.mark.parametrize(
    ("name", "version", "absence"),
    [
        ("--moe-backend", "0.16.0", Absence(added_in="0.17.0")),
        ("--calculate-kv-scales", "0.28.0", Absence(removed_in="0.28.0")),
        ("--disable-log-requests", "0.27.1", Absence(removed_in="0.17.0")),
        ("--nope", "0.27.1", Absence()),
    ],
    ids=["not yet", "no more", "for some releases", "never"],
)
def test_why_a_version_does_not_have_a_name(name: str, version: str, absence: Absence) -> None:
    assert load("vllm").absence(name, version) == absence


def test_facts_of_single_versions() -> None:
    vllm, sglang = load("vllm"), load("sglang")
    quick_reduce = "VLLM_ROCM_QUICK_REDUCE_QUANTIZATION"
    assert [bool(v and v.accepts("INT3")) for v in (vllm.variable(quick_reduce, x) for x in ("0.24.0", "0.25.0"))] == [
        False,
        True,
    ]
    backend = vllm.name("attention_backend", "ROCM_AITER_FA", "0.27.1")
    assert backend is not None
    assert (backend.block_multiples, backend.head_sizes) == ((16, 32), (64, 128, 256))
    hidden = vllm.flag("--no-enable-expert-parallel", "0.33.0")
    assert hidden is not None
    assert hidden.name == "--enable-expert-parallel"
    assert "SpeculativeConfig" in {flag.config for flag in vllm.flags_at("0.27.1").values()}
    use = sglang.read_flag("--tp", "0.5.16")
    assert use is not None
    assert (use.flag.name, use.how) == ("--tp-size", "abbreviation")
    assert sglang.history("--nsa-prefill-backend").instead == "--dsa-prefill-backend"
