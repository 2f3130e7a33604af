"""What no source file may use, whatever it is for. (Who imports whom is checked by `lint-imports`.)"""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from amago_cli.exit_codes import ExitCode
from store import errors

ROOT = Path(__file__).parents[2]
SOURCES = sorted(
    file for package in ("amago_cli", "agent", "dashboard", "store") for file in (ROOT / package).rglob("*.py")
)
UNSAFE = {"pickle", "joblib", "dill", "cloudpickle", "torch.load", "torch.save", "eval", "exec"}


@pytest.mark.parametrize("source", SOURCES, ids=lambda file: str(file.relative_to(ROOT)))
def test_no_file_is_read_by_code_that_can_run_code(source: Path) -> None:
    tree = ast.parse(source.read_text("utf-8"))
    assert not {name for node in ast.walk(tree) for name in names_used(node)} & UNSAFE


def names_used(node: ast.AST) -> list[str]:
    """Modules imported, and dotted calls."""
    if isinstance(node, ast.Import):
        return [alias.name.partition(".")[0] for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        return [node.module or "", *(f"{node.module}.{alias.name}" for alias in node.names)]
    return [ast.unparse(node.func)] if isinstance(node, ast.Call) else []


def test_exit_codes_of_errors_have_a_name() -> None:
    codes = {error.exit_code for error in vars(errors).values() if hasattr(error, "exit_code")}
    assert codes <= set(ExitCode)
    assert codes >= {ExitCode.BAD_INPUT, ExitCode.RUN_BUSY, ExitCode.STORAGE, ExitCode.DIVERGED}
