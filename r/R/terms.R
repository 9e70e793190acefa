# terms.R - R's formula becomes the terms of a schema.  R's own terms() says what multiplies what; here every variable
# is walked through.  Nothing is evaluated on records, and what would have to be learned from them is refused.
#
# Each variable is a part: its JSON, and two calls that compute it from raw columns: `r` as R means it, `c` as the
# library reports it.  Where they differ (I(x / 10), C(g, contr.sum), - 1) coefficients are mapped by a matrix that is
# found at public points; there the two designs are one linear space, or the formula is refused.

transforms <- c("log", "log2", "log10", "log1p", "sqrt")
calendar <- c(month = 12L, weekday = 7L, quarter = 4L)
readers <- c("scale", "ave", "rank", "quantile", "mean", "median", "ecdf", "cumsum", "order", "ntile", "s", "te", "lo", "rcs")

deparsed <- function(call) paste(deparse(call, width.cutoff = 500L, backtick = is.symbol(call)), collapse = " ")
named <- function(call) {
  if (!is.call(call)) return("")
  if (is.symbol(call[[1]])) as.character(call[[1]]) else sub("^.*::", "", deparsed(call[[1]]))
}

# A number, or numbers, that stand in the formula or in a variable beside it; calls that could read records are none.
constant <- function(e, r, what) {
  known <- c("c", "seq", ":", "-", "+", "*", "/", "(", "log", "exp", "sqrt", "^")
  for (name in setdiff(all.names(e), known))
    if (name %in% r$columns || !is.numeric(get0(name, r$env))) usage("%s are public; write them as numbers, e.g. c(30, 50)", what)
  value <- tryCatch(eval(e, r$env), error = function(e) NULL)
  if (!is.numeric(value) || !length(value) || anyNA(value)) usage("%s are public; write them as numbers, e.g. c(30, 50)", what)
  as.numeric(value)
}
is_constant <- function(e) !length(all.vars(e))

kind_of <- function(name, r) {
  if (name %in% names(r$facts$levels)) return("category")
  ends <- r$facts$bounds[[name]]
  if (inherits(ends, "Date")) return("date")
  if (!is.null(ends)) return("number")
  if (length(r$data) && !name %in% names(r$data)) need_columns(name, r$data)
  x <- r$data[[name]]
  if (is.logical(x)) return("flag")
  if (is.factor(x))
    usage("levels of %s are not given, and a factor's own levels are read from the records; add levels = list(%s = c(...)), what it can be", name, name)
  if (is.character(x)) usage("levels of %s are not given, and have no default; add levels = list(%s = c(...)), what it can be", name, name)
  usage("bounds of %s are not given, and have no default; add bounds = list(%s = c(smallest, largest)), from public knowledge", name, name)
}

# A number in JSON, with its bounds: a column, or a function of one or two.
number <- function(e, r) {
  if (is.symbol(e)) {
    name <- as.character(e)
    if (kind_of(name, r) != "number") usage("%s is no number, and a number is wanted there; give it bounds, or leave the function away", name)
    return(list(json = name, c = e, columns = name))
  }
  f <- named(e)
  a <- as.list(e)[-1]
  if (f %in% c("(", "I")) return(number(a[[1]], r))
  fn <- function(as, ...) {
    of <- lapply(list(...), number, r)
    json <- lapply(of, `[[`, "json")
    list(json = list(of = if (length(json) == 1) json[[1]] else json, as = as), c = e, columns = unlist(lapply(of, `[[`, "columns")))
  }
  if (f == "log" && length(a) == 2) {
    base <- constant(a[[2]], r, "bases")
    if (base %in% c(2, 10)) return(fn(paste0("log", base), a[[1]]))
    usage("log() has the base e, 2 or 10; write one of these")
  }
  if (f == "log" && length(a) == 1 && named(a[[1]]) == "+") {
    b <- as.list(a[[1]])[-1]
    if (identical(b[[2]], 1)) return(fn("log1p", b[[1]]))
    if (identical(b[[1]], 1)) return(fn("log1p", b[[2]]))
  }
  if (f %in% transforms && length(a) == 1) return(fn(f, a[[1]]))
  if (f == "^" && identical(a[[2]], 2)) return(fn("square", a[[1]]))
  if (f == "/" && is_constant(a[[1]]) && identical(eval(a[[1]], baseenv()), 1)) return(fn("reciprocal", a[[2]]))
  if (f == "/" && !is_constant(a[[2]])) return(fn("ratio", a[[1]], a[[2]]))
  if (f == "year" && length(a) == 1) return(dates(e, a, f, r))
  if (f %in% c("years_between", "days_between") && length(a) == 2) return(dates(e, a, f, r))
  unknown(e, f)
}

dates <- function(e, a, f, r) {
  names <- vapply(a, function(x) if (is.symbol(x)) as.character(x) else usage("%s() is of columns of dates; name them", f), "")
  for (name in names) if (kind_of(name, r) != "date") usage("%s is no date, and %s() wants one; give e.g. bounds = list(%s = as.Date(c(\"2015-01-01\", \"2024-12-31\")))", name, f, name)
  list(json = list(of = if (length(names) == 1) names else as.list(names), as = f), c = e, columns = names)
}

unknown <- function(e, f) {
  if (f %in% readers) usage("%s() reads the records; numbers are centred and scaled by their public bounds, so write the column alone", f)
  if (f %in% c("pmin", "pmax")) usage("%s() is what bounds do; give the column narrower bounds", f)
  usage("%s is no function that can be public; there are %s, year, years_between, days_between, month, weekday, quarter, poly(raw = TRUE), ns, bs, cut, factor, relevel, C, is.na, I(x^2), I(1/x), I(x/y), I(x/10)",
        if (nzchar(f)) paste0(f, "()") else deparsed(e), paste(transforms, collapse = ", "))
}

# (x - 40) / 10 and the like: the number inside; NULL: it is none of these.
moved <- function(e) {
  if (named(e) %in% c("(", "I")) return(if (is.call(e[[2]])) moved(e[[2]]) else e[[2]])
  f <- named(e)
  if (!f %in% c("+", "-", "*", "/") || length(e) != 3) return(NULL)
  inner <- if (is_constant(e[[3]])) e[[2]] else if (is_constant(e[[2]]) && f != "/") e[[3]] else return(NULL)
  deeper <- if (is.call(inner)) moved(inner)
  if (is.null(deeper)) inner else deeper
}

category <- function(e, name, r, values = NULL, reference = NULL, ordered = FALSE) {
  kind <- if (is.null(values)) kind_of(name, r) else "category"
  if (kind %in% c("number", "date")) usage("%s has bounds, and is a category there; give levels = list(%s = c(...)) in their place", name, name)
  known <- r$facts$levels[[name]]
  if (is.null(values)) values <- if (kind == "flag") c("FALSE", "TRUE") else known
  if (!is.null(known) && !setequal(values, known)) usage("the formula and levels list other values for %s; make them one", name)
  listed <- values
  if (!is.null(reference)) {
    if (!reference %in% values) usage("the reference of %s is not among its levels; name one of them", name)
    values <- c(reference, setdiff(values, reference))
  }
  call <- bquote(.level(.(as.name(name)), .(values), .(ordered)))
  list(json = name, r = call, c = bquote(.level(.(as.name(name)), .(values), FALSE)), columns = name, type = "levels",
       values = values, reference = values[1], category = name, listed = listed, same = !ordered)
}

levels_in <- function(e, r) {
  if (is.symbol(e)) return(category(e, as.character(e), r, ordered = is.ordered(r$data[[as.character(e)]])))
  f <- named(e)
  m <- as.list(e)[-1]
  arg <- function(name, k) if (!is.null(m[[name]])) m[[name]] else if (length(m) >= k && (is.null(names(m)) || !nzchar(names(m)[k]))) m[[k]]
  if (f %in% c("factor", "as.factor", "ordered")) {
    if (!is.symbol(m[[1]])) usage("%s() is of a column; name one", f)
    own <- arg("levels", 2)
    if (!is.null(m[["labels"]])) usage("labels in %s() rename levels; rename them in the table", f)
    values <- if (!is.null(own)) check_levels(tryCatch(eval(own, baseenv()), error = function(e) usage("levels are public; write them as texts")), as.character(m[[1]]))
    return(category(e, as.character(m[[1]]), r, values, ordered = f == "ordered"))
  }
  if (f == "relevel") {
    p <- levels_in(m[[1]], r)
    ref <- arg("ref", 2)
    if (!is.character(ref)) usage("relevel() names its reference; write relevel(g, ref = \"a\")")
    return(category(e, p$category, r, p$listed, ref))
  }
  if (f == "C") {
    p <- levels_in(m[[1]], r)
    contr <- arg("contr", 2)
    if (is.null(contr)) return(p)
    known <- c("contr.treatment", "contr.sum", "contr.helmert", "contr.poly", "contr.SAS", "treatment", "sum", "helmert", "poly")
    if (!(is.symbol(contr) && as.character(contr) %in% known) && !named(contr) %in% known) usage("contrasts in C() are contr.treatment, contr.sum, contr.helmert or contr.poly; name one")
    if (is.symbol(contr) && !grepl("contr", contr)) contr <- as.name(paste0("contr.", contr))
    p$r <- bquote(stats::C(.(p$r), .(contr)))
    p$same <- FALSE
    return(p)
  }
  NULL
}

# A variable of the formula: list(json, r, c, columns, type, same).
part <- function(e, r) {
  text <- deparsed(e)
  named_part <- function(p, type, ...) {
    if (is.list(p$json)) p$json$name <- text
    utils::modifyList(c(list(type = type, same = TRUE, r = p$c), p), list(...))
  }
  f <- named(e)
  if (is.symbol(e)) {
    name <- as.character(e)
    kind <- kind_of(name, r)
    if (kind == "date") usage("%s is a date, which has functions and is no number by itself; write e.g. year(%s), or years_between(%s, born)", name, name, name)
    if (kind == "number") return(named_part(number(e, r), "number"))
  }
  if (is.symbol(e) || f %in% c("factor", "as.factor", "ordered", "relevel", "C")) return(levels_in(e, r))
  a <- as.list(e)[-1]
  if (f == "is.na") {
    name <- deparsed(a[[1]])
    if (!identical(r$facts$missing[[name]], "indicator")) usage("is.na(%s) is of a column whose gaps are marked; give missing = list(%s = \"indicator\"), and write is.na(%s) alone or %s alone", name, name, name, name)
    return(list(json = list(of = name, as = "missing"), columns = name, type = "gap", same = TRUE))
  }
  if (f == "poly") return(curve_poly(e, a, r, named_part))
  if (f %in% c("ns", "bs")) return(curve_spline(e, a, f, r, named_part))
  if (f == "cut") return(cut_part(e, a, r, named_part))
  if (f %in% names(calendar)) {
    p <- dates(e, a, f, r)
    values <- as.character(seq_len(calendar[[f]]))
    p$c <- bquote(.level(.(as.call(list(as.name(f), a[[1]]))), .(values), FALSE))
    return(named_part(p, "levels", values = values, reference = "1"))
  }
  inner <- if (f == "I") moved(e)
  if (!is.null(inner)) {
    p <- named_part(number(inner, r), "number")
    p$r <- e
    p$same <- FALSE
    if (is.list(p$json)) p$json$name <- deparsed(inner)
    return(p)
  }
  named_part(number(e, r), "number")
}

curve_poly <- function(e, a, r, named_part) {
  raw <- a[["raw"]]
  if (!isTRUE(raw)) usage("poly() takes its basis from the records; write poly(x, 2, raw = TRUE), which is the same curve")
  a[["raw"]] <- NULL
  degree <- constant(if (is.null(a[["degree"]])) a[[2]] else a[["degree"]], r, "degrees")
  p <- number(a[[1]], r)
  if (degree == 1) return(named_part(list(json = p$json, c = p$c, columns = p$columns), "number", r = e, same = FALSE))
  p$json <- list(of = p$json, as = "power", degree = degree)
  p$scalar <- p$c
  p$curve <- bquote(stats::poly(.z, .(degree), raw = TRUE, simple = TRUE))
  p$c <- bquote(stats::poly(.(p$c), .(degree), raw = TRUE, simple = TRUE))
  named_part(p, "curve", width = degree)
}

curve_spline <- function(e, a, f, r, named_part) {
  if (!is.null(a[["Boundary.knots"]])) usage("%s() has its boundary knots at the bounds; leave Boundary.knots out", f)
  if (isTRUE(a[["intercept"]])) usage("%s() has no intercept of its own here; leave intercept out", f)
  if (!is.symbol(a[[1]])) usage("%s() is of a column with bounds; name one", f)
  p <- number(a[[1]], r)
  ends <- as.numeric(r$facts$bounds[[p$columns]])
  degree <- if (f == "ns") 3 else if (is.null(a[["degree"]])) 3 else constant(a[["degree"]], r, "degrees")
  knots <- a[["knots"]]
  if (is.null(knots)) {
    df <- a[["df"]]
    if (is.null(df) && length(a) > 1 && (is.null(names(a)) || !nzchar(names(a)[2]))) df <- a[[2]]
    if (is.null(df)) usage("knots are public; write %s(x, knots = c(30, 50)) within the bounds", f)
    inner <- constant(df, r, "degrees of freedom") - (if (f == "ns") 1 else degree)
    if (inner < 1 || inner > 30) usage("%s() has at least one knot here; write knots = c(...), or a larger df", f)
    knots <- ends[1] + (ends[2] - ends[1]) * seq_len(inner) / (inner + 1)
    r$notes$list <- c(r$notes$list, sprintf("%s: knots evenly between the bounds, where R takes quantiles of the records", deparsed(e)))
  } else {
    knots <- constant(knots, r, "knots")
  }
  p$json <- c(list(of = p$json, as = "spline", kind = if (f == "ns") "natural" else "bspline", knots = as.list(knots)), if (f == "bs") list(degree = degree))
  p$scalar <- p$c
  p$curve <- if (f == "ns") bquote(splines::ns(.z, knots = .(knots), Boundary.knots = .(ends))) else
    bquote(splines::bs(.z, knots = .(knots), degree = .(degree), Boundary.knots = .(ends)))
  p$c <- p$curve
  p$c[[2]] <- a[[1]]
  named_part(p, "curve", width = length(knots) + (if (f == "ns") 1 else degree))
}

cut_part <- function(e, a, r, named_part) {
  if (!is.symbol(a[[1]])) usage("cut() is of a column with bounds; name one")
  p <- number(a[[1]], r)
  ends <- as.numeric(r$facts$bounds[[p$columns]])
  breaks <- constant(if (is.null(a[["breaks"]])) a[[2]] else a[["breaks"]], r, "breaks")
  if (length(breaks) == 1) usage("cut() into a number of classes takes its breaks from the records; write them, e.g. cut(x, c(0, 5, 10))")
  if (identical(a[["right"]], FALSE)) usage("cut() has classes that are closed on the right here; leave right = FALSE out")
  inner <- breaks[breaks > ends[1] & breaks < ends[2]]
  if (!length(inner) || length(inner) != length(breaks) - 2) usage("breaks of cut() reach over the bounds of %s on both sides, once, with one between; write e.g. c(%g, ..., %g)", deparsed(a[[1]]), ends[1], ends[2])
  e[[2]] <- inner
  values <- levels(eval(e, r$env))
  p$json <- list(of = p$json, as = "cut", breaks = as.list(inner))
  p$c <- bquote(cut(.(a[[1]]), .(c(-Inf, inner, Inf)), labels = .(values)))
  named_part(p, "levels", values = values, reference = values[1], ends = inner)
}

# ---- the formula as a whole ----

read_formula <- function(formula, facts, data = NULL) {
  if (is.character(formula) && length(formula) == 1) formula <- tryCatch(stats::as.formula(formula, parent.frame(3)), error = function(e) usage("formula is not well formed; write it as y ~ a + b"))
  if (!inherits(formula, "formula")) usage("formula is not given first; write e.g. tacit_glm(y ~ a + b, ...)")
  if ("." %in% all.vars(formula)) usage("\".\" stands for what the table holds; name the columns")
  if (any(c("|", "||") %in% all.names(formula))) usage("random effects are not offered; take person = \"id\" for several records of one, or name the columns")
  if (length(formula) < 3) usage("formula has no left side; write e.g. y ~ a + b")
  both <- intersect(all.vars(formula[[2]]), all.vars(formula[[3]]))
  if (length(both)) usage("%s stands on both sides of the formula; keep one", both[1])
  t <- tryCatch(stats::terms(formula), error = function(e) usage("formula is not well formed; write it as y ~ a + b"))
  labels <- attr(t, "term.labels")
  if (!length(labels)) usage("formula has no term on its right side; name one column at least")
  r <- list(facts = facts, data = data, columns = unique(c(names(data), names(facts$bounds), names(facts$levels))), env = environment(formula), notes = new.env())
  beside <- offset_of(as.list(attr(t, "variables"))[-1][attr(t, "offset")], facts)
  if (length(beside)) t <- stats::terms(stats::reformulate(labels, formula[[2]], attr(t, "intercept") == 1, environment(formula)))
  variables <- as.list(attr(t, "variables"))[-(1:2)]
  matrix <- attr(t, "factors")[-1, , drop = FALSE]
  parts <- lapply(variables, part, r)
  names(parts) <- rownames(matrix)
  environment(formula) <- attr(t, ".Environment") <- globalenv() # whoever called may have the table there
  spec <- list(formula = formula, terms = t, labels = labels, parts = parts, used = matrix > 0, intercept = attr(t, "intercept"), facts = facts, notes = r$notes$list, beside = beside)
  check_categories(parts)
  if (max(colSums(spec$used)) > 4) usage("a product has more than four parts; leave some away")
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
  if (is.null(ends) || inherits(ends, "Date")) usage("bounds of %s are not given, and have no default; add bounds = list(%s = c(smallest, largest)), from public knowledge", name, name)
  stats::setNames(list(list(of = name, lower = ends[1], upper = ends[2])), if (exposure) "exposure" else "offset")
}

check_categories <- function(parts) {
  of <- Filter(function(p) !is.null(p$category), parts)
  for (name in unique(vapply(of, `[[`, "", "category"))) {
    mine <- Filter(function(p) p$category == name, of)
    if (length(mine) > 1) usage("%s stands in the formula in two codings; keep one of them", name)
  }
}

# A number and its square are fitted as one curve, in a basis that is orthonormal over the bounds: the square's part has
# both, and the number's term goes.  Not so where one of them is in a product.
pair_squares <- function(spec) {
  plain <- function(json) if (is.list(json)) json[setdiff(names(json), "name")] else json
  alone <- names(spec$parts)[rowSums(spec$used) == 1 & spec$used %*% colSums(spec$used) == 1]
  for (k in alone) for (j in alone) {
    of <- spec$parts[[k]]$json
    if (!is.list(of) || !identical(of$as, "square") || spec$parts[[j]]$type != "number" || !identical(of$of, plain(spec$parts[[j]]$json))) next
    spec$parts[[k]]$json <- list(of = of$of, as = "power", degree = 2, name = k)
    spec$parts[[k]][c("pair", "scalar", "curve")] <- list(c(j, k), spec$parts[[j]]$c, quote(cbind(.z, .z^2)))
    spec$dropped <- c(spec$dropped, j)
  }
  spec
}

json_terms <- function(spec) {
  lapply(setdiff(spec$labels, spec$dropped), function(k) {
    json <- lapply(unname(spec$parts[spec$used[, k]]), `[[`, "json")
    if (length(json) == 1) json[[1]] else list(product = json)
  })
}

json_columns <- function(spec) {
  facts <- spec$facts
  lapply(unique(unlist(lapply(spec$parts, `[[`, "columns"))), function(name) {
    gap <- facts$missing[[name]]
    if (!is.null(gap) && (length(gap) != 1 || is.na(gap))) usage("missing of %s is \"indicator\", \"zero\", \"refuse\" or a value; write one", name)
    of <- Filter(function(p) identical(p$category, name), spec$parts)
    column <- if (length(of)) {
      list(name = name, type = "category", values = as.list(of[[1]]$listed), reference = of[[1]]$reference)
    } else {
      ends <- facts$bounds[[name]]
      date <- inherits(ends, "Date")
      list(name = name, type = if (date) "date" else "number", lower = if (date) format(ends[1]) else ends[1], upper = if (date) format(ends[2]) else ends[2])
    }
    if (length(of)) column$other <- facts$other[[name]]
    if (!is.null(gap)) column$missing <- if (inherits(gap, "Date")) format(gap) else gap
    column
  })
}

# ---- raw columns to the two designs ----

.level <- function(x, values, ordered) factor(as.character(x), values, ordered = ordered)
year <- function(x) as.POSIXlt(x)$year + 1900
month <- function(x) as.POSIXlt(x)$mon + 1
weekday <- function(x) (as.POSIXlt(x)$wday + 6) %% 7 + 1
quarter <- function(x) as.POSIXlt(x)$mon %/% 3 + 1
years_between <- function(later, earlier) as.numeric(later - earlier) / 365.25
days_between <- function(later, earlier) as.numeric(later - earlier)

# Raw columns brought into their bounds, gaps filled as the schema says; attr "gap": where they were.
within_bounds <- function(spec, data) {
  names <- unique(unlist(lapply(spec$parts, `[[`, "columns")))
  out <- lapply(stats::setNames(names, names), function(name) {
    x <- data[[name]]
    ends <- spec$facts$bounds[[name]]
    if (inherits(x, "haven_labelled")) x <- unlabelled(x, if (is.null(ends)) "category" else "number")
    gap <- is.na(x)
    rule <- spec$facts$missing[[name]]
    if (is.null(ends)) {
      x <- as.character(x)
      of <- Filter(function(p) identical(p$category, name), spec$parts)[[1]]
      if (!is.null(spec$facts$other[[name]])) x[!gap & !x %in% of$listed] <- if (spec$facts$other[[name]] == "zero") of$reference else spec$facts$other[[name]]
      if (!is.null(rule) && !rule %in% c("indicator", "refuse")) x[gap] <- if (rule == "zero") of$reference else rule
    } else {
      x <- if (inherits(ends, "Date")) as.Date(x) else as.numeric(x)
      x[which(x < ends[1])] <- ends[1]
      x[which(x > ends[2])] <- ends[2]
      if (identical(rule, "indicator")) x[gap] <- ends[1] + (ends[2] - ends[1]) / 2
      else if (!is.null(rule) && !identical(rule, "refuse")) x[gap] <- rule
    }
    structure(x, gap = gap & identical(rule, "indicator"))
  })
  out
}

evaluated <- function(call, columns) eval(call, columns, environment(.level))

# By model.matrix, at public points; of R's model, or of the library's raw features, which have an intercept.
design_of <- function(spec, points, side) {
  frame <- lapply(spec$parts, function(p) if (p$type == "gap") attr(points[[p$columns]], "gap") else plain(suppressWarnings(evaluated(p[[side]], points))))
  for (name in names(frame)) if (is.numeric(frame[[name]]) && !all(is.finite(frame[[name]]))) usage("%s is not finite between the bounds; give narrower bounds", name)
  frame <- structure(frame, class = "data.frame", row.names = seq_along(points[[1]]), names = names(spec$parts))
  t <- stats::delete.response(spec$terms)
  if (side == "c") attr(t, "intercept") <- 1L
  attr(frame, "terms") <- t
  categories <- names(Filter(function(p) p$type == "levels", spec$parts))
  stats::model.matrix(t, frame, contrasts.arg = if (side == "c") stats::setNames(rep(list("contr.treatment"), length(categories)), categories))
}
plain <- function(x) {
  if (inherits(x, "AsIs")) class(x) <- setdiff(class(x), "AsIs")
  attr(x, "gap") <- NULL
  x
}

# One factor of the library's raw feature: of the part `p`, said by `which` (column, value or function).
c_factor <- function(spec, p, which, points) {
  gap <- Reduce(`|`, lapply(p$columns, function(name) attr(points[[name]], "gap")))
  if (identical(which$value, "(missing)")) return(as.numeric(gap))
  if (p$type == "gap") return(as.numeric(!gap))
  x <- evaluated(if (is.null(p$curve)) p$c else p$scalar, points)
  if (p$type == "levels") return(as.numeric(!is.na(x) & !gap & x == level_of(p, which$value)))
  if (!is.null(p$curve)) x <- as.matrix(evaluated(p$curve, list(.z = x)))[, which[["function"]]]
  if (any(gap)) x[gap] <- gap_value(spec, p)[c(which[["function"]], 1)[1]]
  as.numeric(x)
}

# What a number, or each function of a curve, is where it is missing and marked: the middle of its bounds, or the mean over
# the even points by which the library centres curves.
gap_value <- function(spec, p) {
  ends <- lapply(spec$facts$bounds[p$columns], function(b) c(b, if (b[1] < 0 && b[2] > 0) 0))
  z <- range(evaluated(if (is.null(p$curve)) p$c else p$scalar, expand.grid(ends)))
  if (is.null(p$curve)) return(mean(z))
  colMeans(as.matrix(evaluated(p$curve, list(.z = seq(z[1], z[2], length.out = 2001)))))
}

# The R level that a value of the library's is: of a cut its classes go by where they end.
level_of <- function(p, value) {
  if (is.null(p$ends)) return(value)
  end <- suppressWarnings(as.numeric(sub("^.*, (.*)\\]$", "\\1", value)))
  at <- match(TRUE, abs(p$ends - end) <= 1e-12 * (1 + abs(end)))
  p$values[if (is.na(at)) length(p$values) else at]
}

# What the library calls its parts.
part_names <- function(spec) vapply(spec$parts, function(p) if (is.list(p$json) && !is.null(p$json$name)) p$json$name else if (p$type == "gap") p$columns else as.character(p$json), "")

# Which of the spec's parts each of a weight's is.
parts_at <- function(spec, which, names) vapply(which, function(w) match(w$column, names), 0L)

c_design <- function(spec, weights, points) {
  names <- part_names(spec)
  rows <- length(points[[1]])
  x <- vapply(weights, function(w) {
    at <- parts_at(spec, w, names)
    product <- rep(1, rows)
    for (k in seq_along(w)) product <- product * c_factor(spec, spec$parts[[at[k]]], w[[k]], points)
    product
  }, numeric(rows))
  cbind(1, matrix(x, rows))
}

# R's name of a weight.
r_name <- function(spec, w, names) {
  at <- parts_at(spec, w, names)
  paste(vapply(seq_along(w), function(k) {
    p <- spec$parts[[at[k]]]
    if (!is.null(p$pair)) return(if (is.null(w[[k]][["function"]])) paste0(p$pair[1], "NA") else p$pair[w[[k]][["function"]]])
    suffix <- if (p$type == "gap") "TRUE" else if (identical(w[[k]]$value, "(missing)")) "NA" else if (p$type == "levels") level_of(p, w[[k]]$value) else if (p$type == "curve") w[[k]][["function"]] else ""
    paste0(names(spec$parts)[at[k]], suffix)
  }, ""), collapse = ":")
}

# Low-discrepancy numbers within the bounds, every level in turn: no record.
public_points <- function(spec, rows) {
  names <- unique(unlist(lapply(spec$parts, `[[`, "columns")))
  steps <- sqrt(c(2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71))
  data <- lapply(seq_along(names), function(j) {
    u <- (seq_len(rows) * (steps[(j - 1) %% 20 + 1] + (j - 1) %/% 20 * pi)) %% 1
    ends <- spec$facts$bounds[[names[j]]]
    of <- Filter(function(p) identical(p$category, names[j]), spec$parts)
    if (length(of)) of[[1]]$listed[1 + floor(u * length(of[[1]]$listed))] else if (inherits(ends, "Date")) ends[1] + floor(u * as.numeric(ends[2] - ends[1])) else ends[1] + u * (ends[2] - ends[1])
  })
  within_bounds(spec, stats::setNames(data, names))
}

# R's columns, and what maps their coefficients to the library's: raw = map %*% ours.  NULL: they are the same.
with_map <- function(spec) {
  width <- sum(vapply(spec$labels, function(k) prod(vapply(spec$parts[spec$used[, k]], function(p) switch(p$type, levels = length(p$values), curve = p$width, 1), 0)), 0))
  if (width > 2000) usage("the formula has more than 2000 columns; leave products or levels away")
  points <- public_points(spec, 100 + 10 * width)
  ours <- design_of(spec, points, "r")
  raw <- design_of(spec, points, "c")
  gaps <- colSums(ours != 0) == 0 # marks of gaps, which no public point has
  spec$columns <- colnames(ours)
  spec$assign <- attr(ours, "assign")
  spec$raw <- colnames(raw)
  standard <- identical(getOption("contrasts")[[1]], "contr.treatment")
  spec$same <- spec$intercept == 1 && all(vapply(spec$parts, function(p) p$same && (standard || p$type != "levels"), NA))
  q <- qr(scaled(raw[, colSums(raw != 0) > 0, drop = FALSE]), tol = 1e-9)
  if (q$rank < ncol(q$qr)) usage("two terms of the formula say the same, or a product lacks the terms that it is made of; write a * b, or leave one away")
  if (spec$same) return(spec)
  if (any(gaps)) usage("is.na() does not go with - 1 or other contrasts; leave one of them away")
  size <- sqrt(colMeans(raw^2))
  map <- qr.coef(q, ours) / size
  if (max(abs(raw %*% map - ours) / rep(pmax(sqrt(colMeans(ours^2)), 1e-300), each = nrow(ours))) > 1e-8 || ncol(ours) != ncol(raw))
    usage("%s", if (spec$intercept == 0) "a line through the origin is not offered, since numbers are centred between their bounds; leave - 1 out, or add a category" else "a shifted number in a product lacks the terms that it is made of; write a * b")
  map[abs(map) < 1e-12 * max(abs(map))] <- 0
  spec$map <- map
  spec
}

scaled <- function(x) sweep(x, 2, pmax(sqrt(colMeans(x^2)), 1e-300), `/`)
