"""Atari 2600 games in the Arcade Learning Environment (Bellemare et al. 2013), with nothing hidden of their rewards.

The ten games of AMAGO-2 (arXiv 2411.11188, figure 9), whose scores lie orders of magnitude apart. As in the v5 variants
(Machado et al. 2018) an action is held for four frames, and at each frame with a chance of one in four the previous one
goes on ("sticky"). All 18 actions are there in every game. Pictures are coloured, 84 x 84, the brighter of the last two
frames: some games draw things in every other frame only. Rewards are the game's own, and losing a life ends nothing.

The world's seed decides how many frames, up to 30, pass before the game begins for the agent; seed and attempt decide
when actions stick.
"""

from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

from agent.envs.atari_screen import HEIGHT, SIDE, WIDTH, shrink
from agent.envs.base import MAX_SEED, Game
from agent.envs.games import chosen_games, played_game
from store.errors import AmagoError

# Returns of a random policy and of a human (Wang et al. 2016, arXiv 1511.06581).
_SCORES = {
    "Pong": (-20.7, 14.6),
    "Boxing": (0.1, 12.1),
    "Breakout": (1.7, 30.5),
    "Gopher": (257.6, 2412.5),
    "MsPacman": (307.3, 6951.6),
    "ChopperCommand": (811.0, 7387.8),
    "CrazyClimber": (10780.5, 35829.4),
    "BattleZone": (2360.0, 37187.5),
    "Qbert": (163.9, 13455.0),
    "Seaquest": (68.4, 42054.7),
}
_ROMS = {
    "MsPacman": "ms_pacman",
    "ChopperCommand": "chopper_command",
    "CrazyClimber": "crazy_climber",
    "BattleZone": "battle_zone",
}  # files that are not called like the game in small letters
_MAX_IDLE = 30  # frames
_NUM_ACTIONS = 18

Observation = dict[str, np.ndarray]


class AtariEnv(gymnasium.Env):
    """One attempt at one of several games. Causes: "game over" (terminated), "time limit" (truncated)."""

    name = "atari"
    max_instruction = 0
    vocabulary = ""
    success_return = None

    def __init__(self, names: Sequence[str], max_steps: int, frame_skip: int, sticky: float):
        """`names`: the games, none for all ten; `sticky`: the chance that an action goes on for another frame.

        AmagoError for another game, or without the package. Games are loaded when they are played, and kept.
        """
        self.games = tuple(Game(name, False, *_SCORES[name]) for name in chosen_games("atari", names, _SCORES))
        self.max_steps = max_steps
        self.observation_space = spaces.Dict({"rgb": spaces.Box(0, 255, (SIDE, SIDE, 3), np.uint8)})
        self.action_space = spaces.Discrete(_NUM_ACTIONS)
        self._frame_skip, self._sticky = frame_skip, sticky
        self._frames = np.empty((2, HEIGHT, WIDTH, 3), np.uint8)  # the last ones
        self._consoles: dict[str, Console] = {}
        _package()

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        super().reset(seed=seed)
        world = int(self.np_random.integers(MAX_SEED)) if seed is None else seed
        rng = np.random.default_rng(world)
        name = played_game(options, self.games, rng)
        if name not in self._consoles:
            self._consoles[name] = Console(_ROMS.get(name, name.lower()))
        self._console = self._consoles[name]
        self._chances = np.random.default_rng((world, (options or {}).get("attempt", 0)))
        self._held, self._steps = 0, 0
        self._console.reset()
        for _ in range(rng.integers(_MAX_IDLE + 1)):
            self._console.act(0)
        self._frames[:] = self._console.screen()
        return self._observation(), {"cause": ""}

    def step(self, action: int) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        reward, sticks = 0.0, self._chances.random(self._frame_skip) < self._sticky
        for frame, stick in enumerate(sticks.tolist()):
            if not stick:
                self._held = int(action)
            reward += self._console.act(self._held)
            over = self._console.over
            if over or frame >= self._frame_skip - 2:
                self._frames[0], self._frames[1] = self._frames[1], self._console.screen()
            if over:
                break
        self._steps += 1
        late = not over and self._steps >= self.max_steps
        cause = "game over" if over else "time limit" if late else ""
        return self._observation(), reward, over, late, {"cause": cause}

    def close(self) -> None:
        self._consoles.clear()

    def _observation(self) -> Observation:
        return {"rgb": shrink(self._frames.max(0))}


class Console:
    """The emulator with one game in it, whose every start is the same."""

    def __init__(self, rom: str):
        package = _package()
        self._emulator = package.ALEInterface()
        self._emulator.setInt("random_seed", 0)
        self._emulator.setFloat("repeat_action_probability", 0.0)
        self._emulator.loadROM(package.roms.get_rom_path(rom))
        self._actions = self._emulator.getLegalActionSet()
        self._start = self._emulator.cloneSystemState()

    def reset(self) -> None:
        """Turn it off and on."""
        self._emulator.reset_game()
        self._emulator.restoreSystemState(self._start)

    def act(self, action: int) -> float:
        """Hold one of the 18 actions for a frame; returns what it pays."""
        return float(self._emulator.act(self._actions[action]))

    @property
    def over(self) -> bool:
        """Whether the game has ended."""
        return self._emulator.game_over()

    def screen(self) -> np.ndarray:
        """The picture (210, 160, 3) uint8."""
        return self._emulator.getScreenRGB()


def _package() -> Any:
    try:
        import ale_py
        import ale_py.roms
    except ImportError as error:
        raise AmagoError('atari needs the Arcade Learning Environment: pip install "amago[atari]"') from error
    ale_py.ALEInterface.setLoggerMode(ale_py.LoggerMode.Error)  # else each emulator presents itself
    return ale_py
