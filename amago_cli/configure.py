"""From what was typed to a validated configuration: preset < --config file < named options < --set."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from amago_cli.suggest import check_name
from store.errors import AmagoError

if TYPE_CHECKING:
    from agent.config import Config

DEFAULT_PRESET = "small"
NO_VALUE = "none"  # what a field without a value is called: TOML has no word for it


class Resolved(NamedTuple):
    """The configuration of a new run, and the preset that it started from."""

    config: Config
    preset: str


def resolve(
    preset: str | None,
    file: Path | None,
    named: Mapping[str, Any],
    assignments: Iterable[str],
    beneath: Mapping[str, Any] | None = None,
) -> Resolved:
    """The configuration of a new run. `named` maps dotted keys to the values of options that were given.

    `beneath` lies directly on the preset. Without a `preset` it starts from the one that is named like the environment,
    or from "small" if there is none.
    """
    from agent.config import environment_names, override
    from agent.presets import PRESETS

    if preset is not None:
        check_name("preset", preset, PRESETS, "amago train --help")
    typed = {**(read_config_file(file) if file else {}), **named, **parse_assignments(assignments)}
    if "env.name" in typed:
        check_name("environment", str(typed["env.name"]), environment_names(), "amago envs")
    changes = {**(beneath or {}), **typed}
    own = changes.get("env.name")
    name = preset or (own if own in PRESETS else DEFAULT_PRESET)
    return Resolved(override(PRESETS[name].build(), changes), name)


def read_config_file(path: Path) -> dict[str, Any]:
    """Dotted keys and values of a TOML or JSON file with one table per section, or of a run's config.json."""
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = (isinstance(error, OSError) and error.strerror) or error
        raise AmagoError(f"cannot read the configuration file {path}: {reason}") from None
    sections = _from_json(path, text) if path.suffix == ".json" else _from_toml(path, text)
    return dict(_flatten(sections))


def parse_assignments(assignments: Iterable[str]) -> dict[str, Any]:
    """Dotted keys and values of `key=value` texts; later ones win."""
    return dict(_parse_assignment(text) for text in assignments)


def _parse_assignment(text: str) -> tuple[str, Any]:
    key, equals, value = (part.strip() for part in text.partition("="))
    if not equals or not key:
        raise AmagoError(f"--set needs key=value, for example optimizer.batch_size=8, got '{text}'")
    return key, _parse_value(value)


def _parse_value(text: str) -> Any:
    """A TOML literal (number, true, [1, 2], "text"), else the text itself."""
    try:
        return _without_none(tomllib.loads(f"value = {text}")["value"])
    except tomllib.TOMLDecodeError:
        return _without_none(text)


def _from_toml(path: Path, text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise AmagoError(f"{path} is not valid TOML: {error}") from None


def _from_json(path: Path, text: str) -> dict[str, Any]:
    try:
        record = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise AmagoError(f"{path} is not valid JSON: {error}") from None
    if not isinstance(record, dict):
        raise AmagoError(f"{path} holds no configuration: it needs one JSON object with a table per section")
    sections = record.get("config")  # where the record of a run keeps them
    return sections if isinstance(sections, dict) else record


def _flatten(sections: dict[str, Any]) -> Iterable[tuple[str, Any]]:
    for section, content in sections.items():
        if isinstance(content, dict):
            yield from ((f"{section}.{key}", _without_none(value)) for key, value in content.items())
        else:
            yield section, content


def _without_none(value: Any) -> Any:
    return None if value == NO_VALUE else value
