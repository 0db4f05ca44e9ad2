# The commands of README.md. Each installs what it needs.

# Build artefacts may live outside the clone.
export CARGO_TARGET_DIR ?= $(CURDIR)/target
CAUDAL = $(CARGO_TARGET_DIR)/debug/caudal

.PHONY: serve release dist packages sbom test drills contract fuzz soak bench ha ha-drill restore-drill check audit components package train prepare install

serve: components ## Serve the sandbox; prints addresses, a token and a curl command
	cargo build --locked --package caudal
	exec $(CAUDAL) serve --sandbox

release: components ## The optimised binary, target/release/caudal, with its symbols in caudal.debug beside it
	cargo build --locked --release --package caudal
	host/split-symbols.sh $(CARGO_TARGET_DIR)/release/caudal

dist: components ## The binary for production, target/dist/caudal: optimised across crates, which takes longer
	cargo build --locked --profile dist --package caudal
	host/split-symbols.sh $(CARGO_TARGET_DIR)/dist/caudal

packages: dist ## What is published, in target/packages: Debian packages, a tarball, an OCI image, the npm package, the Python wheel
	tests/tools.sh debian
	$(MAKE) package CAUDAL=$(CARGO_TARGET_DIR)/dist/caudal
	host/packaging/build.sh $(CARGO_TARGET_DIR)/packages

sbom: ## The bills of materials of the binary and of the npm package, in target/sbom
	tests/tools.sh node
	node host/sbom.mjs $(CARGO_TARGET_DIR)/sbom

test: install ## Run all short tests against a throw-away Postgres
	components/build.sh --fixtures
	tests/wasm/fixtures/build.sh
	cargo build --locked --package caudal
	tests/tools.sh browser
	$(MAKE) package
	npm --prefix tests run --silent check
	# A host examines and compiles components at a low priority. Beside steps of a higher one it would hardly get to
	# it, and tests that wait for a swap would fail.
	nice -n 19 tests/with-postgres.sh $(CAUDAL) tests/run.sh test $(CAUDAL)

drills: install ## Run every drill and every long form of a test, one after the other
	components/build.sh --fixtures
	cargo build --locked --package caudal
	tests/tools.sh packages
	tests/run.sh drills $(CAUDAL)

contract: components ## Try CASES (5000) requests of each scope on each listener, from its OpenAPI document
	cargo build --locked --package caudal
	tests/contract/schemathesis.sh $(CAUDAL) $${CASES:-5000}

fuzz: install ## Try arbitrary input for FUZZ_SECONDS (600) on each of nine readers of bytes
	components/build.sh
	FUZZ_SECONDS=$${FUZZ_SECONDS:-600} cargo test --locked --package caudal --test fuzz

soak: install ## Load while models are swapped and processes killed; prints times, memory and counts
	components/build.sh --fixtures
	cargo build --locked --package caudal
	CAUDAL_SOAK_SECONDS=30 cargo test --locked --package caudal --test soak -- --nocapture --test-threads 1

bench: install ## Measure beside native handlers, FastAPI and pgbench; writes target/bench/report.md
	components/build.sh
	cargo build --locked --profile dist --package caudal --package caudal-bench
	$(MAKE) package CAUDAL=$(CARGO_TARGET_DIR)/dist/caudal
	tests/bench/run.sh $(CARGO_TARGET_DIR)/dist

ha: components ## Serve from a high-availability lab: three Postgres under Patroni, HAProxy, two hosts; prints addresses
	cargo build --locked --package caudal
	tests/tools.sh node
	tests/ha/run.sh serve $(CAUDAL)

ha-drill: components ## Inject CAUDAL_HA_FAULTS faults (30) under load in that lab, then check all that clients were told
	cargo build --locked --package caudal
	tests/tools.sh node
	tests/ha/run.sh drill $(CAUDAL)

restore-drill: components ## Restore a pgBackRest backup to a point in time while payments are pending, accept what is lost, go on
	cargo build --locked --package caudal
	tests/tools.sh node
	tests/ha/run.sh restore $(CAUDAL)

check: install ## Formatting, the ceiling on lines, lints, documentation, licences, advisories
	components/build.sh --fixtures
	cargo fmt --check
	tests/lines.sh
	cargo clippy --locked --workspace --all-targets -- --deny warnings
	RUSTDOCFLAGS="--deny warnings" cargo doc --locked --workspace --no-deps
	tests/tools.sh packages
	npm --prefix tests run --silent check
	tests/supply/audit.sh

audit: ## Licences, sources and advisories of all dependencies; builds cargo-deny if it is missing
	tests/supply/audit.sh

train: ## Retrain every model: weights, cards, plots, golden cases. Without a change to training, git stays clean
	cargo run --locked --package caudal-train

package: ## Build the npm package in components/js: dist/ and lib/
	tests/tools.sh browser
	$(CAUDAL) models package components/js/dist
	npm --prefix components/js run --silent build

components: install ## Build the components into target/components
	components/build.sh

prepare: components ## Regenerate .sqlx after a change to a query or a migration
	tests/prepare.sh $(CAUDAL)

install:
	@host/install.sh
