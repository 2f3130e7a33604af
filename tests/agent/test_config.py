"""The configuration: what is refused, what round-trips, what the presets are."""

import json
import tomllib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from agent.config import Config, ConfigError, environment_names, from_mapping, keys, override, suggestion
from agent.env_config import ProcgenConfig
from agent.presets import PRESETS, preset
from store.errors import AmagoError

FIELDS = [(key, *key.split(".")) for key in keys(Config())]


def test_presets_are_valid_and_round_trip_through_json():
    for name, entry in PRESETS.items():
        assert entry.name == name and entry.description
        config = preset(name)
        assert from_mapping(json.loads(json.dumps(config.model_dump(mode="json")))) == config
    small, defaults = (config.model_dump() for config in (preset("small"), Config()))
    differing = {(part, name) for part in small for name in small[part] if small[part][name] != defaults[part][name]}
    assert differing == {
        ("model", "foresight"), ("loss", "advantage_filter"), ("loss", "entropy_weight"), ("replay", "goal_share"),
    }  # fmt: skip


def test_an_unknown_preset_names_the_known_ones():
    with pytest.raises(ConfigError, match="unknown preset 'big'; there are small, paper, tiny"):
        preset("big")


def test_every_field_says_what_it_means():
    for name in environment_names():
        known = keys(override(Config(), {"env.name": name}))
        assert all(known.values())
        assert {"env.name", "env.attempts", "loss.actor", "run.seed", "replay.relabel"} <= known.keys()


@settings(deadline=None)
@given(st.sampled_from(FIELDS))
def test_a_field_set_to_its_own_value_changes_nothing(field):
    key, section, name = field
    config = preset("tiny")
    assert override(config, {key: getattr(getattr(config, section), name)}) == config


def test_overriding_changes_one_field_and_not_the_original():
    config = Config()
    changed = override(config, {"optimizer.batch_size": 8, "loss.discounts": [0.5, 0.9]})
    assert changed.optimizer.batch_size == 8 and changed.loss.discounts == (0.5, 0.9)
    assert config.optimizer.batch_size == 24
    assert override(changed, {"optimizer.batch_size": 24, "loss.discounts": config.loss.discounts}) == config


def test_nothing_is_mutable():
    with pytest.raises(ValidationError, match="frozen"):
        Config().run.seed = 3  # type: ignore[misc]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"optimizer.batch_size": 0}, "optimizer.batch_size: Input should be greater than 0, got 0"),
        ({"optimizer.learning_rate": float("nan")}, "optimizer.learning_rate: Input should be a finite number"),
        ({"loss.actor": "both"}, "loss.actor: Input should be 'dep' or 'ind', got 'both'"),
        ({"loss.discounts": []}, "loss.discounts"),
        ({"loss.discounts": [1.0]}, "loss.discounts.0: Input should be less than 1, got 1.0"),
        ({"task.max_length": 6}, "task.max_length"),
        ({"task.wanted_share": 1.5}, "task.wanted_share"),
        ({"exploration.start": [0.5]}, "exploration.start"),
        ({"model.d_model": 30}, r"d_model \(30\) must be an even multiple of num_heads \(4\)"),
        ({"model.d_model": 12}, "even multiple"),
        ({"model.image_channels": [8, 6]}, "model.image_channels.1: Input should be a multiple of 4, got 6"),
        ({"model.image_channels": []}, "model.image_channels"),
        ({"model.image_network": "nature", "model.image_channels": [8, 8]}, "'nature' has 3 stages"),
        ({"loss.value_min": 60.0}, r"value_min \(60.0\) must be below value_max \(60.0\)"),
        ({"loss.target_subset": 5}, "loss.target_subset cannot exceed model.num_critics"),
        ({"run.steps": 0}, "run.steps"),
        ({"run.steps": True}, "run.steps: Input cannot be true or false, got True"),
        ({"optimizer.clip_norm": False}, "optimizer.clip_norm: Input cannot be true or false"),
        ({"run.seed": 2**63}, "run.seed: Input should be less than or equal to 9223372036854775807"),
        ({"collect.workers": -1}, "collect.workers"),
        ({"optimizer.batch_sise": 8}, "unknown configuration key 'optimizer.batch_sise' .did you mean 'optimizer.b"),
        ({"batch_size": 8}, "did you mean 'optimizer.batch_size'"),
        ({"nothing.like.it": 8}, "unknown configuration key 'nothing.like.it'; see"),
    ],
)  # fmt: skip
def test_what_is_refused_and_how(changes, message):
    with pytest.raises(ConfigError, match=message):
        override(Config(), changes)
    assert issubclass(ConfigError, AmagoError)


def test_every_bad_key_is_named_at_once():
    with pytest.raises(ConfigError) as caught:
        from_mapping({"optimizer": {"batch_size": -1, "warmup": 3}, "run": {"seed": -1}})
    message = str(caught.value)
    assert "optimizer.batch_size" in message and "run.seed" in message
    assert "unknown configuration key 'optimizer.warmup'" in message and "\n" not in message


def test_a_toml_file_is_a_mapping():
    text = '[env]\nname = "crafter"\n[loss]\nactor = "dep"\ndiscounts = [0.9, 0.99]\n[run]\nminutes = 1.5\n'
    config = from_mapping(tomllib.loads(text))
    assert (config.loss.actor, config.loss.discounts, config.run.minutes) == ("dep", (0.9, 0.99), 1.5)


@pytest.mark.parametrize(
    ("given", "games"),
    [("A, B,", ("A", "B")), (["A", "B"], ("A", "B")), ("A", ("A",)), ("all", ())],
)
def test_games_come_as_a_list_or_with_commas(given, games):
    assert override(Config(), {"env.name": "popgym", "env.games": given}).env.games == games


@pytest.mark.parametrize("given", ["", " ", ",", " , "])
def test_naming_no_game_is_not_all_games(given):
    with pytest.raises(ConfigError, match=r"env.games: it names no game; 'all' stands for every one"):
        override(Config(), {"env.name": "procgen", "env.games": given})


@pytest.mark.parametrize("changes", [{"env.horizon": 20}, {"env.attempts": None, "env.horizon": 200}])
def test_no_horizon_ends_popgym_before_anything_pays(changes):
    with pytest.raises(ConfigError, match="the first attempt is not paid"):
        override(Config(), {"env.name": "popgym", **changes})
    assert override(Config(), {"env.name": "popgym", "env.attempts": 1, "env.horizon": 20}).env.horizon == 20


def test_suggestions():
    assert suggestion("run.sede") == " (did you mean 'run.seed'?)"
    assert suggestion("xyz.qqq") == ""
    assert suggestion("optimizer.lr") == suggestion("lr") == " (did you mean 'optimizer.learning_rate'?)"


@pytest.mark.parametrize("given", ["coinrun=100, climber=.1", ["coinrun=100", "climber=0.1"]])
def test_scales_of_rewards_come_as_a_list_or_with_commas(given):
    config = override(Config(), {"env.name": "procgen", "env.reward_scales": given})
    assert isinstance(config.env, ProcgenConfig) and config.env.scales == {"coinrun": 100.0, "climber": 0.1}
    assert from_mapping(json.loads(json.dumps(config.model_dump(mode="json")))) == config


@pytest.mark.parametrize("given", ["coinrun", "coinrun=much", "coinrun=0", "coinrun=1e7", "coinrun=1,maze=nan"])
def test_a_scale_that_is_no_positive_number_is_refused(given):
    with pytest.raises(ConfigError, match=r"env.reward_scales: '.*' does not say game=number, such as coinrun=100"):
        override(Config(), {"env.name": "procgen", "env.reward_scales": given})


def test_a_game_has_one_scale():
    with pytest.raises(ConfigError, match=r"env.reward_scales: 'coinrun' has two scales"):
        override(Config(), {"env.name": "procgen", "env.reward_scales": "coinrun=1,maze=2,Coinrun=3"})


def test_a_mode_that_procgen_does_not_have_is_refused():
    with pytest.raises(ConfigError, match=r"env.mode: Input should be 'easy', 'hard' or 'memory', got 'extreme'"):
        override(Config(), {"env.name": "procgen", "env.mode": "extreme"})
