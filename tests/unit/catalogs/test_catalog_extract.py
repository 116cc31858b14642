"""Reading an engine's own parser, variables and classes, on small trees written for these tests."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from botlint.catalogs.builder import Target, extract
from botlint.catalogs.extract import mocks, sglang
from botlint.catalogs.extract.attention import attention_facts
from botlint.catalogs.extract.common import captured_parser, instead, mentioned_variables, parser_flags, plain
from botlint.catalogs.extract.variables import read_variables
from botlint.core.errors import CannotFinish


def write(root: Path, **files: str) -> Path:
    for name, text in files.items():
        path = root / name.replace("__", "/")
        path = path.with_suffix(".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text), encoding="utf-8")
    return root


# Parsers


class DeprecatedStoreAction(argparse.Action):
    def __init__(self, option_strings: list[str], dest: str, new_flag: str | None = None, **kwargs: Any) -> None:
        self.new_flag = new_flag
        super().__init__(option_strings, dest, **kwargs)

    def __call__(self, *_: Any) -> None:
        return


def optional_type(return_type: Callable[[str], Any]) -> Callable[[str], Any]:
    def convert(text: str) -> Any:
        return return_type(text)

    return convert


def demo_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser()
    parser.add_argument("--size", "-s", type=optional_type(int), default=4)
    parser.add_argument("--cache", action=argparse.BooleanOptionalAction, default=True)
    parser.add_argument("--eager", action="store_true")
    parser.add_argument("--dtype", choices=["b", "a", None])
    parser.add_argument("--names", nargs="+", help="deprecated, use --name instead")
    parser.add_argument("--old", action=DeprecatedStoreAction, new_flag="--size", dest="size")
    parser.add_argument("--hidden", default=argparse.SUPPRESS, required=True)
    parser.add_argument("--home", default="/tmp/x")
    parser.add_argument("--function", type=lambda text: text, default=object())
    parser.add_argument("--more", action="append")
    return parser


@pytest.mark.parametrize(
    ("name", "attributes"),
    [
        ("--size", {"kind": "value", "aliases": ["-s"], "type": "int", "default": 4}),
        ("--cache", {"kind": "toggle", "negations": ["--no-cache"], "default": True}),
        ("--eager", {"kind": "switch", "default": False}),
        ("--dtype", {"kind": "value", "choices": ["a", "b"], "none": True}),
        ("--names", {"kind": "value", "nargs": "+", "deprecated": "help", "instead": "--name"}),
        ("--old", {"kind": "value", "dest": "size", "deprecated": "warns", "instead": "--size"}),
        ("--hidden", {"kind": "value", "required": True}),
        ("--home", {"kind": "value", "computed": True}),
        ("--function", {"kind": "value", "computed": True}),
        ("--more", {"kind": "value", "repeats": True}),
    ],
)
def test_options_of_a_parser(name: str, attributes: dict[str, Any]) -> None:
    assert parser_flags(demo_parser())[name] == attributes


def test_spellings_that_the_action_hides_are_found() -> None:
    parser = argparse.ArgumentParser(add_help=False)
    action = parser.add_argument("--enable-x", "--disable-x", action="store_true")
    action.negative_option_strings = {"--disable-x"}  # type: ignore[attr-defined]
    action.option_strings = ["--enable-x"]
    assert parser_flags(parser) == {"--enable-x": {"kind": "toggle", "negations": ["--disable-x"], "default": False}}


def test_a_parser_is_taken_out_of_a_program() -> None:
    def program() -> None:
        parser = argparse.ArgumentParser()
        parser.add_argument("--only")
        try:
            parser.parse_args()
        except Exception as error:
            raise AssertionError("the program must not see it") from error

    assert "--only" in parser_flags(captured_parser(program))
    with pytest.raises(LookupError, match="no arguments"):
        captured_parser(lambda: None)


@pytest.mark.parametrize(
    ("note", "name"),
    [
        ("Please use '--prefill-delayer' instead.", "--prefill-delayer"),
        ("replaced by DEMO_NEW_NAME", "DEMO_NEW_NAME"),
        ("this is used elsewhere", None),
        ("", None),
    ],
)
def test_what_a_note_tells_to_use(note: str, name: str | None) -> None:
    assert instead(note) == name


@pytest.mark.parametrize(
    ("value", "result"),
    [
        (3, (3, True)),
        ({"b", "a"}, (["a", "b"], True)),
        ("~/x", (None, False)),
        (object(), (None, False)),
        (None, (None, True)),
    ],
)
def test_plain_values(value: Any, result: tuple[Any, bool]) -> None:
    assert plain(value) == result


# Variables


def choosing(name: str, choices: list[str], *, case_sensitive: bool) -> Callable[[], Any]:
    def read() -> str | None:
        return None if (choices, case_sensitive) == ([], True) else os.getenv(name)

    return read


def test_variables_are_described_by_what_their_readers_do() -> None:
    get = os.environ.get
    table: dict[str, Callable[[], Any]] = {
        "DEMO_WORD": lambda: get("DEMO_WORD", "False").lower() in ("true", "1"),
        "DEMO_NUMBER": lambda: bool(int(get("DEMO_NUMBER", "1"))),
        "DEMO_ONE": lambda: get("DEMO_ONE", "0") == "1",
        "DEMO_TRUE": lambda: get("DEMO_TRUE", "").lower() == "true",
        "DEMO_SET": lambda: get("DEMO_SET") is not None,
        "DEMO_INT": lambda: int(get("DEMO_INT", "5")),
        "DEMO_MAYBE": lambda: float(get("DEMO_MAYBE", "")),
        "DEMO_CHOICE": choosing("DEMO_CHOICE", ["b", "a"], case_sensitive=False),
        "DEMO_RANDOM": lambda: "buffer_0123456789abcdef",
    }
    assert read_variables(table, {"DEMO_MAYBE": "float | None"}) == {
        "DEMO_WORD": {"default": False, "type": "bool"},
        "DEMO_NUMBER": {"default": True, "type": "bool-int"},
        "DEMO_ONE": {"default": False, "type": "bool-1"},
        "DEMO_TRUE": {"default": False, "type": "bool-true"},
        "DEMO_SET": {"default": False, "type": "bool-set"},
        "DEMO_INT": {"default": 5, "type": "int"},
        "DEMO_MAYBE": {"computed": True, "type": "float"},
        "DEMO_CHOICE": {"type": "str", "choices": ["a", "b"], "any_case": True},
        "DEMO_RANDOM": {"computed": True, "type": "str"},
    }
    assert not [name for name in os.environ if name.startswith("DEMO_")]


def test_names_in_the_source_that_nobody_declared(tmp_path: Path) -> None:
    write(tmp_path, a="x = 'DEMO_A'", b="get(\"DEMO_B_\")\nget('DEMO_C')", tests__c="'DEMO_T'")
    assert mentioned_variables(tmp_path, ("DEMO_",)) == {"DEMO_A", "DEMO_C"}


def test_four_ways_to_write_down_an_old_variable(tmp_path: Path) -> None:
    write(
        tmp_path,
        srt__environ="""
        class Envs:
            SGLANG_NEW = EnvBoolWithAlias(True, deprecated_name="SGLANG_ALIAS")
            SGLANG_SIZE = EnvInt(4)
            SGLANG_PATH = EnvStr(join("a", "b"))

        def _print_deprecated_env(new_name, old_name):
            pass

        _print_deprecated_env("SGLANG_NEW", "SGLANG_CALL")
        _warn_deprecated_env_to_cli_flag("SGLANG_FLAG", "Please use '--size' instead.")
        _DEPRECATED_ENVS: dict = {
            "SGLANG_TABLE": Old("SGLANG_NEW"),
            "SGLANG_NOTED": Old(note="use '--other' now"),
            "SGLANG_GONE": Old(),
        }
        """,
    )
    assert sglang._environment(tmp_path) == {
        "SGLANG_ALIAS": {"deprecated": "warns", "instead": "SGLANG_NEW"},
        "SGLANG_CALL": {"deprecated": "warns", "instead": "SGLANG_NEW"},
        "SGLANG_FLAG": {"deprecated": "warns", "instead": "--size"},
        "SGLANG_GONE": {"deprecated": "warns"},
        "SGLANG_NEW": {"type": "bool", "default": True},
        "SGLANG_NOTED": {"deprecated": "warns", "instead": "--other"},
        "SGLANG_PATH": {"type": "str", "computed": True},
        "SGLANG_SIZE": {"type": "int", "default": 4},
        "SGLANG_TABLE": {"deprecated": "warns", "instead": "SGLANG_NEW"},
    }


# Attention backends

BASE = """
class AttentionBackend(ABC):
    supported_dtypes = [torch.float16, torch.bfloat16]
    supported_kv_cache_dtypes = ["auto"]

    def get_supported_head_sizes():
        return []

    def supports_head_size(cls, head_size):
        return not cls.get_supported_head_sizes() or head_size in cls.get_supported_head_sizes()

    def supports_kv_cache_dtype(cls, dtype):
        return dtype in cls.supported_kv_cache_dtypes

    def supports_block_size(cls, block_size):
        for supported_size in cls.get_supported_kernel_block_sizes():
            if isinstance(supported_size, MultipleOf):
                supported_size = supported_size.base
            if block_size % supported_size == 0:
                return True
        return False

    def is_mla():
        return False
"""


@pytest.mark.parametrize(
    ("body", "facts"),
    [
        ("pass", {}),
        (
            """
            supported_kv_cache_dtypes: ClassVar[list] = ["fp8", "auto"]
            def get_supported_head_sizes():
                return [64, 128]
            def get_supported_kernel_block_sizes():
                return [MultipleOf(16), 64]
            def is_mla():
                "Whether."
                return True
            def supports_compute_capability(cls, capability):
                return capability.major in [9, 10]
            """,
            {
                "block_multiples": [16, 64],
                "compute_capability": "9.x 10.x",
                "head_sizes": [64, 128],
                "kv_cache_dtypes": ["auto", "fp8"],
                "mla": True,
            },
        ),
        (
            """
            supported_kv_cache_dtypes = ["fp8"]
            def supports_kv_cache_dtype(cls, dtype):
                return other(dtype)
            def get_supported_head_sizes():
                return [64]
            def supports_head_size(cls, head_size):
                return head_size >= 32
            def get_supported_kernel_block_sizes():
                return sizes()
            def supports_compute_capability(cls, capability):
                return capability >= DeviceCapability(8, 0) and capability <= DeviceCapability(12, 1)
            """,
            {"compute_capability": ">=8.0 <=12.1"},
        ),
        (
            """
            def supports_block_size(cls, block_size):
                if block_size is None:
                    return True
                return block_size % 16 == 0
            """,
            {"block_multiples": [16]},
        ),
    ],
)
def test_facts_of_a_backend(body: str, facts: dict[str, Any], tmp_path: Path) -> None:
    lines = "\n".join(f"    {line}" for line in dedent(body).strip().splitlines())
    write(tmp_path, vllm__v1__attention__backend=BASE)
    (tmp_path / "vllm/v1/attention/demo.py").write_text(f"class DemoBackend(AttentionBackend):\n{lines}\n")
    found = attention_facts(tmp_path, {"DEMO": "vllm.v1.attention.demo.DemoBackend", "CUSTOM": "", "GONE": "x.Y"})
    common = {"dtypes": ["bfloat16", "float16"]} | ({} if "kv_cache_dtype" in body else {"kv_cache_dtypes": ["auto"]})
    assert found == {"CUSTOM": {}, "DEMO": common | facts, "GONE": {}}


def test_exact_sizes_where_the_engine_compares_them(tmp_path: Path) -> None:
    base = BASE.replace(
        "if block_size % supported_size == 0", "if isinstance(supported_size, int) and block_size == supported_size"
    )
    write(tmp_path, vllm__attention__base=base)
    write(
        tmp_path,
        vllm__attention__demo="""
        class DemoBackend(AttentionBackend):
            def get_supported_kernel_block_sizes():
                return [MultipleOf(16), 128]
        """,
    )
    facts = attention_facts(tmp_path, {"DEMO": "vllm.attention.demo.DemoBackend"})["DEMO"]
    assert (facts["block_multiples"], facts["block_sizes"]) == ([16], [128])


def test_a_base_is_the_imported_one(tmp_path: Path) -> None:
    write(tmp_path, vllm__v1__attention__backend=BASE)
    for version, size in (("one", 64), ("two", 128)):
        shared = f"""
        from vllm.v1.attention.backend import AttentionBackend
        class SharedBackendBase(AttentionBackend):
            def get_supported_head_sizes():
                return [{size}]
        """
        demo = """
        from .shared import SharedBackendBase as Base
        class DemoBackend(Base):
            pass
        """
        write(tmp_path, **{f"vllm__models__{version}__shared": shared, f"vllm__models__{version}__demo": demo})
    members = {"ONE": "vllm.models.one.demo.DemoBackend", "TWO": "vllm.models.two.demo.DemoBackend"}
    assert {name: facts["head_sizes"] for name, facts in attention_facts(tmp_path, members).items()} == {
        "ONE": [64],
        "TWO": [128],
    }


# Stand-ins


def test_a_stand_in_takes_whatever_a_program_does_with_it() -> None:
    stand = mocks.Stand("torch.nn.Module")

    class Layer(stand):  # type: ignore[misc,valid-type]
        pass

    class Tuned(Layer, option=3):
        pass

    assert stand.anything(1, key=2).more[3] == mocks.Stand("torch.nn.Module.anything().more[]")
    assert [list(stand), len(stand), int(stand), bool(stand), 1 in stand, stand < 3] == [[], 0, 0, False, False, False]
    assert not isinstance(3, stand)
    assert stand(Tuned) is Tuned
    with pytest.raises(AttributeError):
        _ = stand.__wrapped__


# The process


ATOM = {
    "atom__utils__envs": """
        import os
        environment_variables = {"ATOM_DEMO": lambda: os.getenv("ATOM_DEMO", "0") == "1"}
    """,
    "atom__model_engine__model_runner": "support_model_arch_dict = {'DemoForCausalLM': 'x'}",
    "atom__kv_transfer__factory": "KVConnectorFactory.register_connector('demo', 'x', 'Y')\nos.getenv('ATOM_READ')",
    "atom__entrypoints__openai_server": """
        import argparse
        import torch
        import some_missing_package.deep as deep
        from transformers import AutoConfig

        class Layer(torch.nn.Module):
            size = deep.SIZE + 1

        def main():
            parser = argparse.ArgumentParser()
            parser.add_argument("--kv_cache_dtype", choices=["bf16", "fp8"], default="bf16")
            parser.add_argument("--method", choices=["eagle3", "mtp", "dspark"])
            parser.parse_args()
    """,
}


def run(tree: Path, scratch: Path) -> dict[str, Any]:
    scratch.mkdir()
    return extract(Target("atom", "0.1"), tree, scratch)


def test_a_tree_is_extracted_without_its_dependencies(tmp_path: Path) -> None:
    snapshot = run(write(tmp_path / "tree", **ATOM), tmp_path / "scratch")
    assert snapshot == {
        "framework": "atom",
        "version": "0.1",
        "flags": {
            "--kv_cache_dtype": {"kind": "value", "choices": ["bf16", "fp8"], "default": "bf16"},
            "--method": {"kind": "value", "choices": ["dspark", "eagle3", "mtp"]},
        },
        "environment": {"ATOM_DEMO": {"default": False, "type": "bool-1"}, "ATOM_READ": {"undeclared": True}},
        "options": {},
        "names": {
            "architecture": {"DemoForCausalLM": {}},
            "kv_cache_dtype": {"bf16": {}, "fp8": {}},
            "kv_connector": {"demo": {}},
            "speculative_method": {"dspark": {}, "eagle3": {}, "mtp": {}},
        },
        "problems": {},
    }


@pytest.mark.parametrize(
    ("code", "problem"),
    [
        ("import socket; socket.create_connection(('127.0.0.1', 9))", "socket"),
        ("import subprocess; subprocess.run(['true'])", "subprocess.Popen"),
        ("import os; os.system('true')", "os.system"),
        ("raise SystemExit(3)", "SystemExit"),
    ],
)
def test_what_the_process_must_not_do(code: str, problem: str, tmp_path: Path) -> None:
    tree = write(tmp_path / "tree", **{**ATOM, "atom__entrypoints__openai_server": f"{code}\ndef main(): pass\n"})
    snapshot = run(tree, tmp_path / "scratch")
    assert snapshot["flags"] == {}
    assert problem in snapshot["problems"]["flags"]


def test_a_process_that_fails_is_told(tmp_path: Path) -> None:
    tree = write(tmp_path / "tree", **{**ATOM, "atom__entrypoints__openai_server": "import os; os._exit(7)"})
    with pytest.raises(CannotFinish, match="could not be extracted"):
        run(tree, tmp_path / "scratch")


def test_secrets_do_not_reach_the_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_TOKEN", "secret")
    leak = "import os\nenvironment_variables = {'ATOM_' + name: (lambda: 1) for name in os.environ}"
    snapshot = run(write(tmp_path / "tree", **{**ATOM, "atom__utils__envs": leak}), tmp_path / "scratch")
    assert "ATOM_HOME" in snapshot["environment"]
    assert "ATOM_HF_TOKEN" not in snapshot["environment"]


def test_nothing_of_this_touches_our_own_process() -> None:
    assert "torch" not in sys.modules
    assert not any(type(finder).__module__.endswith("extract.mocks") for finder in sys.meta_path)
