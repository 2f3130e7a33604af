"""The screen in ASCII, for terminals that show nothing else: every other character is replaced as a line is drawn."""

from __future__ import annotations

from functools import lru_cache

from rich.cells import cell_len
from rich.segment import Segment
from textual.color import Color
from textual.filter import LineFilter

_INSTEAD = str.maketrans(
    {
        **dict.fromkeys("─━╌┄", "-"),
        **dict.fromkeys("│┃▏▎▍▌▋▊▉▐▕", "|"),
        **dict.fromkeys("╭╮╰╯┌┐└┘├┤┬┴┼", "+"),
        **dict.fromkeys("█▀▄▁▂▃▅▆▇■", "#"),
        **dict.fromkeys("✓↑", "+"),
        **dict.fromkeys("✗×", "x"),
        **dict.fromkeys("●★", "*"),
        **dict.fromkeys("○°", "o"),
        **dict.fromkeys("▪◆↓–—", "-"),
        **dict.fromkeys("▶→", ">"),
        **dict.fromkeys("…", "~"),
        "‖": "=",
        "·": "|",
        "←": "<",
        "\N{NO-BREAK SPACE}": " ",
    }
)


class PlainText(LineFilter):
    """Keeps colours and places, replaces characters."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """The same line in ASCII."""
        return [
            segment if segment.text.isascii() else segment._replace(text=in_ascii(segment.text)) for segment in segments
        ]


@lru_cache(maxsize=4096)
def in_ascii(text: str) -> str:
    """`text` with other characters of the same width; a question mark for those that nothing resembles."""
    translated = text.translate(_INSTEAD)
    return "".join(character if character.isascii() else "?" * cell_len(character) for character in translated)
