# make demo    train on Crafter for a few minutes and evaluate, from nothing
# make test    every check, from nothing

VENV := .venv
BIN := $(VENV)/bin
SUITABLE := import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))
PYTHON ?= $(shell for python in python3.11 python3 python3.12 python3.13; do \
	$$python -c '$(SUITABLE)' 2>/dev/null && echo $$python && break; done)

PROCGEN := procgen-mirror==0.10.7 gym3==0.3.3 "cffi<2" pycparser

GOALS ?= collect sapling, place plant
MINUTES ?= 3
EPISODES ?= 10
ifndef RUN
RUN := demo-$(shell date +%Y%m%d-%H%M%S)
endif

.PHONY: demo test test-slow python clean

demo: $(VENV)/.installed
	$(BIN)/amago train crafter --goals "$(GOALS)" --minutes $(MINUTES) --run $(RUN) --plain
	$(BIN)/amago eval --checkpoint $(RUN) --episodes $(EPISODES)

test: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright
	$(BIN)/lint-imports
	$(BIN)/pytest

test-slow: $(VENV)/.installed-dev
	$(BIN)/pytest -m slow --timeout 1800

python:
	@test -n "$(PYTHON)" || { echo "amago needs Python 3.11 or newer with venv: make PYTHON=... demo" >&2; exit 1; }

clean:
	rm -rf $(VENV) build *.egg-info .pytest_cache .ruff_cache .hypothesis .import_linter_cache

$(BIN)/python: | python
	$(PYTHON) -m venv $(VENV)

# torch first: its version decides which builds of the rest fit. Procgen last, and not in pyproject.toml: it and gym3 ask
# for numpy below 2, with which the rest does not work, and run with numpy 2 all the same.
$(VENV)/.installed: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install "torch~=2.13.0"
	$(BIN)/python -m pip install --quiet --editable .
	$(BIN)/python -m pip install --quiet --no-deps $(PROCGEN) || echo "no Procgen for this machine: the rest does without"
	@touch $@

$(VENV)/.installed-dev: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --editable ".[dev]"
	@touch $@
