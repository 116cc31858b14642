# botlint: `make demo` shows it at work, `make test` runs every check. Needs Python >= 3.11 (with venv and pip), make, git and bash.

SHELL := bash
PYTHON ?= python3
VENV ?= .venv
JOBS ?= 4
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
# Tests call programs of the environment (shfmt, botlint): its folder comes first.
PYTEST := PATH="$(abspath $(BIN)):$$PATH" $(BIN)/python -m pytest -n $(JOBS) --dist worksteal
TYPING := build/typing/botlint

.DEFAULT_GOAL := help
.PHONY: help demo test lint format typecheck typing unit browser postgres test-smoke test-slow soak bench bench-review docs refresh-spec clean

help:  ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 24

demo: $(VENV)/.installed  ## install botlint into .venv and run it on the miniature repository in examples/
	@examples/demo/run.sh "$(abspath $(BIN)/botlint)"

test: lint typecheck unit  ## lint, types, layers and all fast tests

lint: $(VENV)/.installed-dev  ## ruff (rules and formatting) and the import contracts
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports --no-logo

format: $(VENV)/.installed-dev  ## let ruff mend and format the code
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

typecheck: $(VENV)/.installed-dev typing  ## mypy --strict
	$(BIN)/mypy

unit: $(VENV)/.installed-dev browser postgres
	$(PYTEST) -m 'not slow and not vllm'

browser:  ## install Chromium, with which pages are tested, where that can be done
	@tests/browser/install.sh

SMOKE_VENV ?= build/vllm

test-smoke: $(VENV)/.installed-dev  ## smoke runs of a real vLLM on the CPU, which it installs into SMOKE_VENV (3 GB)
	tests/smoke/install.sh $(SMOKE_VENV) $(PYTHON)
	BOTLINT_VLLM_PYTHON=$(abspath $(SMOKE_VENV))/bin/python $(PYTEST) -n 0 -m vllm tests/smoke

test-slow: $(VENV)/.installed-dev  ## the tests that take longer than a few seconds
	$(PYTEST) -m slow

postgres:  ## install PostgreSQL, with which several workers are tested, where that can be done
	@tests/server/install.sh

soak: $(VENV)/.installed-dev postgres  ## 500 webhooks to the App while its processes are killed, on SQLite and PostgreSQL
	PYTHONPATH=tests/server:tests/github $(BIN)/python tests/server/soak.py $(SOAK)

bench: $(VENV)/.installed-bench  ## time `plan` and `check` on REPO='/path/to/checkout...', against its own generator
	@test -n "$(REPO)" || { echo "usage: make bench REPO='/path/to/checkout...' [RUNS=5]" >&2; exit 2; }
	$(BIN)/python tests/bench/bench.py $(REPO) --botlint $(BIN)/botlint --runs $(or $(RUNS),5)

bench-review: $(VENV)/.installed-dev  ## time the review of a one-recipe pull request on the size of REPO=/path/to/checkout
	@test -n "$(REPO)" || { echo 'usage: make bench-review REPO=/path/to/checkout [RUNS=4]' >&2; exit 2; }
	PYTHONPATH=tests/github $(BIN)/python tests/bench/review.py "$(REPO)" --runs $(or $(RUNS),4)

docs: $(VENV)/.installed  ## write the pages of the rules in docs/rules/
	$(BIN)/botlint rules docs docs/rules

refresh-spec: $(VENV)/.installed-dev  ## cut the contract tests' data out of GitHub's own descriptions (needs npm)
	$(BIN)/python tests/github/refresh_spec.py

clean:  ## remove everything that make and the tests create
	rm -rf $(VENV) build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache .botlint_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# mypy does not follow the import hook of an editable install: it reads the package through a folder of links.
typing:
	@rm -rf $(TYPING) && mkdir -p $(TYPING)
	@ln -sfn $(foreach path,$(wildcard bot/*) schemas rules,../../../$(path)) $(TYPING)/

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	    { echo "botlint needs Python >= 3.11; $(PYTHON) is $$($(PYTHON) --version 2>&1). Try: make PYTHON=python3.12 ..." >&2; exit 1; }
	@$(PYTHON) -m venv $(VENV) || \
	    { rm -rf $(VENV); \
	      echo "$(PYTHON) cannot create a virtual environment with pip. On Debian or Ubuntu: apt-get install python3-venv" >&2; exit 1; }

$(VENV)/.installed: pyproject.toml | $(BIN)/python
	$(PIP) install -e .
	@touch $@

$(VENV)/.installed-dev: pyproject.toml | $(BIN)/python
	$(PIP) install -e '.[dev]'
	@touch $@ $(VENV)/.installed

# The measured repository's own generator needs pydantic; botlint does not.
$(VENV)/.installed-bench: $(VENV)/.installed
	$(PIP) install 'pydantic>=2,<3'
	@touch $@
