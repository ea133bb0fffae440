.PHONY: demo test check fix setup golden docs wheel
BIN := .venv/bin
QUESTION := A patient with migraine takes ibuprofen for headache almost every day. What may be going on, and how is it treated?

demo:             ## set up what is needed, then answer a question on a bundled graph, with no key and no network
	@.ci/setup runtime
	@$(BIN)/reasoner run recipes/mirage.yaml --kg kgs/clinic --question "$(QUESTION)"

test:             ## set up what is needed, then run all tests
	@.ci/setup dev
	@$(BIN)/python -m pytest -q -n 2

check: setup      ## format, lint, types, architecture and tests
	$(BIN)/ruff format --check reasoner benchmarks tests
	$(BIN)/ruff check reasoner benchmarks tests
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(MAKE) test

fix: setup        ## format, and mend what the linter can mend
	$(BIN)/ruff format reasoner benchmarks tests
	$(BIN)/ruff check --fix reasoner benchmarks tests

setup:            ## what running and testing need
	@.ci/setup dev

docs: setup       ## write the pages that are generated from the code
	$(BIN)/python docs/generate.py

wheel: setup      ## build dist/*.whl
	$(BIN)/python -m build --wheel --no-isolation
