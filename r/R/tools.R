# tools.R - plans, studies, ledgers, verification, reports and model files.

tacit_plan <- function(formula, family = stats::gaussian(), rows, epsilon, delta, ..., effect = NULL, assume = NULL,
                       tries = if (rows > 1e6) 0 else 10) {
  if (missing(rows) || one_number(rows, "rows", "10000") < 1 || rows != floor(rows)) usage("rows is not given, or no number of records; write e.g. rows = 10000")
  ask <- list(rows = rows, effect = effect, assume = named_list(assume, "assume", "age = c(45, 12)"), tries = one_number(tries, "tries", "10"))
  tacit_glm(formula, family, structure(ask, class = "tacit_rows"), epsilon, delta, ...)
}

planned <- function(set, ask, spec) {
  set[c("file", "rows")] <- list(tempfile(fileext = ".json"), ask$rows)
  on.exit(unlink(set$file))
  writeLines(set$schema, set$file)
  plan <- from_json(checked(.Call(R_fit, NULL, set))[1])
  weights <- if (set$errors != "none" && ask$tries > 0) expected(set, ask, spec)
  structure(list(plan = plan, rows = ask$rows, columns = spec$columns, notes = spec$notes, weights = weights), class = "tacit_plan")
}

# What fits of an invented table say of each coefficient; columns have the effects that are given.
expected <- function(set, ask, spec) {
  b <- ask$effect[spec$columns]
  if (!is.null(ask$effect) && (!is.numeric(ask$effect) || sum(is.finite(b)) < length(ask$effect)))
    usage("effect has numbers, named by the coefficients %s; write e.g. effect = c(%s = 0.1)", paste(spec$columns, collapse = ", "), spec$columns[2])
  asked <- list(tries = ask$tries, sums = lapply(seq_len(ncol(spec$sums)), function(k) as.list(spec$sums[, k])), assume = lapply(ask$assume, as.list))
  if (!length(asked$assume)) asked$assume <- NULL
  if (!is.null(b)) asked$weights <- as.list(as.vector(spec$map %*% replace(b, is.na(b), 0)))
  told <- from_json(checked(.Call(R_expect, set, ask$rows, to_json(asked))))$weights
  each <- function(key) vapply(told, function(w) w[[key]] %||% NA_real_, 0)
  out <- data.frame(term = spec$columns, std.error = each("standard_error"), most = each("standard_error_most"), width = each("width"), noise.share = each("noise_part"),
                    withheld = each("withheld"), detectable = each("detectable"))
  if (is.null(b)) out else cbind(out, power = replace(each("power"), is.na(b), NA))
}

print.tacit_plan <- function(x, ...) {
  p <- x$plan
  cat(sprintf("%s records, %d coefficients, solver %s\nepsilon %g, delta %g, proved by %s\n", format(x$rows, big.mark = ","), length(x$columns),
              sub(":.*", "", p$solver), p$epsilon, p$delta, p$accountant))
  for (text in c(unlist(p$note), vapply(p$warnings, function(w) paste("warning:", w$text), ""), x$notes)) cat(text, "\n", sep = "")
  if (is.null(x$weights)) return(invisible(x))
  print(format(x$weights, digits = 3), row.names = FALSE)
  cat("of invented tables that have what effect = and assume = say, else columns that are even and without effect; most: std.error where the others tell half (R2 0.5) of a column whose R2 is not said; detectable: with power 0.8\n")
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
