# Two commands do everything on Debian 12 with make, cc, git and a Rust toolchain:
#   make demo    see it work
#   make test    run every test
.DEFAULT_GOAL := help
TARGET := $(abspath $(or $(CARGO_TARGET_DIR),target))
RELEASE := $(TARGET)/release
# What `make packages` makes for this machine, and of what.
HOST := $(shell uname -m)-unknown-linux-gnu
BUILT := $(TARGET)/cross/$(HOST)
WHEEL = dist/selenite-*-py3-none-manylinux*_$(shell uname -m).whl
NPM = dist/selenite-sqlite-[0-9]*.tgz dist/selenite-sqlite-linux-$(if $(filter aarch64,$(shell uname -m)),arm64,x64)-gnu-*.tgz
DEBIAN = $(foreach name,selenite libselenite-dev,dist/$(name)_*_$(shell dpkg --print-architecture).deb)
# What is needed comes first, under -j too; cargo fills the cores by itself.
.NOTPARALLEL:
.PHONY: help demo test build build-tests lint lint-fmt lint-clippy lint-tidy lint-shell lint-doc lint-features check-windows \
	audit audit-deny audit-loom audit-miri audit-address audit-thread audit-release release \
	test-clients test-suites test-differential test-fips sqlite-suite cross test-platforms packages test-packages test-fleet test-hosts docs \
	serve-demo serve-figures serve-speed fuzz soak lab-quick bench-gate studies budget peers peers-test engines engines-test plan-application \
	need need-rust need-python need-tsql need-perf need-lint need-docs clean

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## /  make \1\t/p' Makefile | expand -t 24

demo: need-python build ## encrypt a database, look at its bytes, open it again
	@demo/demo.sh

test: need ## run every test; installs what is missing, in .venv or by apt
	@scripts/test.sh

build-tests: need ## build what scripts/one-test.sh and Python's tests run against
	@cargo build --workspace --lib --bins --tests
	@scripts/sqlite/build-shell.sh

test-clients: ## run SQL Server's clients of every language, and tools on them, against the server
	@scripts/need.sh rust tests clients
	@tests/clients/tds/run.sh

test-suites: ## run the test suites of SQLAlchemy, go-mssqldb and tiberius against the server (SUITE=one); needs the internet
	@scripts/need.sh rust tests clients
	@tests/clients/tds/suites/run.sh $(SUITE)

test-differential: ## compare the server's answers to 100,000 random statements (COUNT=, SEED=) with a model of SQL Server's: minutes
	@scripts/need.sh rust tests
	@tests/clients/tds/differential/run.sh $(if $(COUNT),--count $(COUNT)) $(if $(SEED),--seed $(SEED))

test-fips: ## build the FIPS build, and test it alone and beside the normal one; needs Go, CMake and Perl
	@scripts/need.sh rust tests
	@scripts/test-fips.sh

sqlite-suite: ## run SQLite's own tests on encrypted databases: half an hour (SUITE=--all-permutations: a day)
	@scripts/need.sh rust suite
	@cargo build --locked --release --package selenite-extension
	@scripts/sqlite/suite.sh $(or $(CARGO_TARGET_DIR),target)/release/libselenite.so $(SUITE)

serve-demo: need-tsql build ## run two articles' scripts on the server, and print their figures beside ours
	@scripts/serve-demo.sh

serve-speed: need-rust ## measure inserts and selects over loopback beside the same in-process: a minute
	@cargo test --release --package selenite-server --test server session::speed -- --ignored --nocapture --test-threads=1

serve-figures: need-tsql build ## count what a loop sends; measure what a cancelled statement and an idle session cost
	@SELENITE_TEST_COMMAND=$(abspath $(or $(CARGO_TARGET_DIR),target))/release/selenite tests/clients/tds/figures/run.sh

build: need-rust ## build the extension and the command, optimised
	cargo build --release -p selenite-extension -p selenite-cli

cross: need-rust ## build what packages contain, for x86-64 and aarch64 with glibc and musl (TARGETS=...): an hour
	@scripts/cross.sh $(TARGETS)

test-platforms: ## run what `make cross` built for other platforms beside this one's: under qemu-user
	@tests/platforms/run.sh $(TARGETS)

packages: need-rust ## make what users install in dist/: wheel, npm, Debian packages, tarball, for this machine (or TARGETS=...)
	@scripts/packages.sh $(or $(TARGETS),$(HOST))

test-packages: packages ## install the packages in clean environments, and use all of them; as root
	@scripts/need.sh suite
	@scripts/sqlite/build-shell.sh
	@. scripts/test-environment.sh; SELENITE_TEST_EXTENSION=$(BUILT)/libselenite.so SELENITE_TEST_COMMAND=$(BUILT)/selenite \
		tests/packages/python/run.sh $(WHEEL)
	@SELENITE_TEST_EXTENSION=$(BUILT)/libselenite.so SELENITE_TEST_COMMAND=$(BUILT)/selenite tests/packages/npm/run.sh $(NPM)
	@tests/packages/debian/run.sh $(DEBIAN)

test-fleet: build-tests ## fleets on a Ray cluster of two nodes, whose workers, nodes and drivers are killed; Ray from PyPI: minutes
	@tests/fleet/run.sh

test-hosts: packages ## run the programs and libraries of docs/HOSTS.md on encrypted databases; needs the internet
	@tests/hosts/python/run.sh $(WHEEL)
	@tests/hosts/node/run.sh $(NPM)
	@scripts/need.sh rust hosts
	@tests/hosts/run.sh $(BUILT)/libselenite.so $(BUILT)/selenite

docs: need-rust need-docs ## build the documents and the Rust API as a site with a search in target/docs; from PyPI
	@scripts/docs/build.sh

lint: lint-fmt lint-clippy lint-tidy lint-shell lint-doc ## format, clippy, tidy, shellcheck, links of the documentation

lint-fmt: need-lint
	cargo fmt --all --check
	@cd peers && cargo fmt --all --check
	@if [ -d fuzz/fuzz_targets ]; then rustfmt --check --edition 2024 fuzz/fuzz_targets/*.rs; fi

lint-clippy: need-lint
	cargo clippy --locked --workspace --all-targets -- -D warnings

lint-tidy: need-lint
	cargo xtask tidy

lint-shell: need-lint
	shellcheck -x .ci/run $(wildcard scripts/*.sh scripts/*/*.sh demo/*.sh tests/*/*.sh tests/*/*/*.sh tests/*/*/*/*.sh)

lint-doc: need-lint
	RUSTDOCFLAGS="-D warnings" cargo doc --locked --workspace --exclude selenite-extension --no-deps --lib

check-windows: need-rust ## compile the storage crates for Windows, in a root folder of Debian sid (root only)
	@scripts/check-windows.sh

lint-features: need-lint ## the command with one of its features at a time, and with none
	@for features in "" serve lab s3; do \
		cargo clippy --locked -p selenite-cli --no-default-features --features "$$features" -- -D warnings || exit; \
	done

release: need-rust ## build what is given to others in target/release-files, with what it is made of and sums
	@scripts/release.sh

audit: lint-features audit-deny audit-loom audit-miri audit-address audit-thread fuzz audit-release ## look for what tests do not find: hours

audit-deny: need-rust ## licences, sources and known faults of the dependencies
	@scripts/audit-deny.sh

audit-loom: need-rust ## the generation mark, the nonce counter and the page pool in every order of threads
	@scripts/audit-loom.sh

audit-miri: need-rust ## undefined behaviour, in crates without C and in the pool's memory
	@scripts/audit-nightly.sh miri

audit-address: need-rust ## AddressSanitizer over the tests of the VFS
	@scripts/audit-nightly.sh address

audit-thread: need-rust ## ThreadSanitizer over the tests of the VFS that start threads
	@scripts/audit-nightly.sh thread thread pool closing stale nonce

audit-release: need-rust ## make a release twice, and compare
	@scripts/audit-release.sh

fuzz: need-rust ## fuzz every parser for 60 s (FUZZ_SECONDS)
	@scripts/fuzz.sh

soak: need ## run the tests that take long
	@scripts/test.sh --ignored --skip an_hour_of_kills
	@cargo test --locked -p selenite --test selenite an_hour_of_kills -- --ignored --nocapture
	@SELENITE_CRASH_POINTS=50000 PROPTEST_CASES=20000 cargo test --locked -p selenite-vfs --test vfs -- \
		crash_ twins:: --nocapture
	@SELENITE_STRESS_SECONDS=$${SELENITE_STRESS_SECONDS:-7200} cargo test --locked -p selenite-vfs --test vfs stale_pages:: -- --nocapture
	@SELENITE_KILLS=500 cargo test --locked -p selenite --test selenite reencrypt::no_commit_is_missing -- --nocapture
	@SELENITE_SOAK=1 tests/clients/run.sh -k 4_gib
	@$(MAKE) sqlite-suite

lab-quick: build ## measure a little of everything here, and write a report
	@scripts/lab-quick.sh

bench-gate: build ## measure a few rows, and fail if one costs more than recorded: three minutes
	@scripts/bench-gate.sh

studies: build peers ## run the published studies: hours
	@scripts/studies.sh

budget: need-perf ## profile where each nanosecond of a page and of a commit goes: four minutes
	@scripts/budget.sh

plan-application: ## predict what encryption costs Datasette, and measure it: half an hour; from PyPI
	@scripts/need.sh rust
	@scripts/plan-application/run.sh $(SESSIONS) $(CALIBRATION)

peers: ## build workers with SQLCipher and SQLite3 Multiple Ciphers, for the lab
	@scripts/peers.sh

peers-test:
	@scripts/peers.sh --test

engines: ## install the servers that the lab measures into target/engines; needs the internet
	@scripts/engines.sh

engines-test: build-tests ## install them, and check their workers: half an hour
	@SELENITE_TEST_COMMAND=$(TARGET)/debug/selenite scripts/engines.sh --test

need:
	@scripts/need.sh rust tests suite

need-rust:
	@scripts/need.sh rust

need-python:
	@scripts/need.sh python

need-tsql:
	@scripts/need.sh rust python tsql

need-perf:
	@scripts/need.sh rust perf

need-lint:
	@scripts/need.sh rust lint

need-docs:
	@scripts/need.sh docs

clean: ## remove what was built and installed here
	rm -rf target fuzz/target .venv
