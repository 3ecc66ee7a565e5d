# A smooth map from two numbers to three.
plane <- function(n) {
  i <- seq_len(n) - 1
  a <- (i * 0.7548777) %% 1
  b <- (i * 0.5698403) %% 1
  list(x = cbind(a = a, b = b), y = cbind(s = sin(6 * a), c = cos(6 * b), p = a * b))
}

# exp(-|x_i - z_j|^2 / (2 sigma^2)), one pair after the other.
naive_rbf <- function(x, z, sigma) {
  k <- matrix(0, nrow(x), nrow(z))
  for (i in seq_len(nrow(x)))
    for (j in seq_len(nrow(z)))
      k[i, j] <- exp(-sum((x[i, ] - z[j, ])^2) / (2 * sigma^2))
  k
}

relative <- function(a, b) max(abs(unname(a) - unname(b))) / max(abs(b))

# A program or interpreter that the variable names; a test without it is skipped, unless
# OKRA_TEST_ALL says that all of them must run.
named_program <- function(variable) {
  program <- Sys.getenv(variable)
  if (program == "" && Sys.getenv("OKRA_TEST_ALL") != "") stop(variable, " is not set")
  skip_if(program == "", paste(variable, "names no program"))
  program
}

needed <- function(package) {
  if (Sys.getenv("OKRA_TEST_ALL") != "") {
    if (!requireNamespace(package, quietly = TRUE)) stop(package, " is not installed")
  } else skip_if_not_installed(package)
}
