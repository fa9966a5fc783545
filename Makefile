# make help lists the targets. Needs Rust, Python 3.10 or newer, Node.js 20 or newer and make; the rest is fetched from the registries.
.DEFAULT_GOAL := help
.PHONY: help build page check-page demo test test-coffea docs bench lint format wheel sdist clean check-rust check-python native miri sanitize test-tools peers
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
CARGO ?= cargo
# One profile everywhere, so that build, clippy and the tests share ./target (see [profile.release] in Cargo.toml).
PROFILE := --release --workspace
EXTENSION := python/sapwood/_core.abi3.so
PYTHON_SOURCES := python tests bench docs packaging
# An S3 server, built from its Go module
S3_SERVER := github.com/versity/versitygw/cmd/versitygw@v1.8.0
# The package's types, and the stub of the extension against what it really has.
TYPES := $(BIN)/mypy && $(BIN)/python -m mypy.stubtest sapwood._core --allowlist tests/stub-allowlist.txt

help: ## this list
	@awk -F':.*## ' '/^[a-z-]+:.*## /{printf "  make %-8s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: native ## the sapwood command and the Python package, in .venv

demo: build ## serve a tree from 50 ms away; draw it without and with the tree cache, and from the local cache; a table and a picture
	@$(BIN)/python bench/demo.py

test: build check-rust check-page check-python ## every test: Rust and Python, formatting and lints

lint: build test-tools check-page ## formatting and lints only
	$(CARGO) fmt --all --check
	$(CARGO) clippy $(PROFILE) --all-targets -- -D warnings
	$(BIN)/ruff check $(PYTHON_SOURCES)
	$(BIN)/ruff format --check $(PYTHON_SOURCES)
	$(TYPES)

# The page of `sapwood browse` is built before cargo, which puts it into the command. npm run by make says only what failed.
NPM := cd web && npm --loglevel=error
page: ## the page of `sapwood browse`, in web/dist
	@if command -v npm >/dev/null; then $(MAKE) --silent --no-print-directory web/dist/index.html; \
	 else echo "npm is missing: the command is built without the page of sapwood browse" >&2; fi

web/dist/index.html: web/node_modules/.made web/build.mjs $(shell find web/src -type f)
	@$(NPM) run --silent build

web/node_modules/.made: web/package.json web/package-lock.json web/.npmrc
	@$(NPM) ci >/dev/null
	@touch $@

check-page: page
	@if command -v npm >/dev/null; then $(NPM) run --silent check; fi

# C libraries keep their own flags: gcc's instrumentation does not fit LLVM's runtime. The target keeps build scripts out.
SANITIZED := RUSTFLAGS=-Zsanitizer=address CFLAGS=-fno-sanitize=address ASAN_OPTIONS=detect_leaks=0 CARGO_TARGET_DIR=target/sanitize
HOST = $(shell rustc -vV | sed -n 's/^host: //p')
MIRI := CARGO_TARGET_DIR=target/miri MIRIFLAGS=-Zmiri-disable-isolation $(CARGO) +nightly miri
# Not in `make test`: Miri is slower than the processor by more than a hundred times, and not on every machine. Of the
# codecs it runs what is Rust: it cannot call libdeflate, zstd, xz and LZ4.
miri: ## unsafe code of codecs and of Arrow's C interface under Miri, which finds undefined behaviour; needs a nightly toolchain
	@$(CARGO) +nightly miri --version >/dev/null 2>&1 || \
	 { echo "Miri is missing; install it: rustup toolchain install nightly --component miri,rust-src" >&2; exit 1; }
	$(MIRI) test -p sapwood-codec --lib -- deflate inflate
	$(MIRI) test -p sapwood-arrow --lib

sanitize: miri ## Miri, and AddressSanitizer over layouts, codecs, pages and damage
	$(SANITIZED) $(CARGO) +nightly test --target $(HOST) -p sapwood-codec -p sapwood-column -p sapwood-pages
	$(SANITIZED) $(CARGO) +nightly test --target $(HOST) -p sapwood --test fuzz --test fuzz_objects --test root_values

docs: build $(VENV)/.docs ## the documentation site, in target/docs; a dead link is an error
	rm -rf target/docs
	$(BIN)/python -m sphinx --fail-on-warning --keep-going --quiet -b html -d target/docs-cache docs/guide target/docs
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --release --no-deps -p sapwood
	cp -R target/doc target/docs/rust
	@echo "open target/docs/index.html"

bench: build peers $(VENV)/.bench ## Sapwood beside ROOT and uproot in one run; BENCH="--rows G --repeat 5" for options
	$(BIN)/python bench/run.py $(BENCH)
	$(BIN)/python bench/report.py
	$(BIN)/python bench/draws.py --page docs/benchmarks.md

format: test-tools page ## rewrites the sources as the formatters want them
	$(CARGO) fmt --all
	$(BIN)/ruff check --fix $(PYTHON_SOURCES)
	$(BIN)/ruff format $(PYTHON_SOURCES)
	@if command -v npm >/dev/null; then $(NPM) run --silent format; fi

# Wheels to give away. On Linux zig compiles the C code and links, for glibc 2.28, and for another processor as well:
#     rustup target add aarch64-unknown-linux-gnu && make wheel WHEEL_TARGET=aarch64-unknown-linux-gnu
# The tools have an environment of their own: zig takes 400 MB.
WHEEL_TOOLS := target/wheel-tools
WHEEL_TARGET ?= $(HOST)
WHEEL_LIBC = $(if $(findstring -linux-gnu,$(WHEEL_TARGET)),--zig --compatibility manylinux_2_28,\
 $(if $(findstring -linux-musl,$(WHEEL_TARGET)),--zig --compatibility musllinux_1_2))
wheel: page $(WHEEL_TOOLS)/.made ## a wheel for any Linux since 2018, or for this Mac, in target/wheels; tried in a new environment
	rm -rf target/wheels/$(WHEEL_TARGET)
	PATH="$(abspath $(WHEEL_TOOLS)/bin):$$PATH" maturin build --target $(WHEEL_TARGET) $(WHEEL_LIBC) --compression-level 9 --out target/wheels/$(WHEEL_TARGET)
	$(WHEEL_TOOLS)/bin/python packaging/wheel/shrink.py target/wheels/$(WHEEL_TARGET)/*.whl
	$(WHEEL_TOOLS)/bin/python packaging/wheel/check.py target/wheels/$(WHEEL_TARGET)/*.whl
	$(WHEEL_TOOLS)/bin/python packaging/wheel/check_abi.py target/wheels/$(WHEEL_TARGET)/*.whl
	[ "$(WHEEL_TARGET)" != "$(HOST)" ] || $(WHEEL_TOOLS)/bin/python packaging/wheel/try_install.py target/wheels/$(WHEEL_TARGET)/*.whl

sdist: page $(WHEEL_TOOLS)/.made ## the source package, in target/wheels
	$(WHEEL_TOOLS)/bin/maturin sdist --out target/wheels

$(WHEEL_TOOLS)/.made: packaging/wheel/requirements.txt
	@[ -x $(WHEEL_TOOLS)/bin/python ] || $(PYTHON) -m venv $(WHEEL_TOOLS)
	$(WHEEL_TOOLS)/bin/python -m pip --disable-pip-version-check --quiet install -r packaging/wheel/requirements.txt
	@touch $@

clean: ## removes what the other targets made
	rm -rf target $(VENV) demo-out bench/out $(EXTENSION) web/dist web/node_modules
	find python/sapwood -name __pycache__ -prune -exec rm -rf {} +

# Both faces come out of one cargo build: a second build by maturin would compile the shared crates again with other
# features. The package is used in place (a .pth file), the extension is copied beside its Python sources.
native: $(VENV)/.made page
	$(CARGO) build $(PROFILE)
	@library=; for name in lib_core.so lib_core.dylib; do [ ! -f target/release/$$name ] || library=target/release/$$name; done; \
	 [ -n "$$library" ] || { echo "no target/release/lib_core.so: sapwood-python must build a cdylib named _core" >&2; exit 1; }; \
	 cmp -s "$$library" $(EXTENSION) || install -m 755 "$$library" $(EXTENSION)
	@# as an installer does, for those who let no program write bytecode: without it an import takes three times as long
	@$(BIN)/python -m compileall -q python/sapwood
	@ln -sf ../../target/release/sapwood $(BIN)/sapwood

$(VENV)/.made: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10) and "Python 3.10 or newer is needed, this is " + sys.version)'
	@[ -x $(BIN)/python ] || $(PYTHON) -m venv $(VENV)
	$(PIP) install "numpy>=1.24"
	@$(BIN)/python .ci/install_in_place.py
	@touch $@

test-tools: $(VENV)/.tools
$(VENV)/.tools: requirements-test.txt $(VENV)/.made
	$(PIP) install -r requirements-test.txt
	@# an S3 server for the tests, which skip by name without it
	@if [ ! -x $(VENV)/go/bin/versitygw ] && command -v go >/dev/null; then \
	   GOBIN=$(CURDIR)/$(VENV)/go/bin GOFLAGS=-trimpath timeout 900 go install -ldflags='-s -w' $(S3_SERVER) >/dev/null 2>&1 || \
	   echo "$(S3_SERVER) could not be built: tests against an S3 server will be skipped" >&2; fi
	@touch $@

# coffea takes 1 GB: it is not among the test requirements, and its tests skip by name without it.
COFFEA := target/coffea
test-coffea: build ## the tests of sapwood.coffea, in an environment of their own with coffea (1 GB)
	@[ -x $(COFFEA)/bin/python ] || $(PYTHON) -m venv $(COFFEA)
	$(COFFEA)/bin/python -m pip --disable-pip-version-check --quiet install -r requirements-coffea.txt
	@$(COFFEA)/bin/python .ci/install_in_place.py
	$(COFFEA)/bin/python -m pytest tests/test_coffea.py

# The oracle may be missing (no wheel for this platform, no network): tests that need it then skip by name.
peers: test-tools
	@[ -f $(VENV)/.root ] || if $(PIP) install --retries 1 -r requirements-root.txt; then touch $(VENV)/.root; \
	 else echo "ROOT could not be installed: tests against it will be skipped" >&2; fi

$(VENV)/.docs: requirements-docs.txt $(VENV)/.made
	$(PIP) install -r requirements-docs.txt
	@touch $@

$(VENV)/.bench: bench/requirements.txt $(VENV)/.tools
	$(PIP) install -r bench/requirements.txt
	@touch $@

check-rust: build
	$(CARGO) fmt --all --check
	$(CARGO) clippy $(PROFILE) --all-targets -- -D warnings
	@mkdir -p target
	$(CARGO) test $(PROFILE) --no-fail-fast 2>&1 | tee target/test.log
	@awk '/^test result:/ {suites++; passed += $$4; failed += $$6; ignored += $$8} \
	 END {printf "Rust: %d passed, %d failed, %d ignored in %d suites\n", passed, failed, ignored, suites}' target/test.log

check-python: build peers
	$(BIN)/ruff check $(PYTHON_SOURCES)
	$(BIN)/ruff format --check $(PYTHON_SOURCES)
	$(TYPES)
	$(BIN)/python -m pytest
