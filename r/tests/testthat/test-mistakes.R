# Sixty mistakes of people who know glm: one sentence each, in R's words, before anything is spent.
try_fit <- function(formula = y ~ x + g, family = binomial(), data = people, epsilon = 1, delta = 1e-6, bounds = BOUNDS, levels = LEVELS, ...)
  tacit_glm(formula, family, data, epsilon, delta, bounds = bounds, levels = levels, ...)
without <- function(list, name) list[setdiff(names(list), name)]
gappy <- transform(people, x = replace(x, 3, NA))
mistakes <- list(
  "epsilon = 1" = function() tacit_glm(y ~ x, binomial, people, delta = 1e-6),
  "delta = 1e-6" = function() tacit_glm(y ~ x, binomial, people, epsilon = 1),
  "epsilon is above 0" = function() try_fit(epsilon = -1),
  "epsilon is one number" = function() try_fit(epsilon = "1"),
  "epsilon is one number" = function() try_fit(epsilon = c(1, 2)),
  "delta is at least 0 and below 1" = function() try_fit(delta = 1),
  "data is not given" = function() tacit_glm(y ~ x, binomial, epsilon = 1, delta = 1e-6),
  "data is no data frame" = function() try_fit(data = as.list(people)),
  "data is a matrix" = function() try_fit(data = as.matrix(people)),
  "no records" = function() try_fit(data = people[0, ]),
  "no column xx; is x meant" = function() try_fit(y ~ xx, bounds = c(BOUNDS, list(xx = c(0, 1)))),
  "data has no column income" = function() try_fit(y ~ income, bounds = c(BOUNDS, list(income = c(0, 1)))),
  "data has no column yy; is y meant" = function() try_fit(yy ~ x),
  "bounds of x are not given" = function() try_fit(bounds = without(BOUNDS, "x")),
  "a factor's own levels are read from the records" = function() try_fit(levels = without(LEVELS, "g")),
  "levels of g are not given" = function() try_fit(data = transform(people, g = as.character(g)), levels = without(LEVELS, "g")),
  "the two values of y are not given" = function() try_fit(levels = without(LEVELS, "y")),
  "y has 3 levels" = function() try_fit(levels = c(without(LEVELS, "y"), list(y = c("no", "yes", "maybe")))),
  "bounds of z are not given" = function() try_fit(z ~ x, gaussian, bounds = without(BOUNDS, "z")),
  "begin with the larger one" = function() try_fit(bounds = c(without(BOUNDS, "x"), list(x = c(3, -1)))),
  "bounds of x are two numbers" = function() try_fit(bounds = c(without(BOUNDS, "x"), list(x = 3))),
  "bounds of x are two numbers" = function() try_fit(bounds = c(without(BOUNDS, "x"), list(x = c(-Inf, 3)))),
  "both bounds and levels" = function() try_fit(levels = c(LEVELS, list(x = c("1", "2")))),
  "a list with the columns' names" = function() try_fit(bounds = c(-1, 3)),
  "levels of g is a factor" = function() try_fit(levels = c(without(LEVELS, "g"), list(g = people$g))),
  "has a value twice" = function() try_fit(levels = c(without(LEVELS, "g"), list(g = c("a", "a")))),
  "stands for what the table holds" = function() try_fit(y ~ .),
  "scale\\(\\) reads the records" = function() try_fit(y ~ scale(x)),
  "poly\\(x, 2, raw = TRUE\\)" = function() try_fit(y ~ poly(x, 2)),
  "takes its breaks from the records" = function() try_fit(y ~ cut(x, 3)),
  "reach over the bounds" = function() try_fit(y ~ cut(x, c(0, 1))),
  "knots are public" = function() try_fit(y ~ ns(x, knots = quantile(x, .5))),
  "at the bounds, -1 and 3" = function() try_fit(y ~ ns(x, knots = 1, Boundary.knots = c(0, 3))),
  "knots are public" = function() try_fit(y ~ bs(x)),
  "no function that can be public" = function() try_fit(y ~ sin(x)),
  "log\\(x\\) is not finite between the bounds" = function() try_fit(y ~ log(x)),
  "two terms of the formula say the same" = function() try_fit(y ~ log(t) + log2(t)),
  "a line through the origin" = function() try_fit(z ~ x - 1, gaussian),
  "a product lacks the terms" = function() try_fit(y ~ g:h),
  "write offset\\(log\\(t\\)\\)" = function() try_fit(k ~ x + offset(2 * t), poisson),
  "bounds of t are not given" = function() try_fit(k ~ x + offset(log(t)), poisson, bounds = without(BOUNDS, "t")),
  "an exposure is of counts" = function() try_fit(z ~ x + offset(log(t)), gaussian),
  "an offset is a part of the formula" = function() try_fit(offset = people$t),
  "weights and weight_cap go together" = function() try_fit(weights = t),
  "weights is a column of data" = function() try_fit(weights = people$t, weight_cap = 2),
  "a right model know no weights" = function() try_fit(weights = t, weight_cap = 2, errors = "model"),
  "random effects are not offered" = function() try_fit(y ~ x + (1 | g)),
  "is no number, and a number is wanted" = function() try_fit(y ~ log(g)),
  "stands on both sides" = function() try_fit(y ~ x + y),
  "no left side" = function() try_fit(~ x),
  "no term on its right side" = function() try_fit(y ~ 1),
  "formula is not well formed" = function() try_fit("y ~ x +"),
  "cbind\\(\\) of successes" = function() try_fit(cbind(k, 10 - k) ~ x),
  "Surv\\(\\) is the left side of tacit_coxph" = function() try_fit(Surv(t, b) ~ x),
  "left side.*is not offered" = function() try_fit(scale(z) ~ x, gaussian),
  "write Gamma\\(.log.\\)" = function() try_fit(pos ~ x, Gamma),
  "the link probit is not offered" = function() try_fit(family = binomial("probit")),
  "a quasi family has free variances" = function() try_fit(k ~ x, quasipoisson),
  "family is not known" = function() try_fit(family = "bernoulli") ,
  "family is not known" = function() try_fit(family = 3),
  "the outcome has bounds from 0" = function() try_fit(z ~ x, poisson),
  "errors is" = function() try_fit(errors = "sandwich"),
  "is epsilon meant" = function() tacit_glm(y ~ x, binomial, people, epsylon = 1, delta = 1e-6),
  "no argument subset|left out by their values" = function() try_fit(subset = x > 0),
  "records are not dropped" = function() try_fit(na.action = na.omit),
  "is levels meant" = function() try_fit(lewels = LEVELS),
  "let missing = list\\(x = \"indicator\"\\) mark it" = function() try_fit(data = gappy),
  "not in the schema's list" = function() try_fit(data = transform(people, g = as.character(replace(g, 1, "b")), y = y), levels = c(without(LEVELS, "g"), list(g = c("a", "c")))),
  "holds texts" = function() try_fit(y ~ u, data = transform(people, u = as.character(u))),
  "is a date, which has functions" = function() try_fit(y ~ day),
  "is no date, and" = function() try_fit(y ~ year(x)),
  "no plain vector" = function() try_fit(data = within(people, x <- I(as.list(x)))),
  "label.*not|not.*list" = function() try_fit(b ~ x, data = transform(people, b = b + 1)),
  "the reference of g is not among" = function() try_fit(y ~ relevel(g, ref = "z")),
  "standard errors" = function() vcov(suppressWarnings(try_fit(errors = "none"))),
  "newdata" = function() predict(fit(y ~ x, binomial)),
  "no column g" = function() predict(fit(y ~ x + g, binomial), people["x"]),
  "level lies between 0 and 1" = function() confint(fit(y ~ x, binomial), level = 95),
  "interval = \"confidence\"" = function() predict(fit(z ~ x), people, interval = "prediction"),
  "no model of tacit" = function() tacit_report(lm(z ~ x, people), tempfile()),
  "no file" = function() tacit_verify("nowhere.json"),
  "no file" = function() read_tacit_model("nowhere.json"),
  "rows is not given" = function() tacit_plan(y ~ x, binomial, epsilon = 1, delta = 1e-6, bounds = BOUNDS, levels = LEVELS),
  "assumed of \"x\"" = function() tacit_plan(y ~ x, binomial, 500, 1, 1e-6, bounds = BOUNDS, levels = LEVELS, assume = list(x = 3)),
  "assumed of \"xx\"" = function() tacit_plan(y ~ x, binomial, 500, 1, 1e-6, bounds = BOUNDS, levels = LEVELS, assume = list(xx = 3)),
  "effect has numbers, named by the coefficients" = function() tacit_plan(y ~ x, binomial, 500, 1, 1e-6, bounds = BOUNDS, levels = LEVELS, effect = c(q = 1)),
  "lambda = 0.01" = function() tacit_lasso(z ~ x, people, 1, 1e-6, bounds = BOUNDS),
  "seed is a whole number" = function() try_fit(seed = -1),
  "ledger" = function() try_fit(ledger = file.path(tempdir(), "nowhere.ledger")),
  "with person" = function() try_fit(person = "k"))

test_that("there are sixty", {
  expect_gte(length(mistakes), 60)
})

secrets <- format(c(people$x[1:50], people$z[1:50]), digits = 6)
for (k in seq_along(mistakes)) local({
  k <- k
  test_that(paste("mistake", k, names(mistakes)[k]), {
    e <- tryCatch(mistakes[[k]](), tacit_error = identity, error = function(e) fail(paste("not a condition of tacit:", conditionMessage(e))))
    expect_s3_class(e, "tacit_error")
    said <- conditionMessage(e)
    expect_match(said, names(mistakes)[k])
    expect_match(said, "[;:,] ") # what is wrong, then what to do
    expect_false(grepl("\\. [A-Z]|\n|--[a-z]|random_state|tct_|False|True\\b", said)) # one sentence, and no word of another door
    expect_false(any(vapply(trimws(secrets), grepl, NA, said, fixed = TRUE)))
    if (nzchar(Sys.getenv("TACIT_R_SAID"))) cat(said, "\n")
  })
})
