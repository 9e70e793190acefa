#!/usr/bin/env bash
# test_terms_r.sh - the columns behind weights are those of R's model.matrix, for 40 formulas.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
if ! command -v Rscript >/dev/null; then
  echo "skipped: no R (Debian: r-base-core); the columns of terms are not compared with model.matrix"
  exit 77
fi

# Predictions are sums of columns times weights.  Where R's columns times the weights of `summary` give them, the columns
# are the same.
python3 - <<'PY' || fail 'the cases were not made'
import json, os, random, subprocess
random.seed(8)
tacit = os.environ["TACIT"]
columns = [
    {"name": "x", "type": "number", "lower": -2, "upper": 6},
    {"name": "z", "type": "number", "lower": 1, "upper": 5},
    {"name": "w", "type": "number", "lower": 0, "upper": 100},
    {"name": "g", "type": "category", "values": ["a", "b", "c"], "reference": "b"},
    {"name": "h", "type": "category", "values": ["u", "v"]},
]
with open("t.csv", "w") as out:
    print("x,z,w,g,h,y", file=out)
    ends = [(-2, 1, 0), (6, 5, 100), (0, 2, 50), (1.5, 3, 10)]
    for i in range(160):
        x, z, w = ends[i] if i < 4 else (random.uniform(-2, 6), random.uniform(1, 5), random.uniform(0, 100))
        print(repr(x), repr(z), repr(w), random.choice("abc"), random.choice("uv"), random.random(), sep=",", file=out)


number = lambda n: (n, {n: n}, n)
def levels(n, values):
    return n, {f"{n}={v}": f"{n}{v}" for v in values}, n
def call(n, name, r=None):
    text = r or f"{name}({n})"
    return {"of": n, "as": name}, {f"{name}({n})": text}, text
def power(n, d):
    text = f"poly({n}, {d}, raw = TRUE)"
    return {"of": n, "as": "power", "degree": d}, {n + (f"^{k}" if k > 1 else ""): f"{text}{k}" for k in range(1, d + 1)}, text
bounds = {"x": (-2, 6), "z": (1, 5), "w": (0, 100)}
def spline(n, kind, knots, degree=3):
    name = "ns" if kind == "natural" else "bs"
    inner = f"c({', '.join(map(str, knots))})" if len(knots) > 1 else str(knots[0])
    more = "" if name == "ns" else f"degree = {degree}, "
    text = f"{name}({n}, {more}knots = {inner}, Boundary.knots = c{bounds[n]})"
    width = len(knots) + (1 if name == "ns" else degree)
    part = {"of": n, "as": "spline", "kind": kind, "knots": knots, **({} if name == "ns" else {"degree": degree})}
    return part, {f"{name}({n}){k}": f"{text}{k}" for k in range(1, width + 1)}, text
def cut(n, breaks):
    low, high = bounds[n]
    ends = [low, *breaks, high]
    text = f"cut({n}, c({', '.join(map(str, ends))}), include.lowest = TRUE)"
    words = [f"({a}, {b}]" for a, b in zip(ends, ends[1:])]
    words[0] = "[" + words[0][1:]
    return {"of": n, "as": "cut", "breaks": breaks}, {f"cut({n})={v}": text + v.replace(" ", "") for v in words}, text

X, Z, W = number("x"), number("z"), number("w")
G, H = levels("g", "abc"), levels("h", "uv")
L, Q, S, N = call("z", "log"), call("x", "square", "I(x^2)"), call("w", "sqrt"), spline("x", "natural", [0, 1.5, 4])
P, B, C = power("z", 3), spline("w", "bspline", [20, 60]), cut("x", [0, 2.5])
R = ({"of": ["x", {"of": "z", "as": "square"}], "as": "ratio"}, {"ratio(x, square(z))": "I(x/z^2)"}, "I(x/z^2)")
cases = [
    [[X]], [[G]], [[X], [G]], [[X], [G], [X, G]], [[G], [X, G]], [[X], [X, G]], [[X, G]], [[G, H]], [[G], [G, H]],
    [[G], [H], [G, H]], [[X], [Z], [X, Z]], [[X, Z]], [[X], [X, Z]], [[X], [Z], [G], [X, Z], [X, G], [Z, G], [X, Z, G]],
    [[L]], [[X], [Q]], [[S], [call("w", "log1p")]], [[call("z", "reciprocal", "I(1/z)")]], [[R], [G], [R, G]],
    [[call("z", "log2")]], [[call("z", "log10")]], [[P]], [[P], [G], [P, G]], [[P, G]], [[power("x", 2)]], [[power("w", 5)]],
    [[N]], [[N], [G], [N, G]], [[N, G]], [[N], [Z], [N, Z]], [[spline("z", "natural", [2])]], [[B]], [[B], [H], [B, H]],
    [[spline("x", "bspline", [1], 1)]], [[spline("x", "bspline", [0, 1, 5], 2)]], [[C]], [[C], [G], [C, G]], [[C, Z]],
    [[N], [P], [B]], [[G], [H], [X], [G, H], [X, G], [X, H], [X, G, H]],
]
assert len(cases) == 40
label = {"name": "y", "lower": 0, "upper": 1}
told = []
for k, case in enumerate(cases):
    terms = [term[0][0] if len(term) == 1 else {"product": [part[0] for part in term]} for term in case]
    json.dump({"version": 2, "columns": columns, "terms": terms, "label": label}, open("s.json", "w"))
    command = ["train", "t.csv", "--schema", "s.json", "--loss", "squared", "--intercept", "--epsilon", "50", "--delta", "1e-4",
               "--seed", "1", "-o", f"m{k}.json"]
    subprocess.run([tacit, *command], check=True, capture_output=True)
    summary = json.loads(subprocess.run([tacit, "summary", f"m{k}.json", "--json"], check=True, capture_output=True).stdout)
    names = {ours: r for term in case for part in term for ours, r in part[1].items()}
    formula = "~ " + " + ".join(":".join(part[2] for part in term) for term in case)
    lines = [("(Intercept)", summary["intercept"]["estimate"])]
    for line in summary["weights"]:
        lines.append((":".join(names[part] for part in line["name"].split(":")), line["estimate"]))
    margins = subprocess.run([tacit, "predict", f"m{k}.json", "t.csv"], check=True, capture_output=True, text=True).stdout
    with open(f"case{k}.txt", "w") as out:
        print(formula, *(f"{name}\t{weight!r}" for name, weight in lines), sep="\n", file=out)
    open(f"margins{k}.txt", "w").write(margins)
PY

cat >compare.R <<'R'
library(splines)
t <- read.csv("t.csv")
t$g <- factor(t$g, levels = c("b", "a", "c"))
t$h <- factor(t$h)
options(warn = 2)
# Products by the names of their factors, which R orders as the formula does.
sorted <- function(names) sapply(strsplit(names, ":", fixed = TRUE), function(each) paste(sort(each), collapse = ":"))
for (k in 0:39) {
  lines <- readLines(sprintf("case%d.txt", k))
  m <- model.matrix(as.formula(lines[1]), t)
  w <- read.table(text = lines[-1], sep = "\t", quote = "", comment.char = "", stringsAsFactors = FALSE)
  w$V1 <- sorted(w$V1)
  colnames(m) <- sorted(colnames(m))
  if (anyDuplicated(w$V1) || !setequal(w$V1, colnames(m)))
    stop(lines[1], "\n ", paste(w$V1, collapse = " | "), "\n ", paste(colnames(m), collapse = " | "))
  y <- as.numeric(readLines(sprintf("margins%d.txt", k)))
  terms <- sweep(m[, w$V1, drop = FALSE], 2, w$V2, "*")
  gap <- max(abs(rowSums(terms) - y) / (1 + rowSums(abs(terms))))
  if (!(gap <= 1e-12)) stop(lines[1], ": ", gap)
}
cat("40 formulas\n")
R
check 'columns are those of R' Rscript --vanilla compare.R
finish
