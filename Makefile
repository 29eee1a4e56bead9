# iocast. `make` alone lists the verbs; CONTRIBUTING.md says when to use which.

PYTHON ?= python3
AT ?= .
TIMES ?= 20

# Programs that only some tests use, as COMMAND:DEBIAN-PACKAGE. Absent ones are installed (as root) or skipped.
TEST_NEEDS := fio:fio iostat:sysstat tmux:tmux mkfs.ext4:e2fsprogs losetup:mount setpriv:util-linux
ALL_NEEDS := $(TEST_NEEDS) sfdisk:fdisk dmsetup:dmsetup mkfs.xfs:xfsprogs mkfs.btrfs:btrfs-progs mkfs.vfat:dosfstools \
	chromium:chromium pg_ctlcluster:postgresql mariadbd:mariadb-server promtool:prometheus \
	sshd:openssh-server ssh:openssh-client ip:iproute2

SHELL := /bin/bash
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help card setup test test-rust test-devices test-rest test-all fuzz safety asan lab matrix coverage forecast-coverage mutants lint format bench release packages standalone notebooks site docs lock advisories clean
export PATH := $(HOME)/.cargo/bin:$(PATH)
export PYO3_PYTHON := $(CURDIR)/.venv/bin/python

BIN := .venv/bin
CORE := src/iocast/_core.abi3.so
# CORE is of the profile `quick`, or newer and the release, as wheels have it: where speed is what is measured.
READY := $(CORE) .venv/.dev
RELEASED := .venv/.released .venv/.dev
RUST := $(shell find crates) Cargo.toml $(wildcard Cargo.lock) pyproject.toml
# What Cargo.lock says, never something newer: after a change of Cargo.toml, `cargo update --workspace` first.
LOCKED := --locked
# Where nobody can look, a test that fails gets a second try; -r R lists each, so that none is overlooked.
ONCE_MORE := $(if $(CI),-rsR --reruns 1 --reruns-delay 2,-rs)

# Two processors have enough to do with four files, as tests wait a third of their time; devices disturb each other more.
BY_FILE := --dist=loadfile --no-loadscope-reorder --numprocesses

# `make mutants` installs these for itself; nothing else needs them.
MUTMUT := 3.8.1
CARGO_MUTANTS := 27.1.0
MUTANTS := target/mutants
# `make lock` and `make advisories` run these; nothing else needs them.
TOOLS := target/tools
CARGO_AUDIT := 0.22.2
NFPM := 2.43.0
# The limit on memory ends mutants that collect for ever. 2 and 3: some survived, or ran into the limit of time.
define MUTANTS_OF_RECORD
ulimit -v 8000000; PATH="$(CURDIR)/$(MUTANTS)/bin:$$PATH" cargo mutants --package iocast-core --timeout 60 \
	--file 'crates/iocast-core/src/record/*.rs' --output $(MUTANTS) --cargo-arg=$(LOCKED) --cargo-arg=--lib -- record:: \
	|| case $$? in 2 | 3) ;; *) exit 1 ;; esac
endef

help:
	@echo "iocast: I/O performance testing, diagnosis and forecasting of database storage"
	@echo
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-17s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
	@echo
	@echo "  make card AT=/mnt/db    another place        make PYTHON=python3.12 ...    another Python"

# A wheel in dist/ needs no compiler: it is taken until the core is built, which `make setup` does.
WHEEL := $(if $(wildcard $(CORE)),,$(lastword $(sort $(wildcard dist/iocast-*_$(shell uname -m).whl))))

card: $(if $(WHEEL),.venv/.wheel,$(CORE)) ## measure the storage under this folder and show its card
	@$(BIN)/iocast card "$(AT)"

setup: $(READY) ## make .venv, install all locked packages, build the Rust core
	@echo "Ready: $(BIN)/iocast --help"

# Files side by side, but for those that measure real devices: `alone`. Long ones wait longer, for servers and browsers.
MAIN_TESTS := $(BIN)/python -m pytest $(ONCE_MORE) --ignore=tests/device --ignore=tests/matrix $(BY_FILE)

test: $(READY) ## run what needs no root, no server, no browser and no compiler (about 7 minutes)
	@scripts/need tests $(TEST_NEEDS)
	$(MAIN_TESTS)=4 -m "not long"

test-rust: $(READY) ## run the tests of the Rust core
	cargo test $(LOCKED) --workspace --exclude iocast-python -- --include-ignored

test-devices: $(READY) ## run the tests of real devices (root)
	@scripts/need tests $(ALL_NEEDS)
	cargo build $(LOCKED) --profile quick --quiet --package iocast-lab
	$(BIN)/python -m pytest $(ONCE_MORE) $(BY_FILE)=3 -m "not alone" tests/device tests/matrix
	$(BIN)/python -m pytest $(ONCE_MORE) -m alone tests/device tests/matrix

test-rest: $(READY) ## run the tests that `make test` leaves out: the core, servers, browsers, recipes, devices
	@scripts/need tests $(ALL_NEEDS)
	$(MAKE) test-rust
	cargo build $(LOCKED) --profile quick --quiet --package iocast-lab
	$(MAIN_TESTS)=6 -m long
	$(MAKE) test-devices

test-all: ## run all tests
	$(MAKE) test
	$(MAKE) test-rest

fuzz: $(READY) ## change result files, job files, run folders and plans at random, TIMES as often as `make test`
	IOCAST_FUZZ=$(TIMES) $(BIN)/python -m pytest -rs tests/tools/test_fuzz.py tests/jobs/test_fuzz_of_jobs.py \
		tests/archive/test_damaged_folders.py tests/load/test_fuzz_of_plans.py

# The matrix of what iocast may touch: about an hour with 20 TIMES on two processors.
SAFETY := tests/runner/test_replaced_targets.py tests/load/test_marks.py tests/load/test_removal.py \
	tests/load/test_removal_scenes.py tests/load/test_filling.py tests/load/test_fuzz_of_plans.py \
	tests/archive/test_damaged_folders.py tests/device/test_flipped_links.py tests/device/test_device_users.py \
	tests/device/test_file_users.py tests/device/test_raw_devices.py \
	tests/device/test_signature_matrix.py tests/device/test_interrupts.py tests/device/test_many_kills.py \
	tests/device/test_killed_groups.py tests/device/test_reflinks.py tests/device/test_devices_below.py \
	tests/device/test_loop_identities.py tests/device/test_killed_builds.py \
	tests/load/database/test_postgresql_objects.py tests/load/database/test_mysql_objects.py \
	tests/device/test_failing.py tests/archive/writing tests/runner/test_replaced_run_folders.py \
	tests/commands/test_replaced_outputs.py tests/commands/test_streams.py tests/commands/live/test_killed_tapes.py \
	tests/sessions/test_refused_groups.py tests/web/test_serving.py

safety: $(READY) ## swap, forge, hold, kill and damage what iocast works on, TIMES as often as `make test` (root for devices)
	@scripts/need tests $(ALL_NEEDS)
	cargo build $(LOCKED) --profile quick --quiet --package iocast-lab
	IOCAST_FUZZ=$(TIMES) $(BIN)/python -m pytest -rs $(SAFETY)

# Without the search for leaks: what the kernel may still write to is leaked on purpose. It has files of its own, as all
# crates are built once more.
asan: ## run the tests of engines, buffers and journals under AddressSanitizer
	@scripts/need build "$(PYTHON)"
	CARGO_TARGET_DIR=target/asan RUSTC_BOOTSTRAP=1 RUSTFLAGS=-Zsanitizer=address \
		CARGO_PROFILE_DEV_DEBUG=0 ASAN_OPTIONS=detect_leaks=0 \
		cargo test $(LOCKED) --target x86_64-unknown-linux-gnu --package iocast-core --lib -- engine:: workload:: verify::

lab: $(RELEASED) ## check the engine against a device with known answers (root, a quiet machine)
	@scripts/need tests $(ALL_NEEDS)
	cargo build $(LOCKED) --release --quiet --package iocast-lab
	IOCAST_LAB=1 $(BIN)/python -m pytest -rs tests/device/test_lab.py tests/device/test_fidelity.py \
		tests/device/test_fio_agrees.py tests/device/test_lab_lies.py tests/device/test_together.py \
		tests/device/test_failing.py

matrix: $(RELEASED) ## plant conditions in devices and see what diagnose finds (root for real ones)
	@scripts/need tests $(ALL_NEEDS)
	cargo build $(LOCKED) --release --quiet --package iocast-lab
	PYTHONPATH=tests $(BIN)/python tests/matrix/matrix.py $(CELLS)

mutants: $(READY) $(MUTANTS)/.mutmut-$(MUTMUT) $(if $(ONLY),,$(MUTANTS)/.cargo-mutants-$(CARGO_MUTANTS)) ## change the study's mathematics and the core's counts; list what no test notices
	$(MUTANTS)/venv/bin/python scripts/mutants.py $(foreach pattern,$(ONLY),'$(pattern)')
	$(if $(ONLY),,$(MUTANTS_OF_RECORD))

coverage: $(READY) ## count how often the printed intervals hold the truth, on simulated queues
	$(BIN)/python bench/interval_coverage.py --write
	$(BIN)/python bench/interval_coverage.py --pairs --write
	$(BIN)/python bench/interval_coverage.py --pairs --write --seconds 4

forecast-coverage: $(READY) ## count how often forecasts hold, on simulated storage and on real devices (root for these)
	$(BIN)/python bench/forecast_coverage.py --write
	$(BIN)/python bench/forecast_coverage.py --back-test --write
	cargo build $(LOCKED) --release --quiet --package iocast-lab
	$(BIN)/python bench/forecast_real.py . --labs --write
	$(BIN)/python bench/forecast_real.py . --throttle 2000 --write --add

lint: $(READY) ## check style and types: ruff, mypy, stubtest, clippy, rustfmt
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m mypy.stubtest iocast._core
	cargo clippy $(LOCKED) --workspace --all-targets -- -D warnings
	cargo fmt --all --check

format: .venv/.dev ## lay out all code as `make lint` wants it
	$(BIN)/ruff check --fix-only --quiet .
	$(BIN)/ruff format .
	cargo fmt --all

bench: $(RELEASED) ## compare the engine with its peers on this machine
	cargo build $(LOCKED) --release --quiet --package iocast-core --example nop_ring
	$(BIN)/python bench/engine.py $(CELLS)

# Compiled for older C libraries by Zig's compiler, which tools.lock has. VERSION=1.0.0-rc.1 sets that version first.
release: .venv/.packages $(TOOLS)/.locked ## make a release in dist/: wheel, sources, archives, packages, image, list of parts, digests
	@rustup target add aarch64-unknown-linux-gnu >/dev/null 2>&1 || true # without it there is no wheel for ARM, and it says so
	$(BIN)/python scripts/release.py --zig $(CURDIR)/$(TOOLS)/venv/bin $(if $(VERSION),--version '$(VERSION)')
	@if command -v go >/dev/null; then $(MAKE) packages; else \
		echo "note: packages of Debian and Red Hat are left out: nfpm, which makes them, is built by Go" >&2; fi
	$(MAKE) standalone

packages: .venv/.packages $(TOOLS)/.nfpm-$(NFPM) ## make packages of Debian and Red Hat in dist/, of what `make release` made
	$(BIN)/python scripts/packages.py --nfpm $(TOOLS)/bin/nfpm

standalone: .venv/.packages ## make the archive with its own interpreter and the image in dist/, of what `make release` made
	$(BIN)/python scripts/standalone.py
	$(BIN)/python scripts/image.py

$(TOOLS)/.nfpm-$(NFPM):
	@echo "Installing nfpm $(NFPM) into $(TOOLS)/bin"
	@mkdir -p $(TOOLS)/bin
	@GOBIN=$(CURDIR)/$(TOOLS)/bin go install github.com/goreleaser/nfpm/v2/cmd/nfpm@v$(NFPM)
	@touch $@

site: $(TOOLS)/.locked ## build the site of docs/ in target/site/html, and look for dead links
	@$(BIN)/python scripts/site.py --zensical $(CURDIR)/$(TOOLS)/venv/bin/zensical

notebooks: $(READY) ## run the notebooks of examples/, and write what their cells answer into them
	$(BIN)/python scripts/notebooks.py

docs: $(READY) ## write docs/reference again from the code
	$(BIN)/python docs/generate.py

# All but spark, which is 400 MB and needs Java: its tests are skipped without it.
EXTRAS := databases serve top
# uv, which writes the locks, is locked itself: by tools.lock, from the group `tools` of pyproject.toml.
COMPILE := $(TOOLS)/venv/bin/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
	--custom-compile-command "make lock"
lock: $(TOOLS)/.locked ## write requirements.lock, dev.lock and tools.lock again after a change of pyproject.toml
	$(COMPILE) pyproject.toml $(EXTRAS:%=--extra %) --group build -o requirements.lock
	$(COMPILE) --group dev --constraint requirements.lock -o dev.lock
	$(COMPILE) --group tools -o tools.lock

# It needs the internet. 1: some have advisories, 3: some could not be looked up, and nothing is said of them.
advisories: $(TOOLS)/.locked $(TOOLS)/.cargo-audit-$(CARGO_AUDIT) ## look up known security advisories of all locked packages
	@$(TOOLS)/venv/bin/python scripts/advisories.py --pip-audit $(TOOLS)/venv/bin/pip-audit \
		--cargo-audit $(TOOLS)/bin/cargo-audit $(if $(RUST_DB),--rust-db '$(RUST_DB)')

clean: ## remove everything that make made (run folders stay)
	rm -rf .venv target $(CORE) .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find src tests bench docs -name __pycache__ -type d -prune -exec rm -rf {} +

.venv/bin/python:
	@scripts/need $(if $(WHEEL),python,build) "$(PYTHON)"
	@echo "Making .venv with $$("$(PYTHON)" --version)"
	@"$(PYTHON)" -m venv --clear .venv || { rm -rf .venv; exit 1; }

# The compiler begins meanwhile, so that a first card waits for one of the two: what fails there is said when the core is built.
.venv/.packages: requirements.lock | .venv/bin/python
	@echo "Installing the Python packages of requirements.lock, and building the Rust core (a few minutes the first time)"
	@cargo build $(LOCKED) --profile quick --quiet --package iocast-python 2> .venv/.cargo.log & build=$$!; \
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock \
		|| { kill $$build; exit 1; }; wait
	@touch $@

.venv/.wheel: $(WHEEL) requirements.lock | .venv/bin/python
	@echo "Installing $(WHEEL) and the Python packages of requirements.lock (make setup builds iocast of the sources)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-index "$(WHEEL)"
	@touch $@

.venv/.dev: dev.lock | .venv/.packages
	@echo "Installing the Python packages of dev.lock"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r dev.lock
	@touch $@

$(TOOLS)/.locked: tools.lock | .venv/bin/python
	@echo "Installing the Python packages of tools.lock into $(TOOLS)/venv"
	@$(BIN)/python -m venv --clear $(TOOLS)/venv
	@$(TOOLS)/venv/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r tools.lock
	@touch $@

$(TOOLS)/.cargo-audit-$(CARGO_AUDIT):
	@echo "Installing cargo-audit $(CARGO_AUDIT) into $(TOOLS)/bin (a few minutes)"
	@cargo install --quiet --locked --version $(CARGO_AUDIT) --root $(TOOLS) cargo-audit
	@touch $@

# It sees the locked packages through a path file, which leaves the editable iocast out: mutmut brings its own copy.
$(MUTANTS)/.mutmut-$(MUTMUT): .venv/.dev
	@echo "Installing mutmut $(MUTMUT) into $(MUTANTS)/venv"
	@$(BIN)/python -m venv --clear $(MUTANTS)/venv
	@$(MUTANTS)/venv/bin/python -m pip install --quiet --disable-pip-version-check mutmut==$(MUTMUT)
	@$(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("platlib"))' \
		> "$$($(MUTANTS)/venv/bin/python -c 'import sysconfig; print(sysconfig.get_path("platlib"))')/locked.pth"
	@touch $@

$(MUTANTS)/.cargo-mutants-$(CARGO_MUTANTS):
	@echo "Installing cargo-mutants $(CARGO_MUTANTS) into $(MUTANTS)/bin (a few minutes)"
	@cargo install --quiet --locked --version $(CARGO_MUTANTS) --root $(MUTANTS) cargo-mutants
	@touch $@

# Built by pip and not by `maturin develop`, which wants a newer pip than Debian 12 has. The stamp has the time at which the
# build began: a file saved meanwhile builds it again.
define BUILD_CORE
@scripts/need build $(BIN)/python
@touch .venv/.building
@PATH="$(CURDIR)/$(BIN):$$PATH" MATURIN_PEP517_ARGS="$(LOCKED) --profile $(1)" $(BIN)/python -m pip install --quiet \
	--disable-pip-version-check --no-deps --no-index --no-build-isolation --editable .
@touch -r .venv/.building $(CORE) $@
endef

$(CORE): $(RUST) .venv/.packages
	@echo "Building the Rust core"
	$(call BUILD_CORE,quick)

.venv/.released: $(RUST) .venv/.packages
	@echo "Building the release of the Rust core (a few minutes)"
	$(call BUILD_CORE,release)
