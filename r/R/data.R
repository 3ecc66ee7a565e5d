# Collections of objects: from R to the library and back.

new_data <- function(pointer) {
  structure(list(pointer = checked(pointer)), class = "okra_data")
}

okra_data <- function(x, as = c("auto", "dense", "missing", "bits", "labels", "gram", "strings",
                                "smiles", "sequences", "tuple"),
                      diagonal = NULL, name = NULL) {
  as <- match.arg(as)
  if (inherits(x, "okra_data")) return(x)
  switch(as,
    auto = automatic(x, name),
    dense = new_data(.Call(C_dense, numbers(x), colnames(x), FALSE, name)),
    missing = new_data(.Call(C_dense, numbers(x), colnames(x), TRUE, name)),
    bits = bits(x, name),
    labels = labels_of(x, name),
    gram = new_data(.Call(C_gram_rows, numbers(x),
                          if (!is.null(diagonal)) as.double(diagonal), name)),
    strings = new_data(.Call(C_strings, texts(x), name)),
    smiles = new_data(run(settings(), function(context) .Call(C_smiles, context, texts(x), name))),
    sequences = new_data(.Call(C_sequences, lapply(x, function(m) t(numbers(m))), name)),
    tuple = new_data(.Call(C_tuple, lapply(unname(x), function(part) okra_data(part)$pointer))))
}

# What it is, from what R has.
automatic <- function(x, name) {
  if (is.data.frame(x)) return(table_of(x, name = name))
  if (inherits(x, "Matrix")) return(sparse(x, name))
  if (inherits(x, "kernelMatrix")) return(okra_data(x, "gram", name = name))
  if (is.factor(x) || (is.logical(x) && is.null(dim(x)))) return(labels_of(x, name))
  if (is.character(x)) return(okra_data(x, "strings", name = name))
  if (is.numeric(x) || is.logical(x)) return(okra_data(x, "dense", name = name))
  if (is.list(x) && length(x) && all(vapply(x, is.matrix, TRUE)) && is.null(names(x)))
    return(okra_data(x, "sequences", name = name))
  if (is.list(x) && length(x)) return(okra_data(x, "tuple"))
  stop(if (is.null(name)) "the objects" else name, " are of class ", class(x)[1],
       "; expected numbers, texts, a factor, a data frame or a matrix", call. = FALSE)
}

numbers <- function(x) {
  if (is.data.frame(x)) x <- as.matrix(x)
  if (inherits(x, "Matrix") || isS4(x)) x <- as(x, "matrix")
  if (!is.numeric(x) && !is.logical(x))
    stop("expected numbers, found ", class(x)[1], call. = FALSE)
  x <- if (is.matrix(x)) x else matrix(x, ncol = 1L)
  storage.mode(x) <- "double"
  x
}

texts <- function(x) {
  if (is.factor(x)) x <- as.character(x)
  if (!is.character(x)) stop("expected texts, found ", class(x)[1], call. = FALSE)
  if (anyNA(x)) stop("text ", which(is.na(x))[1], " is NA", call. = FALSE)
  enc2utf8(x)
}

labels_of <- function(x, name) {
  x <- if (is.factor(x)) x else factor(x)
  if (anyNA(x)) stop("label ", which(is.na(x))[1], " is NA", call. = FALSE)
  new_data(.Call(C_labels, as.integer(x), enc2utf8(levels(x)), name))
}

bits <- function(x, name) {
  x <- numbers(x) != 0
  if (anyNA(x)) stop("a bit is NA", call. = FALSE)
  new_data(.Call(C_bits, x, name))
}

sparse <- function(x, name) {
  if (!inherits(x, "sparseMatrix")) return(okra_data(as.matrix(x), "dense", name = name))
  x <- as(as(as(x, "dMatrix"), "generalMatrix"), "CsparseMatrix")
  new_data(.Call(C_sparse, x@p, x@i, x@x, x@Dim, colnames(x), name))
}

# A frame of numbers is vectors; one with texts, classes, dates or gaps is the table that the
# program would read. `like`: as these inputs were.
table_of <- function(x, like = NULL, name = NULL) {
  plain <- all(vapply(x, function(v) is.numeric(v) && !anyNA(v), TRUE))
  if (plain && is.null(like)) return(okra_data(as.matrix(x), "dense", name = name))
  path <- tempfile("okra-", fileext = ".csv")
  on.exit(unlink(path))
  # A level that is written as a number is none.
  cell <- function(v) {
    if (is.numeric(v)) return(ifelse(is.na(v), NA, sprintf("%.17g", as.double(v))))
    text <- enc2utf8(as.character(v))
    digits <- is.factor(v) & !is.na(suppressWarnings(as.numeric(text)))
    ifelse(digits, paste("level", text), text)
  }
  text <- as.data.frame(lapply(x, cell), stringsAsFactors = FALSE)
  names(text) <- names(x)
  quoted <- which(!vapply(x, is.numeric, TRUE))
  write.table(text, path, sep = ",", na = "", qmethod = "double", row.names = FALSE,
              quote = quoted, fileEncoding = "UTF-8")
  new_data(run(settings(header = TRUE), function(context) .Call(C_read, context, path, TRUE, like)))
}

okra_read <- function(file, memory = NULL, header = NULL, verbose = FALSE) {
  how <- settings(memory = memory, header = header, verbose = verbose)
  new_data(run(how, function(context) .Call(C_read, context, path.expand(file), FALSE, NULL)))
}

okra_write <- function(data, file) {
  pointer <- okra_data(data)$pointer
  run(settings(), function(context) .Call(C_write, context, pointer, path.expand(file)))
  invisible(file)
}

# ---- back to R ----

as_objects <- function(data) {
  found <- .Call(C_objects, data$pointer)
  if (.Call(C_data_about, data$pointer)$kind != "sparse") return(found)
  named <- if (is.null(found$columns)) NULL else list(NULL, found$columns)
  Matrix::sparseMatrix(p = found$p, j = found$j, x = found$x, dims = found$shape,
                       index1 = FALSE, repr = "C", dimnames = named)
}

length.okra_data <- function(x) as.integer(.Call(C_data_about, x$pointer)$count)

print.okra_data <- function(x, ...) {
  about <- .Call(C_data_about, x$pointer)
  cat("okra data: ", about$count, " objects, ", about$kind,
      if (about$width > 0) paste0(", width ", about$width), "\n", sep = "")
  invisible(x)
}

`[.okra_data` <- function(x, i) {
  new_data(.Call(C_take, x$pointer, as.double(seq_len(length(x))[i])))
}

as.matrix.okra_data <- function(x, ...) as.matrix(as_objects(x))
as.character.okra_data <- function(x, ...) as.character(as_objects(x))
as.list.okra_data <- function(x, ...) {
  found <- as_objects(x)
  if (is.matrix(found)) lapply(seq_len(nrow(found)), function(i) found[i, ]) else as.list(found)
}
