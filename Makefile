# What people type and what CI runs. `make` alone lists the targets.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Files of Python tests that run side by side.
JOBS ?= 2
# The built core is the mark that everything is set up.
SETUP := python/cwndlab/_core.abi3.so
CORE_SOURCES := $(shell find $(addprefix crates/,prefetch units rules queues tcp sim python) -type f \( -name '*.rs' -o -name Cargo.toml \) 2>/dev/null) \
	$(wildcard Cargo.toml Cargo.lock rust-toolchain.toml .cargo/config.toml)

.DEFAULT_GOAL := help
# The program behind `cwndlab live`, and the crates that only it needs.
LIVE := python/cwndlab/_bin/cwndlab-live
LIVE_SOURCES := $(shell find crates -type f 2>/dev/null) $(wildcard Cargo.toml Cargo.lock)
# What rules in the kernel need: clang with BPF, the headers of libelf and zlib, the kernel's own types, and for libbpf's Makefile a path
# without a space.
BPF := $(shell case '$(or $(CARGO_TARGET_DIR),$(CURDIR))' in (*' '*) exit;; esac; printf '\043include <libelf.h>\n\043include <zlib.h>\n' | $(CC) -E - >/dev/null 2>&1 \
	&& clang -print-targets 2>/dev/null | grep -qw bpf && test -r /sys/kernel/btf/vmlinux && echo yes)
LIVE_PACKAGES := -p cwndlab-emulator -p cwndlab-quic -p cwndlab-live --features cwndlab-quic/transfers $(if $(BPF),-p cwndlab-kernel --features cwndlab-live/kernel)

.PHONY: help setup demo live test test-rust test-python test-live lint format fuzz docs lessons bench guard wheel clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 14

setup: $(SETUP) ## make .venv, build the Rust core, install the package

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

# The dependencies and the tools come first, from the package's own metadata; the core is then built into the source
# tree, so that changes to Python files need no new setup.
$(VENV)/tools.stamp: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet "maturin>=1.16,<2"
	touch $@

$(SETUP): $(CORE_SOURCES) pyproject.toml $(VENV)/tools.stamp
	PIP_QUIET=1 VIRTUAL_ENV=$(CURDIR)/$(VENV) $(BIN)/maturin develop --release --extras dev
	touch $@

demo: $(SETUP) ## run the four linear rules over four bandwidths; report in out/demo
	$(BIN)/cwndlab demo

live: $(LIVE) ## build the program behind `cwndlab live` (Linux): real TCP flows through an emulated bottleneck

$(LIVE): $(LIVE_SOURCES)
	$(if $(BPF),,@echo "no clang, libelf or zlib headers, or /sys/kernel/btf/vmlinux, or a space in the build's path (CARGO_TARGET_DIR): rules in the kernel are left out" >&2)
	cargo build --profile live --quiet -p cwndlab-live $(if $(BPF),--features kernel)
	mkdir -p $(@D)
	install -m 755 "$(or $(CARGO_TARGET_DIR),target)/live/cwndlab-live" $@

test: test-rust test-python ## run every test

test-rust: ## run the tests of the Rust crates
	cargo test --quiet

test-live: $(SETUP) $(LIVE) ## run the tests with real flows (root, Linux); what cannot run here skips with a reason
	cargo test --quiet $(LIVE_PACKAGES)
	$(BIN)/python -m pytest tests/live

test-python: $(SETUP) ## run the tests of the Python package, its examples and the command line
	$(BIN)/python -m pytest --numprocesses $(JOBS) --dist loadfile

lint: $(SETUP) ## check formatting, lints and the arrows between modules
	cargo fmt --all --check
	cargo clippy --all-targets --quiet -- -D warnings
	$(if $(filter Linux,$(shell uname -s)),cargo clippy $(LIVE_PACKAGES) --all-targets --quiet -- -D warnings)
	$(BIN)/ruff format --check python tests bench docs
	$(BIN)/ruff check python tests bench docs
	$(BIN)/lint-imports --no-cache

format: $(SETUP) ## format all sources
	cargo fmt --all
	$(BIN)/ruff format python tests bench docs
	$(BIN)/ruff check --fix python tests bench docs

fuzz: ## run the fuzz targets for a minute
	fuzz/run.sh 60

docs: lessons ## write anew what the docs take from the program
	$(BIN)/python docs/generate.py

lessons: $(SETUP) ## run the lessons and store the notebooks
	$(BIN)/python docs/lessons.py

bench: $(SETUP) ## measure the engine beside ns-2 and ns-3, profile it, and write docs/performance.md (takes long)
	$(BIN)/python bench/bench.py --record
	$(BIN)/python bench/stages.py --record
	$(BIN)/python bench/document.py

guard: $(SETUP) ## count instructions of three runs, and fail where they have grown by a tenth
	$(BIN)/python bench/guard.py

wheel: $(VENV)/tools.stamp ## build an abi3 wheel into dist/
	$(BIN)/maturin build --release --out dist

clean: ## remove everything that was built
	rm -rf $(VENV) dist out target python/cwndlab/_bin python/cwndlab/_core*.so .pytest_cache .ruff_cache .hypothesis .import_linter_cache
	find python tests bench docs -name __pycache__ -type d -prune -exec rm -rf {} +
