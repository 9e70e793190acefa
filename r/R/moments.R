# moments.R - what costs nothing more: linear models of released moments; and a table described.

lm_of_moments <- function(formula, moments, stage = NULL, ridge = NULL) {
  if (!inherits(formula, "formula") || length(formula) != 3 || !is.symbol(formula[[2]])) usage("a model of moments has one column on the left side; write y ~ a + b")
  sides <- setdiff(all.vars(formula[[3]]), ".")
  plain <- setdiff(all.names(formula[[3]]), c("+", "(", sides, "."))
  if (length(plain)) usage("moments are of columns as they are, and %s() is none; write y ~ a + b, or fit tacit_lm() to the data", plain[1])
  file <- path_or_text(moments, "moments")
  ask <- function(level) {
    asked <- list(label = as.character(formula[[2]]), covariance = TRUE, level = level)
    if (length(sides)) asked$features <- as.list(sides)
    if (!is.null(ridge)) asked$ridge <- ridge
    answer <- checked(.Call(R_text, "lm", file, one_text(stage, "stage"), to_json(asked)))
    gsub("(\"name\":\\s*\"[^\"=]*)=", "\\1", answer)
  }
  facts <- from_json(ask(0.95))
  fit <- model_of(NULL, quote(tacit_lm()), stats::gaussian(), facts$rows, ask = ask)
  fit$spec <- list(formula = formula, columns = c("(Intercept)", vapply(facts$weights, `[[`, "", "name")))
  fit$call <- call("tacit_lm", formula, quote(moments))
  fit
}

tacit_describe <- function(data, schema, epsilon, delta, cross = NULL, features = NULL, estimate = NULL, sampling = TRUE, neighbours = "add_remove", ...) {
  stage <- list(name = "table", kind = "describe", sampling = isTRUE(sampling))
  if (!is.null(cross)) stage$cross <- lapply(if (is.list(cross)) cross else list(cross), as.list)
  if (!is.null(features)) stage$features <- as.list(features)
  bounds <- if (!is.null(estimate)) list(list(name = "bounds", kind = "estimate", what = one_text(estimate, "estimate")))
  plan <- c(budget_of(epsilon, delta), list(neighbours = neighbours, schema = from_json(text_in(schema, "schema")), stages = c(bounds, list(stage))))
  study <- tacit_study(plan, data, ...)
  told <- study$file$stages[[length(study$file$stages)]]$description
  row <- function(column, level, figure, of, small = FALSE)
    data.frame(column = column, level = level, figure = figure, value = of$value, lower = of$lower, upper = of$upper, small = small)
  cell <- function(column, level, of) lapply(c("count", "share"), function(what) row(column, level, what, of[[what]], of$small))
  of_column <- function(each) c(
    lapply(intersect(c("told", "missing", "mean", "deviation"), names(each)), function(what) row(each$name, "", what, each[[what]])),
    lapply(each$quantiles, function(q) row(each$name, "", sprintf("quantile %g", q$at), q)),
    lapply(each$levels, function(level) cell(each$name, level$name, level)))
  of_pair <- function(pair) Map(function(i, j) cell(paste(unlist(pair$of), collapse = " x "), paste(pair$rows[[i]], pair$columns[[j]], sep = ", "), pair$cells[[i]][[j]]),
                                rep(seq_along(pair$rows), each = length(pair$columns)), rep(seq_along(pair$columns), length(pair$rows)))
  flat <- function(x) if (is.data.frame(x)) list(x) else do.call(c, lapply(unname(x), flat))
  structure(do.call(rbind, flat(c(lapply(told$columns, of_column), lapply(told$cross, of_pair)))), study = study)
}
