"""plot.py - the CSV of bench_dpscd_figures or bench_agd_figures as SVG figures and a text table; standard library only.

usage: python3 bench/lib/plot.py FIGURES.csv OUT_DIR
"""

import collections
import csv
import math
import os
import sys
from xml.sax.saxutils import escape

COLOURS = ["#1b6ca8", "#c0392b", "#2e8b57", "#8e44ad", "#d98e04", "#444444", "#16a2b8", "#9b5d3a", "#e07aa2", "#7f8c00"]
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


# ---- bench_agd_figures: Figures 1 to 3 of Lee and Kifer 2018, a column for each data set ----

PANEL_W, PANEL_H, GAP_X, GAP_Y = 230, 190, 58, 56
AGD = {
    "agd1": ("Figure 1: one option of dpagd at a time, Adult, logistic loss", None),
    "agd2": ("Figure 2: logistic loss", ("ipums-br", "bank", "adult", "nist_acs", "kddcup99")),
    "agd3": ("Figure 3: support vector machine", ("ipums-br", "bank", "adult", "nist_acs", "kddcup99")),
}
ORDER = ["auto", "not private", "dpagd", "dpagd:variant=paper", "dpagd:batch=40000", "objpert", "outpert", "privgene"]
ORDER += ["sgd_adv", "sgd_ma", "majority", "dpgd", "dpnewton", "dpsgd", "dpcd", "dpscd"]
ROWS = (("accuracy on the held-out part, %", "y"), ("objective on the training part", "objective"))


def style(name, index):
    """Colour, width and dash of a series: auto is a band under the solver that it takes."""
    if name == "auto":
        return "#d5d5d5", 7, ""
    if name in ("not private", "majority"):
        return "#222222" if name == "majority" else "#888888", 1.4, ' stroke-dasharray="2 3"'
    dash = ("", ' stroke-dasharray="6 3"', ' stroke-dasharray="2 3"')[index // len(COLOURS) % 3]
    return COLOURS[index % len(COLOURS)], 1.6, dash


def view(series, key, names):
    """Range of the y axis: methods that are far off (below the middle of what is seen) do not set it."""
    values = sorted(point[key] for name in names for point in series.get(name, []))
    middle = values[len(values) // 2]
    if key == "y":
        return axis_range([v for v in values if v > 2 * middle - values[-1] - 12], False)
    return axis_range([v for v in values if v < 3 * middle - 2 * values[0] + 0.02], False)


def panel(out, number, box, series, key, names):
    """Appends one panel at box = (left, top): axes, error bars of one deviation, lines; what is outside is cut off."""
    left, top = box
    xs = [point["x"] for points in series.values() for point in points]
    x_low, x_high = axis_range(xs, True)
    y_low, y_high = view(series, key, names)
    to_x, to_y = scale(x_low, x_high, left, PANEL_W, True), scale(y_low, y_high, top + PANEL_H, -PANEL_H, False)
    out.append(f'<clipPath id="c{number}"><rect x="{left}" y="{top}" width="{PANEL_W}" height="{PANEL_H}"/></clipPath>')
    for t in sorted(set(xs)):
        out.append(f'<line x1="{to_x(t):.1f}" x2="{to_x(t):.1f}" y1="{top}" y2="{top + PANEL_H}" stroke="#e4e4e4"/>')
        out.append(f'<text x="{to_x(t):.1f}" y="{top + PANEL_H + 14}" text-anchor="middle">{t:g}</text>')
    for t in ticks(y_low, y_high, False):
        out.append(f'<line x1="{left}" x2="{left + PANEL_W}" y1="{to_y(t):.1f}" y2="{to_y(t):.1f}" stroke="#e4e4e4"/>')
        out.append(f'<text x="{left - 5}" y="{to_y(t) + 4:.1f}" text-anchor="end">{t:.4g}</text>')
    out.append(f'<rect x="{left}" y="{top}" width="{PANEL_W}" height="{PANEL_H}" fill="none" stroke="#333"/>')
    out.append(f'<g clip-path="url(#c{number})">')
    for k, name in enumerate(names):
        points = sorted(series.get(name, []), key=lambda point: point["x"])
        if not points:
            continue
        colour, width, dash = style(name, k)
        path = " ".join(f'{to_x(p["x"]):.1f},{to_y(p[key]):.1f}' for p in points)
        out.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="{width}"{dash}/>')
        for p in points if name != "auto" else []:
            spread = p["deviation" if key == "y" else "objective_deviation"]
            x, a, b = to_x(p["x"]), to_y(p[key] - spread), to_y(p[key] + spread)
            out.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{a:.1f}" y2="{b:.1f}" stroke="{colour}" stroke-width="0.7"/>')
            out.append(f'<circle cx="{x:.1f}" cy="{to_y(p[key]):.1f}" r="2" fill="{colour}"/>')
    out.append("</g>")


def grid(title, groups, columns, x_name):
    """Panels of accuracy over panels of objective, one legend on the right."""
    names = list(dict.fromkeys(name for column in columns for name in groups[column]))
    names.sort(key=lambda name: ORDER.index(name) if name in ORDER else len(ORDER))
    width = 70 + len(columns) * (PANEL_W + GAP_X) + 150
    height = 80 + 2 * (PANEL_H + GAP_Y)
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" font-family="sans-serif" font-size="11">',
        f'<rect width="{width}" height="{height}" fill="white"/>',
        f'<text x="70" y="24" font-size="15">{escape(title)}</text>',
    ]
    for r, (label, key) in enumerate(ROWS):
        top = 64 + r * (PANEL_H + GAP_Y)
        middle = top + PANEL_H / 2
        out.append(f'<text x="16" y="{middle}" text-anchor="middle" transform="rotate(-90 16 {middle})">{label}</text>')
        for c, column in enumerate(columns):
            left = 70 + c * (PANEL_W + GAP_X)
            panel(out, f"{r}{c}", (left, top), groups[column], key, names)
            out.append(f'<text x="{left + PANEL_W / 2}" y="{top - 8}" text-anchor="middle" font-size="13">{escape(column)}</text>')
            out.append(f'<text x="{left + PANEL_W / 2}" y="{top + PANEL_H + 30}" text-anchor="middle">{x_name or column}</text>')
    for k, name in enumerate(names):
        colour, thick, dash = style(name, k)
        x, y = width - 165, 76 + 19 * k
        out.append(f'<line x1="{x}" x2="{x + 26}" y1="{y - 4}" y2="{y - 4}" stroke="{colour}" stroke-width="{thick}"{dash}/>')
        out.append(f'<text x="{x + 32}" y="{y}">{escape(name)}</text>')
    return "\n".join(out + ["</svg>", ""])


def agd_figures(rows, folder):
    figures = collections.defaultdict(lambda: collections.defaultdict(lambda: collections.defaultdict(dict)))
    for row in rows:  # a later line replaces an earlier one of the same point
        point = {k: float(row[k]) for k in ("x", "y", "deviation", "objective", "objective_deviation")}
        series = "not private" if row["series"].startswith("lbfgs") else row["series"]
        figures[row["figure"]][row["data"]][series][point["x"]] = point
    for name, columns in sorted(figures.items()):
        title, order = AGD[name]
        columns = {data: {s: list(p.values()) for s, p in series.items()} for data, series in columns.items()}
        shown = [data for data in order or columns if data in columns]
        path = os.path.join(folder, f"{name}.svg")
        with open(path, "w", encoding="utf-8") as f:
            f.write(grid(title, columns, shown, "epsilon" if order else None))
        print(f"{path}: {title}")
        for data in shown:
            print(f"  {data}: accuracy / objective")
            for series, points in columns[data].items():
                text = (f'{p["x"]:g}: {p["y"]:.2f} / {p["objective"]:.4f}' for p in sorted(points, key=lambda p: p["x"]))
                print(f"    {series:24s}" + "  ".join(text))


def dpscd_figures(rows, folder):
    groups = collections.defaultdict(lambda: collections.defaultdict(list))
    for row in rows:
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


def main():
    source, folder = sys.argv[1:3]
    os.makedirs(folder, exist_ok=True)
    with open(source, newline="", encoding="utf-8") as f:
        rows = list(csv.DictReader(f))
    agd = [row for row in rows if row["figure"] in AGD]
    if agd:
        agd_figures(agd, folder)
    rest = [row for row in rows if row["figure"] not in AGD]
    if rest:
        dpscd_figures(rest, folder)


if __name__ == "__main__":
    main()
