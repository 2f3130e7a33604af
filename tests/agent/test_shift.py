"""Random shifts: what moves, how far, and that only training sees it."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from gymnasium import spaces
from tiny_agent import INTERFACE, random_batch, tiny_config, tiny_model
from torch.nn import functional as F

from agent.learner import Learner
from agent.nets.shift import randomly_shifted

SIDE, MOST = 9, 2
SEEING = replace(INTERFACE, observation_space=spaces.Dict({"image": spaces.Box(0, 255, (SIDE, SIDE, 3), np.uint8)}))


def images(rows: int, length: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(0)
    return torch.randint(256, (rows, length, SIDE, SIDE, 3), dtype=torch.uint8, generator=generator)


def every_shift(sequence: torch.Tensor) -> dict[tuple[int, int], torch.Tensor]:
    """`sequence` (T, H, W, C) padded with its edges and cropped at every place."""
    padded = F.pad(sequence.permute(0, 3, 1, 2).float(), [MOST] * 4, mode="replicate").to(torch.uint8)
    crops = {
        (y, x): padded[:, :, y : y + SIDE, x : x + SIDE].permute(0, 2, 3, 1)
        for y in range(2 * MOST + 1)
        for x in range(2 * MOST + 1)
    }
    return crops


def test_each_sequence_is_padded_and_cropped_at_a_place_of_its_own():
    torch.manual_seed(0)
    before = images(200, 2)
    after = randomly_shifted(before, MOST)
    assert after.shape == before.shape and after.dtype == torch.uint8
    places = []
    for old, new in zip(before, after, strict=True):
        (place,) = [place for place, crop in every_shift(old).items() if torch.equal(crop, new)]
        places.append(place)
    assert set(places) == {(y, x) for y in range(5) for x in range(5)}


def test_without_a_distance_nothing_moves_and_nothing_is_drawn():
    before = images(2, 3)
    torch.manual_seed(0)
    expected = torch.rand(1)
    torch.manual_seed(0)
    assert randomly_shifted(before, 0) is before and torch.equal(torch.rand(1), expected)


def test_draws_repeat_with_the_seed():
    results = []
    for seed in (3, 3, 4):
        torch.manual_seed(seed)
        results.append(randomly_shifted(images(8, 2), 4))
    assert torch.equal(results[0], results[1]) and not torch.equal(results[0], results[2])


def learner_and_batch(most: int):
    config = tiny_config(model__random_shift=most, model__image_channels=(4, 8))
    batch = random_batch(0)
    seen = {"image": images(3, 7)}
    return Learner(tiny_model(config, interface=SEEING), config), replace(
        batch, inputs=replace(batch.inputs, observations=seen)
    )


@pytest.mark.parametrize("most", [0, 3])
def test_learning_moves_images_and_repeats(most):
    updated = []
    for _ in range(2):
        learner, batch = learner_and_batch(most)
        before = batch.inputs.observations["image"].clone()
        metrics = learner.update(batch, np.random.default_rng(5))
        assert torch.equal(batch.inputs.observations["image"], before)
        updated.append((metrics, learner.model.representation.encoder.parts[0].body[0].weight.detach().clone()))
    assert updated[0][0] == updated[1][0] and torch.equal(updated[0][1], updated[1][1])
    assert updated[0][0]["gradient_norm"] > 0
    if most:
        still, batch = learner_and_batch(0)
        assert still.update(batch, np.random.default_rng(5))["critic_loss"] != updated[0][0]["critic_loss"]


def test_acting_sees_images_where_they_are():
    learner, batch = learner_and_batch(3)
    with torch.no_grad():
        one, other = (learner.model.representation(batch.inputs).states for _ in range(2))
    assert torch.equal(one, other)
