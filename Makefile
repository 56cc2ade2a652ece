# The command book. Continuous integration runs the same commands.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
SOURCES := $(shell find rust python/muntin -name '*.rs' -o -name '*.json' -o -name '*.bin') build.rs Cargo.toml Cargo.lock pyproject.toml

.PHONY: demo test dev lint test-rust bench figures docs wheel fuzz fuzz-rust instructions accept accept-sessions accept-histories all clean

demo: $(READY)  ## what muntin would have sent for the bundled session, request by request
	$(BIN)/muntin demo

test: $(READY) $(VENV)/.test  ## the Python tests
	$(BIN)/python -m pytest

dev: $(READY) $(VENV)/.test $(VENV)/.lint  ## all that development needs

all: lint test test-rust

# The virtual environment with muntin itself, built in release mode.
$(READY): $(SOURCES)
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1' 'maturin>=1.13,<2'
	VIRTUAL_ENV=$(abspath $(VENV)) $(BIN)/maturin develop --release --extras cli --quiet
	@touch $@

$(VENV)/.test: pyproject.toml | $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --group test
	@touch $@

$(VENV)/.lint: pyproject.toml | $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --group lint
	@touch $@

lint: dev  ## formatting, linters, types, stubs, layers
	cargo fmt --check
	cargo clippy --all-targets --locked -- -D warnings
	cargo clippy --all-targets --locked --features abi3 -- -D warnings
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/mypy
	$(BIN)/pyright --pythonpath $(BIN)/python
	$(BIN)/python -m mypy.stubtest muntin._core --allowlist tests/stubtest-allowlist.txt
	$(BIN)/lint-imports

test-rust:  ## the Rust tests, without Python
	cargo test --locked --quiet

bench: $(READY) $(VENV)/.test  ## benchmarks, compared in one run
	$(BIN)/python -m pytest benches --benchmark-enable --benchmark-only
	cargo bench --locked

figures: $(READY) $(VENV)/.test  ## how near estimates come to recorded bills, beside what else people count with
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --group figures
	LITELLM_LOCAL_MODEL_COST_MAP=True $(BIN)/python benches/count_figures.py --peers

fuzz: $(READY) $(VENV)/.test  ## long property tests
	HYPOTHESIS_PROFILE=fuzz $(BIN)/python -m pytest tests --timeout 0

accept: accept-sessions accept-histories  ## what is rendered against the SDKs' types and all rules; an hour, less with -j2

accept-sessions: $(READY) $(VENV)/.test  ## every request of every recorded session in every wire format, switches included
	MUNTIN_ACCEPT=all $(BIN)/python -m pytest tests/replay tests/wire/test_accepted.py tests/wire/test_rules.py \
		tests/wire/test_quoted.py -k "refused or accepted or format or provider" --timeout 0 --log-cli-level=info

accept-histories: $(READY) $(VENV)/.test  ## a hundred thousand random histories in every wire format, in four pieces
	for piece in 1 2 3 4; do MUNTIN_HISTORIES=25000 $(BIN)/python -m pytest tests/wire/test_histories.py \
		--timeout 0 --hypothesis-seed=$$piece || exit 1; done

instructions:  ## the instructions that counting takes, against those written down
	$(PYTHON) scripts/check_instructions.py

fuzz-rust:  ## the tokens of any bytes, with a nightly compiler and cargo-fuzz
	cargo +nightly fuzz run tokens

docs: $(READY)  ## the site, into site/
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --group docs
	$(BIN)/mkdocs build --strict

wheel: $(READY)  ## the wheel, into dist/
	$(BIN)/maturin build --release --locked --out dist

clean:
	rm -rf $(VENV) target dist site
