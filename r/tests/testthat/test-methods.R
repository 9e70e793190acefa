m <- fit(y ~ x + g, binomial, epsilon = 2)

test_that("what R says of a model is what tacit summary says of its file", {
  tacit <- Sys.getenv("TACIT")
  skip_if(!nzchar(tacit), "TACIT is not set")
  path <- tempfile(fileext = ".json")
  for (model in list(m, fit(z ~ g * x, epsilon = 1), fit(k ~ x + h, poisson, epsilon = 1))) {
    tacit_write(model, path)
    told <- from_json(paste(system2(tacit, c("summary", path, "--json", "--covariance"), stdout = TRUE), collapse = "\n"))
    lines <- c(list(told$intercept), told$weights)
    column <- function(key) vapply(lines, function(w) as.numeric(w[[key]]), 0)
    at <- match(names(coef(model)), c("(Intercept)", gsub("=", "", vapply(told$weights, `[[`, "", "name"))))
    expect_equal(unname(coef(model)), column("estimate")[at], tolerance = 1e-12)
    expect_equal(unname(summary(model)$coefficients[, 2:4]), cbind(column("standard_error"), column("z"), column("p_value"))[at, ], tolerance = 1e-12)
    expect_equal(unname(confint(model)), cbind(column("lower"), column("upper"))[at, ], tolerance = 1e-12)
    expect_equal(unname(diag(vcov(model))), column("standard_error")[at]^2, tolerance = 1e-12)
  }
})

test_that("a prediction is the design times the coefficients, and by the file the same", {
  path <- tempfile(fileext = ".json")
  some <- people[1:200, ]
  for (formula in list(z ~ x * g, z ~ ns(x, 3) + cut(t, c(0, 5, 20)), z ~ g - 1 + I(x / 10), z ~ poly(x, 2, raw = TRUE) * h, z ~ C(g, contr.sum), z ~ year(day) + month(day) + log(pos))) {
    model <- fit(formula, epsilon = 3)
    p <- predict(model, some, se.fit = TRUE, interval = "confidence")
    expect_equal(unname(p$fit[, 1]), as.vector(model.matrix(model, some) %*% coef(model)), tolerance = 1e-9)
    expect_true(all(p$fit[, 2] < p$fit[, 1] & p$fit[, 1] < p$fit[, 3], na.rm = TRUE))
    half <- function(level) { q <- predict(model, some, interval = "confidence", level = level); (q[, 3] - q[, 2]) / 2 / p$se.fit }
    df <- vapply(half(0.95), function(h) if (is.na(h) || h < 1.9601) Inf else uniroot(function(df) qt(0.975, df) - h, c(0.05, 1e7))$root, 0) # where se.fit is right, one df goes with all levels
    expect_equal(half(0.8), qt(0.9, df), tolerance = 1e-4, ignore_attr = TRUE)
    tacit_write(model, path)
    read <- read_tacit_model(path)
    expect_identical(unname(predict(read, some)), unname(p$fit[, 1]))
    expect_output(print(summary(read)), "differential privacy")
  }
  expect_equal(predict(m, some, "response"), plogis(predict(m, some)))
  expect_identical(levels(predict(m, some, "class")), LEVELS$y)
})

test_that("columns outside of their bounds count as the bounds, on both ways", {
  far <- data.frame(x = c(-50, 50), g = c("a", "c"))
  expect_equal(predict(m, far), predict(m, data.frame(x = c(-1, 3), g = c("a", "c"))))
  expect_equal(unname(predict(m, far)), as.vector(model.matrix(m, far) %*% coef(m)))
})

test_that("gaps are marked", {
  d <- transform(people, v = ifelse(runif(ROWS) < .3, NA, x))
  model <- fit(z ~ v * g, data = d, bounds = c(BOUNDS, list(v = c(-1, 3))), missing = list(v = "indicator"))
  expect_true(all(c("vNA", "vNA:gb") %in% names(coef(model))))
  some <- d[1:50, ]
  expect_equal(unname(predict(model, some)), as.vector(model.matrix(model, some) %*% coef(model)), tolerance = 1e-9)
  d$w <- replace(d$t, runif(ROWS) < .2, NA)
  d$q <- replace(d$g, runif(ROWS) < .1, NA)
  more <- c(BOUNDS, list(v = c(-1, 3), w = c(1, 20)))
  for (formula in list(z ~ log(w) * h, z ~ poly(w, 2, raw = TRUE) + g, z ~ ns(w, 3) * h, z ~ v + I(v^2), z ~ cut(w, c(0, 5, 20)) + x, z ~ I(v^2) * h, z ~ v * w, z ~ C(q, contr.sum) + v)) {
    model <- fit(formula, data = d, bounds = more, levels = c(LEVELS, list(q = LEVELS$g)), missing = list(v = "indicator", w = "indicator", q = "indicator"))
    expect_equal(unname(predict(model, d[1:50, ])), as.vector(model.matrix(model, d[1:50, ]) %*% coef(model)), tolerance = 1e-8)
  }
  filled <- fit(z ~ v, data = d, bounds = c(BOUNDS, list(v = c(-1, 3))), missing = list(v = 1))
  expect_equal(unname(predict(filled, some)), as.vector(model.matrix(filled, some) %*% coef(filled)), tolerance = 1e-9)
  expect_error(fit(z ~ v, data = d, bounds = c(BOUNDS, list(v = c(-1, 3)))), class = "tacit_data_error")
})

test_that("intervals, tests and tables are R's", {
  expect_identical(dimnames(vcov(m)), list(names(coef(m)), names(coef(m))))
  expect_true(all(diag(vcov(m, "noise")) < diag(vcov(m))))
  expect_identical(colnames(confint(m, level = 0.9)), c("5 %", "95 %"))
  expect_equal(confint(m, "x", exp = TRUE), exp(confint(m)["x", , drop = FALSE]))
  a <- anova(m)
  expect_identical(rownames(a), c("x", "g"))
  expect_equal(a["x", "Chisq"], unname((coef(m) / sqrt(diag(vcov(m))))["x"]^2))
  expect_equal(a["x", 4], unname(summary(m)$coefficients["x", 4]))
  expect_equal(nobs(m), ROWS)
  expect_identical(family(m)$link, "logit")
  expect_equal(formula(m), y ~ x + g, ignore_attr = TRUE)
  expect_output(print(m), "gb")
  expect_output(print(summary(m, exp = TRUE)), "exp\\(Est")
  shorter <- suppressWarnings(update(tacit_glm(y ~ x + g, binomial, people, 2, 1e-6, bounds = BOUNDS, levels = LEVELS, seed = 1), . ~ . - g))
  expect_identical(names(coef(shorter)), c("(Intercept)", "x"))
})

test_that("a weight without an interval is NA, and so is what holds it", {
  few <- fit(z ~ g - 1 + x, data = people[1:150, ], epsilon = 0.5)
  plain <- fit(z ~ g + x, data = people[1:150, ], epsilon = 0.5)
  hidden <- is.na(summary(plain)$coefficients[, 2])
  expect_true(any(hidden))
  expect_identical(unname(is.na(summary(few)$coefficients["gb", 2])), any(hidden[c("(Intercept)", "gb")]))
  expect_output(print(summary(few)), "noise")
  expect_true(all(is.finite(coef(few))))
  expect_true(any(is.na(predict(few, people[1:9, ], se.fit = TRUE)$se.fit)))
})

test_that("broom and emmeans", {
  t <- tidy(m, conf.int = TRUE, exponentiate = TRUE)
  expect_identical(names(t)[1:7], c("term", "estimate", "std.error", "statistic", "p.value", "conf.low", "conf.high"))
  expect_equal(t$conf.low, unname(exp(confint(m)[, 1])))
  expect_equal(glance(m)$epsilon, 2)
  expect_identical(dim(augment(m, people[1:3, c("x", "g")])), c(3L, 6L))
  skip_if_not_installed("emmeans")
  e <- as.data.frame(emmeans::emmeans(m, "g"))
  expect_equal(e$emmean, unname(predict(m, data.frame(x = 1, g = LEVELS$g)))) # 1 is the middle of x
  exact <- glm(y ~ x + g, binomial, people)
  close <- as.data.frame(emmeans::emmeans(fit(y ~ x + g, binomial), "g"))
  expect_equal(close$emmean, as.data.frame(emmeans::emmeans(exact, "g", at = list(x = 1)))$emmean, tolerance = 1e-3)
  expect_equal(close$SE, as.data.frame(emmeans::emmeans(exact, "g", at = list(x = 1)))$SE, tolerance = 0.05)
})

test_that("the forest plot is drawn", {
  path <- tempfile(fileext = ".pdf")
  grDevices::pdf(path)
  ends <- plot(m, exp = TRUE)
  grDevices::dev.off()
  expect_equal(unname(ends[, 1:2]), unname(exp(confint(m)[-1, ])))
  expect_gt(file.size(path), 1000)
})

test_that("what would need the records is refused with the reason", {
  for (f in list(residuals, fitted, logLik, AIC, BIC, deviance, model.frame, predict, augment, model.matrix))
    expect_error(f(m), "records|likelihood", class = "tacit_usage_error")
})

test_that("plans, ledgers, verification, reports and studies", {
  p <- tacit_plan(y ~ x + g, binomial, rows = ROWS, epsilon = 1, delta = 1e-6, bounds = BOUNDS, levels = LEVELS)
  expect_output(print(p), "20,000 records, 4 coefficients")
  path <- tempfile(fileext = ".ledger")
  expect_equal(tacit_ledger(path, epsilon = 3, delta = 1e-5, for_tests = TRUE)$left$epsilon, 3)
  paid <- fit(y ~ x + g, binomial, epsilon = 2, ledger = path)
  expect_lt(tacit_ledger(path)$left$epsilon, 1.5)
  expect_output(print(tacit_ledger(path)), "1 runs")
  expect_true(tacit_verify(paid, path)$ok)
  expect_error(fit(y ~ x, binomial, epsilon = 2, ledger = path), class = "tacit_budget_error")
  expect_length(tacit_ledger(path)$runs, 1)
  expect_identical(tacit_verify(m)$verdict, "reproducible")
  forged <- m
  forged$model <- sub("\"epsilon\":\\s*2(\\.0)?", "\"epsilon\": 0.5", m$model)
  expect_false(identical(forged$model, m$model))
  expect_false(tacit_verify(forged)$ok)
  html <- tempfile(fileext = ".html")
  limits <- tempfile(fileext = ".json")
  writeLines("{\"format\": \"tacit-policy\", \"allow_seed\": false}", limits)
  tacit_report(m, html, title = "Yes or no", policy = limits)
  expect_match(paste(readLines(html), collapse = ""), "This model may not be published")
  expect_match(paste(readLines(html), collapse = ""), "Yes or no")
  schema <- list(columns = list(list(name = "x", type = "number", lower = -1, upper = 3), list(name = "g", type = "category", values = as.list(LEVELS$g)),
                                list(name = "b", type = "category", values = list("0", "1"))))
  asked <- list(epsilon = 2, delta = 1e-6, held = 0.2, schema = schema,
                stages = list(list(name = "sick", kind = "fit", label = "b", positive = "1", loss = "logistic", part = "train"), list(name = "well", kind = "score", of = "sick", part = "held")))
  expect_length(tacit_study(asked, rows = ROWS)$stages, 2)
  study <- suppressWarnings(tacit_study(asked, people[c("x", "g", "b")], seed = 1))
  expect_output(print(study), "2 stages")
  expect_true(tacit_verify(study)$ok)
  expect_length(coef(read_tacit_model(study$text, "sick")), 5)
})

test_that("a plan's errors are those of the fit, and power follows", {
  plan <- function(...) tacit_plan(..., delta = 1e-6, bounds = BOUNDS, levels = LEVELS, tries = 4)
  shares <- c(.5, .3, .2)
  p <- plan(y ~ x + g, binomial, rows = ROWS, epsilon = 1, assume = list(g = shares, y = mean(people$y == "yes")), effect = c(x = .05, gb = .02))
  ratio <- p$weights$std.error / sqrt(diag(vcov(fit(y ~ x + g, binomial, epsilon = 1))))
  expect_true(all(ratio > 1 / 1.3 & ratio < 1.3))
  q <- plan(z ~ x * g, rows = ROWS, epsilon = 1, assume = list(g = shares, z = .5))
  ratio <- q$weights$std.error / sqrt(diag(vcov(fit(z ~ x * g, epsilon = 1))))
  expect_true(all(ratio > 1 / 1.3 & ratio < 1.3))
  w <- p$weights
  expect_identical(is.na(w$power), c(TRUE, FALSE, FALSE, TRUE))
  expect_equal(w$power[2], 1 - pnorm((w$width[2] / 2 - .05) / w$std.error[2]) + pnorm((-w$width[2] / 2 - .05) / w$std.error[2]), tolerance = .1)
  again <- plan(y ~ x + g, binomial, rows = ROWS, epsilon = 1, assume = list(g = shares, y = mean(people$y == "yes")), effect = c(x = w$detectable[2]))
  expect_equal(again$weights$power[2], .8, tolerance = .15) # a mean over four tries
  expect_identical(plan(z ~ x, rows = 300, epsilon = .1)$weights$withheld, c(1, 1))
  expect_output(print(p), "detectable")
  expect_null(plan(z ~ x, rows = 300, epsilon = 1, errors = "none")$weights)
  expect_true(all(plan(pos ~ x, Gamma("log"), rows = 5000, epsilon = 1)$weights$std.error > 0))
})

test_that("R's tables are all read alike", {
  wanted <- coef(m)
  expect_identical(coef(fit(y ~ x + g, binomial, transform(people, g = as.character(g), y = as.character(y)), epsilon = 2)), wanted)
  expect_identical(coef(fit(y ~ x + g, binomial, transform(people, g = factor(g, c("c", "b", "a"))), epsilon = 2)), wanted)
  if (requireNamespace("tibble", quietly = TRUE)) expect_identical(coef(fit(y ~ x + g, binomial, tibble::as_tibble(people), epsilon = 2)), wanted)
  if (requireNamespace("data.table", quietly = TRUE)) expect_identical(coef(fit(y ~ x + g, binomial, data.table::as.data.table(people), epsilon = 2)), wanted)
  skip_if_not_installed("haven")
  labelled <- transform(people, g = haven::labelled(as.numeric(g), c(a = 1, b = 2, c = 3)))
  expect_identical(coef(fit(y ~ x + g, binomial, labelled, epsilon = 2)), wanted)
})

test_that("a schema gives what the lists would", {
  schema <- list(columns = list(list(name = "x", type = "number", lower = -1, upper = 3), list(name = "g", type = "category", values = list("a", "b", "c"))),
                 label = list(name = "y", values = list("no", "yes"), positive = "yes"))
  expect_identical(coef(fit(y ~ x + g, binomial, epsilon = 2, bounds = NULL, levels = NULL, schema = schema)), coef(m))
})

test_that("a level takes in what is not listed", {
  d <- transform(people, g = replace(as.character(g), g == "c", "x"))
  levels <- modifyList(LEVELS, list(g = c("a", other = "b")))
  merged <- fit(z ~ g * x, data = d, levels = levels)
  expect_identical(coef(merged), coef(fit(z ~ g * x, data = transform(d, g = replace(g, g == "x", "b")), levels = modifyList(LEVELS, list(g = c("a", "b"))))))
  expect_equal(unname(predict(merged, d[1:40, ])), as.vector(model.matrix(merged, d[1:40, ]) %*% coef(merged)))
  expect_error(fit(z ~ g, data = d), "other = ", class = "tacit_data_error")
})

test_that("lasso, svm and persons", {
  quiet <- suppressWarnings
  l <- quiet(tacit_lasso(z ~ x + g, people, 5, 1e-6, lambda = 0.01, bounds = BOUNDS, levels = LEVELS, seed = 1))
  expect_named(coef(l), c("(Intercept)", "x", "gb", "gc"))
  expect_error(vcov(l), "errors")
  expect_output(print(summary(l)), "no standard errors")
  s <- quiet(tacit_svm(y ~ x + g, people, 5, 1e-6, bounds = BOUNDS, levels = LEVELS, seed = 1))
  expect_gt(mean(predict(s, people, "class") == people$y), 0.6)
  p <- fit(y ~ x, binomial, transform(people, id = rep(seq_len(ROWS / 4), 4)), epsilon = 2, errors = "none", person = "id")
  expect_match(p$model, "person")
  expect_identical(coef(quiet(tacit_lm(z ~ x, people, 2, 1e-6, bounds = BOUNDS, seed = 1))), coef(fit(z ~ x, epsilon = 2)))
})

test_that("a forked child fits", {
  skip_on_os("windows")
  made <- parallel::mclapply(1:2, function(k) coef(fit(y ~ x + g, binomial, epsilon = 2, threads = 2)), mc.cores = 2)
  expect_identical(made[[2]], coef(m))
})

test_that("an interrupt ends a run, and R goes on", {
  skip_on_os("windows")
  skip_on_cran()
  big <- people[rep(seq_len(ROWS), 100), ]
  parent <- Sys.getpid()
  mark <- tempfile()
  started <- parallel::mcparallel({
    while (!file.exists(mark)) Sys.sleep(0.05)
    Sys.sleep(0.3)
    tools::pskill(parent, tools::SIGINT)
  })
  ended <- tryCatch({ file.create(mark); for (i in 1:100) fit(z ~ x * g * h + t + u, data = big); "never" }, interrupt = function(e) "interrupted")
  parallel::mccollect(started)
  expect_identical(ended, "interrupted")
  expect_identical(coef(fit(y ~ x + g, binomial, epsilon = 2)), coef(m))
})

test_that("emmeans knows functions of columns", {
  skip_if_not_installed("emmeans")
  model <- fit(z ~ I(x / 10) + poly(t, 2, raw = TRUE) + relevel(g, ref = "b") * h)
  e <- as.data.frame(emmeans::emmeans(model, ~ h | g))
  at <- expand.grid(h = LEVELS$h, g = LEVELS$g, stringsAsFactors = FALSE)
  expect_equal(e$emmean, unname(predict(model, cbind(at, x = 1, t = 10.5))))
})

test_that("a model that is saved holds no record", {
  inside <- function() {
    records <- people
    list(fit(y == "yes" ~ x + ns(t, 3), binomial, records), fit(log(pos) ~ x, data = records), do.call(tacit_lm, list(z ~ x, people, 9, 1e-6, bounds = BOUNDS)))
  }
  for (model in suppressWarnings(inside())) expect_lt(length(serialize(model, NULL)), 60000)
  expect_gt(length(serialize(people, NULL)), 1e6)
})

test_that("a policy is held against a claim", {
  policy <- tempfile(fileext = ".json")
  writeLines('{"format": "tacit-policy", "max_epsilon": 2, "allow_seed": false}', policy)
  answer <- tacit_verify(fit(b ~ x, binomial(), epsilon = 1), policy = policy)$policy
  expect_identical(vapply(answer$rules, function(r) r$ok, NA), c(TRUE, FALSE))
  expect_false(answer$ok)
})

test_that("rates are predicted for other exposures, and weights are a column under a cap", {
  m <- fit(r ~ x + offset(log(t)), poisson)
  exact <- glm(r ~ x + offset(log(t)), poisson, people)
  few <- people[people$t > 2, ][1:50, ]
  expect_lt(max(abs(predict(m, few) - predict(exact, few))), 0.01)
  expect_equal(predict(m, transform(few, t = t / 2), type = "response"), predict(m, few, type = "response") / 2, tolerance = 1e-9)
  expect_error(predict(m, few["x"]), "no column t")
  w <- transform(people, w = 4 * (g == "a"))
  one <- fit(y ~ x, binomial, data = w, weights = w, weight_cap = 4, errors = "none")
  two <- fit(y ~ x, binomial, data = w, weights = "w", weight_cap = 4, errors = "none")
  expect_identical(coef(one), coef(two))
  expect_lt(max(abs(coef(one) - coef(glm(y ~ x, binomial, people[people$g == "a", ])))), 0.05)
})
