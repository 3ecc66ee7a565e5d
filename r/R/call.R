# Calls of the library: the context of a run, warnings, errors as conditions.

# What a run is allowed and told; NULL leaves the library's default.
settings <- function(threads = NULL, memory = NULL, seed = NULL, engine = NULL,
                     verbose = FALSE, header = NULL) {
  one <- function(value, name, test, what) {
    if (!is.null(value) && !(length(value) == 1L && !is.na(value) && test(value)))
      stop(name, " must be ", what, call. = FALSE)
    value
  }
  list(threads = one(threads, "threads", is.numeric, "a number"),
       memory = one(memory, "memory", is.numeric, "a number of bytes"),
       seed = one(seed, "seed", function(v) is.numeric(v) && v >= 0 && v <= 2^53,
                  "a whole number from 0"),
       engine = one(engine, "engine", is.character, "a text"),
       verbose = isTRUE(verbose),
       header = one(header, "header", is.logical, "TRUE or FALSE"))
}

# The result of a .Call, or the condition that it stands for: of class okra_error and of the
# status, as in OKRA_EARG. A call that was cancelled was so by an interrupt, which goes on.
checked <- function(result) {
  if (!inherits(result, "okra_failure")) return(result)
  if (result$status == "OKRA_ECANCELLED") {
    signalCondition(structure(class = c("interrupt", "condition"),
                              list(message = "interrupted", call = NULL)))
    invokeRestart("abort")
  }
  stop(structure(class = c(result$status, "okra_error", "error", "condition"),
                 list(message = result$message, call = NULL)))
}

# call(context), a .Call of the bridge; then the warnings that came, of class okra_warning.
run <- function(how, call) {
  context <- checked(.Call(C_context, how))
  result <- call(context)
  if (how$verbose) message("")
  for (text in .Call(C_warnings, context))
    warning(structure(class = c("okra_warning", "warning", "condition"),
                      list(message = text, call = NULL)))
  checked(result)
}

# Options by name, as the library reads them: names with '-', numbers with all their digits.
# Where a grid may stand, a vector is one.
option_texts <- function(values, grids = FALSE) {
  values <- Filter(Negate(is.null), values)
  if (length(values) && (is.null(names(values)) || any(names(values) == "")))
    stop("options must be named: okra_options() lists them", call. = FALSE)
  text <- function(value, name) {
    if (is.logical(value)) value <- ifelse(value, "yes", "no")
    if (is.numeric(value)) value <- sprintf("%.17g", value)
    if (!is.character(value) || anyNA(value) || !length(value) || (length(value) > 1L && !grids))
      stop(name, " must be one text, number or truth value", call. = FALSE)
    if (length(value) > 1L) paste0("{", paste(value, collapse = ","), "}") else value
  }
  list(names = gsub("[_.]", "-", as.character(names(values))),
       values = as.character(unlist(Map(text, values, names(values)))))
}

okra_info <- function(model = NULL) {
  if (is.null(model)) {
    about <- .Call(C_version)
    return(list(version = about[1], build = about[2]))
  }
  if (!inherits(model, "okra_model")) stop("expected a model of okra_fit()", call. = FALSE)
  c(.Call(C_model_about, model$pointer),
    list(inputs = about_data(model, FALSE), outputs = about_data(model, TRUE)))
}

okra_options <- function(topic = c("fit", "predict", "select")) {
  as.data.frame(.Call(C_options, match.arg(topic)), stringsAsFactors = FALSE)
}

okra_listing <- function(what = c("kernels", "methods", "decoders", "metrics")) {
  found <- .Call(C_listing, match.arg(what))
  data.frame(name = unname(found), help = names(found), stringsAsFactors = FALSE)
}
