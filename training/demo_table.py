"""Prints what the matches of training/demo.sh show: scores of each seat with 95% intervals, and where everything lies."""

import json
import os
import pathlib
import sys

MATCHES = [
    ("trained-random", "trained policy", "random"),
    ("untrained-random", "untrained network", "random"),
    ("random-random", "random", "random"),
    ("trained-untrained", "trained policy", "untrained network"),
    ("trained-doctrine", "trained policy", "doctrine"),
]


def main() -> None:
    run, dervish = pathlib.Path(sys.argv[1]), sys.argv[2]
    reports = {name: json.loads((run / "matches" / name / "match.json").read_text()) for name, _, _ in MATCHES}
    seats = reports["trained-random"]["seats"]
    rows = [("agent", "against", "seat", "games", "win", "draw", "loss", "score [95%]", "seconds")]
    scores = {}
    for name, agent, other in MATCHES:
        seconds = f"{reports[name]['cost']['seconds']:.1f}"
        for seat, result in zip(seats, reports[name]["statistics"]["contestants"][0]["seats"]):
            tally, score = result["tally"], result["score"]
            scores[name, seat] = score
            counts = [tally["wins"] + tally["draws"] + tally["losses"], tally["wins"], tally["draws"], tally["losses"]]
            rows.append((agent, other, seat, *map(str, counts), interval(score), seconds))
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    print()
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip())
    print()
    for seat in seats:
        trained = scores["trained-random", seat]
        for name, _, _ in MATCHES[1:3]:
            other = scores[name, seat]
            verdict = "above" if trained["low"] > other["high"] else "NOT clearly above"
            what = "random's own" if name == "random-random" else "the untrained network's"
            print(f"{seat}: {interval(trained)} against random is {verdict} {what} {interval(other)}")
    manifest = json.loads(sorted((run / "checkpoints").glob("step-*/manifest.json"))[-1].read_text())
    figures = manifest["figures"]
    print()
    print(
        f"Trained for {figures['seconds']:.0f} s on {os.cpu_count()} cores: {figures['games']:.0f} games, "
        f"{figures['decisions']:.0f} decisions, {manifest['step']} steps."
    )
    print(f"Run directory: {run} (checkpoints/, replay/, metrics.jsonl, train.log)")
    print(f"Matches:       {run}/matches/*/match.json and the record of every game beside it")
    print(f"Match it:      {dervish} match neural:{run} doctrine --scenario souakim --games 200")
    print(f"Play it:       {dervish} play --scenario souakim --side egyptian --against neural:{run}")


def interval(score: dict) -> str:
    return f"{score['value']:.3f} [{score['low']:.3f}, {score['high']:.3f}]"


main()
