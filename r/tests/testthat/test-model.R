test_that("ridge is the closed form", {
  d <- plane(60)
  train <- 1:40
  model <- okra_fit(d$x[train, ], d$y[train, ], kx = "rbf(sigma=0.4)", ky = "linear",
                    lambda = 0.05, center_output = FALSE)
  k <- naive_rbf(d$x[train, ], d$x[train, ], 0.4)
  weights <- naive_rbf(d$x[-train, ], d$x[train, ], 0.4) %*% solve(k + 0.05 * diag(40))
  expect_lt(relative(predict(model, d$x[-train, ]), weights %*% d$y[train, ]), 1e-12)
  expect_lt(relative(predict(model, d$x[-train, ], type = "weights"), weights), 1e-12)
  expect_equal(colnames(predict(model, d$x[-train, ])), c("s", "c", "p"))
  expect_equal(nobs(model), 40)
})

test_that("weights of pairs count pairs", {
  d <- plane(30)
  counts <- rep(1:3, 10)
  fit <- function(x, y, ...) okra_fit(x, y, kx = "rbf(sigma=0.4)", ky = "linear", lambda = 0.1, ...)
  weighed <- fit(d$x, d$y, weights = counts)
  repeated <- rep(seq_len(30), counts)
  again <- fit(d$x[repeated, ], d$y[repeated, ])
  expect_lt(relative(predict(weighed, d$x), predict(again, d$x)), 1e-10)
})

test_that("flat outputs, classes and truth values come back as they were", {
  d <- plane(80)
  expect_type(predict(okra_fit(d$x, d$y[, 1], lambda = 0.01), d$x), "double")
  expect_null(dim(predict(okra_fit(d$x, d$y[, 1], lambda = 0.01), d$x)))
  classes <- factor(ifelse(d$x[, 1] > 0.5, "high", "low"), levels = c("low", "high"))
  model <- okra_fit(d$x, classes)
  expect_equal(levels(predict(model, d$x)), c("low", "high"))
  expect_gt(mean(predict(model, d$x) == classes), 0.95)
  p <- predict(model, d$x, type = "prob")
  expect_equal(colnames(p), c("low", "high"))
  expect_equal(rowSums(p), rep(1, 80))
  expect_type(predict(okra_fit(d$x, d$x[, 1] > 0.5), d$x), "logical")
  expect_type(predict(okra_fit(d$x, as.character(classes)), d$x), "character")
})

test_that("outputs may be missing", {
  d <- plane(60)
  y <- d$y
  y[seq(1, 60, 7), 2] <- NA
  model <- okra_fit(d$x, y, kx = "rbf(sigma=0.4)", ky = "linear", lambda = 1e-3)
  known <- okra_fit(d$x, d$y, kx = "rbf(sigma=0.4)", ky = "linear", lambda = 1e-3)
  expect_lt(relative(predict(model, d$x)[, 1], predict(known, d$x)[, 1]), 1e-10)
  expect_lt(max(abs(predict(model, d$x)[, 2] - d$y[, 2])), 0.2)
})

test_that("formulas take tables", {
  model <- okra_fit(Species ~ ., iris)
  expect_gt(mean(predict(model, iris) == iris$Species), 0.95)
  cars <- transform(mtcars, gears = factor(gear))
  cars$wt[3] <- NA
  two <- okra_fit(cbind(mpg, hp) ~ log(disp) + wt + gears, cars)
  columns <- okra_info(two)$inputs$columns
  expect_equal(columns, c("log(disp)", "wt", "wt missing", "gears=level 3", "gears=level 4",
                          "gears=level 5"))
  whole <- predict(two, cars)
  expect_equal(colnames(whole), c("mpg", "hp"))
  expect_equal(predict(two, cars[2:3, ]), whole[2:3, ])
  expect_error(okra_fit(mpg ~ wt * hp, mtcars), "interactions")
})

test_that("strings become strings, and candidates are chosen from", {
  stems <- c("walk", "talk", "jump", "look", "play", "stay", "call", "fill", "turn", "learn")
  model <- okra_fit(stems, paste0(stems, "ed"))
  expect_equal(predict(model, "walk"), "walked")
  expect_warning(
    found <- predict(model, c("walk", "play"), candidates = c("played", "walked", "xyz")),
    "favours", class = "okra_warning")
  expect_equal(found, c("walked", "played"))
  ranks <- predict(model, "walk", type = "rank", candidates = c("played", "walked", "xyz"), top = 2,
                   as_new = TRUE)
  expect_equal(ranks$index[1, 1], 2L)
  expect_true(all(diff(ranks$distance[1, ]) >= 0))
})

test_that("molecules are given as SMILES", {
  n <- 1:12
  chains <- c(strrep("C", n), paste0(strrep("C", n), "O"))
  size <- c(n, n + 1)
  model <- okra_fit(okra_data(chains, "smiles"), size)
  expect_gt(cor(predict(model, chains), size), 0.9)
})

test_that("selection finds the best cell, and a fit takes it", {
  d <- plane(80)
  expect_warning(
    found <- okra_select(d$x, d$y, kx = c("linear", "rbf(sigma=0.5)"), ky = "linear",
                         lambda = c(1e-4, 1e-2, 1)),
    "least value of its list", class = "okra_warning")
  cells <- as.data.frame(found)
  expect_equal(nrow(cells), 6)
  expect_equal(found$best, which.min(cells$mean))
  model <- okra_fit(found)
  expect_equal(okra_info(model)$options[["kx"]], "rbf(sigma=0.5)")
  expect_equal(as.numeric(okra_info(model)$options[["lambda"]]), cells$lambda[found$best])
  # leave-one-out the slow way
  left <- vapply(1:80, function(i) {
    m <- okra_fit(d$x[-i, ], d$y[-i, ], kx = cells$kx[1], ky = "linear", lambda = cells$lambda[1])
    sum((predict(m, d$x[i, , drop = FALSE]) - d$y[i, ])^2)
  }, 1)
  expect_lt(relative(cells$mean[1], mean(left)), 1e-8)
})

test_that("what is printed and drawn", {
  d <- plane(60)
  model <- okra_fit(d$x, d$y)
  expect_output(print(model), "okra model: ridge")
  expect_output(print(summary(model)), "Leave-one-out")
  found <- suppressWarnings(
    okra_select(d$x, d$y, kx = "rbf(sigma=0.5)", ky = "linear", lambda = c(1e-3, 1)))
  expect_output(print(found), "2 cells")
  expect_output(print(summary(found)), "the best 2 of 2")
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  expect_length(plot(model), 60)
  expect_equal(plot(model, d$x, d$y), predict(model, d$x))
  expect_s3_class(plot(found), "okra_selection")
  classes <- okra_fit(Species ~ ., iris)
  expect_s3_class(plot(classes, iris, iris$Species), "factor")
})
