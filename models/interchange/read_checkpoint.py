"""Reads a checkpoint without Dervish: python read_checkpoint.py CHECKPOINT

Prints one JSON document: what the manifest says of game, step and network, of each tensor its type, its shape and the sum
of its values, and whether PyTorch has read the same. Needs numpy and safetensors; where torch is installed, it opens the
files a second time and compares.
"""

import json
import pathlib
import sys

import numpy
import safetensors.numpy

try:
    import safetensors.torch
    import torch
except ImportError:
    torch = None


def tensors_of(path):
    tensors = safetensors.numpy.load_file(path)
    if torch is None:
        return tensors
    again = safetensors.torch.load_file(path)
    assert again.keys() == tensors.keys()
    for name, tensor in tensors.items():
        assert torch.equal(again[name], torch.from_numpy(tensor.copy())), name
    return tensors


def main(checkpoint):
    manifest = json.loads((checkpoint / "manifest.json").read_text(encoding="utf-8"))
    files = {}
    for name, digest in manifest["files"].items():
        path = checkpoint / name
        assert path.stat().st_size == digest["bytes"], name
        files[name] = {
            tensor: {
                "type": str(values.dtype),
                "shape": list(values.shape),
                "sum": float(values.sum(dtype=numpy.float64)),
            }
            for tensor, values in tensors_of(path).items()
        }
    read = {key: manifest[key] for key in ("format", "contract", "step", "network")}
    json.dump({**read, "torch": torch is not None, "files": files}, sys.stdout)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__.strip())
    main(pathlib.Path(sys.argv[1]))
