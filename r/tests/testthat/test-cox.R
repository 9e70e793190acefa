# Follow-up times: the weights of coxph, its names, and what is no follow-up.

followed <- local({
  set.seed(5)
  n <- 20000
  d <- data.frame(x = runif(n, -1, 1), g = factor(sample(c("a", "b"), n, TRUE)))
  death <- rexp(n, .05 * exp(.8 * d$x + .5 * (d$g == "b")))
  end <- runif(n, 0, 40)
  d$died <- death < end
  d$days <- pmin(death, end)
  d
})
cox <- function(formula = Surv(days, died) ~ x + g, data = followed, epsilon = 4, horizon = 30, ...)
  tacit_coxph(formula, data, epsilon, 1e-6, horizon = horizon, bounds = list(x = c(-1, 1)), levels = list(g = c("a", "b")), seed = 1, threads = 1, ...)

test_that("tacit_coxph has the log hazard ratios", {
  fit <- suppressWarnings(cox())
  b <- coef(fit)
  expect_identical(names(b), c("(Intercept)", "x", "gb"))
  se <- sqrt(diag(vcov(fit)))
  expect_true(all(abs(b[-1] - c(.8, .5)) < 4 * se[-1]) && all(se[-1] < .06))
  expect_true(all(c(.8, .5) > confint(fit)[-1, 1] - 2 * se[-1]))
  expect_equal(tidy(fit, exponentiate = TRUE)$estimate[-1], exp(b[-1]), ignore_attr = TRUE)
  expect_match(paste(capture.output(print(summary(fit))), collapse = " "), "family cox")
  numbers <- transform(followed, died = as.numeric(died))
  expect_equal(coef(suppressWarnings(cox(data = numbers))), b)
  again <- tempfile(fileext = ".json")
  tacit_write(fit, again)
  expect_equal(coef(read_tacit_model(again)), b, ignore_attr = TRUE)
  expect_length(predict(fit, followed[1:3, ]), 3)
})

test_that("what is no follow-up is refused in a sentence", {
  expect_error(cox(days ~ x), "write Surv\\(days, died\\)")
  expect_error(cox(Surv(days, died == 1) ~ x), "write Surv\\(days, died\\)")
  expect_error(cox(Surv(days, g) ~ x), "column g is no number")
  expect_error(cox(Surv(days, nobody) ~ x), "nobody")
  expect_error(cox(horizon = -1), "horizon is above 0")
  expect_error(tacit_coxph(Surv(days, died) ~ x, followed, 1, 1e-6, bounds = list(x = c(-1, 1))), "horizon is not given")
  expect_error(suppressWarnings(cox(Surv(days, late) ~ x, transform(followed, late = 2))), "event")
})
