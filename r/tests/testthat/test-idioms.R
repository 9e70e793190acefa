# What people write for glm gives the same coefficients: names, order, and values where the budget is large.
library(splines)
idioms <- list(
  "numbers" = list(z ~ x + u), "a factor" = list(z ~ g), "numbers and factors" = list(y ~ x + g + h, binomial),
  "interaction of number and factor" = list(z ~ x * g), "interaction of factors" = list(z ~ g * h), "interaction of numbers" = list(z ~ x * u),
  "three ways" = list(z ~ x * g * h), "all pairs" = list(z ~ (x + u + h)^2), "a colon beside its margins" = list(z ~ x + g + x:g),
  "slopes within groups" = list(z ~ g + x:g), "nested" = list(z ~ g / x), "a term taken out" = list(z ~ x * g - x),
  "means of groups" = list(z ~ g - 1), "means of groups and a slope" = list(z ~ 0 + g + x), "relevel" = list(z ~ relevel(g, ref = "b") + x),
  "factor of numbers" = list(z ~ factor(rx) + x), "C with sums" = list(z ~ C(g, contr.sum) + x), "a flag" = list(z ~ flag + x),
  "log" = list(z ~ log(t) + x), "sqrt and log1p" = list(z ~ sqrt(t) + log1p(u)), "log2 and log10" = list(z ~ log2(t) + log10(pos)),
  "a square beside its number" = list(z ~ x + I(x^2)), "poly, raw" = list(z ~ poly(x, 2, raw = TRUE) + g), "reciprocal" = list(z ~ I(1 / t) + x),
  "rescaled" = list(y ~ I(x / 10) + I((t - 10) / 5), binomial), "ns with knots" = list(z ~ ns(x, knots = c(0, 1, 2), Boundary.knots = c(-1, 3)) + g),
  "cut" = list(z ~ cut(x, c(-2, 0, 1, 4)) + u), "0 and 1" = list(b ~ x + g, binomial), "a comparison on the left" = list(y == "yes" ~ x + g, binomial),
  "log on the left" = list(log(pos) ~ x + g), "counts" = list(k ~ x + g, poisson), "counts with interaction" = list(k ~ x * h, poisson),
  "rates" = list(r ~ x + g + offset(log(t)), poisson), "an offset" = list(z ~ x + offset(u)), "an offset of log-odds" = list(b ~ x + offset(u), binomial))

test_that("there are thirty-five", {
  expect_length(idioms, 35)
})

for (name in names(idioms)) local({
  idiom <- idioms[[name]]
  name <- name
  test_that(paste("as glm:", name), {
    family <- if (length(idiom) > 1) idiom[[2]] else gaussian
    formula <- idiom[[1]]
    exact <- glm(formula, family, transform(people))
    m <- fit(formula, family)
    expect_identical(names(coef(m)), names(coef(exact)))
    gap <- max(abs(coef(m) - coef(exact)) / sqrt(diag(vcov(exact))))
    if (nzchar(Sys.getenv("TACIT_R_GAPS"))) cat(sprintf("%-36s %.4f\n", name, gap))
    expect_lt(gap, 0.05)
  })
})
