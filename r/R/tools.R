# tools.R - plans, studies, ledgers, verification, reports and model files.

tacit_plan <- function(formula, family = stats::gaussian(), rows, epsilon, delta, ..., effect = NULL, assume = NULL,
                       tries = if (rows > 1e6) 0 else 10) {
  if (missing(rows) || one_number(rows, "rows", "10000") < 1 || rows != floor(rows)) usage("rows is not given, or no number of records; write e.g. rows = 10000")
  ask <- list(rows = rows, effect = effect, assume = named_list(assume, "assume", "age = c(45, 12)"), tries = one_number(tries, "tries", "10"))
  tacit_glm(formula, family, structure(ask, class = "tacit_rows"), epsilon, delta, ...)
}

planned <- function(set, ask, spec, label, family, beside) {
  set[c("file", "rows")] <- list(tempfile(fileext = ".json"), ask$rows)
  on.exit(unlink(set$file))
  writeLines(set$schema, set$file)
  plan <- from_json(checked(.Call(R_fit, NULL, set))[1])
  weights <- if (set$errors != "none" && ask$tries > 0) expected(set, ask, spec, label, family, beside)
  structure(list(plan = plan, rows = ask$rows, columns = spec$columns, notes = spec$notes, weights = weights), class = "tacit_plan")
}

# Fits of an invented table, where columns have the effects that are given: what they say of each coefficient.
expected <- function(set, ask, spec, label, family, beside) {
  check_assumed(ask$assume, spec)
  b <- ask$effect[spec$columns]
  if (!is.null(ask$effect) && (!is.numeric(ask$effect) || sum(is.finite(b)) < length(ask$effect)))
    usage("effect has numbers, named by the coefficients %s; write e.g. effect = c(%s = 0.1)", paste(spec$columns, collapse = ", "), spec$columns[2])
  rows <- gapped(public_points(spec, ask$rows, ask$assume))
  eta <- if (is.null(b)) numeric(ask$rows) else as.vector(features(spec, rows) %*% (spec$map %*% replace(b, is.na(b), 0)))
  ratio <- exp(eta - max(eta)) / mean(exp(eta - max(eta)))
  u <- even(2 * length(spec$fields) + 1, ask$rows)
  of <- all.vars(spec$formula[[2]])
  a <- ask$assume[[of[length(of)]]] %||% switch(family$family, binomial = 0.5, cox = 0.3, gaussian = diff(label$bounds) / 6, label$bounds[2] / 5)
  within <- function(x) list(arrow("g", pmin(pmax(x, label$bounds[1]), label$bounds[2])))
  outcome <- switch(family$family,
    binomial = {
      at <- stats::uniroot(function(c) mean(stats::plogis(eta + c)) - a, c(-40, 40) - range(eta)[2:1])$root
      list(arrow("i", 1L + (u < stats::plogis(eta + at)), unlist(label$json$values)))
    },
    gaussian = within(mean(label$bounds) + eta - mean(eta) + stats::qnorm(u, 0, a)),
    poisson = within(stats::qpois(u, a * ratio)),
    Gamma = within(stats::qexp(u, 1 / (a * ratio))),
    cox = {
      time <- stats::qexp(u, -log1p(-a) / family$horizon * ratio)
      list(arrow("g", pmin(time, family$horizon)), arrow("g", as.numeric(time < family$horizon)))
    })
  names(outcome) <- if (family$family == "cox") of else label$json$name
  known <- lapply(beside, function(b) arrow("g", rep(b$cap %||% ((b$lower + b$upper) / 2), ask$rows)))
  columns <- c(feature_columns(spec, rows), outcome, stats::setNames(known, vapply(beside, `[[`, "", "of")))
  columns <- columns[!duplicated(names(columns))]
  set[c("ledger", "file")] <- NULL
  fits <- lapply(seq_len(ask$tries), function(k) {
    made <- checked(.Call(R_fit, columns, utils::modifyList(set, list(seed = k))))
    released(list(model = made[2], spec = spec))
  })
  each <- function(key) matrix(unlist(lapply(fits, `[[`, key)), length(spec$columns))
  middle <- function(x) apply(x, 1, stats::median, na.rm = TRUE)
  se <- each("se")
  half <- (each("high") - each("low")) / 2
  out <- data.frame(term = spec$columns, std.error = middle(se), width = 2 * middle(half), noise.share = middle((each("noise_se") / se)^2),
                    withheld = rowMeans(is.na(se)), detectable = middle(half + stats::qnorm(0.8) * se))
  if (is.null(b)) return(out)
  power <- stats::pnorm((abs(b) - half) / se) + stats::pnorm((-abs(b) - half) / se)
  cbind(out, power = rowMeans(replace(power, is.na(se) & !is.na(b), 0)))
}

# Of a number its mean and deviation, of a category its shares, of the outcome its rate, mean count or deviation.
check_assumed <- function(assume, spec) {
  of <- all.vars(spec$formula[[2]])
  for (name in names(assume)) {
    size <- if (name %in% of) 1 else length(spec$categories[[name]]$listed %||% 1:2)
    x <- assume[[name]]
    if (!name %in% c(of, spec$fields)) usage("assume has no column %s of the formula; %s", name, meant(name, c(of, spec$fields), "name one"))
    if (!is.numeric(x) || length(x) != size || !all(is.finite(x)) || x[size] <= 0 || (!is.null(spec$categories[[name]]) && size > 1 && (any(x < 0) || abs(sum(x) - 1) > 1e-6)))
      usage("assume has of a number its mean and deviation, of a category the shares of its levels, of the outcome one rate, mean or deviation; write it so for %s", name)
  }
}

print.tacit_plan <- function(x, ...) {
  p <- x$plan
  cat(sprintf("%s records, %d coefficients, solver %s\nepsilon %g, delta %g, proved by %s\n", format(x$rows, big.mark = ","), length(x$columns),
              sub(":.*", "", p$solver), p$epsilon, p$delta, p$accountant))
  for (text in c(unlist(p$note), vapply(p$warnings, function(w) paste("warning:", w$text), ""), x$notes)) cat(text, "\n", sep = "")
  if (is.null(x$weights)) return(invisible(x))
  print(format(x$weights, digits = 3), row.names = FALSE)
  cat("of invented tables that have what effect = and assume = say, else columns that are even and without effect; detectable: with power 0.8\n")
  invisible(x)
}

tacit_study <- function(plan, data = NULL, rows = NULL, ledger = NULL, output = NULL, input_changed = NULL, seed = NULL, threads = NULL) {
  asked <- if (is.list(plan)) to_json(plan) else one_text(plan, "plan")
  if (is.null(data)) return(from_json(checked(.Call(R_study, asked, one_number(rows, "rows", "10000"), NULL, NULL, NULL))))
  columns <- if (is.data.frame(data))
    columns_of(names(check_table(data)), data, function(name) if (inherits(data[[name]], c("Date", "POSIXt"))) "date" else "any")
  set <- list(ledger = one_path(ledger, "ledger"), output = one_path(output, "output"), input_changed = one_text(input_changed, "input_changed"), seed = seed_of(seed), threads = threads)
  made <- checked(.Call(R_study, asked, NULL, if (is.null(columns)) need_path(data, "data"), columns, set))
  if (!is.na(made[2])) warn("privacy", made[2])
  structure(list(text = made[1], file = from_json(made[1])), class = "tacit_study")
}

print.tacit_study <- function(x, ...) {
  cat("A study of", max(1, length(x$file$stages)), "stages; read_tacit_model(study$text, stage = ...) has their models\n")
  invisible(x)
}

read_tacit_model <- function(path, stage = NULL) {
  text <- checked(.Call(R_text, "model", path_or_text(path, "path"), one_text(stage, "stage"), NULL))
  facts <- from_json(text)
  family <- switch(sub(":.*", "", facts$loss), squared = stats::gaussian(), poisson = stats::poisson(), gamma = stats::Gamma("log"), cox = cox_family, stats::binomial())
  model_of(text, quote(read_tacit_model()), family, facts$rows)
}

need_model <- function(fit) if (inherits(fit, "tacit") && is.character(fit$model)) fit$model else usage("fit is no model of tacit; give what tacit_glm() gave")

tacit_write <- function(fit, path) {
  checked(.Call(R_write, need_model(fit), need_path(path, "path"), NULL))
  invisible(path)
}

tacit_report <- function(fit, path, title = NULL, purpose = NULL, contact = NULL, scores = NULL, policy = NULL, ledger = NULL) {
  page <- list(title = one_text(title, "title"), purpose = one_text(purpose, "purpose"), contact = one_text(contact, "contact"),
               scores = text_in(scores, "scores"), policy = text_in(policy, "policy"), ledger = one_path(ledger, "ledger"))
  checked(.Call(R_write, need_model(fit), need_path(path, "path"), page))
  invisible(path)
}

tacit_verify <- function(fit, ledger = NULL, policy = NULL) {
  answer <- checked(.Call(R_text, "verify", path_or_text(fit, "fit"), one_path(ledger, "ledger"), text_in(policy, "policy")))
  structure(from_json(answer), class = "tacit_verification")
}

print.tacit_verification <- function(x, ...) {
  cat("verdict:", x$verdict, "\n")
  said <- function(each, name) cat(sprintf("%-7s %s: %s\n", if (each$ok) "ok" else "FAILED", name, each$text))
  for (check in x$checks) said(check, check$name)
  for (rule in x$policy$rules) said(rule, paste0("policy, ", rule$rule))
  invisible(x)
}

tacit_ledger <- function(path, epsilon = NULL, delta = NULL, name = NULL, people = NULL, persons = FALSE, for_tests = FALSE, neighbours = "add_remove") {
  path <- need_path(path, "path")
  make <- if (!is.null(epsilon) || !is.null(delta))
    c(budget_of(epsilon, delta), list(name = one_text(name, "name"), people = one_text(people, "people"), persons = as.numeric(persons), for_tests = as.numeric(for_tests), replace_one = replaced(neighbours)))
  structure(from_json(checked(.Call(R_ledger, path, make))), class = "tacit_ledger")
}

print.tacit_ledger <- function(x, ...) {
  cat(sprintf("Ledger %s: epsilon %g, delta %g; left epsilon %g, delta %g; %d runs\n", x$name %||% "", x$epsilon, x$delta, x$left$epsilon, x$left$delta, length(x$runs)))
  for (run in x$runs) cat(sprintf("  %s  epsilon %g, delta %g  %s\n", run$time, run$epsilon, run$delta, run$what))
  invisible(x)
}

tacit_generate <- function(path, rows = 20000, outcome = c("class", "number"), seed = 1) {
  path <- need_path(path, "path")
  schema <- paste0(sub("[.]csv$", "", path), ".schema.json")
  checked(.Call(R_generate, path, schema, match.arg(outcome) == "number", one_number(rows, "rows", "20000"), seed_of(seed)))
  invisible(schema)
}
