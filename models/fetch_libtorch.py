#!/usr/bin/env python3
"""Make libtorch 2.11.0 available to the build, as `.libtorch` at the repository root.

usage: python3 models/fetch_libtorch.py [DESTINATION]

The first of these that holds is used:
  1. LIBTORCH (a libtorch folder) or LIBTORCH_USE_PYTORCH is set: the build reads the same variable, nothing is done;
  2. DESTINATION is complete: nothing is done;
  3. this Python has PyTorch 2.11.0: DESTINATION becomes a link to it (its CUDA libraries come along);
  4. otherwise the CPU part of the PyPI wheel is put into DESTINATION, without the CUDA packages (about 500 MB).

It needs Python 3.8 with pip and a C++ compiler, and no other package. One line says which libtorch is used; on failure
one line on standard error says why, the exit status is 2, and DESTINATION is as it was before.
"""

import fnmatch
import importlib.util
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

# tch 0.24.0 is generated from the headers of exactly this version.
VERSION = "2.11.0"

# The C++ library is the same in the wheel of every Python version; any one will do.
WHEEL_PYTHON = "311"

# The x86-64 and arm64 wheels for Linux are built with CUDA: libtorch_cpu links against the CUDA runtime and profiler
# (small, usable without a GPU), while what is left out is reached through libtorch_cuda only.
CUDA_DEPENDENCIES = {"libcudart.so.13": "nvidia-cuda-runtime==13.0.96", "libcupti.so.13": "nvidia-cuda-cupti==13.0.85"}
LEFT_OUT = ("*cuda*", "*nvshmem*", "*nvrtc*", "libtorch_python.*", "libtorch.so", "libtorch_global_deps.*", "libshm.*")


class FetchError(Exception):
    """A reason, in one line, why libtorch can't be had."""


def main():
    root = Path(__file__).resolve().parent.parent
    destination = Path(sys.argv[1]).absolute() if len(sys.argv) > 1 else root / ".libtorch"
    try:
        print(f"libtorch {VERSION}: {provide(destination)}")
    except (FetchError, OSError, zipfile.BadZipFile) as reason:
        print(f"libtorch {VERSION}: {reason}", file=sys.stderr)
        sys.exit(2)


def provide(destination):
    """Provides libtorch and returns, in words, where it is."""
    if os.environ.get("LIBTORCH_USE_PYTORCH"):
        folder = python_torch()
        if folder is None:
            raise FetchError("LIBTORCH_USE_PYTORCH is set, but this Python has no working PyTorch of that version")
        return f"{folder} (LIBTORCH_USE_PYTORCH)"
    if os.environ.get("LIBTORCH"):
        folder = Path(os.environ["LIBTORCH"])
        check(folder, "LIBTORCH")
        return f"{folder} (LIBTORCH)"
    if os.path.lexists(destination):
        try:
            check(destination, str(destination))
            kept = f"linked to {destination.resolve()}" if destination.is_symlink() else "kept"
            return f"{destination} ({kept})"
        except FetchError:
            pass  # An unfinished or outdated one is replaced below.
    folder = python_torch()
    if folder is not None:
        link = destination.with_name(f"{destination.name}.{os.getpid()}.link")
        link.symlink_to(folder, target_is_directory=True)
        put_in_place(link, destination)
        return f"{destination} (linked to PyTorch in {folder})"
    with tempfile.TemporaryDirectory(prefix=f"{destination.name}.", dir=destination.parent) as scratch:
        carved = carve(Path(scratch))
        put_in_place(carved, destination)
    return f"{destination} (CPU, from PyPI)"


def library_suffix():
    return "dylib" if sys.platform == "darwin" else "so"


def check(folder, what):
    """Refuses a folder that isn't a complete libtorch of this version."""
    for part in (f"lib/libtorch.{library_suffix()}", "include/torch/csrc/api/include/torch/torch.h"):
        if not (folder / part).exists():
            raise FetchError(f"{what}: {folder / part} doesn't exist")
    version = None
    if (folder / "build-version").exists():
        version = (folder / "build-version").read_text().strip()
    elif (folder / "version.py").exists():
        version = version_of((folder / "version.py").read_text())
    if version is not None and version.split("+")[0] != VERSION:
        raise FetchError(f"{what}: {folder} is version {version}")


def version_of(version_py):
    """The version that the text of torch/version.py states, or None."""
    stated = re.search(r"^__version__\s*=\s*['\"]([^'\"]+)['\"]", version_py, re.MULTILINE)
    return stated.group(1) if stated else None


def python_torch():
    """The folder of this Python's PyTorch if it is complete, of this version, and can be imported; else None."""
    spec = importlib.util.find_spec("torch")
    if spec is None or not spec.submodule_search_locations:
        return None
    folder = Path(list(spec.submodule_search_locations)[0])
    try:
        check(folder, "PyTorch")
    except FetchError:
        return None
    imported = subprocess.run([sys.executable, "-c", "import torch"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    return folder if imported.returncode == 0 else None


def put_in_place(ready, destination):
    """Renames `ready` to `destination`; what stood there goes away only once the new one is complete."""
    if os.path.lexists(destination):
        outdated = destination.with_name(f"{destination.name}.{os.getpid()}.outdated")
        os.rename(destination, outdated)
        os.rename(ready, destination)
        if outdated.is_symlink() or outdated.is_file():
            outdated.unlink()
        else:
            shutil.rmtree(outdated)
    else:
        os.rename(ready, destination)


def wheel_platforms():
    """pip's platform tags that a wheel for this machine may carry."""
    machine = platform.machine().lower()
    machine = {"amd64": "x86_64"}.get(machine, machine)
    if (sys.platform, machine) == ("darwin", "arm64"):
        return [f"macosx_{major}_0_arm64" for major in range(11, 16)]
    if not sys.platform.startswith("linux") or machine not in ("x86_64", "aarch64"):
        raise FetchError(f"PyPI has no PyTorch of this version for {sys.platform} on {machine}; set LIBTORCH")
    libc, libc_version = platform.libc_ver()
    if libc and (libc != "glibc" or tuple(int(part) for part in libc_version.split(".")[:2]) < (2, 28)):
        raise FetchError(f"the PyPI wheel needs glibc 2.28 or newer, this is {libc} {libc_version}")
    return [f"manylinux_2_{minor}_{machine}" for minor in range(28, 16, -1)] + [f"manylinux2014_{machine}"]


def download(requirement, folder):
    """Downloads the wheel of one pinned requirement, whatever the version of this Python, and returns its path."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
    command += [f"--dest={folder}", "--only-binary=:all:", "--implementation=cp", f"--python-version={WHEEL_PYTHON}"]
    command += [f"--abi=cp{WHEEL_PYTHON}", "--abi=none"]
    command += [f"--platform={tag}" for tag in wheel_platforms()]
    if importlib.util.find_spec("pip") is None:
        raise FetchError(f"{sys.executable} has no pip; install it (Debian: python3-pip), or set LIBTORCH")
    before = set(folder.iterdir())
    result = subprocess.run(command + [requirement], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    wheels = set(folder.glob("*.whl")) - before
    if result.returncode != 0 or len(wheels) != 1:
        complaints = result.stderr.splitlines() or ["ERROR: no reason given"]
        complaint = [line for line in complaints if line.startswith("ERROR")] or complaints
        raise FetchError(f"pip can't download {requirement} (is the registry within reach?): {complaint[-1]}")
    return wheels.pop()


def carve(scratch):
    """Builds a complete CPU libtorch in a folder under `scratch`, checks that it loads, and returns the folder."""
    print(f"libtorch {VERSION}: downloading (about 550 MB)", file=sys.stderr)
    libtorch = scratch / "libtorch"
    libraries = libtorch / "lib"
    libraries.mkdir(parents=True)
    wheel = download(f"torch=={VERSION}", scratch)
    with zipfile.ZipFile(wheel) as archive:
        version = version_of(archive.read("torch/version.py").decode())
        if version is None or version.split("+")[0] != VERSION:
            raise FetchError(f"{wheel.name} contains version {version}")
        for member in archive.namelist():
            parts = member.split("/")
            if member.startswith("torch/include/"):
                archive.extract(member, scratch)
            elif parts[0] in ("torch", "torch.libs") and parts[-2] in ("lib", "torch.libs") and is_wanted(parts[-1]):
                extract_flat(archive, member, libraries)
    wheel.unlink()
    os.rename(scratch / "torch/include", libtorch / "include")
    if sys.platform != "darwin":
        add_cuda_dependencies(libraries, scratch)
        link_torch(libraries)
    (libtorch / "build-version").write_text(f"{version}\n")
    check(libtorch, "the carved libtorch")
    # In a process of its own: a library that crashes must not take this one along.
    load = [sys.executable, "-c", "import ctypes, sys; ctypes.CDLL(sys.argv[1])"]
    load.append(str(libraries / f"libtorch.{library_suffix()}"))
    loads = subprocess.run(load, stderr=subprocess.PIPE, text=True)
    if loads.returncode != 0:
        raise FetchError(f"the carved library doesn't load: {loads.stderr.strip().splitlines()[-1]}")
    return libtorch


def is_wanted(name):
    if sys.platform == "darwin":
        return ".dylib" in name and not name.startswith("libtorch_python")
    return ".so" in name and not any(fnmatch.fnmatch(name, pattern) for pattern in LEFT_OUT)


def extract_flat(archive, member, folder):
    with archive.open(member) as source, open(folder / member.rsplit("/", 1)[1], "wb") as target:
        shutil.copyfileobj(source, target, 1 << 20)


def add_cuda_dependencies(libraries, scratch):
    """Adds the small CUDA libraries that libtorch_cpu names among its dependencies."""
    names = (libraries / "libtorch_cpu.so").read_bytes()
    for library, requirement in CUDA_DEPENDENCIES.items():
        if library.encode() not in names:
            continue
        with zipfile.ZipFile(download(requirement, scratch)) as archive:
            members = [member for member in archive.namelist() if member.endswith(f"/{library}")]
            if not members:
                raise FetchError(f"{requirement} has no {library}")
            extract_flat(archive, members[0], libraries)


def link_torch(libraries):
    """Makes the umbrella library: the wheel's own depends on libtorch_cuda, this one on libtorch_cpu alone."""
    compiler = os.environ.get("CXX") or next((name for name in ("c++", "g++", "clang++") if shutil.which(name)), None)
    if compiler is None:
        raise FetchError("no C++ compiler; install one (Debian: g++)")
    command = compiler.split() + ["-shared", "-fPIC", "-x", "c++", "/dev/null", "-o", str(libraries / "libtorch.so")]
    command += ["-Wl,-soname,libtorch.so", "-Wl,--no-as-needed", f"-L{libraries}", "-ltorch_cpu"]
    command += ["-Wl,-rpath,$ORIGIN", "-Wl,--allow-shlib-undefined"]
    result = subprocess.run(command, stderr=subprocess.PIPE, text=True)
    if result.returncode != 0:
        complaints = result.stderr.strip().splitlines() or ["no reason given"]
        raise FetchError(f"linking libtorch.so failed: {complaints[-1]}")


if __name__ == "__main__":
    main()
