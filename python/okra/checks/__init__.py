"""Is a result real? Intervals and comparisons of scores, audits, fair splits, explanations.

What is heavy (Gram matrices, fits, weights, left-out predictions) comes from the library; the checks
are short files over it. The program ``okra-audit`` (`okra.checks.main`) is the command line of all this.
"""
