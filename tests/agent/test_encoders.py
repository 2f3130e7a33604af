"""Which encoder an entry of the observation gets, what it makes of it, and the token of a whole step."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from gymnasium import spaces
from tiny_agent import BITS, BOX, INTERFACE, NUM_GOALS, random_inputs

from agent.envs.crafter.observation import OBSERVATION_SPACES
from agent.nets.actions import ActionCode, action_code
from agent.nets.encoders import Bits, Embedded, Image, Normalised, OneHot, Scaled, StepEncoder, part_for
from agent.nets.images import Eye

D_TOKEN, D_ENCODER = 4, 8
EYE = Eye("impala", (16, 32, 32))


def part(space, eye=EYE):
    return part_for(space, D_TOKEN, D_ENCODER, eye)


@pytest.mark.parametrize(
    ("space", "kind", "width"),
    [
        (spaces.Discrete(5), OneHot, 5),
        (spaces.Discrete(16), OneHot, 16),
        (spaces.Discrete(17), Embedded, D_TOKEN),
        (spaces.Discrete(4, start=2), OneHot, 4),
        (spaces.Discrete(100, start=-5), Embedded, D_TOKEN),
        (spaces.MultiDiscrete([4]), OneHot, 4),
        (spaces.MultiDiscrete(np.full((3, 2), 40)), Embedded, 6 * D_TOKEN),
        (spaces.Box(0, 9, (16,), np.uint8), Embedded, 16 * D_TOKEN),
        (spaces.Box(-2, 2, (3,), np.int64), Embedded, 3 * D_TOKEN),
        (spaces.Box(0, 63, (2,), np.uint8), Scaled, 2),
        (spaces.MultiBinary(5), Bits, 5),
        (spaces.MultiBinary((2, 3)), Bits, 6),
        (spaces.Box(0.0, 1.0, (1,), np.float32), Normalised, 1),
        (spaces.Box(-np.inf, np.inf, (), np.float32), Normalised, 1),
        (spaces.Box(-np.inf, np.inf, (2, 3), np.float64), Normalised, 6),
        (spaces.Box(0, 255, (12, 10, 3), np.uint8), Image, D_ENCODER),
    ],
)
def test_the_space_decides(space, kind, width):
    encoder = part(space)
    assert type(encoder) is kind and encoder.width == width
    space.seed(0)
    samples = torch.from_numpy(np.stack([np.stack([space.sample() for _ in range(5)]) for _ in range(2)]))
    features = encoder(samples)
    assert features.shape == (2, 5, width) and features.dtype == torch.float32
    assert features.isfinite().all()


def test_a_space_nobody_encodes_is_refused():
    with pytest.raises(ValueError, match="no encoder for an observation of type Text"):
        part(spaces.Text(5))


def test_one_hot_by_hand():
    x = torch.tensor([[[2, 4]]])
    assert part(spaces.MultiDiscrete([3, 3], start=[2, 2]))(x).tolist() == [[[1, 0, 0, 0, 0, 1]]]
    assert part(spaces.Discrete(3, start=-1))(torch.tensor([[-1, 1]])).tolist() == [[[1, 0, 0], [0, 0, 1]]]


def test_one_hot_knows_the_range_of_every_element():
    space = spaces.MultiDiscrete([3, 3], start=[0, 5])
    rows = [part(space)(torch.tensor([[[0, value]]])).flatten().tolist() for value in (5, 6, 7)]
    assert len({tuple(row) for row in rows}) == 3


def test_scaled_by_hand():
    encoder = part(spaces.Box(np.array([0, -10]), np.array([100, 30]), dtype=np.int64))
    torch.testing.assert_close(
        encoder(torch.tensor([[[0, -10], [50, 30]]])), torch.tensor([[[-1.0, -1.0], [0.0, 1.0]]])
    )


def test_bits_by_hand():
    assert part(spaces.MultiBinary(3))(torch.tensor([[[0, 1, 1]]], dtype=torch.int8)).tolist() == [[[0, 1, 1]]]


def test_scaled_bears_an_element_that_never_changes():
    encoder = part(spaces.Box(np.array([0, 7]), np.array([100, 7]), dtype=np.int64))
    assert encoder(torch.tensor([[[25, 7]]])).isfinite().all()


def test_embedded_gives_each_value_its_own_vector():
    encoder = part(spaces.MultiDiscrete([40, 40]))
    both = encoder(torch.tensor([[[3, 39]]])).unflatten(-1, (2, D_TOKEN))[0, 0]
    torch.testing.assert_close(both, encoder.table.weight[[3, 39]])


@pytest.mark.parametrize("network", ["impala", "nature"])
def test_images_are_seen_pixel_by_pixel(network):
    encoder = part(spaces.Box(0, 255, (9, 11, 3), np.uint8), EYE._replace(network=network))
    images = torch.randint(256, (2, 3, 9, 11, 3), dtype=torch.uint8)
    features = encoder(images)
    torch.testing.assert_close(features[1, 2], encoder(images[1:, 2:])[0, 0], rtol=1e-4, atol=1e-5)
    other = images.clone()
    other[0, 0, 7, 7, 2] ^= 255
    assert not torch.allclose(encoder(other)[0, 0], features[0, 0])


def test_an_image_passes_through_as_many_stages_as_there_are_channels():
    space = spaces.Box(0, 255, (64, 64, 3), np.uint8)
    small = part(space, Eye("impala", (4, 8)))
    convolutions = [layer for layer in small.modules() if isinstance(layer, torch.nn.Conv2d)]
    assert [layer.out_channels for layer in convolutions] == [4] * 5 + [8] * 5
    assert small.out.in_features == 8 * 16 * 16  # halved twice
    nature = part(space, Eye("nature", (4, 8, 12)))
    assert [layer.out_channels for layer in nature.modules() if isinstance(layer, torch.nn.Conv2d)] == [4, 8, 12]
    assert nature.out.in_features == 12 * 8 * 8
    with pytest.raises(ValueError, match="an image of 7 x 64 pixels is too small"):
        part(spaces.Box(0, 255, (7, 64, 3), np.uint8), Eye("nature", (4, 8, 12)))
    usual = [layer.out_channels for layer in part(space).modules() if isinstance(layer, torch.nn.Conv2d)]
    assert usual == [16] * 5 + [32] * 10


@pytest.mark.parametrize("observation", ["symbolic", "crop", "pixels"])
def test_crafter_is_understood(observation):
    space = OBSERVATION_SPACES[observation]
    kinds = {key: type(part(entry)) for key, entry in space.items()}
    expected = {
        "symbolic": {
            "view": Embedded,
            "facing": OneHot,
            "ahead": Embedded,
            "inventory": Embedded,
            "position": Scaled,
            "daylight": Normalised,
        },
        "crop": {"image": Image, "inventory": Embedded},
        "pixels": {"image": Image},
    }
    assert expected[observation].items() <= kinds.items()


class TestStepEncoder:
    def encoder(
        self, goal_tokens=INTERFACE.goal_tokens, slots=INTERFACE.num_goal_slots, actions: ActionCode | None = None
    ) -> StepEncoder:
        torch.manual_seed(0)
        return StepEncoder(
            INTERFACE.observation_space,
            actions or action_code(INTERFACE.action_space),
            goal_tokens,
            slots,
            d_token=D_TOKEN,
            d_encoder=D_ENCODER,
            d_model=6,
            eye=EYE,
        )

    def test_every_input_matters_and_only_to_its_own_step(self):
        encoder, inputs = self.encoder(), random_inputs(np.random.default_rng(0), 2, 3)
        tokens = encoder(inputs)
        assert tokens.shape == (2, 3, 6)
        changes = {
            "goals": (inputs.goals + 1) % (NUM_GOALS + 1),
            "previous_actions": (inputs.previous_actions + 1) % 3,
            "previous_rewards": inputs.previous_rewards + 1,
            "is_first": ~inputs.is_first,
        }
        variants = [replace(inputs, **{name: self.only(getattr(inputs, name), new)}) for name, new in changes.items()]
        for key, value in inputs.observations.items():
            changed = self.only(value, value.max() - value)
            variants.append(replace(inputs, observations={**inputs.observations, key: changed}))
        for variant in variants:
            moved = (encoder(variant) != tokens).any(-1)
            assert moved.tolist() == [[False, False, False], [False, True, False]]

    @staticmethod
    def only(old: torch.Tensor, new: torch.Tensor) -> torch.Tensor:
        """`new` at row 1, step 1, else `old`."""
        mixed = old.clone()
        mixed[1, 1] = new[1, 1]
        return mixed

    def test_time_is_left_to_the_memory(self):
        encoder, inputs = self.encoder(), random_inputs(np.random.default_rng(0), 1, 3)
        assert torch.equal(encoder(inputs)[:, 1:], encoder(replace(inputs, time=inputs.time + 5))[:, 1:])

    def test_at_the_first_step_there_is_no_previous_action(self):
        encoder, inputs = self.encoder(), random_inputs(np.random.default_rng(0), 1, 3)
        other = inputs.previous_actions.clone()
        other[:, 0] = (other[:, 0] + 1) % 3
        assert torch.equal(encoder(inputs), encoder(replace(inputs, previous_actions=other)))

    def test_a_later_attempt_knows_what_was_done_before_it(self):
        encoder, inputs = self.encoder(), random_inputs(np.random.default_rng(0), 1, 3)
        inputs = replace(inputs, is_first=torch.ones_like(inputs.is_first))
        other = inputs.previous_actions.clone()
        other[0, 1] = (other[0, 1] + 1) % 3
        moved = (encoder(replace(inputs, previous_actions=other)) != encoder(inputs)).any(-1)
        assert moved.tolist() == [[False, True, False]]

    @pytest.mark.parametrize("interface", [BITS, BOX])
    def test_every_number_of_a_previous_action_matters(self, interface):
        encoder = self.encoder(actions=action_code(interface.action_space))
        inputs = random_inputs(np.random.default_rng(0), 2, 3, interface)
        tokens = encoder(inputs)
        for k in range(inputs.previous_actions.shape[-1]):
            other = inputs.previous_actions.clone()
            other[1, 1, k] = 1 - other[1, 1, k]
            moved = (encoder(replace(inputs, previous_actions=other)) != tokens).any(-1)
            assert moved.tolist() == [[False, False, False], [False, True, False]]

    def test_without_instructions(self):
        encoder = self.encoder(goal_tokens=None, slots=0)
        inputs = random_inputs(np.random.default_rng(0), 2, 3)
        assert encoder(replace(inputs, goals=inputs.goals[..., :0])).shape == (2, 3, 6)

    def test_statistics_move_by_valid_training_data_only(self):
        encoder, inputs = self.encoder(), random_inputs(np.random.default_rng(0), 2, 3)
        norm = encoder.parts[encoder.names.index("light")].norm
        encoder(inputs)
        assert int(norm.count) == 0
        valid = torch.tensor([[True, True, False], [True, False, False]])
        encoder.update_statistics(inputs, valid)
        expected = inputs.observations["light"][valid].double().mean(0)
        torch.testing.assert_close(norm.mean, expected)
        assert int(norm.count) == 3
