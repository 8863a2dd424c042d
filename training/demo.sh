#!/usr/bin/env bash
# Trains both sides of scenario 3 for a few minutes by self-play and matches the trained policy, without search, with
# random play, the untrained network and the scripted doctrine. `make demo` builds the program and calls this.
#
#   DEMO_BUDGET   how long to train (4m)
#   DEMO_GAMES    games of each match, half of them on either side (800)
#   DEMO_THREADS  threads to train and play on (all cores)
set -euo pipefail
cd "$(dirname "$0")/.."

budget=${DEMO_BUDGET:-4m}
games=${DEMO_GAMES:-800}
threads=${DEMO_THREADS:+--threads $DEMO_THREADS}
scenario=souakim
dervish=${CARGO_TARGET_DIR:-target}/debug/dervish

number=1
while [ -e "runs/demo-$number" ]; do number=$((number + 1)); done
run=runs/demo-$number

echo "Training both sides of $scenario for $budget in $run (Ctrl-C stops early and keeps what was learnt)."
# shellcheck disable=SC2086 # an option and its value, or nothing
"$dervish" train --scenario "$scenario" --budget "$budget" --out "$run" $threads

play() { # NAME A B
    echo "Match $1: $2 and $3, $games games."
    # shellcheck disable=SC2086
    "$dervish" match "$2" "$3" --scenario "$scenario" --games "$games" --seed 1 $threads --out "$run/matches/$1" >/dev/null
}
mkdir "$run/matches"
play trained-random "neural:$run" random
play untrained-random "neural:$run,step=0" random
play random-random random random:seed=1
play trained-untrained "neural:$run" "neural:$run,step=0"
play trained-doctrine "neural:$run" doctrine

python3 training/demo_table.py "$run" "$dervish"
