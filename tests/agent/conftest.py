"""Makes the helpers of this folder importable by name, and keeps torch from fighting for cores."""

import sys
from pathlib import Path

import pytest
import torch

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(autouse=True)
def _one_thread_one_seed():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    yield
    torch.set_flush_denormal(False)
