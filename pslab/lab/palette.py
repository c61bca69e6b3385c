"""Colours and line styles that tell things apart, also for the colour-blind and in print (Okabe and Ito, 2008)."""

from __future__ import annotations

from typing import Literal

ORANGE, SKY, GREEN, YELLOW, BLUE, VERMILION, PURPLE, GREY = "#E69F00", "#56B4E9", "#009E73", "#F0E442", "#0072B2", "#D55E00", "#CC79A7", "#666666"

SERIES = (BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY, GREY, YELLOW)
"""Colours of workers or modes, in order."""
DASHES: tuple[Literal["-"], Literal["--"], Literal["-."], Literal[":"]] = ("-", "--", "-.", ":")
"""Line styles of workers or modes, in order."""
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
"""Markers of workers or modes, in order."""
PHASES = {"compute": (GREEN, ""), "wait": ("#BBBBBB", "///"), "push": (ORANGE, "\\\\\\"), "pull": (SKY, "...")}
"""Colour and hatch of each phase of a step."""
FLOWS = {"pushed": (ORANGE, "-", "\\\\\\"), "pulled": (SKY, "--", "..."), "fed": (PURPLE, ":", "xx")}
"""Colour, line style and hatch of each flow of bytes."""
BANDS = {"ps": SKY, "worker": ORANGE, "client": GREEN}
"""Colour of each job's tasks in a picture of a graph."""
CUT = VERMILION
"""Colour of what goes from task to task."""
INK = "#333333"
"""Colour of words, borders and thin lines."""
