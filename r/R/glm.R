# glm.R - the settings of a fit, the fit, and R's own names of models over it.

families <- c(gaussian = "identity", binomial = "logit", poisson = "log", Gamma = "log")

family_of <- function(family) {
  if (is.character(family) && length(family) == 1) family <- get0(family, asNamespace("stats"), mode = "function")
  if (is.function(family)) family <- tryCatch(family(), error = function(e) NULL)
  if (!inherits(family, "family")) usage("family is not known; write binomial, gaussian, poisson or Gamma(\"log\")")
  plain <- sub("^quasi", "", family$family)
  if (plain != family$family) usage("a quasi family has free variances, which errors = \"robust\" has too; write %s", if (nzchar(plain)) plain else "gaussian")
  if (!family$family %in% names(families)) usage("the family %s is not offered; write binomial, gaussian, poisson or Gamma(\"log\")", family$family)
  if (family$link != families[[family$family]]) usage("the link %s is not offered; write %s(\"%s\")", family$link, family$family, families[[family$family]])
  family
}

# Left sides that are functions of one column: compared, or brought to another scale record by record.
comparisons <- c("==", "!=", "<", ">", "<=", ">=", "%in%", "!", "&", "|", "(", "I", "c", "is.na")
rescalings <- c("log", "log2", "log10", "log1p", "sqrt", "exp", "(", "I", "+", "-", "*", "/")

# What the left side becomes: list(json = the schema's label, value = function(data) its column, column, bounds).
label_of <- function(spec, family, data) {
  e <- spec$formula[[2]]
  name <- deparsed(e)
  if (named(e) == "cbind") usage("cbind() of successes and failures is not offered; give a record to each trial")
  if (family$family == "cox") return(follow_up(e, spec, data))
  if (named(e) == "Surv") usage("Surv() is the left side of tacit_coxph(); take that")
  of <- all.vars(e)
  if (length(of) != 1) usage("the left side of the formula is one column, or a function of one; name one")
  functions <- setdiff(all.names(e), of)
  allowed <- if (family$family == "binomial") comparisons else rescalings
  if (is.call(e) && length(bad <- setdiff(functions, allowed))) usage("%s() on the left side is not offered; there are %s", bad[1], paste(setdiff(allowed, c("(", "c")), collapse = ", "))
  if (!is.null(data)) need_columns(of, data)
  if (family$family == "binomial") return(binary_label(e, name, of, spec, data))
  ends <- spec$facts$bounds[[of]]
  if (is.null(ends) || inherits(ends, "Date")) usage("bounds of %s are not given, and have no default; add bounds = list(%s = c(smallest, largest)), from public knowledge", of, of)
  image <- sort(as.numeric(eval(e, stats::setNames(list(ends), of), baseenv())))
  if (length(image) != 2 || !all(is.finite(image))) usage("%s is not finite between the bounds of %s; give narrower ones", name, of)
  if (family$link == "log" && (image[1] < 0 || image[2] <= 0)) usage("the outcome has bounds from 0 to the largest one; write bounds = list(%s = c(0, %g))", of, max(image[2], 1))
  if (family$link == "log") image[1] <- 0
  value <- function(data) {
    x <- data[[of]]
    if (inherits(x, "haven_labelled")) x <- unlabelled(x, "number")
    if (!is.numeric(x) && !is.logical(x)) refuse("data", "column %s is no number, and the family wants one; make it one", of)
    list(values = if (is.symbol(e)) as.numeric(x) else as.numeric(eval(e, stats::setNames(list(pmin(pmax(as.numeric(x), ends[1]), ends[2])), of), baseenv())))
  }
  list(json = list(name = name, lower = image[1], upper = image[2]), value = value, bounds = image, of = of)
}

# A time and an event of a person; what the library reads as its label is the time.
follow_up <- function(e, spec, data) {
  if (named(e) != "Surv" || length(e) != 3 || !is.symbol(e[[2]]) || !is.symbol(e[[3]])) usage("the left side is a time and an event of two columns; write Surv(days, died) ~ ...")
  time <- as.character(e[[2]])
  event <- as.character(e[[3]])
  if (!is.null(data)) need_columns(c(time, event), data)
  number <- function(name, data) {
    x <- data[[name]]
    if (!is.numeric(x) && !is.logical(x)) refuse("data", "column %s is no number; make it one, an event 0 or 1", name)
    list(values = as.numeric(x))
  }
  list(json = list(time = time, event = event, horizon = spec$facts$horizon), name = time, of = c(time, event), value = function(data) number(time, data),
       event = function(data) number(event, data))
}

cox_family <- structure(list(family = "cox", link = "log", linkfun = log, linkinv = exp, mu.eta = exp), class = "family")

binary_label <- function(e, name, of, spec, data) {
  levels <- spec$facts$levels[[of]]
  classes <- c("FALSE", "TRUE")
  value <- function(data) column_of(eval(e, data, baseenv()), name, "category")
  if (is.symbol(e) && !is.null(levels)) {
    if (length(levels) != 2) usage("%s has %d levels, and binomial wants two; write e.g. %s == \"%s\" on the left side", of, length(levels), of, levels[length(levels)])
    classes <- levels
  } else if (is.symbol(e) && is.null(data[[of]])) {
    classes <- c("0", "1")
  } else if (is.symbol(e) && !is.logical(data[[of]])) {
    if (!is.numeric(data[[of]])) usage("the two values of %s are not given; add levels = list(%s = c(failure, success))", of, of)
    classes <- c("0", "1")
  }
  json <- list(name = name, values = as.list(classes), positive = classes[2])
  list(json = json, value = if (is.symbol(e)) function(data) column_of(data[[of]], of, "category") else value, of = of)
}

settings_of <- function(family, label, errors, penalty, solver, epsilon, delta, neighbours, max_mean, more) {
  loss <- switch(family$family, gaussian = "squared", binomial = "logistic", cox = "cox", Gamma = "gamma", poisson = {
    most <- if (is.null(max_mean)) label$bounds[2] else one_number(max_mean, "max_mean", "5")
    if (!(most > 0 && most <= exp(10))) usage("the largest count is no mean that can be fitted; give max_mean, at most 22026")
    sprintf("poisson:margin=%.17g", max(log(most), 1e-3))
  })
  if (!is.character(errors) || length(errors) != 1 || !errors %in% c("none", "model", "robust")) usage("errors is \"robust\", \"model\" or \"none\"; write one of them")
  if (!is.character(neighbours) || !identical(neighbours %in% c("add_remove", "replace_one"), TRUE)) usage("neighbours is \"add_remove\" or \"replace_one\"; write one of them")
  c(list(loss = loss, penalty = penalty, solver = solver, errors = errors, epsilon = epsilon, delta = delta,
         replace_one = as.numeric(neighbours == "replace_one")), more)
}

# A column's name, as a name or as a text; no expression, which a model file could not say.
column_named <- function(e, what) {
  if (is.null(e) || (is.symbol(e) && nzchar(e)) || (is.character(e) && length(e) == 1)) return(if (!is.null(e)) as.character(e))
  usage("%s is a column of data; put it into the table, and name it", what)
}

# What the schema says of the columns that are neither features nor the left side.
beside_of <- function(weights, weight_cap) {
  if (is.null(weights) != is.null(weight_cap)) usage("weights and weight_cap go together: larger weights are cut to weight_cap, from public knowledge; write e.g. weights = w, weight_cap = 5")
  c(if (!is.null(weights)) list(weight = list(of = weights, cap = one_number(weight_cap, "weight_cap", "5"))))
}

seed_of <- function(seed) {
  if (is.null(seed)) return(NULL)
  seed <- one_number(seed, "seed", "1")
  if (seed < 0 || seed != floor(seed) || seed >= 2^53) usage("seed is a whole number from 0 on; write e.g. seed = 1")
  seed
}

budget_of <- function(epsilon, delta) {
  epsilon <- one_number(epsilon, "epsilon", "1")
  delta <- one_number(delta, "delta", "1e-6")
  if (epsilon <= 0) usage("epsilon is above 0; write e.g. epsilon = 1")
  if (delta < 0 || delta >= 1) usage("delta is at least 0 and below 1; write e.g. delta = 1e-6")
  list(epsilon = epsilon, delta = delta)
}

schema_text <- function(spec, label, person = NULL, beside = NULL) {
  columns <- json_columns(spec)
  unused <- setdiff(person, unlist(lapply(columns, `[[`, "name")))
  to_json(c(list(format = "tacit-schema", version = 2, columns = c(columns, lapply(unused, function(name) list(name = name, type = "ignore"))), terms = json_terms(spec)), beside, spec$beside, list(label = label$json)))
}

tacit_glm <- function(formula, family = stats::gaussian(), data, epsilon, delta, errors = "robust", bounds = NULL, levels = NULL,
                      missing = NULL, weights = NULL, weight_cap = NULL, offset = NULL, person = NULL, ledger = NULL, schema = NULL,
                      neighbours = "add_remove", max_mean = NULL, input_changed = NULL, seed = NULL, threads = NULL,
                      progress = FALSE, ...) {
  call <- match.call()
  no_more(match.call(expand.dots = FALSE)$..., setdiff(names(formals()), "..."))
  if (base::missing(formula)) usage("formula is not given first; write e.g. tacit_glm(y ~ a + b, ...)")
  if (base::missing(data)) usage("data is not given; give the data frame")
  fit(call, formula, family_of(family), data, budget_of(epsilon, delta), errors = errors, facts = facts_of(bounds, levels, missing, schema),
      weights = column_named(substitute(weights), "weights"), weight_cap = weight_cap, offset = offset, person = person, ledger = ledger, neighbours = neighbours, max_mean = max_mean,
      input_changed = input_changed, seed = seed, threads = threads, progress = progress)
}

fit <- function(call, formula, family, data, budget, errors, facts, weights = NULL, weight_cap = NULL, offset = NULL, person = NULL, ledger = NULL,
                neighbours = "add_remove", max_mean = NULL, input_changed = NULL, seed = NULL, threads = NULL, progress = FALSE,
                penalty = NULL, solver = NULL, loss = NULL) {
  force(budget)
  if (!is.null(offset)) usage("an offset is a part of the formula; write offset(log(t)) there")
  check_table(data)
  spec <- read_formula(formula, facts, data)
  label <- label_of(spec, family, data)
  person <- one_text(person, "person")
  if (!is.null(person) && errors != "none") usage("errors take each record to be of another person; give errors = \"none\" with person, or one record for each")
  beside <- beside_of(weights, weight_cap)
  more <- list(schema = schema_text(spec, label, person, beside), label = if (is.null(label$name)) label$json$name else label$name, person = person, ledger = one_path(ledger, "ledger"),
               input_changed = one_text(input_changed, "input_changed"), seed = seed_of(seed),
               threads = if (!is.null(threads)) one_number(threads, "threads", "2"), progress = as.numeric(isTRUE(progress)))
  set <- settings_of(family, label, errors, penalty, solver, budget$epsilon, budget$delta, neighbours, max_mean, more)
  if (!is.null(loss)) set$loss <- loss
  columns <- feature_columns(spec, data)
  columns[[more$label]] <- label$value(data)
  if (!is.null(label$event)) columns[[label$json$event]] <- label$event(data)
  for (each in setdiff(vapply(beside, `[[`, "", "of"), names(columns))) {
    need_columns(each, data)
    columns[[each]] <- column_of(data[[each]], each, "number")
  }
  if (!is.null(person)) {
    need_columns(person, data)
    if (!person %in% names(columns)) columns[[person]] <- column_of(data[[person]], person, "category")
  }
  made <- checked(.Call(R_fit, columns, set))
  plan <- from_json(made[2])
  for (each in plan$warnings) warn(if (isTRUE(each$weakens)) "privacy" else "utility", each$text)
  if (!is.na(made[3])) warn("privacy", made[3])
  model_of(made[1], call = without_records(call), family = family, spec = spec, nobs = nrow(data), plan = plan)
}

# A model may be published, as it is or by saveRDS(): no part of it holds the table, nor an environment that may.
without_records <- function(call) {
  if (inherits(call$formula, "formula")) environment(call$formula) <- globalenv()
  if (!is.language(call$data)) call$data <- quote(data)
  call
}

feature_columns <- function(spec, data) {
  names <- unique(unlist(lapply(spec$parts, `[[`, "columns")))
  beside <- vapply(spec$beside, `[[`, "", "of")
  need_columns(c(names, beside), data)
  categories <- unlist(lapply(spec$parts, `[[`, "category"))
  columns <- lapply(stats::setNames(names, names), function(name)
    column_of(data[[name]], name, if (name %in% categories) "category" else if (inherits(spec$facts$bounds[[name]], "Date")) "date" else "number"))
  for (name in setdiff(beside, names)) columns[[name]] <- column_of(data[[name]], name, "number")
  columns
}

model_of <- function(text, ..., class = NULL) structure(list(model = text, ...), class = c(class, "tacit"))

tacit_lm <- function(formula, data, epsilon, delta, ..., moments = NULL) {
  call <- match.call()
  if (!is.null(moments)) return(lm_of_moments(formula, moments, ...))
  fit <- tacit_glm(formula, stats::gaussian(), data, epsilon, delta, ...)
  fit$call <- without_records(call)
  fit
}

tacit_coxph <- function(formula, data, epsilon, delta, horizon, errors = "robust", bounds = NULL, levels = NULL, missing = NULL, ledger = NULL,
                        schema = NULL, neighbours = "add_remove", input_changed = NULL, seed = NULL, threads = NULL, progress = FALSE, ...) {
  call <- match.call()
  no_more(match.call(expand.dots = FALSE)$..., setdiff(names(formals()), "..."))
  if (base::missing(horizon)) usage("horizon is not given, and has no default; write the time at which follow-up ends for all, from public knowledge")
  if ((horizon <- one_number(horizon, "horizon", "3650")) <= 0) usage("horizon is above 0; write e.g. horizon = 3650")
  facts <- facts_of(bounds, levels, missing, schema)
  facts$horizon <- horizon
  fit(call, formula, cox_family, data, budget_of(epsilon, delta), errors = errors, facts = facts, ledger = ledger, neighbours = neighbours,
      input_changed = input_changed, seed = seed, threads = threads, progress = progress)
}

tacit_lasso <- function(formula, data, epsilon, delta, lambda, bounds = NULL, levels = NULL, missing = NULL, ledger = NULL, schema = NULL, seed = NULL, ...) {
  no_more(match.call(expand.dots = FALSE)$..., setdiff(names(formals()), "..."))
  lambda <- one_number(lambda, "lambda", "0.01")
  if (lambda <= 0) usage("lambda is above 0; write e.g. lambda = 0.01, or take tacit_lm()")
  fit(match.call(), formula, stats::gaussian(), data, budget_of(epsilon, delta), errors = "none", facts = facts_of(bounds, levels, missing, schema),
      ledger = ledger, seed = seed, penalty = sprintf("l1:lambda=%.17g", lambda))
}

tacit_svm <- function(formula, data, epsilon, delta, lambda = 0.01, bounds = NULL, levels = NULL, missing = NULL, ledger = NULL, schema = NULL, seed = NULL, ...) {
  no_more(match.call(expand.dots = FALSE)$..., setdiff(names(formals()), "..."))
  lambda <- one_number(lambda, "lambda", "0.01")
  if (lambda <= 0) usage("lambda is above 0; write e.g. lambda = 0.01")
  fit(match.call(), formula, stats::binomial(), data, budget_of(epsilon, delta), errors = "none", facts = facts_of(bounds, levels, missing, schema),
      ledger = ledger, seed = seed, loss = "hinge", penalty = sprintf("l2:lambda=%.17g", lambda))
}
