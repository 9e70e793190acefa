# An invented table, and a fit of it without noise to speak of.
ROWS <- 20000
LEVELS <- list(g = c("a", "b", "c"), h = c("u", "v"), y = c("no", "yes"), rx = c("1", "2", "3"))
BOUNDS <- list(r = c(0, 30), x = c(-1, 3), u = c(0, 1), t = c(1, 20), k = c(0, 15), z = c(-3, 6), pos = c(1, 100), day = as.Date(c("2020-01-01", "2023-12-31")))
people <- local({
  set.seed(7)
  n <- ROWS
  d <- data.frame(x = runif(n, -1, 3), u = runif(n), t = runif(n, 1, 20), g = factor(sample(LEVELS$g, n, TRUE, c(.5, .3, .2)), LEVELS$g),
                  h = factor(sample(LEVELS$h, n, TRUE), LEVELS$h), rx = sample(1:3, n, TRUE), flag = runif(n) < .4,
                  day = as.Date("2020-01-01") + floor(runif(n, 0, 1460)))
  d$z <- pmin(pmax(1 + .5 * d$x + .3 * (d$g == "b") + .2 * d$x * (d$g == "c") + rnorm(n, 0, .5), -3), 6)
  d$pos <- exp(runif(n, 0, log(100)))
  d$y <- factor(ifelse(runif(n) < plogis(-1 + .8 * d$x + .7 * (d$g == "b") + .4 * d$flag), "yes", "no"), LEVELS$y)
  d$b <- as.numeric(d$y == "yes")
  d$k <- pmin(rpois(n, exp(.2 + .3 * d$x)), 15)
  d$r <- pmin(rpois(n, d$t * exp(-2 + .3 * d$x)), 30)
  d
})
fit <- function(formula, family = gaussian(), data = people, epsilon = 1e5, delta = 1e-6, bounds = BOUNDS, levels = LEVELS, seed = 1, threads = 1, ...) {
  suppressWarnings(tacit_glm(formula, family, data, epsilon, delta, bounds = bounds, levels = levels, seed = seed, threads = threads, ...))
}
