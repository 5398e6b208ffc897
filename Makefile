# What a person and CI run. Each target makes the virtual environment that it needs; a second run finds it made.
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
# The oldest supported Python, for the oldest supported versions of everything; this one's if it is not on the machine.
OLDEST_PYTHON ?= $(shell .ci/python 3.10 2>/dev/null || echo $(PYTHON))
# Every core takes whole test files.
PYTEST ?= -q -n auto --dist loadfile
# The tests in which an SDK or OpenTelemetry takes part: what other versions of them can break.
EDGES = tests/genai tests/providers tests/replay tests/runtime tests/store tests/telemetry tests/testing
export PYTHON

.PHONY: demo test fuzz replay e2e lint format names bench quality check-oldest check-newest check-beside check-wheel clean help

help:  ## what there is
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/'

demo: $(VENV)/.ready-demo  ## real SDKs against a scripted provider, no key and no network: the trace with its verdicts
	@$(BIN)/otel-footprint demo

test: $(VENV)/.ready-dev  ## the whole test suite
	$(BIN)/python -m pytest $(PYTEST)

fuzz: $(VENV)/.ready-dev  ## every property test with new examples, ten times over
	for seed in $$($(BIN)/python -c 'import random; print(*random.sample(range(10**9), 10))'); do echo "seed $$seed"; \
		$(BIN)/python -m pytest $(PYTEST) -m hypothesis --hypothesis-profile=fuzz --hypothesis-seed=$$seed || exit 1; done

replay: $(VENV)/.ready-dev  ## every recorded conversation as a live agent under every window strategy, a minute or two
	OTEL_FOOTPRINT_REPLAY=all $(BIN)/python -m pytest $(PYTEST) tests/replay/test_acting_replay.py

e2e: $(VENV)/.ready-e2e  ## with a real collector, Jaeger, Prometheus and Alertmanager; builds what is missing (needs Go, minutes, once)
	$(BIN)/python scripts/servers.py --out .cache/servers
	OTEL_FOOTPRINT_SERVERS=$(CURDIR)/.cache/servers $(BIN)/python -m pytest -q tests/e2e

lint: $(VENV)/.ready-dev  ## style, types, and which part may import which
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(VENV)/.ready-dev  ## format the source
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

names: $(VENV)/.ready-dev  ## generate the telemetry names and their page from the registry
	$(BIN)/python scripts/generate_names.py
	$(BIN)/python scripts/build_rules.py

bench: .cache/bench/.ready  ## added time per call against the peers (about 15 minutes); the figures go into docs/overhead.md
	mkdir -p .cache/figures
	.cache/bench/bin/python benchmarks/overhead.py --page docs/overhead.md --json .cache/figures/openai.json
	.cache/bench/bin/python benchmarks/overhead.py --page docs/overhead.md --json .cache/figures/anthropic.json \
		--api anthropic --sizes 6 22 200 --kinds answer tool_call --rounds 5

quality: .cache/quality/.ready  ## how right the evidence check is, beside its peers (about 15 minutes); the figures go into docs/evidence-quality.md
	.cache/quality/bin/python benchmarks/evidence_quality.py --write-docs
	.cache/quality/bin/python benchmarks/judge_speed.py --write-docs

check-oldest: .venv-oldest/.ready  ## what touches an SDK or OpenTelemetry, with the oldest supported versions
	.venv-oldest/bin/python -m pytest $(PYTEST) $(EDGES) $$(sed -n 's/^tests/--deselect=&/p' .ci/oldest-without.txt)

check-newest: .venv-newest/.ready  ## the core, and what touches an SDK or OpenTelemetry, on the newest supported Python
	.venv-newest/bin/python -m pytest $(PYTEST) tests/core $(EDGES)

check-beside: .venv-beside/.ready  ## with other instrumentations and frameworks installed
	.venv-beside/bin/python -m pytest $(PYTEST) tests/genai/test_frameworks.py

check-wheel:  ## build, install the wheel into an empty environment, use it
	.ci/wheel

clean:  ## remove what the other targets made
	rm -rf .venv .venv-oldest .venv-newest .venv-beside .cache build dist

$(VENV)/.ready-demo: pyproject.toml
	@echo "making $(VENV) (once)"
	@.ci/install $(VENV) --editable ".[openai,anthropic]"
	@touch $@

$(VENV)/.ready-dev: pyproject.toml
	@echo "making $(VENV) for development (once)"
	@.ci/install $(VENV) --editable ".[all]" --group dev
	@touch $@ $(VENV)/.ready-demo

$(VENV)/.ready-e2e: $(VENV)/.ready-dev
	@.ci/install $(VENV) --group e2e
	@touch $@

.venv-oldest/.ready: pyproject.toml .ci/oldest.txt
	rm -rf .venv-oldest
	PYTHON=$(OLDEST_PYTHON) .ci/install .venv-oldest --resolution lowest-direct --constraint .ci/oldest.txt --editable ".[all]" --group test
	touch $@

.venv-beside/.ready: pyproject.toml .ci/beside.txt
	rm -rf .venv-beside
	.ci/install .venv-beside --requirement .ci/beside.txt --editable ".[all]" --group test
	touch $@

.venv-newest/.ready: pyproject.toml
	rm -rf .venv-newest
	PYTHON=$$(.ci/python 3.13) .ci/install .venv-newest --editable ".[all]" --group test
	touch $@

.cache/bench/.ready: pyproject.toml benchmarks/requirements.txt
	rm -rf .cache/bench
	mkdir -p .cache
	.ci/install .cache/bench --requirement benchmarks/requirements.txt --editable .
	touch $@

.cache/quality/.ready: pyproject.toml benchmarks/requirements-quality.txt
	rm -rf .cache/quality
	mkdir -p .cache
	.ci/install .cache/quality --requirement benchmarks/requirements-quality.txt --editable .
	touch $@
