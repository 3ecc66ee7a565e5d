library(testthat)
library(okra)

test_check("okra")
