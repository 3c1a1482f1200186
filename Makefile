# What people type and what CI runs. `make` alone lists the targets.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Python tests that run side by side.
JOBS ?= auto
PYTEST := $(BIN)/python -m pytest --numprocesses $(JOBS) --dist worksteal
# What takes long says so before, and how long it took after.
STEP := .ci/step
# The built core is the mark that what people use is set up; tests and tools need the packages of the group dev too.
CORE := python/cwndlab/_core.abi3.so
SETUP = $(CORE) $(VENV)/dev.stamp
CORE_SOURCES := $(shell find $(addprefix crates/,prefetch units rules queues tcp scenario sim python) -type f \( -name '*.rs' -o -name Cargo.toml \) 2>/dev/null) \
	$(wildcard Cargo.toml Cargo.lock rust-toolchain.toml .cargo/config.toml)

.DEFAULT_GOAL := help
# The program behind `cwndlab live`, and the crates that only it needs.
LIVE := python/cwndlab/_bin/cwndlab-live
LIVE_SOURCES := $(shell find crates -type f 2>/dev/null) $(wildcard Cargo.toml Cargo.lock)
# What rules in the kernel need: clang with BPF, the headers of libelf and zlib, the kernel's own types, and for
# libbpf's Makefile a path without a space.
BPF := $(shell case '$(or $(CARGO_TARGET_DIR),$(CURDIR))' in (*' '*) exit;; esac; \
	printf '\043include <libelf.h>\n\043include <zlib.h>\n' | $(CC) -E - >/dev/null 2>&1 \
	&& clang -print-targets 2>/dev/null | grep -qw bpf && test -r /sys/kernel/btf/vmlinux && echo yes)
LIVE_PACKAGES := -p cwndlab-emulator -p cwndlab-quic -p cwndlab-live --features cwndlab-quic/transfers \
	$(if $(BPF),-p cwndlab-kernel --features cwndlab-live/kernel)

# The studio: a page, and the simulator as WebAssembly.
WEB_SOURCES := $(shell find web -type f -not -path 'web/node_modules/*' -not -path 'web/dist/*' -not -path 'web/public/*' 2>/dev/null) \
	$(wildcard examples/*)
WASM_SOURCES := $(shell find $(addprefix crates/,prefetch units rules queues tcp scenario sim web) -type f \( -name '*.rs' -o -name Cargo.toml \) 2>/dev/null) \
	$(wildcard Cargo.toml Cargo.lock web/simulator.sh)

.PHONY: help setup demo live virtual-kernel web test-web bench-web pictures check test test-all test-rust test-python test-live test-live-all lint lint-quick format fuzz \
	docs lessons bench guard mutants demo-compiled demo-from-wheel site check-site wheel sdist clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 14

setup: $(SETUP) ## make .venv, build the Rust core, install the package

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

# The core is built into the source tree, so that changes to Python files need no new setup.
$(VENV)/tools.stamp: pyproject.toml | $(VENV)/bin/python
	@$(STEP) "build tool maturin" "10 s" $(BIN)/python -m pip install --quiet "maturin>=1.16,<2"
	@touch $@

$(CORE): $(CORE_SOURCES) pyproject.toml $(VENV)/tools.stamp
	@PIP_QUIET=1 VIRTUAL_ENV="$(CURDIR)/$(VENV)" $(STEP) "simulator core in Rust, Python packages" "5 min" \
		$(BIN)/maturin develop --release
	@touch $@

# A wheel of this commit in dist/ needs no compiler; it gets an environment of its own.
demo: ## run the four linear rules over four bandwidths; report in out/demo
	@wheel=$$(packaging/current-wheel.sh 2>/dev/null); $(MAKE) --no-print-directory \
		$$(if [ -n "$$wheel" ]; then echo demo-from-wheel "WHEEL=$$wheel"; else echo demo-compiled; fi)

demo-compiled: $(CORE)
	@$(STEP) "demo" "10 s" $(BIN)/cwndlab demo

DEMO := out/demo-env
demo-from-wheel:
	@$(PYTHON) -m venv $(DEMO)
	@$(STEP) "wheel $(notdir $(WHEEL)), Python packages" "20 s" $(DEMO)/bin/python -m pip install --quiet \
		--force-reinstall "$(WHEEL)"
	@$(STEP) "demo" "10 s" $(DEMO)/bin/cwndlab demo

live: $(LIVE) ## build the program behind `cwndlab live` (Linux): real TCP flows through an emulated bottleneck

# In the profile of the tests, whose dependencies are built already: it waits more than it computes.
$(LIVE): $(LIVE_SOURCES)
	$(if $(BPF),,@echo "rules in the kernel are left out: no clang, libelf or zlib headers, no" \
		"/sys/kernel/btf/vmlinux, or a space in the build's path (CARGO_TARGET_DIR)" >&2)
	@$(STEP) "program for live runs" "4 min" cargo build -p cwndlab-live $(if $(BPF),--features kernel)
	@mkdir -p $(@D)
	@install -m 755 "$(or $(CARGO_TARGET_DIR),target)/debug/cwndlab-live" $@

virtual-kernel: $(SETUP) $(LIVE) ## build a Linux kernel for runs in virtual time (x86-64) into ~/.cache/cwndlab
	@$(STEP) "kernel in virtual time" "10 min" $(BIN)/cwndlab virtual-kernel build

web: python/cwndlab/templates/studio.html ## build the studio, a page with the simulator in it: web/dist, and for `cwndlab studio`

web/node_modules/stamp: web/package-lock.json
	@$(STEP) "packages of the studio" "20 s" npm --prefix web ci --no-audit --no-fund --loglevel error
	@touch $@

web/public/simulator.wasm: $(WASM_SOURCES)
	@$(STEP) "simulator as WebAssembly" "1 min" web/simulator.sh

python/cwndlab/templates/studio.html: web/public/simulator.wasm web/node_modules/stamp $(WEB_SOURCES)
	@$(STEP) "studio" "10 s" npm --prefix web run --silent build
	@cp web/dist/studio.html $@

check: $(SETUP) lint-quick test-rust ## what to run between edits: Rust tests, quick Python tests, formatting (8 minutes)
	@$(STEP) "quick Python tests" "7 min" $(PYTEST) -m "not slow and not nightly"

test: test-rust test-python test-web ## every test that a user should run (30 minutes with compiling)

test-all: test test-live-all ## the rest, too: what takes minutes, every run of ns-2
	@CWNDLAB_SCENARIOS=20000 $(STEP) "Rust tests, many scenarios" "2 min" cargo test --quiet
	@[ ! -d web/node_modules ] || [ ! -f web/public/simulator.wasm ] || \
		CWNDLAB_LESSONS=all $(STEP) "lessons of the studio, every seed" "5 min" npm --prefix web run --silent test -- tests/lessons.test.ts
	@CWNDLAB_NS2_LIVE=1 $(STEP) "Python tests that take minutes" "10 min" $(PYTEST) -m nightly
	@CWNDLAB_NS2_LIVE=1 $(STEP) "every run of ns-2" "3 min" $(PYTEST) tests/ns2/test_reference.py

test-rust: ## run the tests of the Rust crates
	@$(STEP) "compile Rust tests" "4 min" cargo test --no-run
	@$(STEP) "Rust tests" "1 min" cargo test --quiet

# `-n auto` would use every core; what is measured here wants them quiet.
test-live: $(SETUP) $(LIVE) ## run the tests with real flows (root, Linux); what cannot run here skips and says why
	@$(STEP) "compile Rust tests of live runs" "2 min" cargo test --no-run $(LIVE_PACKAGES)
	@$(STEP) "Rust tests of live runs" "30 s" cargo test --quiet $(LIVE_PACKAGES)
	@$(STEP) "live tests" "3 min" $(BIN)/python -m pytest tests/live tests/virtual

test-live-all: test-live ## also those with real flows that take minutes
	@$(STEP) "Rust tests of live runs that take long" "1 min" cargo test --quiet $(LIVE_PACKAGES) -- --ignored
	@$(STEP) "live tests that take minutes" "8 min" $(BIN)/python -m pytest tests/live tests/virtual -m nightly

test-web: $(SETUP) ## run the tests of the studio, also in headless Chromium; where its tools are not, skip and say so
	@.ci/studio

bench-web: web ## measure the studio in headless Chromium: when it is ready, redraws a second of a drag
	@npm --prefix web run --silent measure

pictures: web ## take the pictures of docs/studio.md and docs/lessons anew
	web/pictures.sh

test-python: $(SETUP) ## run the tests of the Python package, its examples and the command line
	@$(STEP) "Python tests" "18 min" $(PYTEST)

lint: lint-quick ## check formatting, lints, types and the arrows between modules
	@$(STEP) "types" "20 s" $(BIN)/pyright --warnings
	@PATH="$(CURDIR)/$(BIN):$$PATH" $(STEP) "types that users of the package see" "10 s" \
		$(BIN)/pyright --verifytypes cwndlab --ignoreexternal
	@$(STEP) "clippy" "1 min" cargo clippy --all-targets --quiet -- -D warnings
	$(if $(filter Linux,$(shell uname -s)),@$(STEP) "clippy of live crates" "1 min" \
		cargo clippy $(LIVE_PACKAGES) --all-targets --quiet -- -D warnings)

lint-quick: $(SETUP)
	cargo fmt --all --check
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

bench: $(SETUP) ## measure the engine beside ns-2, ns-3 and HTSIM=PROGRAM, profile it, and write docs/performance.md (takes long)
	$(BIN)/python bench/bench.py --record $(if $(HTSIM),--htsim "$(HTSIM)")
	$(BIN)/python bench/stages.py --record
	$(BIN)/python bench/document.py

guard: $(SETUP) ## count instructions of five runs, and files that an event opens; fail where either has grown
	@$(STEP) "instructions of five runs" "1 min" $(BIN)/python bench/guard.py
	@$(STEP) "files that an event opens" "1 min" $(BIN)/python bench/opened.py

mutants: ## score of the tests of crates/tcp and crates/queues: which changes to the code they notice (half an hour)
	bench/mutants.sh

# Tools that only some targets need, from their group in pyproject.toml.
$(VENV)/%.stamp: pyproject.toml $(VENV)/tools.stamp
	@$(BIN)/python packaging/requirements.py $* >$(VENV)/$*.txt
	@$(STEP) "Python packages of group $*" "20 s" $(BIN)/python -m pip install --quiet -r $(VENV)/$*.txt
	@touch $@

site: $(SETUP) $(VENV)/site.stamp ## build the documentation site with its gallery: out/site/index.html
	@$(STEP) "documentation site" "1 min" $(BIN)/python docs/website/build.py $(SITE)

check-site: site web/node_modules/stamp ## look at every page of the site in headless Chromium, at two widths
	@$(STEP) "pages of the site" "5 min" node web/site.js out/site

wheel: $(VENV)/wheel.stamp ## build an abi3 wheel of this commit into dist/ and check it, with the studio where `make web` built it
	@$(STEP) "wheel" "5 min" packaging/wheel.sh $(TARGET)

sdist: $(VENV)/wheel.stamp ## build an sdist that needs no network into dist/
	@$(STEP) "sdist" "1 min" packaging/sdist.sh

clean: ## remove everything that was built
	rm -rf $(VENV) dist out target web/dist web/node_modules web/public python/cwndlab/templates/studio.html python/cwndlab/_bin python/cwndlab/_core*.so .pytest_cache .ruff_cache .hypothesis .import_linter_cache
	find python tests bench docs -name __pycache__ -type d -prune -exec rm -rf {} +
