# methods.R - what R asks of a fit.  Everything here follows from the released model and costs nothing.

# The library's summary on R's scale: estimates, covariances, degrees; NA where an interval is withheld.
released <- function(object, level = 0.95) {
  s <- from_json(checked(.Call(R_model, NULL, object$model, NULL, "summary", as.numeric(level)))[1])
  lines <- c(if (!is.null(s$intercept)) list(s$intercept), s$weights)
  column <- function(key) vapply(lines, function(w) if (is.null(w[[key]])) NA_real_ else as.numeric(w[[key]]), 0)
  last <- if (is.null(s$intercept)) NULL else length(lines)
  square <- function(m) {
    if (is.null(m)) return(matrix(NA_real_, length(lines), length(lines)))
    m <- do.call(rbind, lapply(m, function(row) vapply(row, function(x) if (is.null(x)) NA_real_ else as.numeric(x), 0)))
    at <- c(last, seq_len(length(lines) - length(last)))
    m[at, at, drop = FALSE]
  }
  out <- list(estimate = column("estimate"), se = column("standard_error"), noise_se = column("noise_error"), low = column("lower"), high = column("upper"),
              p = column("p_value"), df = column("degrees"), vcov = square(s$covariance$population), noise = square(s$covariance$noise), summary = s)
  out$df[is.na(out$df)] <- Inf
  out$notes <- vapply(lines, function(w) if (is.null(w$note)) NA_character_ else w$note, "")
  named_as_r(out, object, s, level)
}

named_as_r <- function(out, object, s, level) {
  spec <- object$spec
  names <- if (is.null(spec)) vapply(s$weights, `[[`, "", "name") else {
    parts <- part_names(spec)
    vapply(s$weights, function(w) r_name(spec, w$parts, parts), "")
  }
  names <- c(if (!is.null(s$intercept)) "(Intercept)", names)
  rank <- if (is.null(spec)) seq_along(names) else order_of(names, spec)
  out$order <- order(rank)
  vectors <- c("estimate", "se", "noise_se", "low", "high", "p", "df", "notes")
  out[vectors] <- lapply(out[vectors], function(x) stats::setNames(x[out$order], names[out$order]))
  for (key in c("vcov", "noise")) out[[key]] <- matrix(out[[key]][out$order, out$order], length(names), dimnames = list(names[out$order], names[out$order]))
  if (is.null(spec$map)) return(out)
  through(out, backward(spec, names(out$estimate)), level)
}

# R's order of its columns; what marks gaps comes at the end of its term.
order_of <- function(names, spec) {
  rank <- match(names, spec$raw)
  for (k in which(is.na(rank))) rank[k] <- rank[k - 1] + 0.5
  rank
}

# Our coefficients are back %*% the raw ones; marks of gaps stay as they are.
backward <- function(spec, raw) {
  back <- solve(spec$map)
  dimnames(back) <- list(spec$columns, spec$raw)
  gaps <- setdiff(raw, spec$raw)
  full <- matrix(0, nrow(back) + length(gaps), length(raw), dimnames = list(c(rownames(back), gaps), raw))
  full[rownames(back), spec$raw] <- back
  full[cbind(gaps, gaps)] <- 1
  full
}

# Sums of weights, one a row of L: withheld where they hold one that is; degrees are those of the least known.
through <- function(out, L, level) {
  seen <- abs(L) > 1e-12 * apply(abs(L), 1, max)
  L[!seen] <- 0
  hidden <- is.na(out$se)
  gone <- as.vector(seen %*% hidden) > 0
  root <- function(v) {
    v[is.na(v)] <- 0
    v <- L %*% v %*% t(L)
    v[gone, ] <- v[, gone] <- NA
    dimnames(v) <- list(rownames(L), rownames(L))
    v
  }
  new <- list(estimate = stats::setNames(as.vector(L %*% out$estimate), rownames(L)), vcov = root(out$vcov), noise = root(out$noise), summary = out$summary)
  new$se <- sqrt(diag(new$vcov))
  new$noise_se <- sqrt(diag(new$noise))
  new$df <- apply(seen, 1, function(s) min(out$df[s], Inf))
  half <- stats::qt((1 + level) / 2, new$df) * new$se
  new$low <- new$estimate - half
  new$high <- new$estimate + half
  new$p <- 2 * stats::pt(-abs(new$estimate / new$se), new$df)
  new$notes <- stats::setNames(apply(seen, 1, function(s) c(stats::na.omit(out$notes[s]), NA)[1]), rownames(L))
  new
}

one_level <- function(level) {
  level <- one_number(level, "level", "0.95")
  if (level <= 0 || level >= 1) usage("level lies between 0 and 1; write e.g. level = 0.95")
  level
}

coef.tacit <- function(object, ...) released(object)$estimate

vcov.tacit <- function(object, part = c("population", "noise"), ...) {
  need_errors(object)
  if (match.arg(part) == "noise") released(object)$noise else released(object)$vcov
}

need_errors <- function(object) {
  if (is.null(from_json(object$model)$inference))
    usage("the model was fitted without standard errors; fit it with errors = \"robust\" or \"model\"")
}

confint.tacit <- function(object, parm, level = 0.95, exp = FALSE, ...) {
  need_errors(object)
  level <- one_level(level)
  r <- released(object, level)
  m <- cbind(r$low, r$high)
  ends <- c((1 - level) / 2, (1 + level) / 2)
  dimnames(m) <- list(names(r$estimate), paste(format(100 * ends, trim = TRUE, scientific = FALSE, digits = 3), "%"))
  if (exp) m <- base::exp(m)
  if (missing(parm)) m else m[parm, , drop = FALSE]
}

nobs.tacit <- function(object, ...) object$nobs
formula.tacit <- function(x, ...) need_spec(x)$formula
terms.tacit <- function(x, ...) need_spec(x)$terms
family.tacit <- function(object, ...) object$family
df.residual.tacit <- function(object, ...) object$nobs - length(released(object)$estimate)

need_spec <- function(object) {
  if (is.null(object$spec)) usage("a model that was read from a file has no formula of R; fit it by tacit_glm(), or keep it with saveRDS()")
  object$spec
}

update.tacit <- function(object, formula., ..., evaluate = TRUE) {
  call <- object$call
  if (!missing(formula.)) call$formula <- stats::update.formula(need_spec(object)$formula, formula.)
  more <- as.list(substitute(list(...)))[-1]
  for (name in names(more)) call[[name]] <- more[[name]]
  if (evaluate) eval(call, parent.frame()) else call
}

residuals.tacit <- function(object, ...) usage("residuals are of records, which the model does not hold; they are not released")
fitted.tacit <- function(object, ...) usage("fitted values are of records, which the model does not hold; take predict(fit, newdata = ...)")
logLik.tacit <- function(object, ...) usage("the likelihood of the records is not released, so there are no logLik, AIC and BIC; compare models by anova(), or by a score that is paid for")
deviance.tacit <- function(object, ...) usage("the deviance of the records is not released; compare models by anova(), or by a score that is paid for")
model.frame.tacit <- function(formula, ...) usage("the model does not hold its records; give newdata where it is wanted")

# ---- tables ----

summary.tacit <- function(object, level = 0.95, exp = FALSE, ...) {
  r <- released(object, one_level(level))
  t <- r$estimate / r$se
  normal <- all(is.infinite(r$df[!is.na(r$se)]))
  m <- cbind(r$estimate, r$se, t, r$p)
  kind <- if (normal) "z" else "t"
  dimnames(m) <- list(names(r$estimate), c("Estimate", "Std. Error", paste(kind, "value"), sprintf("Pr(>|%s|)", kind)))
  structure(list(call = object$call, family = object$family, coefficients = m, conf.int = cbind(lower = r$low, upper = r$high),
                 noise.share = (r$noise_se / r$se)^2, df = r$df, notes = r$notes[!is.na(r$notes)], errors = r$summary$errors, nobs = object$nobs,
                 epsilon = r$summary$epsilon, delta = r$summary$delta, neighbours = r$summary$neighbours, residual.scale = r$summary$residual_scale,
                 advice = r$summary$advice, formula.notes = object$spec$notes, level = level, exp = exp, promise = promise(r$summary, object)), class = "summary.tacit")
}

promise <- function(s, object) {
  if (!isTRUE(s$private)) return("No privacy: the weights are exact.")
  what <- if (identical(s$neighbours, "replace_one")) "what one record holds" else "whether one record was among them"
  text <- sprintf("(epsilon = %g, delta = %g) differential privacy: the model hardly depends on %s.", s$epsilon, s$delta, what)
  if (identical(from_json(object$model)$privacy$noise, "reproducible")) paste(text, "Its noise comes from a seed: do not publish it.") else text
}

print.summary.tacit <- function(x, digits = max(3L, getOption("digits") - 3L), signif.stars = getOption("show.signif.stars"), ...) {
  cat("\nCall:\n", paste(deparse(x$call), collapse = "\n"), "\n\nCoefficients:\n", sep = "")
  known <- !is.null(x$errors)
  m <- if (known) x$coefficients else x$coefficients[, 1, drop = FALSE]
  if (x$exp) m <- cbind("exp(Est.)" = exp(m[, 1]), m)
  if (known) {
    share <- ifelse(is.na(x$noise.share), "", sprintf("%.0f%%", 100 * x$noise.share))
    shown <- utils::capture.output(stats::printCoefmat(m, digits = digits, signif.stars = signif.stars, na.print = "NA", has.Pvalue = TRUE, P.values = TRUE, cs.ind = if (x$exp) 1:3 else 1:2, tst.ind = if (x$exp) 4 else 3))
    head <- c("noise", share)
    lines <- seq_len(nrow(m) + 1)
    width <- max(nchar(shown[lines]))
    shown[lines] <- paste(formatC(shown[lines], width = -width), formatC(head, width = 5))
    cat(shown, sep = "\n")
    cat("noise: its share of the squared standard error\n")
    if (!is.null(x$residual.scale)) cat("\nroot mean square of residuals:", format(x$residual.scale, digits = digits), "\n")
    for (note in unique(x$notes)) cat("\n", paste(names(x$notes)[x$notes == note], collapse = ", "), ": ", note, "\n", sep = "")
  } else {
    print(m, digits = digits)
    if (!is.null(x$advice)) cat("\nno standard errors: fit with errors = \"robust\" or \"model\"\n")
  }
  for (note in x$formula.notes) cat("\n", note, "\n", sep = "")
  cat(sprintf("\n%s records, family %s\n%s\n", format(x$nobs, big.mark = ","), x$family$family, x$promise))
  invisible(x)
}

print.tacit <- function(x, digits = max(3L, getOption("digits") - 3L), ...) {
  cat("\nCall:  ", paste(deparse(x$call), collapse = "\n"), "\n\nCoefficients:\n", sep = "")
  r <- released(x)
  print(format(r$estimate, digits = digits), quote = FALSE)
  cat("\n", promise(r$summary, x), "\n", sep = "")
  invisible(x)
}

# Wald's test of each term: of its coefficients together.
anova.tacit <- function(object, ...) {
  if (length(list(...))) usage("models are compared term by term, with one model; give one")
  need_errors(object)
  spec <- need_spec(object)
  r <- released(object)
  of <- term_of(spec, names(r$estimate))
  rows <- lapply(spec$labels, function(k) {
    at <- which(of == k)
    v <- r$vcov[at, at, drop = FALSE]
    w <- if (anyNA(v)) NA_real_ else sum(r$estimate[at] * solve(v, r$estimate[at]))
    df <- min(r$df[at])
    p <- if (is.infinite(df)) stats::pchisq(w, length(at), lower.tail = FALSE) else stats::pf(w / length(at), length(at), df, lower.tail = FALSE)
    c(length(at), w, df, p)
  })
  out <- as.data.frame(do.call(rbind, rows), row.names = spec$labels)
  names(out) <- c("Df", "Chisq", "Res.Df", "Pr(>Chisq)")
  structure(out, heading = c("Wald tests of the terms, noise counted\n"), class = c("anova", "data.frame"))
}

term_of <- function(spec, names) {
  k <- spec$assign[match(names, spec$columns)]
  for (i in which(is.na(k))) k[i] <- k[i - 1]
  c("(Intercept)", spec$labels)[k + 1]
}

# ---- predictions ----

predict.tacit <- function(object, newdata = NULL, type = c("link", "response", "class"), se.fit = FALSE, interval = c("none", "confidence", "prediction"), level = 0.95, ...) {
  if (is.null(newdata)) usage("the model does not hold its records; give newdata")
  if (!is.data.frame(newdata)) usage("newdata is no data frame; give one")
  type <- match.arg(type)
  interval <- match.arg(interval)
  if (interval == "prediction") usage("an interval for a record's own outcome is not offered; take interval = \"confidence\"")
  columns <- if (is.null(object$spec)) plain_columns(object, newdata) else feature_columns(object$spec, newdata)
  with <- interval == "confidence" || se.fit
  if (with) need_errors(object)
  p <- checked(.Call(R_predict, object$model, columns, if (with) one_level(level) else NA_real_))
  if (type == "class") {
    classes <- from_json(object$model)$classes
    return(factor(unlist(classes)[1 + (p[, 1] > 0)], unlist(classes)))
  }
  se <- if (se.fit) se_of(object, newdata)
  if (type == "response") {
    if (se.fit) se <- se * abs(object$family$mu.eta(p[, 1]))
    p[] <- object$family$linkinv(p)
  }
  rownames(p) <- row.names(newdata)
  value <- if (interval == "confidence") { colnames(p) <- c("fit", "lwr", "upr"); p } else p[, 1]
  if (se.fit) list(fit = value, se.fit = stats::setNames(se, row.names(newdata)), residual.scale = 1) else value
}

se_of <- function(object, newdata) {
  x <- model.matrix.tacit(object, newdata)
  v <- released(object)$vcov
  hidden <- is.na(diag(v))
  v[is.na(v)] <- 0
  se <- sqrt(pmax(rowSums((x %*% v) * x), 0))
  se[as.vector(abs(x) %*% hidden) > 0] <- NA
  se
}

# A file's model has no formula: its schema says what its columns are.
plain_columns <- function(object, newdata) {
  schema <- from_json(checked(.Call(R_model, NULL, object$model, NULL, "model", 0.95))[2])
  used <- Filter(function(c) c$type != "ignore", schema$columns)
  names <- vapply(used, `[[`, "", "name")
  kinds <- vapply(used, `[[`, "", "type")
  beside <- setdiff(c(schema$exposure$of, schema$offset$of), names)
  names <- c(names, beside)
  kinds <- c(kinds, rep("number", length(beside)))
  need_columns(names, newdata)
  stats::setNames(lapply(seq_along(names), function(k) column_of(newdata[[names[k]]], names[k], kinds[k])), names)
}

model.matrix.tacit <- function(object, data, ...) {
  if (missing(data)) usage("the model does not hold its records; give data")
  spec <- need_spec(object)
  s <- released(object)$summary
  need_columns(unique(unlist(lapply(spec$parts, `[[`, "columns"))), data)
  x <- c_design(spec, lapply(s$weights, `[[`, "parts"), within_bounds(spec, data))
  parts <- part_names(spec)
  colnames(x) <- c("(Intercept)", vapply(s$weights, function(w) r_name(spec, w$parts, parts), ""))
  x <- x[, order(order_of(colnames(x), spec)), drop = FALSE]
  if (is.null(spec$map)) return(x)
  ours <- x %*% solve(backward(spec, colnames(x)))
  colnames(ours) <- rownames(backward(spec, colnames(x)))
  ours
}

# ---- pictures ----

plot.tacit <- function(x, level = 0.95, exp = FALSE, intercept = FALSE, xlab = NULL, main = "", ...) {
  need_errors(x)
  r <- released(x, one_level(level))
  keep <- intercept | names(r$estimate) != "(Intercept)"
  f <- if (exp) base::exp else identity
  noise <- (r$high - r$estimate) * r$noise_se / r$se
  ends <- f(cbind(r$low, r$high, r$estimate - noise, r$estimate + noise, r$estimate))[keep, , drop = FALSE]
  n <- nrow(ends)
  y <- rev(seq_len(n))
  old <- graphics::par(mar = c(4.5, min(20, 2 + 0.55 * max(nchar(rownames(ends)))), 2, 1))
  on.exit(graphics::par(old))
  if (is.null(xlab)) xlab <- if (exp) c(binomial = "odds ratio", poisson = "rate ratio", Gamma = "ratio of means", cox = "hazard ratio", gaussian = "exp(coefficient)")[[x$family$family]] else "coefficient"
  graphics::plot(range(ends, f(0), na.rm = TRUE), c(0.5, n + 0.5), type = "n", log = if (exp) "x" else "", yaxt = "n", ylab = "", xlab = xlab, main = main, ...)
  graphics::abline(v = f(0), col = "grey")
  graphics::segments(ends[, 1], y, ends[, 2], y)
  graphics::segments(ends[, 3], y, ends[, 4], y, lwd = 5, col = "grey40", lend = 1)
  graphics::points(ends[, 5], y, pch = ifelse(is.na(ends[, 1]), 1, 19))
  graphics::axis(2, y, rownames(ends), las = 1, tick = FALSE)
  invisible(ends)
}

# ---- broom and emmeans ----

tidy.tacit <- function(x, conf.int = FALSE, conf.level = 0.95, exponentiate = FALSE, ...) {
  r <- released(x, one_level(conf.level))
  f <- if (exponentiate) exp else identity
  out <- data.frame(term = names(r$estimate), estimate = f(r$estimate), std.error = r$se, statistic = r$estimate / r$se, p.value = r$p, row.names = NULL)
  if (conf.int) out <- cbind(out, conf.low = unname(f(r$low)), conf.high = unname(f(r$high)))
  as_table(cbind(out, noise.share = unname((r$noise_se / r$se)^2)))
}

glance.tacit <- function(x, ...) {
  s <- released(x)$summary
  as_table(data.frame(nobs = x$nobs, epsilon = if (is.null(s$epsilon)) Inf else s$epsilon, delta = if (is.null(s$delta)) NA_real_ else s$delta, neighbours = s$neighbours,
                      family = x$family$family, errors = if (is.null(s$errors)) "none" else s$errors, solver = sub(":.*", "", s$solver)))
}

augment.tacit <- function(x, newdata = NULL, type.predict = c("link", "response"), level = 0.95, ...) {
  if (is.null(newdata)) usage("the model does not hold its records; give newdata")
  p <- predict.tacit(x, newdata, match.arg(type.predict), se.fit = TRUE, interval = "confidence", level = level)
  as_table(cbind(as.data.frame(newdata), .fitted = unname(p$fit[, 1]), .lower = unname(p$fit[, 2]), .upper = unname(p$fit[, 3]), .se.fit = unname(p$se.fit)))
}

as_table <- function(x) if (requireNamespace("tibble", quietly = TRUE)) tibble::as_tibble(x) else x

# A reference grid from public facts: all levels, and the middle of the bounds.
recover_data.tacit <- function(object, data, ...) {
  frame <- public_frame(need_spec(object))
  structure(frame, call = object$call, terms = stats::delete.response(object$spec$terms), predictors = names(frame), responses = character())
}

public_frame <- function(spec) {
  names <- all.vars(stats::delete.response(spec$terms))
  levels <- lapply(stats::setNames(names, names), function(name) {
    of <- Filter(function(p) identical(p$category, name), spec$parts)
    if (length(of)) of[[1]]$listed
  })
  rows <- 3 * max(1, lengths(levels)) # with three values emmeans takes the mean, which is the middle
  as.data.frame(lapply(stats::setNames(names, names), function(name) {
    ends <- spec$facts$bounds[[name]]
    if (is.null(levels[[name]])) rep(ends[1] + (ends[2] - ends[1]) * c(0, 0.5, 1), length.out = rows) else factor(rep(levels[[name]], length.out = rows), levels[[name]])
  }), optional = TRUE)
}

emm_basis.tacit <- function(object, trms, xlev, grid, ...) {
  need_errors(object)
  r <- released(object)
  x <- model.matrix.tacit(object, grid)
  least <- min(r$df)
  list(X = x, bhat = r$estimate, nbasis = matrix(NA), V = r$vcov, dffun = function(k, dfargs) dfargs$df, dfargs = list(df = least),
       misc = emmeans::.std.link.labels(object$family, list()))
}
