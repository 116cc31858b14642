"""srt-slurm recipes: what `srtctl apply` launches, read from the recipe's YAML."""

from __future__ import annotations

from botlint.layouts.inferencex.srtslurm.acceptance import Injection, inject
from botlint.layouts.inferencex.srtslurm.model import (
    Benchmark,
    Cluster,
    Frontend,
    Resources,
    Role,
    Spans,
    SrtRecipe,
    Word,
)
from botlint.layouts.inferencex.srtslurm.origin import LineMap
from botlint.layouts.inferencex.srtslurm.reader import read_cluster, read_recipe
from botlint.layouts.inferencex.srtslurm.releases import Release, release
from botlint.layouts.inferencex.srtslurm.variants import split_argument

__all__ = [
    "Benchmark",
    "Cluster",
    "Frontend",
    "Injection",
    "LineMap",
    "Release",
    "Resources",
    "Role",
    "Spans",
    "SrtRecipe",
    "Word",
    "inject",
    "read_cluster",
    "read_recipe",
    "release",
    "split_argument",
]
