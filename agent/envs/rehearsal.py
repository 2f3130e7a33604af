"""A first try of an environment: one reset and one legal step. It compiles ours and unmasks those that never work."""

import gymnasium

from agent.envs.gym_spaces import ACTION_MASK


def rehearse(env: gymnasium.Env) -> None:
    """Reset and step once; whatever the environment raises is raised."""
    observation, _ = env.reset(seed=0)
    legal = observation.get(ACTION_MASK)
    env.step(env.action_space.sample() if legal is None else int(legal.argmax()))
