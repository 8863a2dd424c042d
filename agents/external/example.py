#!/usr/bin/env python3
"""An agent for Dervish: plays any of its games by drawing a legal action. PROTOCOL.md explains the messages.

dervish match "external:cmd=python3 agents/external/example.py" random --scenario souakim --games 20
"""

import json
import random
import sys


def answer(fields):
    """Says one line; unless it is flushed, it stays in Python's buffer and time runs out."""
    print(json.dumps(fields), flush=True)


def choose(request, stream):
    """Something better goes here."""
    legal = request["legal"]  # [{"action": 17, "move": "march 2417"}, ...]
    return {"action": stream.choice(legal)["action"]}


def main():
    stream = random.Random(0)
    for line in sys.stdin:
        message = json.loads(line)
        if message["type"] == "hello":
            answer({"protocol": 1})
        elif message["type"] == "new_game":
            stream = random.Random(message["seed"])
        elif message["type"] == "choose":
            answer(choose(message, stream))
        elif message["type"] == "quit":
            return
        # `played`, `rolled` and `game_over` only tell what happens.


if __name__ == "__main__":
    main()
