# glm.R - the settings of a fit, the fit, and R's own names of models over it.

families <- c(gaussian = "identity", binomial = "logit", poisson = "log", Gamma = "log")

family_of <- function(family) {
  if (is.character(family) && length(family) == 1) family <- get0(family, asNamespace("stats"), mode = "function")
  if (is.function(family)) family <- tryCatch(family(), error = function(e) NULL)
  if (inherits(family, "tacit_family")) return(family)
  if (!inherits(family, "family")) usage("family is not known; write binomial, gaussian, poisson or Gamma(\"log\")")
  name <- family$family
  if (startsWith(name, "quasi"))
    usage("a quasi family has free variances, which errors = \"robust\" has too; write %s", if (name == "quasi") "gaussian" else sub("quasi", "", name))
  if (!name %in% names(families)) usage("the family %s is not offered; write binomial, gaussian, poisson or Gamma(\"log\")", name)
  if (family$link != families[[name]]) usage("the link %s is not offered; write %s(\"%s\")", family$link, name, families[[name]])
  family
}

# A family with a loss or a penalty of its own.
own_family <- function(family, ...) structure(utils::modifyList(unclass(family), list(...)), class = c("tacit_family", "family"))
cox_family <- own_family(list(family = "cox", link = "log", linkfun = log, linkinv = exp, mu.eta = exp))

# Left sides that are functions of one column: compared, or brought to another scale record by record.
comparisons <- c("==", "!=", "<", ">", "<=", ">=", "%in%", "!", "&", "|", "(", "I", "c", "is.na")
rescalings <- c("log", "log2", "log10", "log1p", "sqrt", "exp", "(", "I", "+", "-", "*", "/")

# What the left side becomes: the schema's label as json, and as columns(data) what the table has of it; its bounds.
label_of <- function(spec, family, data) {
  e <- spec$formula[[2]]
  if (named(e) == "cbind") usage("cbind() of successes and failures is not offered; give a record to each trial")
  if (family$family == "cox") return(follow_up(e, family, data))
  if (named(e) == "Surv") usage("Surv() is the left side of tacit_coxph(); take that")
  of <- all.vars(e)
  if (length(of) != 1) usage("the left side of the formula is one column, or a function of one; name one")
  allowed <- if (family$family == "binomial") comparisons else rescalings
  bad <- setdiff(all.names(e), c(of, allowed))
  if (length(bad)) usage("%s() on the left side is not offered; there are %s", bad[1], paste(setdiff(allowed, c("(", "c")), collapse = ", "))
  if (!is.null(data)) need_columns(of, data)
  (if (family$family == "binomial") binary_label else number_label)(e, deparsed(e), of, spec, family, data)
}

numbers_in <- function(data, name, why) {
  x <- data[[name]]
  if (inherits(x, "haven_labelled")) x <- unlabelled(x, "number")
  if (!is.numeric(x) && !is.logical(x)) refuse("data", "column %s is no number%s", name, why)
  as.numeric(x)
}

number_label <- function(e, name, of, spec, family, data) {
  ends <- spec$facts$bounds[[of]]
  if (is.null(ends) || inherits(ends, "Date")) no_bounds(of)
  scaled <- function(x) as.numeric(eval(e, stats::setNames(list(x), of), baseenv()))
  image <- sort(scaled(ends))
  if (length(image) != 2 || !all(is.finite(image))) usage("%s is not finite between the bounds of %s; give narrower ones", name, of)
  if (family$link == "log") {
    if (image[1] < 0 || image[2] <= 0)
      usage("the outcome has bounds from 0 to the largest one; write bounds = list(%s = c(0, %g))", of, max(image[2], 1))
    image[1] <- 0
  }
  list(json = list(name = name, lower = image[1], upper = image[2]), bounds = image, columns = function(data) {
    x <- numbers_in(data, of, ", and the family wants one; make it one")
    stats::setNames(list(arrow("g", if (is.symbol(e)) x else scaled(pmin(pmax(x, ends[1]), ends[2])))), name)
  })
}

# A time and an event of a person; what the library reads as its label is the time.
follow_up <- function(e, family, data) {
  of <- vapply(arguments(e), function(x) if (is.symbol(x)) as.character(x) else "", "")
  if (named(e) != "Surv" || length(of) != 2 || !all(nzchar(of))) usage("the left side is a time and an event of two columns; write Surv(days, died) ~ ...")
  if (!is.null(data)) need_columns(of, data)
  list(json = list(time = of[1], event = of[2], horizon = family$horizon), columns = function(data)
    lapply(stats::setNames(nm = of), function(name) arrow("g", numbers_in(data, name, "; make it one, an event 0 or 1"))))
}

binary_label <- function(e, name, of, spec, family, data) {
  levels <- spec$facts$levels[[of]]
  classes <- c("FALSE", "TRUE")
  if (is.symbol(e) && !is.null(levels)) {
    if (length(levels) != 2)
      usage("%s has %d levels, and binomial wants two; write e.g. %s == \"%s\" on the left side", of, length(levels), of, levels[length(levels)])
    classes <- levels
  } else if (is.symbol(e) && !is.logical(data[[of]])) {
    if (!is.null(data) && !is.numeric(data[[of]])) usage("the two values of %s are not given; add levels = list(%s = c(failure, success))", of, of)
    classes <- c("0", "1")
  }
  list(json = list(name = name, values = as.list(classes), positive = classes[2]),
       columns = function(data) stats::setNames(list(column_of(eval(e, data, baseenv()), of, "category")), name))
}

loss_of <- function(family, label, max_mean) {
  if (family$family != "poisson")
    return(family$loss %||% c(gaussian = "squared", binomial = "logistic", cox = "cox", Gamma = "gamma")[[family$family]])
  most <- if (is.null(max_mean)) label$bounds[2] else one_number(max_mean, "max_mean", "5")
  if (!(most > 0 && most <= exp(10))) usage("the largest count is no mean that can be fitted; give max_mean, at most 22026")
  sprintf("poisson:margin=%.17g", max(log(most), 1e-3))
}

# A column's name, as a name or as a text; no expression, which a model file could not say.
column_named <- function(e, what) {
  if (is.null(e)) return(NULL)
  if (!is.symbol(e) && !(is.character(e) && length(e) == 1)) usage("%s is a column of data; put it into the table, and name it", what)
  as.character(e)
}

seed_of <- function(seed) {
  if (is.null(seed)) return(NULL)
  seed <- one_number(seed, "seed", "1")
  if (seed < 0 || seed != floor(seed) || seed >= 2^53) usage("seed is a whole number from 0 on; write e.g. seed = 1")
  seed
}

budget_of <- function(epsilon, delta) {
  epsilon <- above_0(epsilon, "epsilon", "1")
  delta <- one_number(delta, "delta", "1e-6")
  if (delta < 0 || delta >= 1) usage("delta is at least 0 and below 1; write e.g. delta = 1e-6")
  list(epsilon = epsilon, delta = delta)
}

replaced <- function(neighbours) as.numeric(one_of(neighbours, "neighbours", c("add_remove", "replace_one")) == "replace_one")

# data: or what tacit_plan() asks, without any.
tacit_glm <- function(formula, family = stats::gaussian(), data, epsilon, delta, errors = "robust", bounds = NULL, levels = NULL,
                      missing = NULL, weights = NULL, weight_cap = NULL, offset = NULL, person = NULL, ledger = NULL, schema = NULL,
                      neighbours = "add_remove", max_mean = NULL, input_changed = NULL, seed = NULL, threads = NULL,
                      progress = FALSE, ...) {
  call <- match.call()
  no_more()
  if (base::missing(formula)) usage("formula is not given first; write e.g. tacit_glm(y ~ a + b, ...)")
  family <- family_of(family)
  budget <- budget_of(epsilon, delta)
  weights <- column_named(substitute(weights), "weights")
  if (is.null(weights) != is.null(weight_cap))
    usage("weights and weight_cap go together: larger weights are cut to weight_cap, from public knowledge; write e.g. weights = w, weight_cap = 5")
  if (!is.null(offset)) usage("an offset is a part of the formula; write offset(log(t)) there")
  rows <- if (!base::missing(data) && inherits(data, "tacit_rows")) data
  table <- if (is.null(rows)) check_table(if (!base::missing(data)) data)
  spec <- read_formula(formula, facts_of(bounds, levels, missing, schema), table, parent.frame())
  label <- label_of(spec, family, table)
  if (!is.null(one_text(person, "person")) && one_of(errors, "errors", c("robust", "model", "none")) != "none")
    usage("errors take each record to be of another person; give errors = \"none\" with person, or one record for each")
  beside <- c(spec$beside, if (!is.null(weights)) list(weight = list(of = weights, cap = one_number(weight_cap, "weight_cap", "5"))))
  unused <- lapply(setdiff(person, spec$fields), function(name) list(name = name, type = "ignore"))
  set <- c(budget, list(
    loss = loss_of(family, label, max_mean), penalty = family$penalty, errors = one_of(errors, "errors", c("robust", "model", "none")),
    replace_one = replaced(neighbours), label = label$json$name %||% label$json$time, person = person,
    schema = do.call(schema_text, c(list(spec), beside, list(label = label$json, unused = unused))),
    ledger = one_path(ledger, "ledger"), input_changed = one_text(input_changed, "input_changed"), seed = seed_of(seed),
    threads = if (!is.null(threads)) one_number(threads, "threads", "2"), progress = as.numeric(isTRUE(progress))))
  if (!is.null(rows)) return(planned(set, rows, spec))
  columns <- feature_columns(spec, table)
  more <- label$columns(table)
  columns[names(more)] <- more
  columns <- c(columns, columns_of(setdiff(vapply(beside, `[[`, "", "of"), names(columns)), table, "number"))
  columns <- c(columns, columns_of(setdiff(person, names(columns)), table, "category"))
  made <- checked(.Call(R_fit, columns, set))
  plan <- from_json(made[1])
  for (each in plan$warnings) warn(if (isTRUE(each$weakens)) "privacy" else "utility", each$text)
  if (!is.na(made[3])) warn("privacy", made[3])
  model_of(made[2], call, family, nrow(table), spec = spec, plan = plan)
}

# A model may be published, as it is or by saveRDS(): no part of it holds the table, nor an environment that may.
model_of <- function(text, call, family, nobs, ...) {
  if (inherits(call$formula, "formula")) environment(call$formula) <- globalenv()
  if (!is.language(call$data) && !is.null(call$data)) call$data <- quote(data)
  structure(list(model = text, call = call, family = family, nobs = nobs, ...), class = "tacit")
}

# What a user called, for update().
called <- function(fit, call) {
  if (inherits(fit, "tacit")) fit$call <- model_of("", call, NULL, 0)$call
  fit
}

tacit_lm <- function(formula, data, epsilon, delta, ..., moments = NULL) {
  if (!is.null(moments)) return(lm_of_moments(formula, moments, ...))
  called(tacit_glm(formula, stats::gaussian(), data, epsilon, delta, ...), match.call())
}

tacit_coxph <- function(formula, data, epsilon, delta, horizon, ...) {
  if (missing(horizon)) usage("horizon is not given, and has no default; write the time at which follow-up ends for all, from public knowledge")
  called(tacit_glm(formula, own_family(cox_family, horizon = above_0(horizon, "horizon", "3650")), data, epsilon, delta, ...), match.call())
}

tacit_lasso <- function(formula, data, epsilon, delta, lambda, ...) {
  penalty <- sprintf("l1:lambda=%.17g", above_0(lambda, "lambda", "0.01"))
  called(tacit_glm(formula, own_family(stats::gaussian(), penalty = penalty), data, epsilon, delta, errors = "none", ...), match.call())
}

tacit_svm <- function(formula, data, epsilon, delta, lambda = 0.01, ...) {
  penalty <- sprintf("l2:lambda=%.17g", above_0(lambda, "lambda", "0.01"))
  called(tacit_glm(formula, own_family(stats::binomial(), loss = "hinge", penalty = penalty), data, epsilon, delta, errors = "none", ...), match.call())
}
