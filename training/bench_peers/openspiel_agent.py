#!/usr/bin/env python3
"""OpenSpiel's Monte-Carlo tree search as an agent for Dervish, for connect four and pig.

usage: dervish match mcts "external:cmd=PYTHON openspiel_agent.py SIMULATIONS EXPLORATION" --scenario pig --games 20

Search and rollouts are OpenSpiel's own (MCTSBot and RandomRolloutEvaluator, both C++); Python only follows the game.
At the end of the match one line of JSON on standard error says what was searched: `decisions`, `simulations`, and
`seconds`, the processor time of the searches alone, from the call to the action, tree made and freed again.
"""

import json
import sys
import time

import pyspiel

# Dervish's name of a game and OpenSpiel's. Actions have the same numbers in both: columns from the left; 0 to roll and
# 1 to hold, which OpenSpiel calls stop.
GAMES = {"connect-four": "connect_four", "pig": "pig"}
# A chance outcome of OpenSpiel's pig is the face less one; its other actions are Dervish's.
ROLL = 0

# Bound on OpenSpiel's tree in MiB, far above what it needs here.
MEMORY = 1000


class Searcher:
    """A game as OpenSpiel sees it, and its bot."""

    def __init__(self, game, simulations, exploration):
        self.game = pyspiel.load_game(GAMES[game])
        self.simulations = simulations
        self.exploration = exploration
        self.searched = {"decisions": 0, "simulations": 0, "seconds": 0.0}
        self.new_game(0)

    def new_game(self, seed):
        seed %= 1 << 31
        rollouts = pyspiel.RandomRolloutEvaluator(1, seed)
        settings = {"uct_c": self.exploration, "max_simulations": self.simulations, "max_memory_mb": MEMORY}
        self.bot = pyspiel.MCTSBot(self.game, rollouts, **settings, solve=True, seed=seed, verbose=False)
        self.state = self.game.new_initial_state()

    def rolled(self, face):
        if not self.state.is_chance_node():
            # The first throw of a turn is no choice in Dervish's pig. In OpenSpiel's a player could stop with nothing.
            self.state.apply_action(ROLL)
        self.state.apply_action(face - 1)

    def choose(self, legal):
        if sorted(legal) != self.state.legal_actions():
            raise ValueError(f"Dervish allows {legal}, OpenSpiel {self.state.legal_actions()} in\n{self.state}")
        if len(legal) == 1:
            return legal[0]
        begun = time.thread_time()
        root = self.bot.mcts_search(self.state)
        simulations = root.explore_count
        action = root.best_child().action
        del root
        self.searched["seconds"] += time.thread_time() - begun
        self.searched["simulations"] += simulations
        self.searched["decisions"] += 1
        return action


def answer(fields):
    print(json.dumps(fields), flush=True)


def main():
    simulations, exploration = int(sys.argv[1]), float(sys.argv[2])
    searcher = None
    for line in sys.stdin:
        message = json.loads(line)
        if message["type"] == "hello":
            searcher = Searcher(message["game"]["game"], simulations, exploration)
            answer({"protocol": 1})
        elif message["type"] == "new_game":
            searcher.new_game(message["seed"])
        elif message["type"] == "played":
            searcher.state.apply_action(message["action"])
        elif message["type"] == "rolled":
            searcher.rolled(message["outcome"])
        elif message["type"] == "choose":
            answer({"action": searcher.choose([legal["action"] for legal in message["legal"]])})
        elif message["type"] == "quit":
            print(json.dumps(searcher.searched), file=sys.stderr, flush=True)
            return


if __name__ == "__main__":
    main()
