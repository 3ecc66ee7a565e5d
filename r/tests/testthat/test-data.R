test_that("objects come back as they went", {
  d <- plane(7)
  expect_identical(as.matrix(okra_data(d$x)), d$x)
  expect_identical(as.matrix(okra_data(d$x)[c(3, 1)]), d$x[c(3, 1), ])
  texts <- c("", "plain", "\u00e9t\u00e9", "\u4e2d\U1F600")
  expect_identical(as.character(okra_data(texts)), texts)
  latin <- iconv("\u00e9t\u00e9", "UTF-8", "latin1")
  expect_identical(as.character(okra_data(latin)), "\u00e9t\u00e9")
  bits <- d$y > 0.3
  expect_identical(unname(as.matrix(okra_data(bits, "bits"))), unname(bits))
  expect_identical(as.character(okra_data(factor(c("b", "a", "b")))), c("b", "a", "b"))
  molecules <- c("CCO", "c1ccccc1", "CC(=O)[O-]")
  expect_identical(as.character(okra_data(molecules, "smiles")), molecules)
  steps <- list(d$x[1:2, ], d$x[3:7, ])
  expect_equal(as.list(okra_data(steps)), lapply(steps, unname))
  expect_length(okra_data(list(a = d$x, b = letters[1:7])), 7)
  expect_output(print(okra_data(d$x)), "7 objects, dense, width 2")
})

test_that("sparse matrices of Matrix are sparse vectors", {
  needed("Matrix")
  set.seed(1)
  s <- Matrix::rsparsematrix(40, 9, 0.3)
  colnames(s) <- letters[1:9]
  back <- okra:::as_objects(okra_data(s))
  expect_s4_class(back, "dgCMatrix")
  expect_identical(as.matrix(back), as.matrix(s))
  expect_output(print(okra_data(s)), "sparse, width 9")
  for (class in c("RsparseMatrix", "TsparseMatrix"))
    expect_equal(as.matrix(okra:::as_objects(okra_data(as(s, class)))), as.matrix(s))
  k <- okra_gram("rbf(sigma=2)", s, type = "matrix")
  expect_lt(relative(k, naive_rbf(as.matrix(s), as.matrix(s), 2)), 1e-12)
  y <- as.matrix(s) %*% seq_len(9)
  model <- okra_fit(s, y[, 1], kx = "linear", ky = "linear", lambda = 1e-8)
  expect_lt(relative(predict(model, s), y[, 1]), 1e-4)
})

test_that("files are read and written", {
  d <- plane(5)
  path <- tempfile(fileext = ".csv")
  on.exit(unlink(path))
  okra_write(d$x, path)
  expect_equal(as.matrix(okra_read(path)), d$x, tolerance = 1e-12, ignore_attr = TRUE)
})

test_that("what is wrong is a condition with the library's message", {
  d <- plane(10)
  expect_error(okra_fit(d$x, d$y[1:3, ]), class = "OKRA_ESHAPE")
  expect_error(okra_fit(d$x, d$y, lambad = 1), "did you mean 'lambda'", class = "OKRA_EARG")
  expect_error(okra_fit(d$x, d$y, kx = "rbf(sigma="), class = "okra_error")
  expect_error(okra_fit(replace(d$x, 3, NA), d$y), class = "okra_error")
  expect_error(okra_load(tempfile()), class = "OKRA_EIO")
  expect_error(okra_data("C1CC", "smiles"), class = "okra_error")
  expect_error(okra_data(c("a", NA)), "text 2 is NA")
  expect_error(okra_fit(d$x, d$y, memory = 1), class = "okra_error")
  expect_error(okra_fit(d$x, d$y, 3), "named")
  expect_error(okra_data(quote(x)), "class name")
  model <- okra_fit(d$x, d$y, lambda = 1)
  expect_error(predict(model, d$x[, 1, drop = FALSE]), class = "okra_error")
  path <- tempfile(fileext = ".rds")
  on.exit(unlink(path))
  saveRDS(model, path)
  expect_error(predict(readRDS(path), d$x), "okra_save")
})

test_that("an interrupt ends long work soon", {
  skip_on_os("windows")
  skip_on_cran()
  d <- plane(1500)
  system(sprintf("(sleep 1; kill -INT %d) >/dev/null 2>&1", Sys.getpid()), wait = FALSE)
  begin <- proc.time()[["elapsed"]]
  how <- tryCatch({
    suppressWarnings(okra_select(d$x, d$y, kx = "rbf(sigma=0.01..20:99)", ky = "linear", lambda = "1e-9..1",
                threads = 1)) # how long it would take
    "ended"
  }, interrupt = function(condition) "interrupted")
  expect_identical(how, "interrupted")
  expect_lt(proc.time()[["elapsed"]] - begin, 30)
  expect_equal(nrow(okra_gram("linear", d$x[1:3, ], type = "matrix")), 3)
})
