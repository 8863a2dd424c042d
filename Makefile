# Every target that compiles uses the same packages, features and profile (dev), so that libtorch's bindings, by far the
# longest to compile, are compiled once. The default build, plain `cargo build`, needs none of this and no libtorch.

# .ci/run adds --locked.
CARGO_FLAGS ?=
WORKSPACE := --workspace --features dervish-training/torch,dervish-tests/torch $(CARGO_FLAGS)
# Games of each scenario that `make soak` plays.
SOAK_GAMES ?= 10000

.PHONY: libtorch build test lint doc demo soak perft bench bench-peers strength-table trained-tables interchange clean

# Finds or fetches libtorch for .libtorch, where .cargo/config.toml looks for it.
libtorch:
	@python3 models/fetch_libtorch.py

build: libtorch
	cargo build $(WORKSPACE)

# Some tests start the program, so it is built first.
test: build
	cargo test $(WORKSPACE)

lint: libtorch
	cargo fmt --all --check
	cargo clippy $(WORKSPACE) --all-targets -- -D warnings

doc: libtorch
	RUSTDOCFLAGS="-D warnings" cargo doc $(WORKSPACE) --no-deps

demo: build
	bash training/demo.sh

# Random games of every scenario under debug assertions and the record verifier.
soak: build
	DERVISH_SOAK_GAMES=$(SOAK_GAMES) cargo test $(WORKSPACE) --test suite -- soak --nocapture

# Counts the trees of tests/data/perft.toml anew, after an intended change of the rules.
perft: build
	$(or $(CARGO_TARGET_DIR),target)/debug/dervish perft tests/data/perft.toml --update

# On a machine with an NVIDIA GPU training/bench_cuda.sh measures self-play and learning there.
bench: libtorch
	cargo run --release --package dervish-training -- bench
	cargo run --package dervish-neural --example network_speed

# Connect four and pig against OpenSpiel's tree search, on one thread: simulations a second and who wins.
bench-peers: bench-peers/.installed
	cargo build --release --package dervish-training $(CARGO_FLAGS)
	bench-peers/bin/python training/bench_peers/bench_peers.py

# A virtual environment of its own with OpenSpiel, from PyPI.
bench-peers/.installed: training/bench_peers/requirements.txt
	python3 -m venv --clear bench-peers
	bench-peers/bin/pip install --quiet --disable-pip-version-check --only-binary=:all: --requirement $<
	touch $@

# The table of strength in README, from the document of its study; `dervish study training/studies/strength.toml` plays it.
strength-table: build
	$(or $(CARGO_TARGET_DIR),target)/debug/dervish study training/studies/strength.toml --readme README.md

# The same for the trained bots, in README and in their cards.
trained-tables: build
	for bot in souakim kordofan; do for page in README.md models/pretrained/$$bot/CARD.md; do \
		$(or $(CARGO_TARGET_DIR),target)/debug/dervish study training/studies/$$bot-trained.toml --readme $$page || exit; \
	done; done

# Opens a checkpoint with Python's safetensors and PyTorch and an event file with TensorBoard, from PyPI in a virtual
# environment of their own (several GB).
interchange: libtorch interchange/.installed
	DERVISH_INTERCHANGE_PYTHON=$(CURDIR)/interchange/bin/python \
		cargo test $(WORKSPACE) --test networks --test suite -- --nocapture interchange

interchange/.installed: models/interchange/requirements.txt
	python3 -m venv --clear interchange
	interchange/bin/pip install --quiet --disable-pip-version-check --only-binary=:all: --requirement $<
	touch $@

clean:
	cargo clean
	rm -rf .libtorch bench-peers interchange
