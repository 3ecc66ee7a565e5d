# Mistakes in what is typed: status 2, the text names the mistake and the nearest name.
expect 2 okra
expect_in "Usage: okra COMMAND [flags]" err
[ ! -s out ]
expect_fail 2 "okra: there is no command 'fitt'; did you mean 'fit'?" okra fitt
expect_fail 2 "okra: there is no command 'zzzzzzzz'; 'okra help' lists them" okra zzzzzzzz
expect_fail 2 "okra fit: there is no flag --lambd; did you mean --lambda?" okra fit --lambd 1
expect_fail 2 "okra fit: there is no flag --zzzzzzzz; 'okra fit --help' lists the flags" \
    okra fit --zzzzzzzz
expect_fail 2 "okra fit: there is no flag -z" okra fit -z
expect_fail 2 "okra fit: --y FILE is missing: Training outputs, in the same order" okra fit
expect_fail 2 "okra fit: --x FILE is missing: Training inputs, one object per row" okra fit --y b -o m.okra
expect_fail 2 "okra fit: -o FILE is missing: The model file to write" okra fit --x a --y b
expect_fail 2 "okra fit: --x needs a value: FILE" okra fit --x
expect_fail 2 "okra fit: 'b' is one argument too many: files are given by flags, --x FILE and others" okra fit b
expect_fail 2 "okra predict: MODEL is missing: okra predict MODEL --x FILE -o FILE [flags]" \
    okra predict --x a
expect_fail 2 "okra predict: 'b' is one argument too many: files are given by flags, --x FILE and others" okra predict a b
expect_fail 2 "okra fit: flags: threads is 'x', expected a whole number" okra fit --threads x
# The range of the flag is that of okra_context_set_threads.
expect_fail 2 "okra fit: flags: threads is -1, expected 0 to 1024" okra fit --threads=-1
expect_fail 2 "okra fit: flags: threads is 1025, expected 0 to 1024" okra fit --threads=1025
expect 0 okra version --threads 1024
expect_fail 2 "okra fit: flags: quiet is 'perhaps', expected yes or no" okra fit --quiet=perhaps
expect_fail 2 "okra version: memory size is 'much', expected bytes such as 8G, 512M or 1.5e9" \
    okra version --memory much
expect_fail 2 "okra demo: --data has no use here" okra demo --data x
expect_fail 2 "okra help: --json has no use here" okra help --json
expect_fail 2 "okra help: there is no topic 'kernel'; did you mean 'kernels'?" okra help kernel
expect_fail 2 "okra help: there is no topic 'zzzzzzzz'; expected a command, kernels, methods, \
decoders, metrics, formats, flags, low-rank, or the name of one" okra help zzzzzzzz
expect_fail 2 "okra demo: -o is 'a.png', expected a name in .svg" okra demo -o a.png
