"""plot.py - the CSV of bench_dpscd_figures as SVG figures and a text table; standard library only.

usage: python3 bench/plot.py FIGURES.csv OUT_DIR
"""

import collections
import csv
import math
import os
import sys
from xml.sax.saxutils import escape

COLOURS = ["#1b6ca8", "#c0392b", "#2e8b57", "#8e44ad", "#d98e04", "#444444", "#16a2b8", "#9b5d3a", "#e07aa2"]
WIDTH, HEIGHT, LEFT, TOP, RIGHT, BOTTOM = 720, 420, 70, 40, 230, 50


def ticks(low, high, log):
    """Round numbers between low and high: powers of ten with 2 and 5 on a logarithmic axis."""
    if log:
        first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
        steps = [1, 2, 5] if last - first <= 3 else [1]
        all_ticks = [m * 10.0**k for k in range(first, last + 1) for m in steps]
        return [t for t in all_ticks if low * 0.999 <= t <= high * 1.001]
    raw = (high - low) / 5 or 1.0
    size = 10.0 ** math.floor(math.log10(raw))
    step = next(m * size for m in (1, 2, 5, 10) if m * size >= raw * 0.999)
    first = math.ceil(low / step - 1e-9)
    return [k * step for k in range(first, int(math.floor(high / step + 1e-9)) + 1)]


def scale(low, high, start, length, log):
    """A function from values to pixels."""
    a, b = (math.log10(low), math.log10(high)) if log else (low, high)
    span = (b - a) or 1.0
    return lambda v: start + length * ((math.log10(v) if log else v) - a) / span


def axis_range(values, log, margin=0.05):
    low, high = min(values), max(values)
    if low == high:
        return (low / 2, high * 2) if log and low > 0 else (low - 1, high + 1)
    if log:
        return low, high
    return low - margin * (high - low), high + margin * (high - low)


def figure(title, x_name, y_name, series, log_x, log_y):
    """series: {name: [(x, y), ...]}; returns the text of an SVG."""
    xs = [x for points in series.values() for x, _ in points]
    ys = [y for points in series.values() for _, y in points]
    x_low, x_high = axis_range(xs, log_x)
    y_low, y_high = axis_range(ys, log_y)
    plot_w, plot_h = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM
    to_x = scale(x_low, x_high, LEFT, plot_w, log_x)
    to_y = scale(y_low, y_high, TOP + plot_h, -plot_h, log_y)
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" font-family="sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        f'<text x="{LEFT}" y="22" font-size="15">{escape(title)}</text>',
    ]
    for t in ticks(x_low, x_high, log_x):
        out.append(f'<line x1="{to_x(t):.1f}" x2="{to_x(t):.1f}" y1="{TOP}" y2="{TOP + plot_h}" stroke="#e4e4e4"/>')
        out.append(f'<text x="{to_x(t):.1f}" y="{TOP + plot_h + 17}" text-anchor="middle">{t:g}</text>')
    for t in ticks(y_low, y_high, log_y):
        out.append(f'<line x1="{LEFT}" x2="{LEFT + plot_w}" y1="{to_y(t):.1f}" y2="{to_y(t):.1f}" stroke="#e4e4e4"/>')
        out.append(f'<text x="{LEFT - 6}" y="{to_y(t) + 4:.1f}" text-anchor="end">{t:.6g}</text>')
    out.append(f'<rect x="{LEFT}" y="{TOP}" width="{plot_w}" height="{plot_h}" fill="none" stroke="#333"/>')
    out.append(f'<text x="{LEFT + plot_w / 2}" y="{HEIGHT - 12}" text-anchor="middle">{escape(x_name)}</text>')
    middle = TOP + plot_h / 2
    out.append(f'<text x="16" y="{middle}" text-anchor="middle" transform="rotate(-90 16 {middle})">{escape(y_name)}</text>')
    for k, (name, points) in enumerate(series.items()):
        colour, dash = COLOURS[k % len(COLOURS)], ' stroke-dasharray="5 4"' if "not private" in name else ""
        path = " ".join(f"{to_x(x):.1f},{to_y(y):.1f}" for x, y in sorted(points))
        out.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"{dash}/>')
        out += [f'<circle cx="{to_x(x):.1f}" cy="{to_y(y):.1f}" r="3" fill="{colour}"/>' for x, y in points]
        y = TOP + 12 + 19 * k
        out.append(f'<line x1="{WIDTH - RIGHT + 12}" x2="{WIDTH - RIGHT + 36}" y1="{y - 4}" y2="{y - 4}" stroke="{colour}" stroke-width="2"{dash}/>')
        out.append(f'<text x="{WIDTH - RIGHT + 42}" y="{y}">{escape(name)}</text>')
    return "\n".join(out + ["</svg>", ""])


KINDS = {
    "1": ("Privacy and utility: {data}, delta = 0.001", "epsilon", None, True, False),
    "2": ("Objective along the run: {data}, delta = 0.001", "epochs", "objective on the training part", False, True),
    "3": ("Batch and clip: {data}, epsilon = 1, held-out part", "batch L", None, True, False),
}


def main():
    source, folder = sys.argv[1:3]
    os.makedirs(folder, exist_ok=True)
    groups = collections.defaultdict(lambda: collections.defaultdict(list))
    with open(source, newline="", encoding="utf-8") as f:
        for row in csv.DictReader(f):
            x, y = float(row["x"]), float(row["y"])
            if math.isfinite(y) and (row["figure"] != "2" or y > 0):
                groups[row["figure"], row["data"]][row["series"]].append((x, y))
    for (number, data), series in sorted(groups.items()):
        title, x_name, y_name, log_x, log_y = KINDS[number]
        regression = data in ("california", "synthetic")
        y_name = y_name or ("mean squared error" if regression else "accuracy, %")
        name = os.path.join(folder, f"figure{number}_{data}.svg")
        with open(name, "w", encoding="utf-8") as f:
            f.write(figure(title.format(data=data), x_name, y_name, series, log_x, log_y or regression))
        print(f"{name}: {title.format(data=data)}")
        for label, points in series.items():
            print(f"  {label:28s}" + "  ".join(f"{x:g}: {y:.5g}" for x, y in sorted(points)))


if __name__ == "__main__":
    main()
