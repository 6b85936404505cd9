# make demo     set up .venv if needed, then compile a real network and show every phase
# make test     every check and test: format, lint, types, layers, pytest
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed-dev

.PHONY: demo test test-long fuzz-night pytest checks-aside test-oldest bytecode mutation mutation-fuzz mutation-score bench docs playground format check style types layers clean

demo: $(STAMP)
	$(BIN)/python examples/demo.py

# The checks take a minute of one core: they run beside the tests, and are printed after them if they fail.
test: bytecode
	@$(MAKE) --no-print-directory -k -j 2 pytest checks-aside; code=$$?; \
	if [ -s out/checks-failed.txt ]; then cat out/checks-failed.txt; fi; exit $$code

test-long:
	@IRKIT_LONG=1 WHICH='-m "long or not long"' $(MAKE) --no-print-directory test

pytest: $(STAMP)
	$(BIN)/python -m pytest -n 2 --dist worksteal $(WHICH)

checks-aside: $(STAMP)
	@mkdir -p out && rm -f out/checks-failed.txt
	@$(MAKE) --no-print-directory -k types style layers > out/checks.txt 2>&1 || { mv out/checks.txt out/checks-failed.txt; exit 1; }

# Tests start hundreds of processes. Where Python is told not to write bytecode, or what there is has
# become old, each would compile irkit for half a second, and what pytest rewrites as long again.
bytecode: $(STAMP)
	$(BIN)/python -m compileall -q irkit
	@env -u PYTHONDONTWRITEBYTECODE $(BIN)/python -m pytest -n 0 --collect-only -p no:cacheprovider tests/core/test_errors.py > /dev/null || true

# Random cases for as long as TIME says, with a new seed each night: the date is printed, and draws them again.
fuzz-night: $(STAMP)
	$(BIN)/irkit fuzz --time $(or $(TIME),3h) --jobs $(or $(JOBS),2) --seed $(or $(SEED),$(shell date -u +%Y%m%d)) --report fuzz-night.html

# The oldest versions that pyproject.toml admits, in an environment of their own.
test-oldest:
	$(PYTHON) -m venv .venv-oldest
	.venv-oldest/bin/pip install --quiet --disable-pip-version-check -c .ci/oldest.txt -e '.[dev]'
	.venv-oldest/bin/python -m compileall -q irkit
	.venv-oldest/bin/python -m pytest -n 2 --dist worksteal

# Break irkit on purpose, and see whether the checks notice (mutation) or the fuzzer (mutation-fuzz):
# make mutation SEEDED=no MUTANTS=200 SEED=7 JOBS=2 TIME=10m ONLY=fuse SAMPLE=file SAVE_SAMPLE=file
option = $(if $($(1)),--$(2) "$($(1))")
COMMON = $(call option,SEED,seed) $(call option,JOBS,jobs) $(call option,TIME,time)

mutation: $(STAMP)
	$(BIN)/python -m tests.mutation $(if $(filter no,$(SEEDED)),--no-seeded) $(COMMON) $(call option,MUTANTS,mutants) $(call option,ONLY,only) $(call option,SAMPLE,sample) $(call option,SAVE_SAMPLE,save-sample)

mutation-fuzz: $(STAMP)
	$(BIN)/python -m tests.mutation.fuzz $(COMMON) $(call option,CASES,cases)

# The share of random changes that fuzzing finds, out of sample: SEED=hash MUTANTS=160 CASES=10000 SAMPLE=file REPORT=file
mutation-score: $(STAMP)
	$(BIN)/python -m tests.mutation.schemata $(COMMON) $(call option,MUTANTS,mutants) $(call option,CASES,cases) $(call option,SAMPLE,sample) $(call option,SAVE_SAMPLE,save-sample) $(call option,REPORT,report)

# The reference of what a pass author uses, from docstrings.
# The inspector's page with a network, as files only; MODEL=other.onnx shows another one.
playground: $(STAMP)
	$(BIN)/python -m docs.playground out/playground $(MODEL)
	@echo "open out/playground/index.html"

docs: $(STAMP)
	$(BIN)/python -m docs.reference docs/reference
	@echo "open docs/reference/index.html"

bench: $(STAMP)
	$(BIN)/pip install --quiet --disable-pip-version-check -e '.[bench]'
	$(BIN)/python -m benchmarks

# Types take half a minute on one core, and the other checks run beside them.
check: $(STAMP)
	$(MAKE) --no-print-directory -j 2 types style layers

style: $(STAMP)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: $(STAMP)
	$(BIN)/basedpyright

layers: $(STAMP)
	$(BIN)/lint-imports

format: $(STAMP)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

$(STAMP): pyproject.toml
	$(PYTHON) -c 'import sys; assert sys.version_info >= (3, 11), "irkit needs Python 3.11 or newer, found " + sys.version.split()[0]'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check -e '.[dev]'
	touch $(STAMP)

clean:
	rm -rf $(VENV) out build dist *.egg-info
