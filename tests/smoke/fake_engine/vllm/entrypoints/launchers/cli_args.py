"""The options of the fake engine."""

from __future__ import annotations

import argparse
import json


def make_arg_parser(parser: argparse.ArgumentParser) -> argparse.ArgumentParser:
    parser.add_argument("model_tag", nargs="?")
    for name in ("--host", "--load-format", "--served-model-name", "--fake", "--note", "--dtype"):
        parser.add_argument(name)
    for name in ("--port", "--max-model-len", "--tensor-parallel-size", "--max-num-seqs"):
        parser.add_argument(name, type=int)
    for name in ("--hf-overrides", "--speculative-config"):
        parser.add_argument(name, type=json.loads)
    parser.add_argument("--enforce-eager", action="store_true")
    return parser
