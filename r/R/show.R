# What models and selections print and draw.

describe <- function(about) {
  if (is.null(about)) return("none")
  paste0(about$count, " ", about$kind, if (about$width > 0) paste0(", width ", about$width))
}

print.okra_model <- function(x, ...) {
  about <- okra_info(x)
  get <- function(name) if (name %in% names(about$options)) about$options[[name]]
  cat("okra model: ", get("method"), "\n", sep = "")
  lines <- list(inputs = describe(about$inputs), outputs = describe(about$outputs),
                kx = get("kx"), ky = get("ky"), lambda = get("lambda"))
  for (name in names(lines))
    if (!is.null(lines[[name]])) cat("  ", format(name, width = 8), lines[[name]], "\n", sep = "")
  invisible(x)
}

summary.okra_model <- function(object, ...) {
  about <- okra_info(object)
  left <- tryCatch(run(object$settings, function(context) .Call(C_leave, context, object$pointer)),
                   OKRA_EUNSUPPORTED = function(e) NULL)
  structure(list(model = object, options = about$options, call = object$call,
                 losses = left$losses), class = "summary.okra_model")
}

print.summary.okra_model <- function(x, ...) {
  if (!is.null(x$call)) cat("Call: ", paste(deparse(x$call), collapse = "\n"), "\n", sep = "")
  print(x$model)
  other <- setdiff(names(x$options)[x$options != ""], c("method", "kx", "ky", "lambda"))
  if (length(other)) {
    cat("Options:\n")
    for (name in other) cat("  ", name, " = ", x$options[[name]], "\n", sep = "")
  }
  if (!is.null(x$losses)) {
    cat("Leave-one-out losses in the feature space of the outputs:\n")
    print(summary(x$losses))
  }
  invisible(x)
}

nobs.okra_model <- function(object, ...) .Call(C_model_about, object$pointer)$count

plot.okra_model <- function(x, newdata = NULL, truth = NULL, ...) {
  if (is.null(newdata)) {
    left <- run(x$settings, function(context) .Call(C_leave, context, x$pointer))
    hist(left$losses, main = "Leave-one-out", xlab = "loss in the feature space of the outputs",
         col = "grey85", border = "grey40", ...)
    return(invisible(left$losses))
  }
  if (is.null(truth)) stop("truth is needed beside newdata", call. = FALSE)
  found <- predict(x, newdata)
  if (is.data.frame(truth)) truth <- as.matrix(truth)
  if (is.numeric(found)) {
    shades <- if (is.matrix(found)) rep(seq_len(ncol(found)), each = nrow(found)) else 1L
    plot(as.vector(truth), as.vector(found), xlab = "truth", ylab = "prediction",
         col = adjustcolor(shades, 0.6), pch = 19, ...)
    abline(0, 1, lty = 2)
  } else if (is.character(found) && !x$form$type %in% c("factor", "character")) {
    barplot(table(factor(found == as.character(truth), c(TRUE, FALSE), c("right", "wrong"))), ...)
  } else {
    mosaicplot(table(truth = truth, prediction = found), main = "", color = TRUE, ...)
  }
  invisible(found)
}

print.okra_selection <- function(x, ...) {
  cat("okra selection: ", nrow(x$cells), " cells\n", sep = "")
  print(x$cells[x$best, , drop = FALSE], row.names = "best")
  invisible(x)
}

summary.okra_selection <- function(object, most = 10L, ...) {
  away <- abs(object$cells$mean - object$cells$mean[object$best])
  structure(list(cells = head(object$cells[order(away), , drop = FALSE], most),
                 count = nrow(object$cells), call = object$call),
            class = "summary.okra_selection")
}

print.summary.okra_selection <- function(x, ...) {
  if (!is.null(x$call)) cat("Call: ", paste(deparse(x$call), collapse = "\n"), "\n", sep = "")
  cat("the best ", nrow(x$cells), " of ", x$count, " cells:\n", sep = "")
  print(x$cells)
  invisible(x)
}

as.data.frame.okra_selection <- function(x, ...) x$cells

plot.okra_selection <- function(x, ...) {
  cells <- x$cells
  varied <- setdiff(names(cells)[vapply(cells, function(v) length(unique(v)) > 1L, TRUE)],
                    c("mean", "error"))
  along <- varied[vapply(cells[varied], is.numeric, TRUE)]
  one <- length(varied) == 1L && length(along) == 1L
  at <- if (one) cells[[along]] else rank(cells$mean, ties.method = "first")
  spread <- ifelse(is.na(cells$error), 0, cells$error)
  log <- if (one && all(at > 0)) "x" else ""
  plot(at, cells$mean, log = log, pch = 19, xlab = if (one) along else "cells in their order",
       ylab = "mean", ylim = range(cells$mean - spread, cells$mean + spread, na.rm = TRUE), ...)
  segments(at, cells$mean - spread, at, cells$mean + spread)
  points(at[x$best], cells$mean[x$best], pch = 1, cex = 2, col = "red")
  invisible(x)
}
