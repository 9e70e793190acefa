# methods.R - what R asks of a fit.  Everything here follows from the released model and costs nothing.

# The library's summary of R's coefficients: estimates, covariances, degrees; NA where an interval is withheld.
released <- function(object, level = 0.95, errors = FALSE) {
  level <- one_number(level, "level", "0.95")
  if (level <= 0 || level >= 1) usage("level lies between 0 and 1; write e.g. level = 0.95")
  s <- from_json(checked(if (is.null(object$ask)) .Call(R_summary, object$model, object$spec$sums, level) else object$ask(level)))
  if (errors && is.null(s$covariance)) usage("the model was fitted without standard errors; fit it with errors = \"robust\" or \"model\"")
  last <- if (!is.null(s$intercept)) list(s$intercept)
  lines <- c(last, s$weights)
  names <- object$spec$columns %||% c(if (!is.null(last)) "(Intercept)", vapply(s$weights, `[[`, "", "name"))
  number <- function(x) if (is.null(x)) NA_real_ else as.numeric(x)
  column <- function(key) stats::setNames(vapply(lines, function(w) number(w[[key]]), 0), names)
  square <- function(m) {
    m <- matrix(if (is.null(m)) NA_real_ else vapply(unlist(m, FALSE), number, 0), length(lines), length(lines))
    at <- c(if (!is.null(last)) length(lines), seq_along(s$weights))
    matrix(m[at, at], length(lines), dimnames = list(names, names))
  }
  keys <- c(estimate = "estimate", se = "standard_error", noise_se = "noise_error", low = "lower", high = "upper", p = "p_value", df = "degrees")
  out <- c(lapply(keys, column), list(vcov = square(s$covariance$population), noise = square(s$covariance$noise), summary = s))
  out$df[is.na(out$df)] <- Inf
  out$notes <- stats::setNames(vapply(lines, function(w) w$note %||% NA_character_, ""), names)
  out
}

coef.tacit <- function(object, ...) released(object)$estimate

vcov.tacit <- function(object, part = c("population", "noise"), ...) released(object, errors = TRUE)[[c(population = "vcov", noise = "noise")[match.arg(part)]]]

confint.tacit <- function(object, parm, level = 0.95, exp = FALSE, ...) {
  r <- released(object, level, errors = TRUE)
  m <- cbind(r$low, r$high)
  colnames(m) <- paste(format(100 * c(1 - level, 1 + level) / 2, trim = TRUE, scientific = FALSE, digits = 3), "%")
  if (exp) m <- base::exp(m)
  if (missing(parm)) m else m[parm, , drop = FALSE]
}

nobs.tacit <- function(object, ...) object$nobs
formula.tacit <- function(x, ...) need_spec(x)$formula
terms.tacit <- function(x, ...) need_spec(x)$terms
family.tacit <- function(object, ...) object$family
df.residual.tacit <- function(object, ...) object$nobs - length(coef.tacit(object))

need_spec <- function(object)
  object$spec %||% usage("a model that was read from a file has no formula of R; fit it by tacit_glm(), or keep it with saveRDS()")

update.tacit <- function(object, formula., ..., evaluate = TRUE) {
  call <- object$call
  if (!missing(formula.)) call$formula <- stats::update.formula(need_spec(object)$formula, formula.)
  more <- as.list(substitute(list(...)))[-1]
  call[names(more)] <- more
  if (evaluate) eval(call, parent.frame()) else call
}

unreleased <- function(why) function(...) usage("%s", why)
residuals.tacit <- unreleased("residuals are of records, which the model does not hold; they are not released")
fitted.tacit <- unreleased("fitted values are of records, which the model does not hold; take predict(fit, newdata = ...)")
logLik.tacit <- unreleased("the likelihood of the records is not released, so there are no logLik, AIC and BIC; compare models by anova(), or by a score that is paid for")
deviance.tacit <- unreleased("the deviance of the records is not released; compare models by anova(), or by a score that is paid for")
model.frame.tacit <- unreleased("the model does not hold its records; give newdata where it is wanted")

# ---- tables ----

summary.tacit <- function(object, level = 0.95, exp = FALSE, ...) {
  r <- released(object, level)
  kind <- if (all(is.infinite(r$df[!is.na(r$se)]))) "z" else "t"
  m <- cbind(r$estimate, r$se, r$estimate / r$se, r$p)
  colnames(m) <- c("Estimate", "Std. Error", paste(kind, "value"), sprintf("Pr(>|%s|)", kind))
  structure(c(object[c("call", "family", "nobs")], r$summary[c("errors", "epsilon", "delta", "neighbours", "residual_scale")],
              list(coefficients = m, conf.int = cbind(lower = r$low, upper = r$high), noise.share = (r$noise_se / r$se)^2, df = r$df,
                   notes = r$notes[!is.na(r$notes)], formula.notes = object$spec$notes, level = level, exp = exp, promise = promise(r$summary, object))),
            class = "summary.tacit")
}

promise <- function(s, object) {
  if (!is.null(object$ask)) return(sprintf("Of a release of epsilon %g, delta %g, which this model adds nothing to; R squared %.4g", s$epsilon, s$delta, unlist(s$r2)[1]))
  if (!isTRUE(s$private)) return("No privacy: the weights are exact.")
  what <- if (identical(s$neighbours, "replace_one")) "what one record holds" else "whether one record was among them"
  text <- sprintf("(epsilon = %g, delta = %g) differential privacy: the model hardly depends on %s.", s$epsilon, s$delta, what)
  if (identical(from_json(object$model)$privacy$noise, "reproducible")) paste(text, "Its noise comes from a seed: do not publish it.") else text
}

print.summary.tacit <- function(x, digits = max(3L, getOption("digits") - 3L), signif.stars = getOption("show.signif.stars"), ...) {
  cat("\nCall:\n", paste(deparse(x$call), collapse = "\n"), "\n\nCoefficients:\n", sep = "")
  m <- if (x$exp) cbind("exp(Est.)" = exp(x$coefficients[, 1]), x$coefficients) else x$coefficients
  if (is.null(x$errors)) {
    print(m[, seq_len(1 + x$exp), drop = FALSE], digits = digits)
    cat("\nno standard errors: fit with errors = \"robust\" or \"model\"\n")
  } else {
    before <- seq_len(2 + x$exp)
    m <- cbind(m[, before, drop = FALSE], "noise %" = round(100 * x$noise.share), m[, -before, drop = FALSE])
    stats::printCoefmat(m, digits = digits, signif.stars = signif.stars, na.print = "NA", has.Pvalue = TRUE, P.values = TRUE, cs.ind = before, tst.ind = 4 + x$exp)
    cat("noise: its share of the squared standard error\n")
    if (!is.null(x$residual_scale)) cat("\nroot mean square of residuals:", format(x$residual_scale, digits = digits), "\n")
    for (note in unique(x$notes)) cat("\n", paste(names(x$notes)[x$notes == note], collapse = ", "), ": ", note, "\n", sep = "")
  }
  for (note in x$formula.notes) cat("\n", note, "\n", sep = "")
  cat(sprintf("\n%s records, family %s\n%s\n", format(x$nobs, big.mark = ","), x$family$family, x$promise))
  invisible(x)
}

print.tacit <- function(x, digits = max(3L, getOption("digits") - 3L), ...) {
  r <- released(x)
  cat("\nCall:  ", paste(deparse(x$call), collapse = "\n"), "\n\nCoefficients:\n", sep = "")
  print(format(r$estimate, digits = digits), quote = FALSE)
  cat("\n", promise(r$summary, x), "\n", sep = "")
  invisible(x)
}

# Wald's test of each term: of its coefficients together.
anova.tacit <- function(object, ...) {
  if (length(list(...))) usage("models are compared term by term, with one model; give one")
  r <- released(object, errors = TRUE)
  spec <- need_spec(object)
  rows <- vapply(seq_along(spec$labels), function(k) {
    at <- which(spec$assign == k)
    v <- r$vcov[at, at, drop = FALSE]
    w <- if (anyNA(v)) NA else sum(r$estimate[at] * solve(v, r$estimate[at]))
    df <- min(r$df[at])
    c(length(at), w, df, stats::pf(w / length(at), length(at), df, lower.tail = FALSE))
  }, numeric(4))
  out <- as.data.frame(t(rows), row.names = spec$labels)
  names(out) <- c("Df", "Chisq", "Res.Df", "Pr(>Chisq)")
  structure(out, heading = c("Wald tests of the terms, noise counted\n"), class = c("anova", "data.frame"))
}

# ---- predictions ----

predict.tacit <- function(object, newdata = NULL, type = c("link", "response", "class"), se.fit = FALSE, interval = c("none", "confidence", "prediction"), level = 0.95, ...) {
  if (is.null(newdata)) usage("the model does not hold its records; give newdata")
  if (!is.data.frame(newdata)) usage("newdata is no data frame; give one")
  type <- match.arg(type)
  interval <- match.arg(interval)
  if (interval == "prediction") usage("an interval for a record's own outcome is not offered; take interval = \"confidence\"")
  with <- interval == "confidence" || se.fit
  if (with) r <- released(object, level, errors = TRUE)
  p <- checked(.Call(R_predict, object$model, columns_read(object, newdata), if (with) level else NA_real_))
  dimnames(p) <- list(row.names(newdata), if (with) c("fit", "lwr", "upr"))
  if (type == "class") {
    classes <- unlist(from_json(object$model)$classes)
    return(factor(classes[1 + (p[, 1] > 0)], classes))
  }
  if (se.fit) {
    x <- model.matrix.tacit(object, newdata)
    hidden <- x[, is.na(r$se), drop = FALSE] != 0
    v <- replace(r$vcov, is.na(r$vcov), 0)
    se <- replace(sqrt(pmax(rowSums((x %*% v) * x), 0)), rowSums(hidden) > 0, NA)
    if (type == "response") se <- se * abs(object$family$mu.eta(p[, 1]))
  }
  if (type == "response") p[] <- object$family$linkinv(p)
  value <- if (interval == "confidence") p else p[, 1]
  if (se.fit) list(fit = value, se.fit = stats::setNames(se, row.names(newdata)), residual.scale = 1) else value
}

# A file's model has no formula: its schema says what its columns are.
columns_read <- function(object, newdata) {
  spec <- object$spec
  schema <- from_json(object$model)$transforms$schema
  beside <- unlist(lapply(schema[c("exposure", "offset")], `[[`, "of"))
  if (!is.null(spec)) return(c(feature_columns(spec, newdata), columns_of(setdiff(beside, spec$fields), newdata, "number")))
  used <- Filter(function(c) c$type != "ignore", schema$columns)
  kinds <- stats::setNames(lapply(used, `[[`, "type"), lapply(used, `[[`, "name"))
  columns_of(union(names(kinds), beside), newdata, function(name) kinds[[name]] %||% "number")
}

model.matrix.tacit <- function(object, data, ...) {
  if (missing(data)) usage("the model does not hold its records; give data")
  spec <- need_spec(object)
  structure(features(spec, data) %*% spec$map, dimnames = list(row.names(data), spec$columns))
}

# ---- pictures ----

ratios <- c(binomial = "odds ratio", poisson = "rate ratio", Gamma = "ratio of means", cox = "hazard ratio", gaussian = "exp(coefficient)")

plot.tacit <- function(x, level = 0.95, exp = FALSE, intercept = FALSE, xlab = NULL, main = "", ...) {
  r <- released(x, level, errors = TRUE)
  f <- if (exp) base::exp else identity
  noise <- (r$high - r$estimate) * r$noise_se / r$se
  ends <- f(cbind(r$low, r$high, r$estimate - noise, r$estimate + noise, r$estimate))
  ends <- ends[intercept | rownames(ends) != "(Intercept)", , drop = FALSE]
  y <- rev(seq_len(nrow(ends)))
  old <- graphics::par(mar = c(4.5, min(20, 2 + 0.55 * max(nchar(rownames(ends)))), 2, 1))
  on.exit(graphics::par(old))
  graphics::plot(range(ends, f(0), na.rm = TRUE), c(0.5, max(y) + 0.5), type = "n", log = if (exp) "x" else "", yaxt = "n", ylab = "",
                 xlab = xlab %||% if (exp) ratios[[x$family$family]] else "coefficient", main = main, ...)
  graphics::abline(v = f(0), col = "grey")
  graphics::segments(ends[, 1], y, ends[, 2], y)
  graphics::segments(ends[, 3], y, ends[, 4], y, lwd = 5, col = "grey40", lend = 1)
  graphics::points(ends[, 5], y, pch = ifelse(is.na(ends[, 1]), 1, 19))
  graphics::axis(2, y, rownames(ends), las = 1, tick = FALSE)
  invisible(ends)
}

# ---- broom and emmeans ----

tidy.tacit <- function(x, conf.int = FALSE, conf.level = 0.95, exponentiate = FALSE, ...) {
  r <- released(x, conf.level)
  f <- if (exponentiate) exp else identity
  out <- data.frame(term = names(r$estimate), estimate = f(r$estimate), std.error = r$se, statistic = r$estimate / r$se, p.value = r$p)
  if (conf.int) out[c("conf.low", "conf.high")] <- list(f(r$low), f(r$high))
  as_table(cbind(out, noise.share = (r$noise_se / r$se)^2))
}

glance.tacit <- function(x, ...) {
  s <- released(x)$summary
  as_table(data.frame(nobs = x$nobs, epsilon = s$epsilon %||% Inf, delta = s$delta %||% NA_real_, neighbours = s$neighbours,
                      family = x$family$family, errors = s$errors %||% "none", solver = sub(":.*", "", s$solver)))
}

augment.tacit <- function(x, newdata = NULL, type.predict = c("link", "response"), level = 0.95, ...) {
  p <- predict.tacit(x, newdata, match.arg(type.predict), se.fit = TRUE, interval = "confidence", level = level)
  as_table(cbind(as.data.frame(newdata), .fitted = p$fit[, 1], .lower = p$fit[, 2], .upper = p$fit[, 3], .se.fit = p$se.fit))
}

as_table <- function(x) {
  x[] <- lapply(x, unname)
  row.names(x) <- NULL
  if (requireNamespace("tibble", quietly = TRUE)) tibble::as_tibble(x) else x
}

# A reference grid from public facts: all levels, and the middle of the bounds.
recover_data.tacit <- function(object, data, ...) {
  spec <- need_spec(object)
  names <- all.vars(stats::delete.response(spec$terms))
  rows <- 3 * max(1, lengths(lapply(spec$categories, `[[`, "listed"))) # with three values emmeans takes the mean, which is the middle
  frame <- as.data.frame(lapply(stats::setNames(nm = names), function(name) {
    listed <- spec$categories[[name]]$listed
    ends <- spec$facts$bounds[[name]]
    if (is.null(listed)) rep(ends[1] + (ends[2] - ends[1]) * c(0, 0.5, 1), length.out = rows) else factor(rep(listed, length.out = rows), listed)
  }), optional = TRUE)
  structure(frame, call = object$call, terms = stats::delete.response(spec$terms), predictors = names, responses = character())
}

emm_basis.tacit <- function(object, trms, xlev, grid, ...) {
  r <- released(object, errors = TRUE)
  list(X = model.matrix.tacit(object, grid), bhat = r$estimate, nbasis = matrix(NA), V = r$vcov, dffun = function(k, dfargs) dfargs$df,
       dfargs = list(df = min(r$df)), misc = emmeans::.std.link.labels(object$family, list()))
}
