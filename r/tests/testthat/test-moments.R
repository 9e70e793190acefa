# One release of moments and its models; a table described.

table <- local({
  set.seed(3)
  n <- 20000
  d <- data.frame(age = runif(n, 18, 80), sex = sample(c("f", "m"), n, TRUE))
  d$income <- 20 * d$age + 300 * (d$sex == "m") + rnorm(n, 0, 200)
  d
})
schema <- list(columns = list(
  list(name = "age", type = "number", lower = 18, upper = 80), list(name = "income", type = "number", lower = 0, upper = 3000),
  list(name = "sex", type = "category", values = list("f", "m"))))
released <- tacit_study(list(epsilon = 2, delta = 1e-6, schema = schema, stages = list(list(name = "moments", kind = "moments"))), table, seed = 1)

test_that("models of moments have lm's names and are near lm", {
  exact <- lm(income ~ age + sex, table)
  fit <- tacit_lm(income ~ age + sex, moments = released)
  expect_identical(names(coef(fit)), names(coef(exact)))
  expect_equal(unname(sqrt(diag(vcov(fit)))), unname(summary(fit)$coefficients[, 2]))
  expect_true(all(abs(coef(fit) - coef(exact)) < 5 * summary(fit)$coefficients[, 2]))
  expect_true(all(confint(fit)[, 1] < coef(fit) & coef(fit) < confint(fit)[, 2]))
  expect_match(paste(capture.output(print(fit)), collapse = " "), "which this model adds nothing to")
  path <- tempfile(fileext = ".json")
  writeLines(released$text, path)
  expect_identical(coef(tacit_lm(income ~ ., moments = path)), coef(fit))
  expect_equal(nobs(fit), 20000)
})

test_that("what moments cannot answer is refused", {
  expect_error(tacit_lm(log(income) ~ age, moments = released), "one column on the left side")
  expect_error(tacit_lm(income ~ log(age), moments = released), "log\\(\\) is none")
  expect_error(tacit_lm(income ~ age:sex, moments = released), "is none")
  expect_error(tacit_lm(income ~ nobody, moments = released), "nobody")
  expect_error(tacit_lm(income ~ age, moments = "no file"), "there is no file at moments")
})

test_that("a table is described with intervals", {
  told <- suppressWarnings(tacit_describe(table, schema, 1, 1e-6, seed = 2))
  expect_identical(names(told), c("column", "level", "figure", "value", "lower", "upper", "small"))
  mean_age <- told[told$column == "age" & told$figure == "mean", ]
  expect_lt(abs(mean_age$value - mean(table$age)), .5)
  expect_true(mean_age$lower < mean_age$value && mean_age$value < mean_age$upper)
  share <- told[told$level == "m" & told$figure == "share", ]
  expect_lt(abs(share$value - mean(table$sex == "m")), .01)
  expect_true(tacit_verify(attr(told, "study"))$ok)
  expect_error(tacit_describe(table, schema, -1, 1e-6), "epsilon is above 0")
})
