# moments.R - what costs nothing more: linear models of released moments; and a table described.

# x: a study, or the path or text of its file; list(path, text), one of them NULL.
study_file <- function(x, name) {
  if (inherits(x, "tacit_study")) return(list(NULL, x$text))
  x <- one_text(x, name)
  if (grepl("{", x, fixed = TRUE)) return(list(NULL, x))
  if (!file.exists(x)) usage("there is no file at %s; give a study, or the path of its file", name)
  list(path.expand(x), NULL)
}

lm_of_moments <- function(formula, moments, stage = NULL, ridge = NULL, level = 0.95) {
  if (!inherits(formula, "formula") || length(formula) != 3 || !is.symbol(formula[[2]])) usage("a model of moments has one column on the left side; write y ~ a + b")
  sides <- setdiff(all.vars(formula[[3]]), ".")
  plain <- setdiff(all.names(formula[[3]]), c("+", "(", sides, "."))
  if (length(plain)) usage("moments are of columns as they are, and %s() is none; write y ~ a + b, or fit tacit_lm() to the data", plain[1])
  asked <- list(label = as.character(formula[[2]]), covariance = TRUE, level = one_number(level, "level", "0.95"))
  if (length(sides)) asked$features <- as.list(sides)
  if (!is.null(ridge)) asked$ridge <- ridge
  file <- study_file(moments, "moments")
  answer <- from_json(checked(.Call(R_lm, file[[1]], file[[2]], one_text(stage, "stage"), to_json(asked))))
  lines <- answer$weights
  names <- c("(Intercept)", sub("=", "", vapply(lines, `[[`, "", "name"), fixed = TRUE))
  order <- c(length(lines) + 1, seq_along(lines))
  v <- matrix(unlist(answer$covariance$population), length(names))[order, order, drop = FALSE]
  column <- function(key) vapply(c(list(answer$intercept), lines), function(line) if (is.null(line[[key]])) NA_real_ else as.numeric(line[[key]]), 0)
  table <- cbind(Estimate = column("estimate"), `Std. Error` = column("standard_error"), `z value` = column("z"), `Pr(>|z|)` = column("p_value"))
  rownames(table) <- names
  dimnames(v) <- list(names, names)
  ends <- cbind(column("lower"), column("upper"))
  dimnames(ends) <- list(names, paste(format(100 * c(1 - level, 1 + level) / 2, trim = TRUE), "%"))
  structure(list(formula = formula, table = table, vcov = v, conf.int = ends, answer = answer), class = "tacit_moments_lm")
}

coef.tacit_moments_lm <- function(object, ...) object$table[, 1]
vcov.tacit_moments_lm <- function(object, ...) object$vcov
confint.tacit_moments_lm <- function(object, parm, level, ...) object$conf.int
nobs.tacit_moments_lm <- function(object, ...) object$answer$rows
formula.tacit_moments_lm <- function(x, ...) x$formula

print.tacit_moments_lm <- function(x, ...) {
  stats::printCoefmat(x$table, P.values = TRUE, has.Pvalue = TRUE)
  a <- x$answer
  cat(sprintf("\n%s records, R squared %.4g; of a release of epsilon %g, delta %g, which this model adds nothing to\n", format(a$rows, big.mark = ","),
              if (is.list(a$r2)) a$r2[[1]] else a$r2, a$epsilon, a$delta))
  invisible(x)
}

tacit_describe <- function(data, schema, epsilon, delta, cross = NULL, features = NULL, estimate = NULL, sampling = TRUE, neighbours = "add_remove", ...) {
  budget <- budget_of(epsilon, delta)
  stage <- list(name = "table", kind = "describe", sampling = isTRUE(sampling))
  if (!is.null(cross)) stage$cross <- lapply(if (is.list(cross)) cross else list(cross), as.list)
  if (!is.null(features)) stage$features <- as.list(features)
  bounds <- if (!is.null(estimate)) list(list(name = "bounds", kind = "estimate", what = one_text(estimate, "estimate")))
  if (is.character(schema) && !grepl("{", schema, fixed = TRUE)) schema <- paste(readLines(need_path(schema, "schema"), warn = FALSE), collapse = "\n")
  plan <- list(epsilon = budget$epsilon, delta = budget$delta, neighbours = neighbours, schema = if (is.list(schema)) schema else from_json(schema), stages = c(bounds, list(stage)))
  study <- tacit_study(plan, data, ...)
  told <- study$file$stages[[length(study$file$stages)]]$description
  rows <- list()
  add <- function(column, level, figure, of, small = FALSE) rows[[length(rows) + 1]] <<- data.frame(column = column, level = level, figure = figure, value = of$value, lower = of$lower, upper = of$upper, small = small)
  cell <- function(column, level, of) for (what in c("count", "share")) add(column, level, what, of[[what]], of$small)
  for (each in told$columns) {
    for (what in intersect(c("told", "missing", "mean", "deviation"), names(each))) add(each$name, "", what, each[[what]])
    for (q in each$quantiles) add(each$name, "", sprintf("quantile %g", q$at), q)
    for (level in each$levels) cell(each$name, level$name, level)
  }
  for (pair in told$cross) for (i in seq_along(pair$rows)) for (j in seq_along(pair$columns))
    cell(paste(unlist(pair$of), collapse = " x "), paste(pair$rows[[i]], pair$columns[[j]], sep = ", "), pair$cells[[i]][[j]])
  structure(do.call(rbind, rows), study = study)
}
