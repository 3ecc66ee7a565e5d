# Selection, Gram matrices, scores.

okra_select <- function(x, y, ..., candidates = NULL, folds = NULL, groups = NULL,
                        strata = NULL, weights = NULL, threads = NULL, memory = NULL,
                        seed = NULL, engine = NULL, verbose = FALSE) {
  how <- settings(threads, memory, seed, engine, verbose)
  values <- list(...)
  inputs <- inputs_of(x, values$kx)
  outputs <- outputs_of(y, values$ky, weights)
  options <- option_texts(values, grids = TRUE)
  label <- function(v) if (!is.null(v)) okra_data(v, "labels")$pointer
  among <- if (!is.null(candidates)) okra_data(candidates)$pointer
  groups <- list(label(folds), label(groups), label(strata))
  pointer <- run(how, function(context)
    .Call(C_select, context, inputs$data$pointer, outputs$data$pointer, options, among, groups))
  new_selection(pointer, inputs, outputs, how, sys.call())
}

new_selection <- function(pointer, inputs, outputs, how, call) {
  about <- checked(.Call(C_selection_about, pointer))
  cells <- as.data.frame(lapply(about$values, number_like), stringsAsFactors = FALSE)
  names(cells) <- names(about$values)
  cells <- cells[vapply(cells, function(v) length(unique(v)) > 1L, TRUE) |
                 names(cells) %in% c("kx", "ky", "lambda")]
  cells$mean <- about$mean
  cells$error <- about$error
  structure(list(pointer = pointer, cells = cells, best = about$best, json = about$json,
                 inputs = inputs, outputs = outputs, settings = how, call = call),
            class = "okra_selection")
}

# Texts of numbers as numbers.
number_like <- function(texts) {
  numbers <- suppressWarnings(as.numeric(texts))
  if (anyNA(numbers[!is.na(texts)])) texts else numbers
}

okra_gram <- function(kernel, x, y = NULL, type = c("kernelMatrix", "matrix"), threads = NULL,
                      memory = NULL, engine = NULL, verbose = FALSE) {
  missing_type <- missing(type)
  type <- match.arg(type)
  how <- settings(threads, memory, engine = engine, verbose = verbose)
  rows <- okra_data(x, name = "x")$pointer
  columns <- if (!is.null(y)) okra_data(y, name = "y")$pointer
  found <- run(how, function(context)
    .Call(C_gram, context, as.character(kernel)[1], rows, columns))
  text <- attr(found, "kernel")
  attr(found, "kernel") <- NULL
  if (type == "kernelMatrix") {
    if (requireNamespace("kernlab", quietly = TRUE)) found <- kernlab::as.kernelMatrix(found)
    else if (!missing_type) stop("type = \"kernelMatrix\" needs the package kernlab", call. = FALSE)
  }
  attr(found, "kernel") <- text
  found
}

okra_score <- function(metric, truth, predicted, each = FALSE, weights = NULL) {
  classes <- function(v) is.factor(v) || (is.logical(v) && is.null(dim(v)))
  if (is.character(truth) && is.character(predicted)) both <- list(truth, predicted)
  else if (classes(truth) || classes(predicted)) {
    known <- unique(c(levels(factor(truth)), levels(factor(predicted))))
    both <- list(factor(truth, known), factor(predicted, known))
  } else both <- list(truth, predicted)
  data <- lapply(both, function(v) {
    if (is.numeric(v) && !isS4(v) && anyNA(v)) okra_data(v, "missing") else okra_data(v)
  })
  if (!is.null(weights))
    data[[1]] <- new_data(.Call(C_weigh, data[[1]]$pointer, as.double(weights)))
  found <- run(settings(), function(context)
    .Call(C_score, context, metric, data[[1]]$pointer, data[[2]]$pointer))
  if (each) found$each else found$value
}
