"""Plays Dervish's Monte-Carlo tree search against OpenSpiel's and compares how many simulations a second they make.

usage: bench-peers/bin/python training/bench_peers/bench_peers.py [--sims N] [--games G] [--repeats R] [--dervish FILE]

`make bench-peers` builds the program, makes the virtual environment and calls this.

Both programs search on one thread each, in turn, the positions of the same games (`dervish match`, OpenSpiel's bot as an
`external` agent), so neither has easier positions or a quieter machine. Simulations are those that each program counts:
both stop early where the root is solved, neither searches a single legal action. Dervish's seconds are by the clock;
OpenSpiel's are processor time of its search alone, without Python's and the protocol's, so other work on the machine
can only lower the ratio.

What is alike: simulations for a decision, one uniformly random rollout to the end of the game for each new leaf, results
of -1, 0 or 1, untried actions first and then the highest value + c * sqrt(ln(visits of the node) / visits of the action)
with the same c (OpenSpiel's uct_c: the formulas and the range of values are the same), solved positions (OpenSpiel's
solve=True; Dervish always solves), the most visited action unless one is solved and better. For the first comparison
Dervish neither shares nodes nor keeps its tree for the next move, as OpenSpiel does neither; the second has its defaults.

What is not: Dervish doesn't visit solved actions again, where OpenSpiel spends simulations without rollouts, and it takes
the outcomes of a throw in proportion, where OpenSpiel draws them and rolls out from the throw itself at first. In
OpenSpiel's pig a player may stop before the first throw of a turn, so its random games are longer; the last column has
the ratio of steps (actions and throws), reckoned with the length of a random game from the start.
"""

import argparse
import json
import math
import os
import pathlib
import statistics
import subprocess
import sys

import pyspiel
from openspiel_agent import GAMES

HERE = pathlib.Path(__file__).resolve().parent
# Both programs' c: Dervish's default.
EXPLORATION = 1
# Random games whose steps are counted.
RANDOM_GAMES = 2000


def main():
    arguments = argparse.ArgumentParser(description="Dervish's and OpenSpiel's Monte-Carlo tree search side by side.")
    target = os.environ.get("CARGO_TARGET_DIR", "target")
    arguments.add_argument("--dervish", default=f"{target}/release/dervish", help="the program, a release build")
    arguments.add_argument("--sims", type=int, default=1000, help="simulations for a decision")
    arguments.add_argument("--games", type=int, default=40, help="games of each match, even")
    arguments.add_argument("--repeats", type=int, default=5, help="matches of each kind, each with its own seed")
    options = arguments.parse_args()
    searches = {
        "like OpenSpiel's": f"mcts:sims={options.sims},depth=0,c={EXPLORATION},share=false,reuse=false",
        "with its defaults": f"mcts:sims={options.sims},depth=0,c={EXPLORATION}",
    }
    print(f"Load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores.")
    print(f"OpenSpiel: MCTSBot, {options.sims} simulations, uct_c={EXPLORATION}, solve=True, RandomRolloutEvaluator(1)")
    for game in GAMES:
        ours, theirs = dervish_steps(options.dervish, game), openspiel_steps(game)
        print(f"\n{game}; steps of a random game: Dervish {ours:.1f}, OpenSpiel {theirs:.1f}")
        for name, search in searches.items():
            matches = [play(options, game, search, seed) for seed in range(1, options.repeats + 1)]
            print(f"  Dervish {name}: {search}")
            ratios = [match["dervish"] / match["openspiel"] for match in matches]
            for program in ("dervish", "openspiel"):
                print(f"    {program:9} {spread([match[program] for match in matches], ',.0f')} simulations/s")
            steps = [ratio * ours / theirs for ratio in ratios]
            print(f"    ratio     {spread(ratios, '.2f')}; by steps {spread(steps, '.2f')}")
            score, low, high = score_of([match["pentanomial"] for match in matches])
            games = options.repeats * options.games
            print(f"    score of Dervish {score:.3f} [{low:.3f}, {high:.3f}] of {games} games", flush=True)


def play(options, game, search, seed):
    """One match: simulations a second of each program, and the scores of Dervish by pairs."""
    agent = [sys.executable, str(HERE / "openspiel_agent.py"), str(options.sims), str(EXPLORATION)]
    # A comma ends an option unless it is doubled.
    command = " ".join(f"'{word}'" for word in agent).replace(",", ",,")
    match = [options.dervish, "match", search, f"external:cmd={command}", "--scenario", game, "--json"]
    match += ["--games", str(options.games), "--seed", str(seed), "--threads", "1"]
    ended = subprocess.run(match, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if ended.returncode != 0:
        sys.exit(f"bench-peers: {game}: {ended.stderr.strip()}")
    report = json.loads(ended.stdout)
    if any(contestant["forfeits"] for contestant in report["statistics"]["contestants"]):
        sys.exit(f"bench-peers: {game}: a game was forfeited: {ended.stderr.strip()}")
    # Besides the process that plays there is the one that was only asked for its hello.
    searched = [json.loads(line) for line in ended.stderr.splitlines() if line.startswith("{")]
    effort = report["cost"]["efforts"][0]
    return {
        "dervish": effort["simulations"] / effort["seconds"],
        "openspiel": sum(each["simulations"] for each in searched) / sum(each["seconds"] for each in searched),
        "pentanomial": report["statistics"]["pentanomial"],
    }


def score_of(pentanomials):
    """Mean score of a game in all matches with its 95% interval: the normal one over pairs, not that of `dervish match`."""
    pairs = [points / 4 for counts in pentanomials for points, count in enumerate(counts) for _ in range(count)]
    mean = statistics.mean(pairs)
    reach = 1.96 * math.sqrt(statistics.variance(pairs) / len(pairs))
    return mean, max(mean - reach, 0), min(mean + reach, 1)


def spread(figures, form):
    """The median, and the least and the greatest, of one figure for each match."""
    return f"{statistics.median(figures):{form}} ({min(figures):{form}} to {max(figures):{form}})"


def dervish_steps(dervish, game):
    bench = subprocess.run([dervish, "bench", game, "--seconds", "0.1", "--json"], stdout=subprocess.PIPE, check=True)
    play = json.loads(bench.stdout)["games"][0]["play"]
    return (play["decisions"] + play["forced_moves"] + play["rolls"]) / play["games"]


def openspiel_steps(game):
    game = pyspiel.load_game(GAMES[game])
    bots = [pyspiel.make_uniform_random_bot(player, player) for player in range(2)]
    steps = 0
    for seed in range(RANDOM_GAMES):
        state = game.new_initial_state()
        pyspiel.evaluate_bots(state, bots, seed)
        steps += len(state.history())
    return steps / RANDOM_GAMES


if __name__ == "__main__":
    main()
