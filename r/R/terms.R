# terms.R - R's formula becomes the terms of a schema.  R's own terms() says what multiplies what; here every variable
# is walked through.  Nothing is evaluated on records, and what would have to be learned from them is refused.
#
# Each variable is a part: its JSON, and the call that computes it from raw columns as R means it.  At public points R's
# design and the library's features are one linear space, or the formula is refused; the matrix between them is the one
# between their coefficients.

transforms <- c("log", "log2", "log10", "log1p", "sqrt")
calendar <- c(month = 12L, weekday = 7L, quarter = 4L)
readers <- c("scale", "ave", "rank", "quantile", "mean", "median", "ecdf", "cumsum", "order", "ntile", "s", "te", "lo", "rcs")

deparsed <- function(call) paste(deparse(call, width.cutoff = 500L, backtick = is.symbol(call)), collapse = " ")
named <- function(call) {
  if (!is.call(call)) return("")
  if (is.symbol(call[[1]])) as.character(call[[1]]) else sub("^.*::", "", deparsed(call[[1]]))
}
arguments <- function(call) if (is.call(call)) as.list(call)[-1]
# The argument of that name, or the k-th if it has none.
argument <- function(a, name, k) a[[name]] %||% if (length(a) >= k && !nzchar((names(a) %||% character(k))[k])) a[[k]]

# A number, or numbers, that stand in the formula or in a variable beside it; calls that could read records are none.
constant <- function(e, r, what) {
  known <- c("c", "seq", ":", "-", "+", "*", "/", "(", "log", "exp", "sqrt", "^")
  free <- vapply(setdiff(all.names(e), known), function(name) !name %in% r$columns && is.numeric(get0(name, r$env)), NA)
  value <- if (all(free)) tryCatch(eval(e, r$env), error = function(e) NULL)
  if (!is.numeric(value) || !length(value) || anyNA(value)) usage("%s are public; write them as numbers, e.g. c(30, 50)", what)
  as.numeric(value)
}
is_constant <- function(e) !length(all.vars(e))

kind_of <- function(name, r) {
  if (name %in% names(r$facts$levels)) return("category")
  ends <- r$facts$bounds[[name]]
  if (!is.null(ends)) return(if (inherits(ends, "Date")) "date" else "number")
  if (length(r$data)) need_columns(name, r$data)
  x <- r$data[[name]]
  if (is.logical(x)) return("flag")
  if (is.factor(x) || is.character(x))
    usage("levels of %s are not given, and %s; add levels = list(%s = c(...)), what it can be", name,
          if (is.factor(x)) "a factor's own levels are read from the records" else "have no default", name)
  no_bounds(name)
}

no_bounds <- function(name)
  usage("bounds of %s are not given, and have no default; add bounds = list(%s = c(smallest, largest)), from public knowledge", name, name)

# A number in JSON: a column with bounds, or a function of one or two.
number <- function(e, r) {
  if (is.symbol(e)) {
    name <- as.character(e)
    if (kind_of(name, r) != "number") usage("%s is no number, and a number is wanted there; give it bounds, or leave the function away", name)
    return(list(json = name, columns = name))
  }
  f <- named(e)
  a <- arguments(e)
  fn <- function(as, ...) {
    of <- lapply(list(...), number, r)
    json <- lapply(of, `[[`, "json")
    list(json = list(of = if (length(json) == 1) json[[1]] else json, as = as), columns = unlist(lapply(of, `[[`, "columns")))
  }
  if (f %in% c("(", "I")) return(number(a[[1]], r))
  if (f == "log" && length(a) == 2) {
    base <- constant(a[[2]], r, "bases")
    if (!base %in% c(2, 10)) usage("log() has the base e, 2 or 10; write one of these")
    return(fn(paste0("log", base), a[[1]]))
  }
  if (f == "log" && named(a[[1]]) == "+") {
    one <- vapply(arguments(a[[1]]), identical, NA, 1)
    if (sum(one) == 1) return(fn("log1p", arguments(a[[1]])[!one][[1]]))
  }
  if (f %in% transforms && length(a) == 1) return(fn(f, a[[1]]))
  if (f == "^" && identical(a[[2]], 2)) return(fn("square", a[[1]]))
  if (f == "/" && is_constant(a[[1]]) && identical(eval(a[[1]], baseenv()), 1)) return(fn("reciprocal", a[[2]]))
  if (f == "/" && !is_constant(a[[2]])) return(fn("ratio", a[[1]], a[[2]]))
  if (f == "year" && length(a) == 1 || f %in% c("years_between", "days_between") && length(a) == 2) return(dates(a, f, r))
  if (f %in% readers) usage("%s() reads the records; numbers are centred and scaled by their public bounds, so write the column alone", f)
  if (f %in% c("pmin", "pmax")) usage("%s() is what bounds do; give the column narrower bounds", f)
  usage("%s is no function that can be public; there are %s, year, years_between, days_between, month, weekday, quarter, poly(raw = TRUE), ns, bs, cut, factor, relevel, C, is.na, I(x^2), I(1/x), I(x/y), I(x/10)",
        if (nzchar(f)) paste0(f, "()") else deparsed(e), paste(transforms, collapse = ", "))
}

dates <- function(a, f, r) {
  names <- vapply(a, function(x) if (is.symbol(x)) as.character(x) else usage("%s() is of columns of dates; name them", f), "")
  for (name in names) if (kind_of(name, r) != "date")
    usage("%s is no date, and %s() wants one; give e.g. bounds = list(%s = as.Date(c(\"2015-01-01\", \"2024-12-31\")))", name, f, name)
  list(json = list(of = if (length(names) == 1) names else as.list(names), as = f), columns = names)
}

# (x - 40) / 10 and the like: the number inside; NULL: it is none of these.
moved <- function(e) {
  f <- named(e)
  inner <- if (f %in% c("(", "I")) e[[2]]
  if (f %in% c("+", "-", "*", "/") && length(e) == 3)
    inner <- if (is_constant(e[[3]])) e[[2]] else if (is_constant(e[[2]]) && f != "/") e[[3]]
  if (!is.call(inner)) return(inner)
  moved(inner) %||% if (!f %in% c("(", "I")) inner
}

category <- function(name, r, values = NULL, reference = NULL, ordered = FALSE) {
  kind <- if (is.null(values)) kind_of(name, r) else "category"
  if (kind %in% c("number", "date")) usage("%s has bounds, and is a category there; give levels = list(%s = c(...)) in their place", name, name)
  known <- r$facts$levels[[name]]
  listed <- values %||% if (kind == "flag") c("FALSE", "TRUE") else known
  if (!is.null(known) && !setequal(listed, known)) usage("the formula and levels list other values for %s; make them one", name)
  if (!all(reference %in% listed)) usage("the reference of %s is not among its levels; name one of them", name)
  values <- union(reference, listed)
  list(json = name, call = bquote(.level(.(as.name(name)), .(values), .(ordered))), columns = name, category = name, listed = listed, reference = values[1])
}

codings <- c("treatment", "sum", "helmert", "poly", "SAS")

levels_in <- function(e, r) {
  if (is.symbol(e)) return(category(as.character(e), r, ordered = is.ordered(r$data[[as.character(e)]])))
  f <- named(e)
  a <- arguments(e)
  if (f %in% c("relevel", "C")) {
    p <- levels_in(a[[1]], r)
    if (f == "relevel") {
      reference <- argument(a, "ref", 2)
      if (!is.character(reference)) usage("relevel() names its reference; write relevel(g, ref = \"a\")")
      return(category(p$category, r, p$listed, reference))
    }
    how <- argument(a, "contr", 2)
    kind <- sub("^contr[.]", "", if (is.symbol(how)) how else named(how))
    if (!is.null(how) && !kind %in% codings) usage("contrasts in C() are contr.treatment, contr.sum, contr.helmert or contr.poly; name one")
    if (!is.null(how)) p$call <- bquote(stats::C(.(p$call), .(if (is.symbol(how)) as.name(paste0("contr.", kind)) else how)))
    return(p)
  }
  if (!is.symbol(a[[1]])) usage("%s() is of a column; name one", f)
  if (!is.null(a[["labels"]])) usage("labels in %s() rename levels; rename them in the table", f)
  own <- argument(a, "levels", 2)
  values <- if (!is.null(own))
    check_levels(tryCatch(eval(own, baseenv()), error = function(e) usage("levels are public; write them as texts")), as.character(a[[1]]))
  category(as.character(a[[1]]), r, values, ordered = f == "ordered")
}

# A variable of the formula.
part <- function(e, r) {
  p <- part_of(e, named(e), arguments(e), r)
  if (is.list(p$json) && is.null(p$mark)) p$json$name <- p$name %||% deparsed(e)
  p$call <- p$call %||% e
  p
}

part_of <- function(e, f, a, r) {
  kind <- if (is.symbol(e)) kind_of(as.character(e), r)
  if (identical(kind, "date"))
    usage("%s is a date, which has functions and is no number by itself; write e.g. year(%s), or years_between(%s, born)", deparsed(e), deparsed(e), deparsed(e))
  if (any(kind %in% c("category", "flag")) || f %in% c("factor", "as.factor", "ordered", "relevel", "C")) return(levels_in(e, r))
  if (f == "is.na") {
    name <- deparsed(a[[1]])
    if (!identical(r$facts$missing[[name]], "indicator"))
      usage("is.na(%s) is of a column whose gaps are marked; give missing = list(%s = \"indicator\"), and write is.na(%s) alone or %s alone", name, name, name, name)
    return(list(json = list(of = name, as = "missing"), columns = name, mark = TRUE))
  }
  if (f == "poly") return(poly_part(a, r))
  if (f %in% c("ns", "bs")) return(spline_part(e, a, f, r))
  if (f == "cut") return(cut_part(e, a, r))
  if (f %in% names(calendar)) {
    call <- as.call(list(as.name(f), a[[1]]))
    return(c(dates(a, f, r), list(call = bquote(.level(.(call), .(as.character(seq_len(calendar[[f]]))), FALSE)))))
  }
  inner <- if (f == "I") moved(e)
  if (is.null(inner)) number(e, r) else c(number(inner, r), name = deparsed(inner))
}

poly_part <- function(a, r) {
  if (!isTRUE(a[["raw"]])) usage("poly() takes its basis from the records; write poly(x, 2, raw = TRUE), which is the same curve")
  degree <- constant(argument(a, "degree", 2), r, "degrees")
  p <- number(a[[1]], r)
  if (degree > 1) p$json <- list(of = p$json, as = "power", degree = degree)
  p
}

# A column alone, as a number with its bounds.
bounded <- function(e, f, r) {
  if (!is.symbol(e)) usage("%s() is of a column with bounds; name one", f)
  c(number(e, r), list(ends = as.numeric(r$facts$bounds[[as.character(e)]])))
}

spline_part <- function(e, a, f, r) {
  if (isTRUE(a[["intercept"]])) usage("%s() has no intercept of its own here; leave intercept out", f)
  p <- bounded(a[[1]], f, r)
  if (!is.null(outer <- a[["Boundary.knots"]]) && !identical(as.numeric(constant(outer, r, "knots")), p$ends))
    usage("%s() has its boundary knots at the bounds, %g and %g; write these, or leave Boundary.knots out", f, p$ends[1], p$ends[2])
  degree <- if (f == "bs") constant(a[["degree"]] %||% 3, r, "degrees")
  knots <- if (!is.null(a[["knots"]])) constant(a[["knots"]], r, "knots")
  if (is.null(knots)) {
    df <- argument(a, "df", 2) %||% usage("knots are public; write %s(x, knots = c(30, 50)) within the bounds", f)
    inner <- constant(df, r, "degrees of freedom") - (degree %||% 1)
    if (inner < 1 || inner > 30) usage("%s() has at least one knot here; write knots = c(...), or a larger df", f)
    knots <- p$ends[1] + diff(p$ends) * seq_len(inner) / (inner + 1)
    r$notes$list <- c(r$notes$list, sprintf("%s: knots evenly between the bounds, where R takes quantiles of the records", deparsed(e)))
  }
  kind <- if (f == "ns") "natural" else "bspline"
  p$json <- c(list(of = p$json, as = "spline", kind = kind, knots = as.list(knots)), if (f == "bs") list(degree = degree))
  p$call <- as.call(c(if (f == "ns") quote(splines::ns) else quote(splines::bs), list(a[[1]], knots = knots, Boundary.knots = p$ends), if (f == "bs") list(degree = degree)))
  p
}

cut_part <- function(e, a, r) {
  p <- bounded(a[[1]], "cut", r)
  breaks <- constant(argument(a, "breaks", 2), r, "breaks")
  if (length(breaks) == 1) usage("cut() into a number of classes takes its breaks from the records; write them, e.g. cut(x, c(0, 5, 10))")
  if (identical(a[["right"]], FALSE)) usage("cut() has classes that are closed on the right here; leave right = FALSE out")
  inner <- breaks[breaks > p$ends[1] & breaks < p$ends[2]]
  if (!length(inner) || length(inner) != length(breaks) - 2)
    usage("breaks of cut() reach over the bounds of %s on both sides, once, with one between; write e.g. c(%g, ..., %g)", p$columns, p$ends[1], p$ends[2])
  e[[2]] <- inner
  p$json <- list(of = p$json, as = "cut", breaks = as.list(inner))
  p$call <- bquote(cut(.(a[[1]]), .(c(-Inf, inner, Inf)), labels = .(levels(eval(e, r$env)))))
  p
}

# ---- the formula as a whole ----

read_formula <- function(formula, facts, data, env) {
  ill <- function(e) usage("formula is not well formed; write it as y ~ a + b")
  if (is.character(formula) && length(formula) == 1) formula <- tryCatch(stats::as.formula(formula, env), error = ill)
  if (!inherits(formula, "formula")) usage("formula is not given first; write e.g. tacit_glm(y ~ a + b, ...)")
  if ("." %in% all.vars(formula)) usage("\".\" stands for what the table holds; name the columns")
  if (any(c("|", "||") %in% all.names(formula)))
    usage("random effects are not offered; take person = \"id\" for several records of one, or name the columns")
  if (length(formula) < 3) usage("formula has no left side; write e.g. y ~ a + b")
  both <- intersect(all.vars(formula[[2]]), all.vars(formula[[3]]))
  if (length(both)) usage("%s stands on both sides of the formula; keep one", both[1])
  t <- tryCatch(stats::terms(formula), error = ill)
  labels <- attr(t, "term.labels")
  if (!length(labels)) usage("formula has no term on its right side; name one column at least")
  r <- list(facts = facts, data = data, columns = unique(c(names(data), names(facts$bounds), names(facts$levels))), env = environment(formula), notes = new.env())
  beside <- offset_of(as.list(attr(t, "variables"))[-1][attr(t, "offset")], facts)
  if (length(beside)) t <- stats::terms(stats::reformulate(labels, formula[[2]], attr(t, "intercept") == 1, environment(formula)))
  used <- attr(t, "factors")[-1, , drop = FALSE] > 0
  parts <- stats::setNames(lapply(as.list(attr(t, "variables"))[-(1:2)], part, r), rownames(used))
  environment(formula) <- attr(t, ".Environment") <- globalenv() # whoever called may have the table there
  twice <- unlist(lapply(parts, `[[`, "category"))
  if (anyDuplicated(twice)) usage("%s stands in the formula in two codings; keep one of them", twice[anyDuplicated(twice)])
  if (max(colSums(used)) > 4) usage("a product has more than four parts; leave some away")
  spec <- list(formula = formula, terms = t, labels = labels, parts = parts, used = used, facts = facts, notes = r$notes$list, beside = beside)
  spec$fields <- unique(unlist(lapply(parts, `[[`, "columns")))
  spec$categories <- stats::setNames(Filter(function(p) !is.null(p$category), parts), twice)
  with_map(pair_squares(spec))
}

# offset(log(t)) is an exposure, and offset(o) one: of a column each, with its bounds.
offset_of <- function(offsets, facts) {
  if (!length(offsets)) return(NULL)
  e <- offsets[[1]][[2]]
  exposure <- named(e) == "log" && length(e) == 2
  name <- if (exposure) e[[2]] else e
  if (length(offsets) > 1 || !is.symbol(name)) usage("an offset is one column, or the logarithm of one; write offset(log(t)) in the formula")
  name <- as.character(name)
  ends <- facts$bounds[[name]]
  if (is.null(ends) || inherits(ends, "Date")) no_bounds(name)
  stats::setNames(list(list(of = name, lower = ends[1], upper = ends[2])), if (exposure) "exposure" else "offset")
}

# A number and its square are fitted as one curve, in a basis that is orthonormal over the bounds: the square's part has
# both, and the number's term goes.  Not so where one of them is in a product.
pair_squares <- function(spec) {
  alone <- names(spec$parts)[rowSums(spec$used) == 1 & spec$used %*% colSums(spec$used) == 1]
  json <- lapply(spec$parts[alone], function(p) if (is.list(p$json)) p$json[setdiff(names(p$json), "name")] else p$json)
  for (k in alone) for (j in alone) if (is.list(json[[k]]) && identical(json[[k]]$as, "square") && identical(json[[k]]$of, json[[j]])) {
    spec$parts[[k]]$json <- list(of = json[[j]], as = "power", degree = 2, name = k)
    spec$dropped <- c(spec$dropped, j)
  }
  spec
}

schema_text <- function(spec, ...) {
  terms <- lapply(setdiff(spec$labels, spec$dropped), function(k) {
    json <- lapply(unname(spec$parts[spec$used[, k]]), `[[`, "json")
    if (length(json) == 1) json[[1]] else list(product = json)
  })
  columns <- lapply(spec$fields, json_column, spec)
  more <- list(...)
  to_json(c(list(format = "tacit-schema", version = 2, columns = c(columns, more$unused), terms = terms), more[setdiff(names(more), "unused")]))
}

json_column <- function(name, spec) {
  facts <- spec$facts
  gap <- facts$missing[[name]]
  if (!is.null(gap) && (length(gap) != 1 || is.na(gap))) usage("missing of %s is \"indicator\", \"zero\", \"refuse\" or a value; write one", name)
  plain <- function(x) if (inherits(x, "Date")) format(x) else x
  of <- spec$categories[[name]]
  ends <- facts$bounds[[name]]
  c(list(name = name),
    if (!is.null(of)) c(list(type = "category", values = as.list(of$listed), reference = of$reference), other = facts$other[[name]])
    else list(type = if (inherits(ends, "Date")) "date" else "number", lower = plain(ends[1]), upper = plain(ends[2])),
    missing = plain(gap))
}

# ---- R's design and the library's features, at public points ----

.level <- function(x, values, ordered) factor(as.character(x), values, ordered = ordered)
year <- function(x) as.POSIXlt(x)$year + 1900
month <- function(x) as.POSIXlt(x)$mon + 1
weekday <- function(x) (as.POSIXlt(x)$wday + 6) %% 7 + 1
quarter <- function(x) as.POSIXlt(x)$mon %/% 3 + 1
years_between <- function(later, earlier) as.numeric(later - earlier) / 365.25
days_between <- function(later, earlier) as.numeric(later - earlier)

# Low-discrepancy numbers between 0 and 1, the k-th column of them: no record.
roots <- sqrt(c(2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71))
even <- function(k, rows) (seq_len(rows) * (roots[(k - 1) %% 20 + 1] + (k - 1) %/% 20 * pi)) %% 1

# Numbers even between their bounds and every level in turn.  gap: where a value is to be missing.
public_points <- function(spec, rows) {
  at <- stats::setNames(seq_along(spec$fields), spec$fields)
  columns <- lapply(spec$fields, function(name) {
    u <- even(at[[name]], rows)
    listed <- spec$categories[[name]]$listed
    ends <- spec$facts$bounds[[name]]
    if (!is.null(listed)) return(listed[1 + findInterval(u, seq_len(length(listed) - 1) / length(listed))])
    if (inherits(ends, "Date")) return(ends[1] + floor(u * as.numeric(diff(ends))))
    ends[1] + u * diff(ends)
  })
  gap <- lapply(at, function(k) identical(spec$facts$missing[[names(at)[k]]], "indicator") & seq_len(rows) > rows / 2 & even(length(at) + k, rows) < 0.5)
  list(columns = stats::setNames(columns, spec$fields), gap = gap)
}
gapped <- function(points) Map(function(x, gap) replace(x, gap, NA), points$columns, points$gap)

# The variables there; what marks a gap stands beside what it marks.
r_frame <- function(spec, points) {
  frame <- lapply(stats::setNames(nm = names(spec$parts)), function(name) {
    p <- spec$parts[[name]]
    gap <- Reduce(`|`, points$gap[p$columns])
    if (isTRUE(p$mark)) return(gap)
    x <- suppressWarnings(eval(p$call, points$columns, environment(.level)))
    if (is.factor(x) && any(gap)) {
      if (is.null(attr(x, "contrasts")) && !is.ordered(x)) return(factor(ifelse(gap, "NA", as.character(x)), c(levels(x), "NA")))
      x <- stats::contrasts(x)[x, , drop = FALSE]
    }
    if (is.factor(x)) return(x)
    x <- unclass(x)
    if (!all(is.finite(x))) usage("%s is not finite between the bounds; give narrower bounds", name)
    if (!any(gap)) return(x)
    structure(cbind(x, gap), dimnames = list(NULL, c(colnames(x) %||% if (is.matrix(x)) seq_len(ncol(x)) else "", "NA")))
  })
  structure(frame, class = "data.frame", row.names = seq_along(points$gap[[1]]), terms = stats::delete.response(spec$terms))
}

# The library's features and a last column of 1, as many as R's model has; NULL: there are more, or fewer.
features <- function(spec, data) checked(.Call(R_features, feature_columns(spec, data), schema_text(spec), length(spec$columns)))

# map: R's columns are features %*% map.  sums: R's coefficients as sums of the library's, one in each column.
with_map <- function(spec) {
  few <- r_frame(spec, public_points(spec, 20))
  sizes <- vapply(few, function(x) if (is.factor(x)) nlevels(x) else NCOL(x), 0)
  width <- sum(vapply(spec$labels, function(k) prod(sizes[spec$used[, k]]), 0))
  if (width > 2000) usage("the formula has more than 2000 columns; leave products or levels away")
  points <- public_points(spec, (100 + 10 * width) * (1 + "indicator" %in% unlist(spec$facts$missing)))
  frame <- r_frame(spec, points)
  x <- stats::model.matrix(attr(frame, "terms"), frame)
  gaps <- unique(Filter(any, lapply(spec$parts, function(p) Reduce(`|`, points$gap[p$columns]))))
  whole <- !Reduce(`|`, gaps, logical(nrow(x)))
  keep <- colSums(x[whole, , drop = FALSE] != 0) > 0 | !duplicated(x, MARGIN = 2) # a gap is marked once
  spec$assign <- attr(x, "assign")[keep]
  x <- x[, keep, drop = FALSE]
  spec$columns <- colnames(x)
  size <- function(x) pmax(sqrt(colMeans(x^2)), 1e-300)
  sx <- size(x)
  x <- x / rep(sx, each = nrow(x))
  plain <- x[whole, colSums(x[whole, , drop = FALSE] != 0) > 0, drop = FALSE]
  if (qr(plain, tol = 1e-9)$rank < ncol(plain))
    usage("two terms of the formula say the same, or a product lacks the terms that it is made of; write a * b, or leave one away")
  other_space <- function() usage("%s", if (attr(spec$terms, "intercept") == 0)
    "a line through the origin is not offered, since numbers are centred between their bounds; leave - 1 out, or add a category" else
    "a shifted number in a product lacks the terms that it is made of; write a * b")
  z <- features(spec, gapped(points)) %||% other_space()
  sz <- size(z)
  z <- z / rep(sz, each = nrow(z))
  map <- matrix(0, ncol(z), ncol(x))
  # What a column is where it is missing, and not the mark of that, the library says: it is looked at elsewhere.
  marks <- Reduce(function(said, gap) paste0(said, +(colSums(x[!gap, , drop = FALSE] != 0) == 0)), gaps, character(ncol(x)))
  for (alike in unique(marks)) {
    at <- marks == alike
    rows <- !Reduce(`|`, gaps[strsplit(alike, "")[[1]] == "0"], logical(nrow(x)))
    told <- colSums(z[rows, , drop = FALSE] != 0) > 0
    map[told, at] <- qr.coef(qr(z[rows, told, drop = FALSE], tol = 1e-9), x[rows, at, drop = FALSE])
    if (!isTRUE(max(abs(z %*% map - x)[rows, at]) < 1e-8)) other_space()
  }
  exact <- function(m, tolerance) replace(m, abs(m) < tolerance * rep(apply(abs(m), 2, max), each = nrow(m)), 0)
  map <- exact(map, 1e-12)
  spec$sums <- exact(t(solve(map)), 1e-11) * outer(sz, 1 / sx)
  spec$map <- map * outer(1 / sz, sx)
  spec
}
