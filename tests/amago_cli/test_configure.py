"""Precedence, parsing and errors of the configuration."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent import config as config_module
from agent.config import Config, ConfigError, environment_names, keys, override
from agent.env_config import CrafterConfig
from agent.presets import PRESETS, Preset, preset
from amago_cli import options, train_options
from amago_cli.configure import parse_assignments, read_config_file, resolve
from amago_cli.toml_text import differences, to_toml
from store.errors import AmagoError
from store.runs import create_run


def write(path: Path, text: str) -> Path:
    path.write_text(text, "utf-8")
    return path


def test_later_sources_win(tmp_path: Path) -> None:
    file = write(tmp_path / "c.toml", "[optimizer]\nbatch_size = 2\nclip_norm = 2.0\n[run]\nseed = 2\nsteps = 2\n")
    config = resolve("tiny", file, {"run.seed": 3, "run.steps": 3}, ["run.steps=4"]).config
    assert config.optimizer.batch_size == 2
    assert (config.run.seed, config.run.steps) == (3, 4)
    assert config.model == PRESETS["tiny"].build().model


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("run.seed=7", 7),
        ("run.seed = 1_000", 1000),
        ("loss.discounts=[0.9, 0.99]", [0.9, 0.99]),
        ("optimizer.bf16=true", True),
        ("env.name=crafter", "crafter"),
        ('env.name="crafter"', "crafter"),
        ("task.goals=stone pickaxe, iron", "stone pickaxe, iron"),
        ("task.goals=", ""),
        ("run.steps=none", None),
        ("a.b=c=d", "c=d"),
    ],
)
def test_values_are_toml_literals_else_text(text: str, value: Any) -> None:
    ((_, parsed),) = parse_assignments([text]).items()
    assert parsed == value


@pytest.mark.parametrize("text", ["run.seed", "=3", ""])
def test_an_assignment_needs_key_and_value(text: str) -> None:
    with pytest.raises(AmagoError, match="key=value"):
        parse_assignments([text])


def test_an_unknown_key_names_the_nearest() -> None:
    with pytest.raises(ConfigError, match=r"unknown configuration key 'optimiser.batch_size'.*optimizer.batch_size"):
        resolve("tiny", None, {}, ["optimiser.batch_size=3"])


def test_an_unknown_preset_names_the_nearest() -> None:
    with pytest.raises(AmagoError, match="unknown preset 'smal'; did you mean small"):
        resolve("smal", None, {}, [])


def test_every_bad_value_is_named_at_once(tmp_path: Path) -> None:
    file = write(tmp_path / "c.toml", '[run]\nseed = -1\n[loss]\nactor = "both"\n')
    with pytest.raises(ConfigError) as caught:
        resolve("tiny", file, {}, [])
    assert "run.seed" in str(caught.value) and "loss.actor" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[run\n", "not valid TOML"),
        ("[run]\nsed = 1\n", "'run.sed'.*run.seed"),
        ("seed = 1\n", "'seed'.*run.seed"),
    ],
)
def test_a_bad_file_is_one_clear_error(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(AmagoError, match=message):
        resolve("tiny", write(tmp_path / "c.toml", text), {}, [])


def test_a_missing_file_is_one_clear_error(tmp_path: Path) -> None:
    with pytest.raises(AmagoError, match="cannot read the configuration file"):
        read_config_file(tmp_path / "none.toml")
    with pytest.raises(AmagoError, match=r"cannot read the configuration file .*none\.json"):
        read_config_file(tmp_path / "none.json")


def test_the_record_of_a_run_is_a_configuration_file(tmp_path: Path) -> None:
    config = override(Config(), {"run.seed": 9, "run.steps": 5})
    paths = create_run(tmp_path, "a", config.model_dump(mode="json"))
    assert resolve("tiny", paths.config, {}, []).config == config


def test_the_json_file_that_is_named_is_the_one_that_is_read(tmp_path: Path) -> None:
    create_run(tmp_path, "a", override(Config(), {"run.seed": 9}).model_dump(mode="json"))
    bare = write(tmp_path / "a" / "mine.json", '{"run": {"seed": 4}}')
    assert resolve("tiny", bare, {}, []).config.run.seed == 4


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "c.json is not valid JSON"),
        ("[" * 100_000, "c.json is not valid JSON"),
        ("[]", "c.json holds no configuration"),
        ('{"run": {"sed": 1}}', "run.seed"),
        ('{"config": 3}', "unknown configuration key 'config'"),
    ],
)
def test_a_bad_json_file_is_one_clear_error(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(AmagoError, match=message):
        resolve("tiny", write(tmp_path / "c.json", text), {}, [])


@given(
    seed=st.integers(0, 2**40),
    rate=st.floats(1e-12, 1e6),
    goals=st.text(st.characters(exclude_categories=["Cs", "Cc"])),
)
def test_toml_reads_back_to_the_same_configuration(seed: int, rate: float, goals: str) -> None:
    changes = {
        "run.seed": seed,
        "optimizer.learning_rate": rate,
        "task.goals": f"g {goals}",
        "run.minutes": None,
    }
    config = override(Config(), changes)
    flat = {
        f"{section}.{key}": None if value == "none" else value
        for section, content in tomllib.loads(to_toml(config, keys(config))).items()
        for key, value in content.items()
    }
    assert override(Config(), flat) == config


@pytest.mark.parametrize("preset", sorted(PRESETS))
def test_every_preset_survives_a_file(tmp_path: Path, preset: str) -> None:
    config = PRESETS[preset].build()
    file = write(tmp_path / "c.toml", to_toml(config))
    assert resolve(None, file, {}, []).config == config


def test_differences_name_both_values() -> None:
    changed = override(Config(), {"run.seed": 3, "loss.discounts": [0.5]})
    assert differences(changed, Config()) == {
        "run.seed": (0, 3),
        "loss.discounts": (list(Config().loss.discounts), [0.5]),
    }


def test_differences_of_another_environment_are_from_its_defaults() -> None:
    changed = override(Config(), {"env.name": "tmaze", "env.max_steps": 20})
    assert differences(changed, Config()) == {"env.name": ("crafter", "tmaze"), "env.max_steps": (400, 20)}


@pytest.fixture
def lake_preset(monkeypatch: pytest.MonkeyPatch) -> Config:
    """A preset that is named like an environment."""
    config = override(Config(), {"env.name": "frozen-lake", "model.context": 32})
    monkeypatch.setitem(PRESETS, "frozen-lake", Preset("frozen-lake", "", lambda: config))
    return config


def test_an_environment_starts_from_its_own_preset(lake_preset: Config, tmp_path: Path) -> None:
    file = write(tmp_path / "c.toml", '[env]\nname = "frozen-lake"\n')
    for started in (
        resolve(None, None, {"env.name": "frozen-lake"}, []),
        resolve(None, None, {}, ["env.name=frozen-lake"]),
        resolve(None, file, {}, []),
    ):
        assert started == (lake_preset, "frozen-lake")


def test_a_preset_that_is_given_keeps_the_environment_that_is_asked_for(lake_preset: Config) -> None:
    started = resolve("tiny", None, {"env.name": "frozen-lake"}, ["env.size=4"])
    assert started.preset == "tiny"
    assert (started.config.env.name, started.config.model) == ("frozen-lake", PRESETS["tiny"].build().model)


def test_the_option_wins_over_the_file_and_starts_from_its_own_preset(lake_preset: Config, tmp_path: Path) -> None:
    file = write(tmp_path / "c.toml", '[env]\nname = "maze"\nmax_steps = 20\n')
    started = resolve(None, file, {"env.name": "frozen-lake"}, [])
    assert (started.preset, started.config.env.name, started.config.env.max_steps) == ("frozen-lake", "frozen-lake", 20)


def test_without_an_environment_or_a_preset_of_its_own_it_is_the_small_one() -> None:
    assert resolve(None, None, {}, []) == (preset("small"), "small")


def test_named_options_set_existing_keys() -> None:
    known = {key for name in environment_names() for key in keys(override(Config(), {"env.name": name}))}
    assert set(train_options.KEYS.values()) <= known


@pytest.mark.parametrize(
    ("literal", "section", "field"),
    [
        (options.Device, config_module.RunSettings, "device"),
        (options.Observation, CrafterConfig, "observation"),
        (options.Engine, CrafterConfig, "engine"),
        (options.Relabel, config_module.ReplayConfig, "relabel"),
        (options.Crossing, config_module.LossConfig, "actor"),
        (options.Crossing, config_module.LossConfig, "critic"),
    ],
)
def test_choices_of_options_are_those_of_the_configuration(literal: Any, section: Any, field: str) -> None:
    assert get_args(literal) == get_args(section.model_fields[field].annotation)
