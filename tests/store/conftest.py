"""What the tests of the store share: trajectories that follow from a seed, and writers that can be killed."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from store.layout import RunPaths
from store.trajectory import Trajectory, TrajectoryInfo

REPOSITORY = Path(__file__).parents[2]
sys.path.insert(0, str(Path(__file__).parent))  # the helpers of this folder by name, in child processes too


def make_trajectory(
    length: int = 5,
    seed: int = 0,
    *,
    image: bool = False,
    noted: bool = False,
    split: str = "train",
    number: int = -1,
):
    """A trajectory whose every array follows from the seed; the first subgoal is reached by action 0."""
    rng = np.random.default_rng(seed)
    observations = {
        "view": rng.integers(0, 30, (length + 1, 9, 7), dtype=np.uint8),
        "daylight": rng.random((length + 1, 1), dtype=np.float32),
    }
    if image:
        observations["image"] = rng.integers(0, 256, (length + 1, 64, 64, 3), dtype=np.uint8)
    diagnostics = {}
    if noted:
        diagnostics = {
            "probabilities": rng.dirichlet(np.ones(17), length).astype(np.float16),
            "values": rng.random((length, 4)).astype(np.float16),
        }
    return Trajectory(
        observations=observations,
        actions=rng.integers(0, 17, length),
        rewards=rng.random(length, dtype=np.float32),
        terminated=np.zeros(length, np.bool_),
        truncated=np.arange(length) == length - 1,
        is_first=np.arange(length + 1) == 0,
        progress=np.minimum(np.arange(length + 1), 1).astype(np.uint8),
        instruction=np.array([3, 7], np.int16),
        events=np.array([[0, 3], [length - 1, 9]], np.int32),
        info=TrajectoryInfo(
            environment="crafter",
            seed=seed,
            actor=seed % 4,
            split=split,
            cause="time limit",
            wanted=seed % 2 == 0,
            policy_update=seed * 2,
            step=seed * 10,
            epsilon=0.25,
            number=number,
        ),
        diagnostics=diagnostics,
    )


def assert_same(first: Trajectory, second: Trajectory) -> None:
    """Every field is equal to the bit, and so are the types."""
    assert first.info == second.info
    assert first.observations.keys() == second.observations.keys()
    assert first.diagnostics.keys() == second.diagnostics.keys()
    fields = (
        "actions",
        "rewards",
        "terminated",
        "truncated",
        "is_first",
        "progress",
        "instruction",
        "events",
    )
    pairs = [(first.observations[name], second.observations[name]) for name in first.observations]
    pairs += [(first.diagnostics[name], second.diagnostics[name]) for name in first.diagnostics]
    pairs += [(getattr(first, field), getattr(second, field)) for field in fields]
    for a, b in pairs:
        assert a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


@pytest.fixture(scope="session")
def make() -> Callable[..., Trajectory]:
    return make_trajectory


@pytest.fixture(scope="session")
def same() -> Callable[[Trajectory, Trajectory], None]:
    return assert_same


@pytest.fixture
def paths(tmp_path: Path) -> RunPaths:
    return RunPaths(tmp_path)


Start = Callable[..., subprocess.Popen[str]]


@pytest.fixture
def start() -> Iterator[Start]:
    """Runs Python text in a process of its own, where this module can be imported as `conftest`."""
    processes: list[subprocess.Popen[str]] = []

    def start_process(text: str, *arguments: object) -> subprocess.Popen[str]:
        command = [sys.executable, "-c", text, *map(str, arguments)]
        path = os.pathsep.join([str(Path(__file__).parent), str(REPOSITORY)])
        environment = {**os.environ, "PYTHONPATH": path}
        process = subprocess.Popen(command, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        processes.append(process)
        return process

    yield start_process
    for process in processes:
        process.kill()
        process.communicate()


@pytest.fixture
def tiny_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 3 MB, where this machine allows to mount one."""
    directory = tmp_path / "tiny"
    directory.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", str(directory)]
    try:
        mounted = subprocess.run(command, capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        mounted = False
    if not mounted:
        pytest.skip("mounting a small file system needs privileges")
    yield directory
    subprocess.run(["umount", str(directory)], check=True)
