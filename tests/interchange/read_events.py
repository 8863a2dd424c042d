"""Reads a folder of event files with TensorBoard: python read_events.py FOLDER

Prints one JSON object: for each tag its steps and values.
"""

import json
import sys

from tensorboard.backend.event_processing.event_accumulator import EventAccumulator


def main(folder):
    events = EventAccumulator(folder)
    events.Reload()
    scalars = {tag: [[of.step, of.value] for of in events.Scalars(tag)] for tag in events.Tags()["scalars"]}
    json.dump(scalars, sys.stdout)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__.strip())
    main(sys.argv[1])
