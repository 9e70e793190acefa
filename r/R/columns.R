# columns.R - a data frame as columns of numbers, flags, days and levels, as the library reads them; the public facts.

# What is known of the columns without a look at a record.
facts_of <- function(bounds, levels, missing, schema) {
  facts <- list(bounds = named_list(bounds, "bounds", "age = c(18, 90)"),
                levels = named_list(levels, "levels", "sex = c(\"f\", \"m\")"),
                missing = named_list(missing, "missing", "age = \"indicator\""))
  if (!is.null(schema)) facts <- with_schema(facts, text_in(schema, "schema"))
  for (name in names(facts$levels)) {
    at <- match("other", names(facts$levels[[name]])) # the level that takes in what is not listed
    if (!is.na(at)) facts$other[[name]] <- as.character(facts$levels[[name]][[at]])
    facts$levels[[name]] <- check_levels(facts$levels[[name]], name)
  }
  for (name in names(facts$bounds)) facts$bounds[[name]] <- check_bounds(facts$bounds[[name]], name)
  both <- intersect(names(facts$bounds), names(facts$levels))
  if (length(both)) usage("%s has both bounds and levels; it is either a number or a category", both[1])
  facts
}

check_levels <- function(values, name) {
  if (is.factor(values)) usage("levels of %s is a factor, whose levels are those of data; write the values as texts", name)
  values <- enc2utf8(as.character(values))
  if (!length(values) || anyNA(values)) usage("levels of %s are texts without NA; write e.g. levels = list(%s = c(\"a\", \"b\"))", name, name)
  if (anyDuplicated(values)) usage("levels of %s has a value twice; write it once", name)
  values
}

check_bounds <- function(ends, name) {
  if (is.character(ends) || inherits(ends, "POSIXct")) ends <- tryCatch(as.Date(ends), error = function(e) NULL)
  if (length(ends) != 2 || !(is.numeric(ends) || inherits(ends, "Date")) || !all(is.finite(as.numeric(ends))))
    usage("bounds of %s are two numbers, or two dates; write e.g. bounds = list(%s = c(0, 100))", name, name)
  if (ends[1] >= ends[2]) usage("bounds of %s begin with the larger one; write the smaller one first", name)
  ends
}

# A schema's columns, where the lists do not say otherwise.
with_schema <- function(facts, text) {
  read <- tryCatch(from_json(text), error = function(e) usage("schema is no JSON; give the path of a schema, or its text"))
  if (!is.null(read$not_private))
    warn("privacy", "the schema is a draft, and its values are the data's own; replace each by public knowledge, then delete not_private")
  label <- read$label
  label$values <- c(setdiff(unlist(label$values), label$positive), label$positive)
  for (column in c(read$columns, if (!is.null(label$name)) list(label))) {
    said <- list(bounds = c(column$lower, column$upper), levels = unlist(column$values), other = column$other, missing = column$missing)
    for (what in names(said)) facts[[what]][[column$name]] <- facts[[what]][[column$name]] %||% said[[what]]
  }
  facts
}

check_table <- function(data) {
  if (is.null(data)) usage("data is not given; give the data frame")
  if (is.matrix(data)) usage("data is a matrix; give a data frame, whose columns have names and types")
  if (!is.data.frame(data)) usage("data is no data frame; give one, e.g. data.frame() of it")
  if (!nrow(data)) refuse("data", "data has no records; give a table that has some")
  if (anyDuplicated(names(data))) usage("data has two columns of one name; rename one")
  data
}

need_columns <- function(names, data) {
  absent <- setdiff(names, names(data))
  if (length(absent)) usage("data has no column %s; %s", absent[1], meant(absent[1], names(data), "name one that it has"))
}

# Of the table, for the C side.
columns_of <- function(names, data, kind) {
  need_columns(names, data)
  lapply(stats::setNames(nm = names), function(name) column_of(data[[name]], name, if (is.function(kind)) kind(name) else kind))
}

feature_columns <- function(spec, data) columns_of(spec$fields, data, function(name)
  if (name %in% names(spec$categories)) "category" else if (inherits(spec$facts$bounds[[name]], "Date")) "date" else "number")

# One column in Arrow's words: its format, and where its buffers are.
column_of <- function(x, name, kind) {
  if (inherits(x, "haven_labelled")) x <- unlabelled(x, kind)
  if (is.list(x) || !is.null(dim(x))) usage("column %s is no plain vector; make it numbers, texts, dates or a factor", name)
  if (inherits(x, "POSIXt")) x <- as.Date(x, tz = (attr(x, "tzone") %||% "")[1])
  texts <- is.factor(x) || is.character(x)
  if (texts && kind == "number")
    refuse("data", "column %s has bounds, and holds texts; give levels = list(%s = ...), or make it numbers", name, name)
  if (texts && (kind == "date" || !is.factor(x))) x <- factor(as.character(x), unique(as.character(x)))
  if (texts) return(arrow("i", as.integer(x), enc2utf8(levels(x))))
  if (kind == "date") {
    if (!inherits(x, "Date")) refuse("data", "column %s has bounds that are dates, and is none; make it one with as.Date()", name)
    return(arrow("tdD", as.integer(floor(as.numeric(x)))))
  }
  if (inherits(x, c("Date", "difftime")) || is.complex(x) || is.raw(x))
    usage("column %s is neither a number nor a category; give bounds of two dates, or make it a number", name)
  if (inherits(x, "integer64")) x <- as.numeric(x)
  attributes(x) <- NULL
  arrow(c(double = "g", integer = "i", logical = "b")[[typeof(x)]], x)
}

# NA is one of R's NaN.  R counts levels from 1, Arrow from 0: before the first stands one that nobody has.
arrow <- function(format, values, levels = NULL) {
  bits <- function(x) packBits(c(x, logical(-length(x) %% 8)), "raw")
  list(format = format, length = length(values), there = if (format != "g" && anyNA(values)) bits(!is.na(values)),
       values = if (format == "b") bits(values %in% TRUE) else values,
       ends = if (!is.null(levels)) as.integer(c(0, cumsum(c(0, nchar(levels, "bytes"))))), texts = paste(levels, collapse = ""))
}

# Stata's and SPSS's value labels: as texts where a category is wanted, as its numbers where not.
unlabelled <- function(x, kind) {
  labels <- attr(x, "labels")
  plain <- as.vector(unclass(x))
  if (kind != "category" || is.null(labels)) return(plain)
  at <- match(plain, labels)
  ifelse(is.na(at), as.character(plain), names(labels)[at])
}
