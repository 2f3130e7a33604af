import pickle
import subprocess
import sys

import pytest

from agent.catalog import ENVIRONMENTS
from agent.config import EnvConfig
from agent.envs.base import EnvSpec


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_every_environment_can_be_made_in_another_process_and_played(name):
    environment = ENVIRONMENTS[name]
    assert environment.description and "\n" not in environment.description
    make_env = environment.factory(EnvConfig(name=name, engine="package", max_steps=7))
    env = pickle.loads(pickle.dumps(make_env))()
    spec = EnvSpec.from_env(env)
    assert (spec.name, spec.max_steps) == (name, 7)
    env.reset(seed=0)
    assert not env.step(spec.action_space.sample())[3]


def test_the_table_imports_no_environment():
    code = "import agent.catalog, sys; print([m for m in ('crafter', 'torch', 'numba') if m in sys.modules])"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "[]"
