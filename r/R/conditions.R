# conditions.R - what goes wrong, each kind with a class of its own.

kinds <- c("run", "usage", "data", "budget", "memory")

refuse <- function(kind, ...) {
  stop(structure(list(message = sprintf(...), call = NULL),
                 class = c(sprintf("tacit_%s_error", kind), "tacit_error", "error", "condition")))
}

usage <- function(...) refuse("usage", ...)

# What a call into the library gave, or its failure as a condition.
checked <- function(answer) {
  if (!inherits(answer, "tacit_failure")) return(answer)
  if (answer$status == 6L) { # the library has ended cleanly; now R hears of its interrupt
    signalCondition(structure(list(message = answer$text, call = NULL),
                              class = c("tacit_interrupt", "interrupt", "condition")))
    invokeRestart("abort")
  }
  refuse(kinds[answer$status], "%s", answer$text)
}

warn <- function(kind, text) {
  warning(structure(list(message = text, call = NULL),
                    class = c(sprintf("tacit_%s_warning", kind), "tacit_warning", "warning", "condition")))
}

# ---- arguments ----

# No argument of R's own functions is passed over in silence.
no_more <- function(given, ours) {
  if (!length(given)) return(invisible())
  name <- names(given)[1]
  if (is.null(name) || !nzchar(name)) usage("an argument has no name; write e.g. epsilon = 1")
  why <- c(subset = "rows that are left out by their values change what is private; give the table that the study is about",
           na.action = "records are not dropped for what they lack; say what a gap means with missing = list(x = \"indicator\")",
           contrasts = "contrasts are written in the formula; write C(g, contr.sum)",
           start = "the fit starts from public facts alone; leave start out", control = "there is nothing to control; leave control out",
           method = "the method follows from the family and errors; leave method out",
           eps = "the budget is called epsilon; write epsilon = 1")
  if (name %in% names(why)) usage("%s", why[[name]])
  near <- nearest(name, ours)
  usage("there is no argument %s; %s", name, if (length(near)) sprintf("is %s meant?", near) else paste("there are", paste(ours, collapse = ", ")))
}

nearest <- function(name, among) {
  d <- utils::adist(name, among, ignore.case = TRUE)
  utils::head(among[which(d == min(d, 3) & d < min(3, nchar(name)))], 1)
}

one_number <- function(value, name, example) {
  if (missing(value) || is.null(value)) usage("%s is not given, and has no default; write e.g. %s = %s", name, name, example)
  if (!is.numeric(value) || length(value) != 1 || is.na(value)) usage("%s is one number; write e.g. %s = %s", name, name, example)
  as.numeric(value)
}

one_text <- function(value, name) {
  if (is.null(value)) return(NULL)
  if (!is.character(value) || length(value) != 1 || is.na(value) || !nzchar(value)) usage("%s is one text; write it in quotes", name)
  enc2utf8(value)
}

one_path <- function(value, name) if (is.null(value)) NULL else path.expand(one_text(value, name))
need_path <- function(value, name) if (missing(value) || is.null(value)) usage("%s is not given; write a file's name", name) else one_path(value, name)

named_list <- function(value, name, example) {
  if (is.null(value)) return(list())
  value <- as.list(value)
  if (length(value) && (is.null(names(value)) || !all(nzchar(names(value)))))
    usage("%s is a list with the columns' names; write e.g. %s = list(%s)", name, name, example)
  twice <- names(value)[duplicated(names(value))]
  if (length(twice)) usage("%s has the column %s twice; keep one", name, twice[1])
  value
}

from_json <- function(text) jsonlite::fromJSON(text, simplifyVector = FALSE, bigint_as_char = FALSE)
to_json <- function(value) as.character(jsonlite::toJSON(value, auto_unbox = TRUE, digits = I(17), null = "null"))
