"""Any registered Gymnasium environment as one of ours."""

import difflib
import warnings

import gymnasium

from agent.envs.adapted import AdaptedEnv, Called, error_line
from agent.envs.beside_caller import find_modules_here
from store.errors import AmagoError


class GymEnv(AdaptedEnv):
    """The environment registered as `id`; an id of the form "module:Name-v0" imports the module first.

    `max_steps` is the time limit, None that of the environment. AmagoError if there is no such environment, or if it
    cannot be played by our agent.
    """

    def __init__(self, id: str, max_steps: int | None = None):
        env = _make(id, max_steps)
        spec = env.spec
        assert spec is not None, id
        if spec.max_episode_steps is None:
            raise AmagoError(f"{id} has no time limit of its own; give one: --set env.max_steps=1000")
        success_return = None if spec.reward_threshold is None else float(spec.reward_threshold)
        super().__init__(env, Called("the Gymnasium environment", id), spec.max_episode_steps, success_return)
        self.name = f"gym:{id}"


def _make(id: str, max_steps: int | None) -> gymnasium.Env:
    """The environment, with its time limit; what keeps it from being made is one clear line."""
    if not id:
        raise AmagoError("which Gymnasium environment? give --id, for example --id CartPole-v1")
    if id.count(":") > 1:
        raise AmagoError(f"'{id}' has two colons; the Gymnasium environments of a module are called module:Name-v0")
    if ":" in id:
        find_modules_here()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that there is a newer version, a better package, ...
            return gymnasium.make(id, max_episode_steps=max_steps, disable_env_checker=True)
    except gymnasium.error.NamespaceNotFound as error:
        raise AmagoError(
            f"there are no Gymnasium environments of the kind of '{id}'; install their package and name the module "
            "that registers them, for example --id ale_py:ALE/Pong-v5"
        ) from error
    except (gymnasium.error.UnregisteredEnv, gymnasium.error.DeprecatedEnv) as error:
        raise AmagoError(f"there is no Gymnasium environment '{id}'{_near_names(id)}") from error
    except Exception as error:
        raise AmagoError(f"the Gymnasium environment '{id}' cannot be made: {error_line(error)}") from error


def _near_names(id: str) -> str:
    """What the id may have meant, to end a sentence with."""
    names = {name.lower(): name for name in gymnasium.registry}
    near = difflib.get_close_matches(id.rpartition(":")[2].lower(), names, n=3)
    if near:
        return f"; is it {' or '.join(names[name] for name in near)}?"
    return "; one of your own is --id module:Name-v0, where importing the module registers it"
