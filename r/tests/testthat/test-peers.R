# The same numbers from R, the program, Python and kernlab.

write_plain <- function(x, path) {
  text <- matrix(sprintf("%.17g", x), nrow(x))
  write.table(text, path, sep = ",", quote = FALSE, row.names = FALSE, col.names = FALSE)
}

test_that("the program fits the same model, and reads R's", {
  okra <- named_program("OKRA_PROGRAM")
  folder <- tempfile("okra-")
  dir.create(folder)
  on.exit(unlink(folder, recursive = TRUE))
  at <- function(name) file.path(folder, name)
  d <- plane(120)
  write_plain(d$x[1:80, ], at("x.csv"))
  write_plain(d$y[1:80, ], at("y.csv"))
  write_plain(d$x[81:120, ], at("new.csv"))
  call <- function(...) {
    expect_equal(system2(okra, c(..., "--threads", "2", "--quiet"), stdout = FALSE), 0L)
  }
  predicted <- function(model) {
    call("predict", at(model), "--x", at("new.csv"), "-o", at("out.csv"))
    as.matrix(okra_read(at("out.csv")))
  }
  x <- okra_read(at("x.csv"))
  y <- okra_read(at("y.csv"))
  for (options in list(list(), list(kx = "rbf(sigma=0.4)", ky = "linear", lambda = 0.01),
                       list(kx = "rbf(sigma=0.4)", ky = "rbf(sigma=1)", lambda = 0.01))) {
    flags <- as.vector(rbind(sprintf("--%s", names(options)), shQuote(unlist(options))))
    call("fit", "--x", at("x.csv"), "--y", at("y.csv"), "-o", at("program.okra"), flags)
    mine <- do.call(okra_fit, c(list(d$x[1:80, ], d$y[1:80, ], threads = 2), options))
    okra_save(mine, at("r.okra"))
    theirs <- okra_load(at("program.okra"))
    new <- unname(d$x[81:120, ])
    expect_identical(unname(predict(theirs, new, threads = 2)), unname(predicted("program.okra")))
    expect_identical(unname(predict(mine, new)), unname(predicted("r.okra")))
    expect_lt(relative(predict(mine, new), predict(theirs, new)), 1e-12)
    expect_identical(predict(okra_load(at("r.okra")), new, threads = 2), predict(mine, new))
  }
})

test_that("Python has the same numbers", {
  python <- named_program("OKRA_PYTHON")
  folder <- tempfile("okra-")
  dir.create(folder)
  on.exit(unlink(folder, recursive = TRUE))
  at <- function(name) file.path(folder, name)
  d <- plane(120)
  model <- okra_fit(d$x[1:80, ], d$y[1:80, ], threads = 2)
  okra_save(model, at("r.okra"))
  write_plain(d$x[81:120, ], at("new.csv"))
  writeLines(c(
    "import sys, numpy as np, okra",
    "folder = sys.argv[1]",
    "new = np.loadtxt(folder + '/new.csv', delimiter=',')",
    "from okra._library import Context",
    "found = okra.Model.load(folder + '/r.okra').predict(new, context=Context(threads=2))",
    "np.savetxt(folder + '/out.csv', found.objects().objects, fmt='%.17g', delimiter=',')",
    "np.savetxt(folder + '/gram.csv', okra.gram_matrix('rbf(sigma=0.4)', new), fmt='%.17g',",
    "           delimiter=',')"), at("try.py"))
  expect_equal(system2(python, c(at("try.py"), folder)), 0L)
  numbers <- function(name) unname(as.matrix(utils::read.csv(at(name), header = FALSE)))
  expect_lt(relative(predict(model, d$x[81:120, ]), numbers("out.csv")), 1e-12)
  mine <- okra_gram("rbf(sigma=0.4)", d$x[81:120, ], type = "matrix")
  expect_lt(relative(mine, numbers("gram.csv")), 1e-12)
})

test_that("kernlab computes the same and takes the Gram matrix", {
  needed("kernlab")
  d <- plane(90)
  k <- okra_gram("rbf(gamma=3)", d$x)
  expect_s4_class(k, "kernelMatrix")
  theirs <- kernlab::kernelMatrix(kernlab::rbfdot(sigma = 3), d$x)
  expect_lt(relative(k@.Data, theirs@.Data), 1e-12)
  across <- okra_gram("rbf(gamma=3)", d$x[1:4, ], d$x)
  expect_lt(relative(across@.Data, theirs@.Data[1:4, ]), 1e-12)
  classes <- factor(d$x[, 1] + d$x[, 2] > 1)
  machine <- kernlab::ksvm(k, classes, type = "C-svc", C = 10)
  new <- kernlab::as.kernelMatrix(across[, kernlab::SVindex(machine), drop = FALSE])
  expect_identical(as.character(kernlab::predict(machine, new)), as.character(classes[1:4]))
  # The mean of a Gaussian process is kernel ridge regression.
  process <- kernlab::gausspr(d$x, d$y[, 1], kernel = "rbfdot", kpar = list(sigma = 3), var = 0.1,
                              scaled = FALSE)
  mine <- okra_fit(d$x, d$y[, 1], kx = "rbf(gamma=3)", ky = "linear", lambda = 0.1,
                   center_output = FALSE)
  expect_lt(relative(predict(mine, d$x), kernlab::predict(process, d$x)[, 1]), 1e-10)
  # A Gram matrix is an input as well.
  given <- okra_fit(k, d$y, kx = "precomputed", ky = "linear", lambda = 0.1)
  plain <- okra_fit(d$x, d$y, kx = "rbf(gamma=3)", ky = "linear", lambda = 0.1)
  expect_lt(relative(predict(given, across), predict(plain, d$x[1:4, ])), 1e-10)
})
