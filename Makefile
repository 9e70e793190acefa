# Makefile - the two commands, `make demo` and `make check`, and thin names for the rest.
# CMake does the building (CMakePresets.json); this file only says what comes after what.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.NOTPARALLEL:
JOBS := $(shell nproc 2>/dev/null || echo 2)
SLOTS := $(shell echo $$((3 * $(JOBS) + 2))) # of tests: one that computes takes three, one that waits takes one
BUILD := build/release

.PHONY: all audit check newest kills spark mutants proofs demo bench bench-default fuzz sanitize planted matrix format clean install setup coverage wasm wasm-check accessible
all: setup $(BUILD)/build.ninja
	cmake --build $(BUILD)

# Builds everything and runs every test; the last lines are ctest's own summary.  Of the fault points, and of the
# edits of model files, every twelfth is tried, of the longest lists of cases a half to a twelfth, others each day, and
# each law of the solvers is held against a third of them; TCT_SAMPLE=8 against all; TCT_SAMPLE=1 tries all there is, make planted plants all, make matrix moves all records.
check: setup $(BUILD)/build.ninja
	cmake --build $(BUILD)
	@rm -f $(BUILD)/ctest.xml
	@echo "sampled: one in $${TCT_SAMPLE:-12} fault points and edits, a part of the longest lists of cases; TCT_SAMPLE=1 tries all"
	TCT_SAMPLE=$${TCT_SAMPLE:-12} \
	  ctest --test-dir $(BUILD) -j $(SLOTS) --output-on-failure --no-tests=error $(CTEST_ARGS)

# Does a test notice?  COUNT mutants of the sources that a privacy claim rests on, and docs/measured/mutants.md; 600 take
# up to an hour.  It can be cut and taken up: what build/release/mutants/done.jsonl has is not run again.  Then every
# change of a release in the solvers, the parties, scores and estimates (tests/privacy/mutants.map).
mutants: all
	tools/mutate.py $(BUILD) --seed 20 --count $${COUNT:-600} --page docs/measured/mutants.md
	tools/mutate.py $(BUILD) --named --kind release --kind clean --count $${COUNT:-600}

# Checks docs/proofs/coq with Coq, an optional package: docs/proofs/machine-checked.md.
proofs:
	tools/setup.sh proofs
	tools/check_proofs.sh

# kill -9 of a random rank at a random moment, KILLS times; the tests make 5.
kills: all
	KILLS=$${KILLS:-50} TACIT=$(BUILD)/tacit tests/fault/rank_kills.sh

# Fits on Spark, in a virtual environment of their own; needs a JRE (Debian: default-jre-headless).
spark: all
	tools/setup.sh spark
	[ -x build/spark/bin/python ] || python3 -m venv build/spark
	build/spark/bin/python -m pip install --quiet pyspark pandas pyarrow numpy scipy scikit-learn pytest
	cd $(BUILD) && PYSPARK_PYTHON=$(CURDIR)/build/spark/bin/python PYTHONPATH=$(CURDIR)/python:$(CURDIR)/python/tests \
	  TACIT_LIBRARY=$(CURDIR)/$(BUILD)/libtacit.so TACIT_REGISTRY=none \
	  $(CURDIR)/build/spark/bin/python -m pytest -q -c $(CURDIR)/pyproject.toml $(CURDIR)/python/tests/test_spark.py

# The faults that an audit must find, 60 s each, and docs/measured/audit.md: an hour on two cores.  It can be cut and
# taken up: rows in build/release/audit.jsonl are not made again.
audit: all
	TCT_AUDIT_SECONDS=60 tests/privacy/audit_planted.sh $(BUILD)
	tools/audit_table.py $(BUILD) --alarms 100 $(AUDIT_ARGS)
	tools/audit_table.py $(BUILD) --ways --seconds 3

# From a table of people to a published model, in about a minute.
demo: all
	tools/demo.sh $(BUILD)/tacit

bench: all
	tools/setup.sh bench
	bench/run.sh $(BUILD)

# What 95 % intervals cover: measures and writes docs/measured/coverage.md; hours.  It can be cut and taken up: what
# build/coverage.jsonl has is not run again.  SHARE=0.1: a tenth of the tables.
coverage: all
	bench/papers/coverage.py $(BUILD) build/coverage.jsonl --share $${SHARE:-1} --real build/venv/bin/python --page docs/measured/coverage.md

# docs/measured/default.md: auto beside every other solver, oracles, floors and rivals; OLD=PATH to an earlier tacit.
bench-default: all
	tools/setup.sh python
	build/venv/bin/python bench/papers/default_table.py $(if $(OLD),--old $(OLD)) $(DEFAULT_ARGS)

# Each fuzzer for SECONDS seconds (default 60).
fuzz:
	tools/setup.sh build static
	tools/fuzz.sh $${SECONDS_EACH:-60}

# Every test with AddressSanitizer and UBSan; .ci/run has a shorter form.
sanitize:
	tools/setup.sh build check
	cmake --preset asan && cmake --build build/asan
	UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 ASAN_OPTIONS=detect_leaks=1:detect_stack_use_after_return=1 \
	  ctest --test-dir build/asan -j $(SLOTS) --output-on-failure --no-tests=error $(CTEST_ARGS)

# Every fault point of the sources (tests/privacy/points.def), each of which a test must catch.
planted: all
	tests/privacy/planted.sh $(BUILD)

# Every cell of the matrix of sensitivity (tests/privacy/test_sensitivity.c, and _stages), of which ctest draws some by
# the day.
matrix: all
	TACIT_MATRIX=whole $(BUILD)/tests/test_privacy_sensitivity
	TACIT_MATRIX=whole $(BUILD)/tests/test_privacy_sensitivity_stages

# `tacit verify` as one page for any browser, build/wasm/verify.html; with wasm-check 1,000 forgeries are held against the
# command line in headless Chromium.
wasm:
	tools/setup.sh wasm
	@tools/wasm.sh
wasm-check: all wasm
	tools/setup.sh browser host
	tools/check_wasm.sh $(BUILD)/tacit
	TACIT_FORGERIES=$${TACIT_FORGERIES:-1000} TACIT_TESTS=python/tests/test_browser_verify.py \
	  python/run_tests.sh $(CURDIR)/$(BUILD)/libtacit.so $(CURDIR)/$(BUILD)/tacit

# The pages that people open, held against axe-core: reports, the page that verifies, the site's start.  Chromium is
# Debian's, axe.min.js a package of PyPI's.  SCREENS: a folder for pictures of them.
accessible: all
	@tools/accessible.sh $(BUILD)

# The documentation as a site in build/site, with the page that verifies where make wasm has made it.
site:
	@tools/site.sh

# scikit-learn's checks on its newest release, pyright on the guide's examples; needs the registry of Python packages.
newest: all
	tools/newest.sh $(BUILD)

# What is handed out; each script says in its head what it needs, and stops with one sentence where that is missing.
wheels:
	@tools/wheels.sh
deb:
	@tools/deb.sh
release:
	@tools/release.sh
reproducible:
	@tools/reproducible.sh
nightly:
	@tools/nightly.sh
# Which lines the tests run; `make coverage` is about intervals.
line-coverage:
	@tools/line_coverage.sh

format:
	tools/setup.sh static
	tools/check_format.sh --fix

install: all
	cmake --install $(BUILD)

clean:
	rm -rf build/release build/debug build/asan build/tsan build/fuzz build/clang build/demo

setup:
	@tools/setup.sh build check

# Order-only: the packages must be there before cmake looks for them.
$(BUILD)/build.ninja: CMakePresets.json | setup
	cmake --preset release
