"""chart.py - what the scripts of the gallery share: where the tables are, a plain SVG chart, a table of a page.

Every script here has `study(quick)`, which returns a chart and a table.  Run as a program it prints the table; with
--write it also renews the picture and the table of its page in docs/gallery.
"""

from __future__ import annotations

import html
import io
import lzma
import math
import os
import pathlib
import re
import sys
import warnings
from typing import Any, Callable, Optional, Sequence

ROOT = pathlib.Path(__file__).resolve().parents[2]
DATA = pathlib.Path(os.environ.get("TACIT_DATA", ROOT.parent / "shared" / "data"))
COLOURS = ("#1b6ca8", "#c8553d", "#4c956c", "#7a5195")
WIDE, HIGH, LEFT, RIGHT, TOP, LOW = 640, 360, 74, 16, 34, 54


def text_of(name: str) -> io.StringIO:
    """A table of the data folder, unpacked."""
    return io.StringIO(lzma.decompress((DATA / f"{name}.xz").read_bytes()).decode())


class Chart:
    """Lines with error bars over a common axis, as SVG on white."""

    def __init__(self, title: str, x: str, y: str, logarithmic: bool = False, names: Sequence[str] = ()) -> None:
        self.title, self.x, self.y, self.logarithmic, self.names = title, x, y, logarithmic, list(names)
        self.lines: list[tuple[str, list[float], list[float], Optional[list[float]], bool]] = []

    def line(
        self, name: str, xs: Sequence[float], ys: Sequence[float], errors: Optional[Sequence[float]] = None, joined: bool = True
    ) -> None:
        """names of the chart given: ys count rows from the top, and errors go sideways."""
        self.lines.append((name, list(xs), list(ys), None if errors is None else list(errors), joined))

    def _ends(self, values: Sequence[float], logarithmic: bool) -> tuple[float, float]:
        low, high = min(values), max(values)
        if logarithmic:
            return low / 1.25, high * 1.25
        room = 0.06 * (high - low) or 1.0
        return low - room, high + room

    def svg(self) -> str:
        sideways = bool(self.names)
        left = LEFT + (90 if sideways else 0)
        xs = [x + s * e for _, x_, _, e_, _ in self.lines for x, e in zip(x_, (e_ if e_ and sideways else [0] * len(x_))) for s in (-1, 1)]
        ys = [y + s * e for _, _, y_, e_, _ in self.lines for y, e in zip(y_, (e_ if e_ and not sideways else [0] * len(y_))) for s in (-1, 1)]
        x0, x1 = self._ends(xs, self.logarithmic)
        y0, y1 = (len(self.names) - 0.4, -0.6) if sideways else self._ends(ys, False)
        scale = math.log if self.logarithmic else float
        over = lambda v: left + (scale(v) - scale(x0)) / (scale(x1) - scale(x0)) * (WIDE - left - RIGHT)
        up = lambda v: HIGH - LOW - (v - y0) / (y1 - y0) * (HIGH - LOW - TOP)
        out = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDE} {HIGH}" role="img" font-family="sans-serif" font-size="13">',
            f"<title>{html.escape(self.title)}</title>",
            f'<rect width="{WIDE}" height="{HIGH}" fill="#fff"/>',
            f'<text x="{left}" y="20" font-size="14" font-weight="bold">{html.escape(self.title)}</text>',
        ]
        ticks = sorted({x for _, x_, _, _, _ in self.lines for x in x_}) if self.logarithmic else _round_ticks(x0, x1)
        for tick in ticks:
            out.append(f'<path d="M{over(tick):.1f} {TOP}V{HIGH - LOW}" stroke="#e3e3e3"/>')
            out.append(f'<text x="{over(tick):.1f}" y="{HIGH - LOW + 17}" text-anchor="middle" fill="#444">{tick:g}</text>')
        for k, tick in enumerate(range(len(self.names)) if sideways else _round_ticks(y0, y1)):
            label = html.escape(self.names[k]) if sideways else f"{tick:g}"
            out.append(f'<path d="M{left} {up(tick):.1f}H{WIDE - RIGHT}" stroke="#e3e3e3"/>')
            out.append(f'<text x="{left - 7}" y="{up(tick) + 4:.1f}" text-anchor="end" fill="#444">{label}</text>')
        if sideways and x0 < 0 < x1:
            out.append(f'<path d="M{over(0):.1f} {TOP}V{HIGH - LOW}" stroke="#888"/>')
        for k, line in enumerate(self.lines):
            out += self._draw(line, COLOURS[k % len(COLOURS)], over, up, 0.24 * (k - (len(self.lines) - 1) / 2) if sideways else 0)
        at = left
        for k, (name, *_) in enumerate(self.lines):
            out.append(f'<circle cx="{at + 5}" cy="{HIGH - 12}" r="5" fill="{COLOURS[k % len(COLOURS)]}"/>')
            out.append(f'<text x="{at + 15}" y="{HIGH - 8}" fill="#222">{html.escape(name)}</text>')
            at += 32 + round(7.1 * len(name))
        out.append(f'<text x="{WIDE - RIGHT}" y="{HIGH - 8}" text-anchor="end" fill="#222">{html.escape(self.x)}</text>')
        middle = (TOP + HIGH - LOW) / 2
        out.append(f'<text transform="translate(15 {middle}) rotate(-90)" text-anchor="middle" fill="#222">{html.escape(self.y)}</text>')
        return "\n".join([*out, "</svg>", ""])

    def _draw(self, line: Any, colour: str, over: Callable[[float], float], up: Callable[[float], float], shift: float) -> list[str]:
        _, xs, ys, errors, joined = line
        sideways = bool(self.names)
        places = [(over(x), up(y + shift)) for x, y in zip(xs, ys)]
        out = []
        if joined and not sideways:
            out.append(f'<path d="M{"L".join(f"{a:.1f} {b:.1f}" for a, b in places)}" fill="none" stroke="{colour}" stroke-width="2"/>')
        for k, (a, b) in enumerate(places):
            if errors and sideways:
                out.append(f'<path d="M{over(xs[k] - errors[k]):.1f} {b:.1f}H{over(xs[k] + errors[k]):.1f}" stroke="{colour}" stroke-width="2"/>')
            elif errors:
                out.append(f'<path d="M{a:.1f} {up(ys[k] - errors[k]):.1f}V{up(ys[k] + errors[k]):.1f}" stroke="{colour}" stroke-width="2"/>')
            out.append(f'<circle cx="{a:.1f}" cy="{b:.1f}" r="4" fill="{colour}"/>')
        return out


def _round_ticks(low: float, high: float) -> list[float]:
    step = 10 ** math.floor(math.log10((high - low) / 3))
    step *= next(k for k in (1, 2, 5, 10) if (high - low) / (k * step) <= 6)
    return [round(k * step, 10) for k in range(math.ceil(low / step), math.floor(high / step) + 1)]


def rows_of(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table of Markdown."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def main(name: str, study: Callable[[bool], tuple[Chart, str]]) -> None:
    warnings.simplefilter("ignore")
    if not DATA.exists():
        sys.exit(f"skipped: no data; {name}.py reads the tables of TACIT_DATA")
    chart, table = study(False)
    print(table, end="")
    if "--write" in sys.argv[1:]:
        folder = ROOT / "docs" / "gallery"
        (folder / f"{name}.svg").write_text(chart.svg(), encoding="utf-8")
        page = folder / f"{name}.md"
        text = page.read_text(encoding="utf-8")
        page.write_text(re.sub(r"(?m)(^\|.*\n)+", lambda _: table, text, count=1), encoding="utf-8")
