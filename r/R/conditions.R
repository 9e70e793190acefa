# conditions.R - what goes wrong, each kind with a class of its own; and arguments.

kinds <- c("run", "usage", "data", "budget", "memory")
`%||%` <- function(value, other) if (is.null(value)) other else value

condition <- function(text, ...) structure(list(message = text, call = NULL), class = c(..., "condition"))
refuse <- function(kind, ...) stop(condition(sprintf(...), sprintf("tacit_%s_error", kind), "tacit_error", "error"))
usage <- function(...) refuse("usage", ...)
warn <- function(kind, text) warning(condition(text, sprintf("tacit_%s_warning", kind), "tacit_warning", "warning"))

# What a call into the library gave, or its failure as a condition.
checked <- function(answer) {
  if (!inherits(answer, "tacit_failure")) return(answer)
  if (answer$status == 6L) { # the library has ended cleanly; now R hears of its interrupt
    signalCondition(condition(answer$text, "tacit_interrupt", "interrupt"))
    invokeRestart("abort")
  }
  refuse(kinds[answer$status], "%s", answer$text)
}

# ---- arguments ----

strangers <- c(
  subset = "rows that are left out by their values change what is private; give the table that the study is about",
  na.action = "records are not dropped for what they lack; say what a gap means with missing = list(x = \"indicator\")",
  contrasts = "contrasts are written in the formula; write C(g, contr.sum)",
  start = "the fit starts from public facts alone; leave start out",
  control = "there is nothing to control; leave control out",
  method = "the method follows from the family and errors; leave method out",
  eps = "the budget is called epsilon; write epsilon = 1")

# No argument of R's own functions is passed over in silence by the caller.
no_more <- function() {
  up <- sys.parent()
  given <- match.call(sys.function(up), sys.call(up), FALSE, parent.frame(2))$...
  if (!length(given)) return(invisible())
  name <- (names(given) %||% "")[1]
  if (!nzchar(name)) usage("an argument has no name; write e.g. epsilon = 1")
  if (name %in% names(strangers)) usage("%s", strangers[[name]])
  ours <- setdiff(names(formals(sys.function(up))), "...")
  usage("there is no argument %s; %s", name, meant(name, ours, paste("there are", paste(ours, collapse = ", "))))
}

meant <- function(name, among, else_said) {
  d <- utils::adist(name, among, ignore.case = TRUE)
  near <- among[which(d == min(d, 3) & d < min(3, nchar(name)))]
  if (length(near)) sprintf("is %s meant?", near[1]) else else_said
}

one_number <- function(value, name, example) {
  if (missing(value) || is.null(value)) usage("%s is not given, and has no default; write e.g. %s = %s", name, name, example)
  if (!is.numeric(value) || length(value) != 1 || is.na(value)) usage("%s is one number; write e.g. %s = %s", name, name, example)
  as.numeric(value)
}

above_0 <- function(value, name, example) {
  if ((value <- one_number(value, name, example)) <= 0) usage("%s is above 0; write e.g. %s = %s", name, name, example)
  value
}

one_text <- function(value, name) {
  if (is.null(value)) return(NULL)
  if (!is.character(value) || length(value) != 1 || is.na(value) || !nzchar(value)) usage("%s is one text; write it in quotes", name)
  enc2utf8(value)
}

one_of <- function(value, name, known) {
  said <- paste0("\"", known, "\"", collapse = " or ")
  if (!is.character(value) || length(value) != 1 || !value %in% known) usage("%s is %s; write one of them", name, said)
  value
}

one_path <- function(value, name) if (!is.null(value)) path.expand(one_text(value, name))
need_path <- function(value, name) if (missing(value)) usage("%s is not given; write a file's name", name) else one_path(value, name)

# A path, or what the file at a path holds; a model or a study is its text.
path_or_text <- function(x, name) {
  if (inherits(x, "tacit")) return(x$model)
  if (inherits(x, "tacit_study")) return(x$text)
  if (is.list(x)) return(to_json(x))
  x <- one_text(x, name)
  if (!grepl("{", x, fixed = TRUE) && !file.exists(x <- path.expand(x))) usage("there is no file at %s; give the path of one, or its text", name)
  x
}

text_in <- function(x, name) {
  if (is.null(x)) return(NULL)
  x <- path_or_text(x, name)
  if (grepl("{", x, fixed = TRUE)) x else paste(readLines(x, warn = FALSE), collapse = "\n")
}

named_list <- function(value, name, example) {
  value <- as.list(value)
  if (length(value) && !all(nzchar(names(value) %||% "")))
    usage("%s is a list with the columns' names; write e.g. %s = list(%s)", name, name, example)
  if (anyDuplicated(names(value))) usage("%s has the column %s twice; keep one", name, names(value)[anyDuplicated(names(value))])
  value
}

from_json <- function(text) jsonlite::fromJSON(text, simplifyVector = FALSE, bigint_as_char = FALSE)
to_json <- function(value) as.character(jsonlite::toJSON(value, auto_unbox = TRUE, digits = I(17), null = "null"))
