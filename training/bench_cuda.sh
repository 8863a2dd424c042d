#!/usr/bin/env bash
# What a GPU makes of self-play and training: evaluations a second of self-play as the preset campaign-cuda plays it and of its
# network alone, training samples a second of several networks in batches of 64 and full precision, and how busy the GPU is in
# self-play. Without a GPU it says so and does nothing; with one that cannot be used it fails.
#
# `gpu_busy` is the mean of what nvidia-smi says of the GPU while self-play is measured, from a second after its warm-up on,
# because each sample looks back for as long; null where that leaves none.
#
#   training/bench_cuda.sh [FILE]     where the figures go (bench-cuda.json)
#
#   BENCH_SECONDS  seconds of each measurement (20)
#   BENCH_THREADS  threads that play (as the preset has: all cores)
set -euo pipefail
cd "$(dirname "$0")/.."

file=${1:-bench-cuda.json}
seconds=${BENCH_SECONDS:-20}
threads=(${BENCH_THREADS:+--threads "$BENCH_THREADS"})
dervish=${CARGO_TARGET_DIR:-target}/release/dervish

no_gpu() {
    echo "no NVIDIA GPU here: nothing is measured"
    exit 0
}
command -v nvidia-smi >/dev/null || no_gpu
status=0
answer=$(nvidia-smi --query-gpu=name --format=csv,noheader 2>&1) || status=$?
# What nvidia-smi says, and its status, where there is a driver and no GPU. Any other failure is one of a GPU.
[[ $status -ne 6 && $answer != *"No devices were found"* ]] || no_gpu
if [ "$status" -ne 0 ]; then
    echo "nvidia-smi fails with status $status: ${answer:-it says nothing}" >&2
    exit 1
fi
# The GPU that libtorch calls the first one, by the numbers of nvidia-smi.
export CUDA_DEVICE_ORDER=PCI_BUS_ID
gpu=${CUDA_VISIBLE_DEVICES:-0}
gpu=${gpu%%,*}
cargo build --release --package dervish-training --features torch
if ! told=$("$dervish" bench selfplay --scenario pig --seconds 0.1 --device cuda 2>&1); then
    echo "there is a GPU, but self-play fails on it (make libtorch takes a libtorch that uses it if PyTorch with CUDA is installed): $told" >&2
    exit 1
fi

scratch=$(mktemp -d)
watcher=
# The watcher goes too if a measurement fails.
trap '[ -z "$watcher" ] || kill "$watcher" 2>/dev/null || true; rm -rf "$scratch"' EXIT
for scenario in el-obeid khartoum; do
    # The GPU's own view of how busy it is, twice a second, with the time, by which the samples of self-play are found.
    nvidia-smi --id="$gpu" --query-gpu=timestamp,utilization.gpu --format=csv,noheader,nounits --loop-ms=500 \
        >"$scratch/busy-$scenario" &
    watcher=$!
    "$dervish" bench selfplay --preset campaign-cuda --scenario "$scenario" "${threads[@]}" \
        --seconds "$seconds" --json >"$scratch/selfplay-$scenario.json"
    # It may have ended by itself.
    kill "$watcher" 2>/dev/null || true
    watcher=
done
cargo run --release --package dervish-neural --example network_speed -- "" cuda | tee "$scratch/network"

python3 - "$scratch" "$file" "$gpu" <<'PYTHON'
"""Puts the figures together, under a temporary name first."""
import json
import os
import subprocess
import sys
from datetime import datetime

# A sample of nvidia-smi looks back for up to so many seconds.
LOOKS_BACK = 1.0


def gpu_busy(samples, began, ended):
    """The mean of the samples that saw nothing but what was between two times in seconds since 1970, 0 to 1; None without any."""
    busy = []
    for line in samples.splitlines():
        # 2025/01/31 12:34:56.789, 97; [N/A] where it is not known, and a last line may be cut off.
        time, _, percent = line.partition(", ")
        if percent.strip().isdigit():
            at = datetime.strptime(time, "%Y/%m/%d %H:%M:%S.%f").timestamp()
            if began + LOOKS_BACK <= at <= ended:
                busy.append(float(percent))
    return sum(busy) / len(busy) / 100 if busy else None


scratch, file, number = sys.argv[1:]
read = lambda name: open(os.path.join(scratch, name), encoding="utf-8").read()
query = ["nvidia-smi", f"--id={number}", "--query-gpu=name", "--format=csv,noheader"]
gpu = subprocess.run(query, capture_output=True, text=True, check=True)
figures = {"version": 3, "gpu": gpu.stdout.strip(), "preset": "campaign-cuda", "self_play": {},
           "network": read("network").splitlines()}
for scenario in ["el-obeid", "khartoum"]:
    of = figures["self_play"][scenario] = json.loads(read(f"selfplay-{scenario}.json"))
    of["gpu_busy"] = gpu_busy(read(f"busy-{scenario}"), of["began"], of["ended"])
for scenario, of in figures["self_play"].items():
    busy = "unknown" if of["gpu_busy"] is None else f"{of['gpu_busy']:.0%}"
    print(f"{scenario}: {of['evaluations_per_second']:.0f} evaluations/s in self-play, {of['bare_per_second']:.0f} alone, "
          f"batches of {of['mean_batch']:.0f}, GPU busy in self-play {busy}")
with open(file + ".new", "w", encoding="utf-8") as out:
    json.dump(figures, out, indent=2)
os.replace(file + ".new", file)
print(f"the figures are in {file}")
PYTHON
