"""A configuration as TOML that `--config` reads back to the same configuration."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from amago_cli.configure import NO_VALUE

if TYPE_CHECKING:
    from agent.config import Config


def to_toml(config: Config, comments: dict[str, str] | None = None) -> str:
    """One table per section; `comments` puts a text behind each dotted key it knows."""
    sections = config.model_dump(mode="json")
    return "\n\n".join(_section(name, content, comments or {}) for name, content in sections.items())


def differences(config: Config, base: Config) -> dict[str, tuple[Any, Any]]:
    """Dotted keys whose values differ: key -> (value in `base`, value in `config`).

    Fields of another environment than that of `base` are compared with their defaults.
    """
    from agent.config import override

    name, base_name = config.env.name, base.env.name
    changed: dict[str, tuple[Any, Any]] = {} if name == base_name else {"env.name": (base_name, name)}
    ours, theirs = config.model_dump(mode="json"), override(base, {"env.name": name}).model_dump(mode="json")
    return changed | {
        f"{section}.{key}": (theirs[section][key], value)
        for section, content in ours.items()
        for key, value in content.items()
        if theirs[section][key] != value
    }


def _section(name: str, content: dict[str, Any], comments: dict[str, str]) -> str:
    return "\n".join([f"[{name}]", *(_line(name, key, value, comments) for key, value in content.items())])


def _line(section: str, key: str, value: Any, comments: dict[str, str]) -> str:
    line = f"{key} = {literal(value)}"
    comment = comments.get(f"{section}.{key}")
    return f"{line:<40}  # {comment}" if comment else line


def literal(value: Any) -> str:
    """A TOML literal: JSON's, which for text, numbers, booleans and lists of them is also TOML's."""
    return json.dumps(NO_VALUE if value is None else value, ensure_ascii=False)
