"""Package delivery: a road whose forks and addresses have to be remembered over many attempts.

After the Package Delivery problem in the appendix of AMAGO (Grigsby et al. 2023), with rules of our own:

A truck starts at place 0 of a road and drives towards place `length`, one place a step. The task hides `num_forks`
forks, each with the way that is right there, and `num_packages` addresses; both lie at places 1 to length - 1, and an
address may lie at a fork. The addresses are told once, by the first observation of the first attempt: 0 means nothing
is told. A fork shows only while the truck stands at it.

    forward     one place on; at a fork the truck stays where it is
    left/right  at a fork: one place on if this way is right, else the attempt ends ("wrong turn"); elsewhere it stays
    drop        stays and puts a package down: reward 1 at an address, once for each in an attempt; elsewhere, or at
                an address that has got its package, the package is lost; without packages nothing happens

Every attempt starts at place 0 with `num_packages` packages and ends at the end of the road ("completed"), by a wrong
turn, or after 2 * length steps ("time limit"). Nothing here is random but the task.
"""

from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

from agent.envs.base import MAX_SEED
from store.errors import AmagoError

FORWARD, LEFT, RIGHT, DROP = range(4)

Observation = dict[str, np.ndarray]


class DeliveryEnv(gymnasium.Env):
    """One attempt at the road that belongs to the world's seed."""

    name = "delivery"
    max_instruction = 0
    vocabulary = ""

    def __init__(self, length: int, num_forks: int, num_packages: int):
        if max(num_forks, num_packages) >= length:
            raise AmagoError(
                f"a road of length {length} has room for {length - 1} forks and as many addresses; "
                f"raise env.length above {max(num_forks, num_packages)}"
            )
        self.max_steps = 2 * length
        self.success_return = float(num_packages)
        place = np.uint8 if length < 255 else np.int16  # a MultiDiscrete writes the number of its values in its dtype
        self._length, self._num_forks, self._num_packages = length, num_forks, num_packages
        self.observation_space = spaces.Dict(
            {
                "position": spaces.MultiDiscrete([length + 1], place),
                "fork": spaces.MultiDiscrete([2], np.uint8),
                "packages": spaces.MultiDiscrete([num_packages + 1], np.uint8),
                "addresses": spaces.MultiDiscrete([length] * num_packages, place),
            }
        )
        self.action_space = spaces.Discrete(4)
        self._nothing_told = np.zeros(num_packages, place)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        super().reset(seed=seed)
        world = int(self.np_random.integers(MAX_SEED)) if seed is None else seed
        rng = np.random.default_rng(world)
        forks = 1 + rng.choice(self._length - 1, self._num_forks, replace=False)
        self._right_ways = dict(zip(forks.tolist(), rng.choice((LEFT, RIGHT), self._num_forks).tolist(), strict=True))
        addresses = np.sort(1 + rng.choice(self._length - 1, self._num_packages, replace=False))
        self._waiting = set(addresses.tolist())
        self._position, self._packages, self._steps = 0, self._num_packages, 0
        told = (options or {}).get("attempt", 0) == 0
        return self._observe(addresses.astype(self._nothing_told.dtype) if told else self._nothing_told.copy()), {
            "cause": ""
        }

    def step(self, action: int) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        self._steps += 1
        right_way = self._right_ways.get(self._position, FORWARD)
        reward, cause = 0.0, ""
        if action == DROP:
            reward = self._drop()
        elif action == right_way:
            self._position += 1
            cause = "completed" if self._position == self._length else ""
        elif FORWARD not in (action, right_way):
            cause = "wrong turn"
        terminated = bool(cause)
        truncated = not terminated and self._steps >= self.max_steps
        info = {"cause": "time limit" if truncated else cause}
        return self._observe(self._nothing_told.copy()), reward, terminated, truncated, info

    def _drop(self) -> float:
        """Put a package down where the truck stands; the reward."""
        if self._packages == 0:
            return 0.0
        self._packages -= 1
        if self._position not in self._waiting:
            return 0.0
        self._waiting.remove(self._position)
        return 1.0

    def _observe(self, told: np.ndarray) -> Observation:
        return {
            "position": np.array([self._position], self._nothing_told.dtype),
            "fork": np.array([self._position in self._right_ways], np.uint8),
            "packages": np.array([self._packages], np.uint8),
            "addresses": told,
        }
