"""What every section of the configuration has in common."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field


def _no_truth(value: Any) -> Any:
    if isinstance(value, bool):
        raise ValueError("Input cannot be true or false")
    return value


Int = Annotated[int, BeforeValidator(_no_truth)]
"""A number that is not a truth value: `true` for 1 is a slip, not a setting."""

Float = Annotated[float, BeforeValidator(_no_truth)]
"""The same with a fraction."""

Positive = Annotated[Int, Field(gt=0)]
NonNegative = Annotated[Int, Field(ge=0)]


class Section(BaseModel):
    """Base of every section: immutable, no unknown keys, no NaN or infinity."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)
