# Caudal: the commands of README.md. `make serve` and `make test` install what they need.

# A target directory outside the clone is used when CARGO_TARGET_DIR says so.
export CARGO_TARGET_DIR ?= $(CURDIR)/target
CAUDAL = $(CARGO_TARGET_DIR)/debug/caudal

.PHONY: serve release test soak bench check components package train prepare install

serve: components ## Run the service in the sandbox: addresses, a token and a curl line are printed
	cargo build --locked --package caudal
	exec $(CAUDAL) serve --sandbox

release: components ## The optimised binary, target/release/caudal, with its symbols in caudal.debug beside it
	cargo build --locked --release --package caudal
	host/split-symbols.sh $(CARGO_TARGET_DIR)/release/caudal

test: install ## Everything short: builds, starts a Postgres of its own, runs all tests
	components/build.sh --fixtures
	tests/wasm/fixtures/build.sh
	cargo build --locked --package caudal
	tests/tools.sh browser
	$(MAKE) package
	npm --prefix tests run --silent check
	tests/run.sh $(CAUDAL)

soak: install ## Load while models are swapped, a thousand swaps, 20 rounds of kill -9: prints times, memory and counts
	components/build.sh --fixtures
	cargo build --locked --package caudal
	CAUDAL_SOAK_SECONDS=30 cargo test --locked --package caudal --test soak -- --nocapture --test-threads 1

bench: install ## Figures: beside pgbench, with three hosts, over millions, of memory; the first build takes long
	components/build.sh
	cargo build --locked --release --package caudal --package caudal-bench
	tests/bench/run.sh $(CARGO_TARGET_DIR)/release

check: install ## Formatting, lints, documentation, licences
	components/build.sh --fixtures
	cargo fmt --check
	cargo clippy --locked --workspace --all-targets -- --deny warnings
	RUSTDOCFLAGS="--deny warnings" cargo doc --locked --workspace --no-deps
	tests/tools.sh packages
	npm --prefix tests run --silent check
	tests/licences.sh

train: ## Every model again: weights, cards, plots, golden cases; changes nothing unless training did
	cargo run --locked --package caudal-train -- all

package: ## The npm package of components/js, from a built service: dist/ and lib/
	tests/tools.sh browser
	$(CAUDAL) models package components/js/dist
	npm --prefix components/js run --silent build

components: install ## The four components, under target/components
	components/build.sh

prepare: components ## Renew .sqlx after a query or a migration changed
	tests/prepare.sh $(CAUDAL)

install:
	@host/install.sh
