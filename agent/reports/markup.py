"""HTML and SVG from nested calls: text is escaped unless it was made here, so nothing foreign becomes markup.

Knows the syntax only, no report.
"""

from __future__ import annotations

from html import escape


class Markup(str):
    """Text that is markup already; everything else is escaped when it is put into an element."""


_VOID = ("meta", "img", "br", "line", "rect", "circle", "path")  # elements that hold nothing


def tag(name: str, /, *children: str | None, **attributes: str | int | float | None) -> Markup:
    """`<name attributes>children</name>`; None is left out. `class_` is the attribute class, `stroke_width`
    stroke-width.
    """
    given = {key.rstrip("_").replace("_", "-"): value for key, value in attributes.items() if value is not None}
    opening = "".join([name, *(f' {key}="{escape(_attribute(value))}"' for key, value in given.items())])
    if name in _VOID and not children:
        return Markup(f"<{opening}>" if name in ("meta", "img", "br") else f"<{opening}/>")
    return Markup(f"<{opening}>{join(*children)}</{name}>")


def join(*children: str | None) -> Markup:
    """The children one after the other."""
    return Markup(
        "".join(child if isinstance(child, Markup) else escape(child) for child in children if child is not None)
    )


def _attribute(value: str | int | float) -> str:
    return f"{value:.1f}".removesuffix(".0") if isinstance(value, float) else str(value)
