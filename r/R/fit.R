# Fitting, prediction and files of models.

okra_fit <- function(x, ...) UseMethod("okra_fit")

okra_fit.default <- function(x, y, ..., kx = "auto", ky = "auto", lambda = "auto",
                             weights = NULL, threads = NULL, memory = NULL, seed = NULL,
                             engine = NULL, verbose = FALSE) {
  how <- settings(threads, memory, seed, engine, verbose)
  inputs <- inputs_of(x, kx)
  outputs <- outputs_of(y, ky, weights)
  fit_data(inputs, outputs, list(kx = kx, ky = ky, lambda = lambda, ...), how, called(sys.call()))
}

okra_fit.formula <- function(x, data = NULL, ..., kx = "auto", ky = "auto", lambda = "auto",
                             weights = NULL, threads = NULL, memory = NULL, seed = NULL,
                             engine = NULL, verbose = FALSE) {
  how <- settings(threads, memory, seed, engine, verbose)
  parts <- formula_parts(x, data)
  inputs <- inputs_of(parts$x, kx)
  inputs$terms <- parts$terms
  outputs <- outputs_of(parts$y, ky, weights)
  fit_data(inputs, outputs, list(kx = kx, ky = ky, lambda = lambda, ...), how, called(sys.call()))
}

okra_fit.okra_selection <- function(x, cell = x$best, ..., verbose = FALSE) {
  options <- checked(.Call(C_selection_options, x$pointer, as.double(cell)))
  how <- x$settings
  how$verbose <- isTRUE(verbose)
  values <- c(setNames(as.list(options[[1]][[2]]), options[[1]][[1]]), list(...))
  model <- fit_data(x$inputs, x$outputs, values, how, called(sys.call()))
  model$decode <- setNames(as.list(options[[2]][[2]]), options[[2]][[1]])
  model
}

# The call as the user wrote it, without the class of the method.
called <- function(call) {
  call[[1]] <- quote(okra_fit)
  call
}

# The columns that a formula names: kernels find the interactions.
formula_parts <- function(formula, data) {
  frame <- model.frame(formula, data, na.action = na.pass)
  about <- attr(frame, "terms")
  if (any(attr(about, "order") > 1L))
    stop("a formula of okra names columns; kernels find their interactions", call. = FALSE)
  if (!is.null(attr(about, "offset"))) stop("okra takes no offset", call. = FALSE)
  list(x = predictors(frame, about), y = model.response(frame), terms = about)
}

# One column of texts is strings; everything else is a table.
predictors <- function(frame, about) {
  response <- attr(about, "response")
  if (response > 0) frame <- frame[-response]
  if (length(frame) == 1L && is.character(frame[[1]])) return(frame[[1]])
  attr(frame, "terms") <- NULL
  do.call(data.frame, c(as.list(frame), check.names = FALSE, stringsAsFactors = FALSE))
}

inputs_of <- function(x, kx) {
  if (identical(kx, "precomputed") && !inherits(x, "okra_data")) x <- okra_data(x, "gram")
  list(data = okra_data(x, name = "x"),
       mixed = is.data.frame(x) && !all(vapply(x, function(v) is.numeric(v) && !anyNA(v), TRUE)),
       terms = NULL)
}

# Outputs and the form that predictions get: NA are values that are not known, and texts that
# mostly repeat are classes.
outputs_of <- function(y, ky, weights = NULL) {
  form <- list(flat = is.null(dim(y)), type = "")
  if (is.data.frame(y)) {
    if (length(y) == 1L && !is.numeric(y[[1]])) y <- y[[1]] else y <- as.matrix(y)
  }
  if (identical(ky, "precomputed") && !inherits(y, "okra_data")) {
    data <- okra_data(y, "gram", name = "y")
  } else if (is.factor(y) || (is.logical(y) && is.null(dim(y))) ||
             (is.character(y) && checked(.Call(C_are_classes, texts(y))))) {
    form$type <- if (is.factor(y)) "factor" else class(y)[1]
    data <- okra_data(y, "labels", name = "y")
  } else if (is.numeric(y) && !isS4(y) && anyNA(y)) {
    data <- okra_data(y, "missing", name = "y")
  } else data <- okra_data(y, name = "y")
  if (!is.null(weights)) data <- new_data(.Call(C_weigh, data$pointer, as.double(weights)))
  list(data = data, form = form)
}

# Whether the library is to choose something, and the options without what is open.
open_options <- function(values) {
  auto <- vapply(values, function(v) identical(v, "auto"), TRUE)
  known <- okra_options("fit")
  method <- if (is.null(values$method)) known$default[known$option == "method"][1] else values$method
  has_lambda <- any(known$of == method & known$option == "lambda")
  needs <- auto & (names(values) %in% c("kx", "ky") | (names(values) == "lambda" & has_lambda))
  dropped <- auto & names(values) == "lambda"
  list(open = any(needs), values = values[!dropped])
}

fit_data <- function(inputs, outputs, values, how, call) {
  wanted <- open_options(Filter(Negate(is.null), values))
  options <- option_texts(wanted$values)
  made <- run(how, function(context)
    .Call(C_fit, context, inputs$data$pointer, outputs$data$pointer, options$names,
          options$values, wanted$open))
  found <- made$selection
  new_model(made$model, outputs$form, how, call, terms = inputs$terms, mixed = inputs$mixed,
            selection = if (!is.null(found)) new_selection(found, inputs, outputs, how, call))
}

new_model <- function(pointer, form, how, call = NULL, terms = NULL, mixed = FALSE,
                      selection = NULL) {
  structure(list(pointer = pointer, form = form, settings = how, call = call, terms = terms,
                 mixed = mixed, selection = selection, decode = list()), class = "okra_model")
}

about_data <- function(model, outputs) {
  pointer <- .Call(C_model_data, model$pointer, outputs)
  if (is.null(pointer)) NULL else .Call(C_data_about, pointer)
}

# New inputs as those that were learned from.
new_inputs <- function(object, newdata) {
  if (!is.null(object$terms) && is.data.frame(newdata)) {
    about <- delete.response(object$terms)
    newdata <- predictors(model.frame(about, newdata, na.action = na.pass), about)
  }
  like <- about_data(object, FALSE)
  if (is.data.frame(newdata)) {
    table <- object$mixed || (!is.null(like$columns) && !setequal(names(newdata), like$columns))
    inputs <- if (table) .Call(C_model_data, object$pointer, FALSE)
    return(table_of(newdata, inputs, "newdata"))
  }
  if (is.character(newdata) && like$kind == "graphs") return(okra_data(newdata, "smiles"))
  if (is.numeric(newdata) && like$kind == "gram")
    return(okra_data(newdata, "gram", name = "newdata"))
  if (is.numeric(newdata) && is.null(dim(newdata)) && like$kind == "dense" && like$width > 1)
    newdata <- matrix(newdata, nrow = 1L)
  okra_data(newdata, name = "newdata")
}

# Candidates are of the kind of the outputs.
new_outputs <- function(object, y) {
  if (inherits(y, "okra_data")) return(y)
  kind <- about_data(object, TRUE)$kind
  as <- switch(kind, graphs = "smiles", labels = "labels", gram = "gram", "auto")
  okra_data(y, as, name = "candidates")
}

predict.okra_model <- function(object, newdata,
                               type = c("response", "prob", "scores", "rank", "weights",
                                        "embedding", "confidence"),
                               candidates = NULL, top = NULL, ..., threads = NULL,
                               memory = NULL, verbose = FALSE) {
  type <- match.arg(type)
  how <- object$settings
  if (!is.null(threads)) how$threads <- threads
  if (!is.null(memory)) how$memory <- memory
  how$verbose <- isTRUE(verbose)
  x <- new_inputs(object, newdata)
  if (type %in% c("prob", "scores")) {
    found <- run(how, function(context)
      .Call(C_classes, context, object$pointer, x$pointer, type == "prob"))
    colnames(found) <- class_names(object)
    return(found)
  }
  values <- c(object$decode[setdiff(names(object$decode), names(list(...)))], list(...))
  ranks <- type == "rank" || !is.null(candidates)
  if (ranks && is.null(values$decode)) values$decode <- "candidates"
  if (ranks) values$top <- if (is.null(top)) 1 else top
  if (type %in% c("weights", "embedding") && is.null(values$decode)) values$decode <- "none"
  options <- option_texts(values)
  among <- if (!is.null(candidates)) new_outputs(object, candidates)$pointer
  found <- run(how, function(context)
    .Call(C_predict, context, object$pointer, x$pointer, options, among,
          c("weights", "embedding", "confidence") == type))
  switch(type,
    rank = list(index = found$index, distance = found$distance),
    weights = , embedding = found[[type]],
    confidence = structure(found$confidence,
                           dimnames = list(NULL, c("distance", "gap", "variance"))),
    response = shaped(object, found))
}

class_names <- function(object) {
  outputs <- structure(list(pointer = .Call(C_model_data, object$pointer, TRUE)),
                       class = "okra_data")
  codes <- as_objects(outputs)
  if (is.character(codes)) .Call(C_label_names, outputs$pointer)
  else as.character(seq_len(about_data(object, TRUE)$width))
}

# Predictions in the form of the training outputs.
shaped <- function(object, found) {
  if (is.null(found$objects)) return(NULL)
  data <- structure(list(pointer = found$objects), class = "okra_data")
  kind <- .Call(C_data_about, data$pointer)$kind
  if (kind == "gram") return(found$index[, 1])
  values <- as_objects(data)
  if (kind == "labels")
    return(switch(object$form$type,
      logical = as.character(values) == "TRUE",
      character = as.character(values),
      factor(as.character(values), levels = class_names(object))))
  if (kind == "dense" && isTRUE(object$form$flat) && ncol(values) == 1L) return(values[, 1])
  columns <- about_data(object, TRUE)$columns
  if (is.matrix(values) && is.null(colnames(values)) && length(columns) == ncol(values))
    colnames(values) <- columns
  values
}

okra_save <- function(model, file, compact = c("auto", "no", "yes", "recompute")) {
  if (!inherits(model, "okra_model")) stop("expected a model of okra_fit()", call. = FALSE)
  how <- match(match.arg(compact), c("no", "yes", "recompute", "auto")) - 1L
  note <- sprintf("r flat=%d type=%s", model$form$flat, model$form$type)
  run(model$settings, function(context)
    .Call(C_save, context, model$pointer, path.expand(file), how, note))
  invisible(file)
}

okra_load <- function(file) {
  how <- settings()
  pointer <- run(how, function(context) .Call(C_load, context, path.expand(file)))
  json <- .Call(C_model_about, pointer)$json
  note <- regmatches(json, regexec('"note": *"r flat=([01]) type=([a-z]*)"', json))[[1]]
  form <- if (length(note)) list(flat = note[2] == "1", type = note[3])
          else list(flat = FALSE, type = "")
  new_model(pointer, form, how)
}
