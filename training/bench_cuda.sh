#!/usr/bin/env bash
# What a GPU makes of self-play and training: evaluations a second of self-play and of the network alone, training samples a
# second, and how busy the GPU is. Without a GPU that libtorch can use it says so and does nothing.
#
#   training/bench_cuda.sh [FILE]     where the figures go (bench-cuda.json)
#
#   BENCH_SECONDS  seconds of each measurement (20)
#   BENCH_THREADS  threads that play (twice the cores)
set -euo pipefail
cd "$(dirname "$0")/.."

file=${1:-bench-cuda.json}
seconds=${BENCH_SECONDS:-20}
threads=${BENCH_THREADS:-$((2 * $(nproc)))}
dervish=${CARGO_TARGET_DIR:-target}/release/dervish

if ! command -v nvidia-smi >/dev/null || ! nvidia-smi >/dev/null 2>&1; then
    echo "no NVIDIA GPU here: nothing is measured"
    exit 0
fi
cargo build --release --package dervish-training --features torch
if ! "$dervish" bench selfplay --scenario pig --seconds 0.1 --device cuda >/dev/null 2>&1; then
    echo "this libtorch does not use the GPU (make libtorch takes one that does if PyTorch with CUDA is installed): nothing is measured"
    exit 0
fi

scratch=$(mktemp -d)
watcher=
# The watcher goes too if a measurement fails.
trap '[ -z "$watcher" ] || kill "$watcher"; rm -rf "$scratch"' EXIT
for scenario in souakim el-obeid; do
    # The GPU's own view of how busy it is, twice a second.
    nvidia-smi --query-gpu=utilization.gpu --format=csv,noheader,nounits --loop-ms=500 >"$scratch/busy-$scenario" &
    watcher=$!
    "$dervish" bench selfplay --scenario "$scenario" --device cuda --shared --threads "$threads" --games 128 --sims 16 \
        --precision mixed --seconds "$seconds" --json >"$scratch/selfplay-$scenario.json"
    kill "$watcher"
    watcher=
done
cargo run --release --package dervish-neural --example network_speed -- "" cuda | tee "$scratch/network"

python3 - "$scratch" "$file" <<'PYTHON'
"""Puts the figures together, under a temporary name first."""
import json
import os
import subprocess
import sys

scratch, file = sys.argv[1:]
read = lambda name: open(os.path.join(scratch, name), encoding="utf-8").read()
gpu = subprocess.run(["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"], capture_output=True, text=True, check=True)
figures = {"version": 1, "gpu": gpu.stdout.strip(), "self_play": {}, "network": read("network").splitlines()}
for scenario in ["souakim", "el-obeid"]:
    busy = [float(line) for line in read(f"busy-{scenario}").split()]
    figures["self_play"][scenario] = json.loads(read(f"selfplay-{scenario}.json"))
    figures["self_play"][scenario]["gpu_busy"] = sum(busy) / max(len(busy), 1) / 100
for scenario, of in figures["self_play"].items():
    print(f"{scenario}: {of['evaluations_per_second']:.0f} evaluations/s in self-play, {of['bare_per_second']:.0f} alone, "
          f"batches of {of['mean_batch']:.0f}, GPU busy {of['gpu_busy']:.0%}")
with open(file + ".new", "w", encoding="utf-8") as out:
    json.dump(figures, out, indent=2)
os.replace(file + ".new", file)
print(f"the figures are in {file}")
PYTHON
