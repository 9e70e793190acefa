# glm_gap.R - are coefficients those of glm where the budget hardly needs noise, and how wide at epsilon 1?  Real tables.
#
# usage: R_LIBS_USER=build/release/r/library Rscript bench/papers/glm_gap.R DATA [EPSILON]
#
# DATA: the folder of data sets; the library is there after r/run_tests.sh.  A line for each model: coefficients, those
# withheld at epsilon 1, the median standard error there over glm's, the largest gap at EPSILON (1e5) in glm's errors.
suppressMessages({ library(tacit); library(splines) })
args <- commandArgs(TRUE)
far <- if (length(args) > 1) as.numeric(args[2]) else 1e5
own <- function(name) read.csv(xzfile(file.path(args[1], paste0(name, ".csv.xz"))), stringsAsFactors = FALSE, na.strings = "", strip.white = TRUE)
d <- subset(own("diabetes130"), gender != "Unknown/Invalid")
d$back <- d$readmitted == "<30"
d$decade <- as.numeric(sub("\\[(\\d+)-.*", "\\1", d$age)) + 5
a <- own("adult_train")
a$rich <- a$income == ">50K"
bounds <- list(time_in_hospital = c(1, 14), num_procedures = c(0, 6), num_medications = c(1, 81), number_inpatient = c(0, 21), number_diagnoses = c(1, 16),
               decade = c(0, 100), age = c(17, 90), hours_per_week = c(1, 99), education_num = c(1, 16))
levels <- list(gender = c("Female", "Male"), insulin = c("No", "Down", "Steady", "Up"), A1Cresult = c("None", "Norm", ">7", ">8"), sex = c("Female", "Male"),
               marital_status = c("Married-civ-spouse", "Never-married", "Divorced", "Separated", "Widowed", "Married-spouse-absent", "Married-AF-spouse"))
models <- list( # R's outer knots are the data's unless they are written: here they are the bounds
  list("diabetes130, logistic", d, back ~ decade + gender + time_in_hospital + number_inpatient + insulin + A1Cresult + number_diagnoses, binomial),
  list("diabetes130, log1p x insulin", d, back ~ log1p(number_inpatient) * insulin + decade + time_in_hospital + num_procedures, binomial),
  list("diabetes130, linear", d, log(time_in_hospital) ~ gender * insulin + decade + num_procedures + num_medications + number_diagnoses + number_inpatient + A1Cresult, gaussian),
  list("diabetes130, Poisson", d, num_procedures ~ decade + gender + time_in_hospital + insulin, poisson),
  list("diabetes130, ns", d, back ~ ns(decade, knots = c(40, 60, 80), Boundary.knots = c(0, 100)) + gender + number_inpatient + insulin, binomial),
  list("adult, logistic", a, rich ~ age + education_num + hours_per_week + sex, binomial),
  list("adult, ns", a, rich ~ ns(age, knots = c(30, 45, 60), Boundary.knots = c(17, 90)) + education_num + hours_per_week + sex, binomial),
  list("adult, sex x education", a, rich ~ sex * education_num + age + hours_per_week, binomial),
  list("adult, poly", a, rich ~ poly(age, 2, raw = TRUE) + education_num + hours_per_week + sex, binomial),
  list("adult, a level of 23 records", a, rich ~ marital_status + age + education_num + hours_per_week, binomial))
for (m in models) {
  data <- m[[2]]
  for (name in intersect(names(levels), all.vars(m[[3]]))) data[[name]] <- factor(data[[name]], levels[[name]])
  exact <- glm(m[[3]], m[[4]], data)
  se <- sqrt(diag(vcov(exact)))
  fit <- function(epsilon) suppressWarnings(tacit_glm(m[[3]], m[[4]], data, epsilon, 1e-6, bounds = bounds, levels = levels, seed = 1, threads = 1))
  near <- sqrt(diag(vcov(fit(1))))
  cat(sprintf("%-30s %2d  withheld %d  width %.2f  gap %.4f\n", m[[1]], length(se), sum(is.na(near)), median(near / se, na.rm = TRUE), max(abs(coef(fit(far)) - coef(exact)) / se)))
}
