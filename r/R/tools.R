# tools.R - plans, studies, ledgers, verification, reports and model files.

tacit_plan <- function(formula, family = stats::gaussian(), rows, epsilon, delta, errors = "robust", bounds = NULL, levels = NULL,
                       missing = NULL, schema = NULL, neighbours = "add_remove", max_mean = NULL, ...) {
  no_more(match.call(expand.dots = FALSE)$..., setdiff(names(formals()), "..."))
  rows <- one_number(rows, "rows", "10000")
  if (rows < 1 || rows != floor(rows)) usage("rows is the number of records; write e.g. rows = 10000")
  family <- family_of(family)
  budget <- budget_of(epsilon, delta)
  spec <- read_formula(formula, facts_of(bounds, levels, missing, schema))
  label <- label_of(spec, family, NULL)
  path <- tempfile(fileext = ".json")
  on.exit(unlink(path))
  writeLines(schema_text(spec, label), path)
  set <- settings_of(family, label, errors, NULL, NULL, budget$epsilon, budget$delta, neighbours, max_mean, list())
  plan <- from_json(checked(.Call(R_plan, path, set, rows)))
  structure(list(plan = plan, rows = rows, columns = spec$columns, notes = spec$notes), class = "tacit_plan")
}

print.tacit_plan <- function(x, ...) {
  p <- x$plan
  cat(sprintf("%s records, %d coefficients, solver %s\nepsilon %g, delta %g, proved by %s\n", format(x$rows, big.mark = ","), length(x$columns), sub(":.*", "", p$solver), p$epsilon, p$delta, p$accountant))
  for (text in c(unlist(p$note), vapply(p$warnings, function(w) paste("warning:", w$text), ""), x$notes)) cat(text, "\n", sep = "")
  invisible(x)
}

tacit_study <- function(plan, data = NULL, rows = NULL, ledger = NULL, output = NULL, input_changed = NULL, seed = NULL, threads = NULL) {
  asked <- if (is.list(plan)) to_json(plan) else one_text(plan, "plan")
  if (is.null(data)) return(from_json(checked(.Call(R_study, asked, one_number(rows, "rows", "10000"), NULL, NULL, NULL))))
  columns <- NULL
  if (is.data.frame(data)) {
    check_table(data)
    columns <- lapply(stats::setNames(names(data), names(data)), function(name) column_of(data[[name]], name, if (inherits(data[[name]], c("Date", "POSIXt"))) "date" else "any"))
  }
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
  path <- one_text(path, "path")
  inline <- grepl("{", path, fixed = TRUE)
  if (!inline && !file.exists(path)) usage("there is no file at path; give the path of a model file")
  made <- checked(.Call(R_model, if (!inline) path.expand(path), if (inline) path, one_text(stage, "stage"), "model", 0.95))
  facts <- from_json(made[1])
  family <- switch(sub(":.*", "", facts$loss), squared = stats::gaussian(), poisson = stats::poisson(), gamma = stats::Gamma("log"), cox = cox_family, stats::binomial())
  model_of(made[1], call = quote(read_tacit_model()), family = family, nobs = facts$rows)
}

tacit_write <- function(fit, path) {
  checked(.Call(R_write, need_model(fit), need_path(path, "path"), NULL))
  invisible(path)
}

need_model <- function(fit) if (inherits(fit, "tacit")) fit$model else usage("fit is no model of tacit; give what tacit_glm() gave")

tacit_verify <- function(fit, ledger = NULL, policy = NULL) {
  inline <- inherits(fit, "tacit") || inherits(fit, "tacit_study") || grepl("{", fit, fixed = TRUE)
  text <- if (inherits(fit, "tacit")) fit$model else if (inherits(fit, "tacit_study")) fit$text else fit
  if (!inline && !file.exists(text)) usage("there is no file of that name; give a model, its text, or the path of its file")
  structure(from_json(checked(.Call(R_verify, if (!inline) one_path(text, "fit"), if (inline) text, one_path(ledger, "ledger"), text_in(policy, "policy")))), class = "tacit_verification")
}

print.tacit_verification <- function(x, ...) {
  cat("verdict:", x$verdict, "\n")
  for (check in x$checks) cat(sprintf("%-7s %s: %s\n", if (check$ok) "ok" else "FAILED", check$name, check$text))
  for (rule in x$policy$rules) cat(sprintf("%-7s policy, %s: %s\n", if (rule$ok) "ok" else "FAILED", rule$rule, rule$text))
  invisible(x)
}

text_in <- function(path, name) if (!is.null(path)) paste(readLines(need_path(path, name), warn = FALSE), collapse = "\n")

tacit_report <- function(fit, path, title = NULL, purpose = NULL, contact = NULL, scores = NULL, policy = NULL, ledger = NULL) {
  page <- list(title = one_text(title, "title"), purpose = one_text(purpose, "purpose"), contact = one_text(contact, "contact"),
               scores = text_in(scores, "scores"), policy = text_in(policy, "policy"), ledger = one_path(ledger, "ledger"))
  checked(.Call(R_write, need_model(fit), need_path(path, "path"), page))
  invisible(path)
}

tacit_ledger <- function(path, epsilon = NULL, delta = NULL, name = NULL, people = NULL, persons = FALSE, for_tests = FALSE, neighbours = "add_remove") {
  path <- need_path(path, "path")
  make <- if (!is.null(epsilon) || !is.null(delta))
    c(budget_of(epsilon, delta), list(name = one_text(name, "name"), people = one_text(people, "people"), persons = as.numeric(persons), for_tests = as.numeric(for_tests), replace_one = as.numeric(neighbours == "replace_one")))
  structure(from_json(checked(.Call(R_ledger, path, make))), class = "tacit_ledger")
}

print.tacit_ledger <- function(x, ...) {
  cat(sprintf("Ledger %s: epsilon %g, delta %g; left epsilon %g, delta %g; %d runs\n", if (is.null(x$name)) "" else x$name, x$epsilon, x$delta, x$left$epsilon, x$left$delta, length(x$runs)))
  for (run in x$runs) cat(sprintf("  %s  epsilon %g, delta %g  %s\n", run$time, run$epsilon, run$delta, run$what))
  invisible(x)
}

tacit_generate <- function(path, rows = 20000, outcome = c("class", "number"), seed = 1) {
  path <- need_path(path, "path")
  schema <- paste0(sub("[.]csv$", "", path), ".schema.json")
  checked(.Call(R_generate, path, schema, match.arg(outcome) == "number", one_number(rows, "rows", "20000"), seed_of(seed)))
  invisible(schema)
}
