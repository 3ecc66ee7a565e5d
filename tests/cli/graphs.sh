# Molecules, graphs, nodes and distances from the command line, as inputs and as outputs.
printf 'CCO ethanol\nc1ccccc1 benzene\nOCC\nC1=CC=CC=C1\n' >m.smi
# five paths (C, O, CC, CO, CCO) and four (C, cc, ccc, cccc), one in common: 1/8
expect_out "$(printf '1,0.125,1,0.125\n0.125,1,0.125,1\n1,0.125,1,0.125\n0.125,1,0.125,1')" \
    okra gram --x m.smi --kernel 'paths(m=3) | tanimoto' -o -
printf 'C1CC\n' >bad.smi
expect_fail 1 "okra gram: bad.smi: line 1: character 2: ring is not closed '1'" \
    okra gram --x bad.smi --kernel paths -o K.npy

# molecules to molecules: written as they came
head -n 2 m.smi >two.smi
expect 0 okra fit --x two.smi --y two.smi --kx wl --ky 'ecfp | tanimoto' --lambda 0.01 -o m.okra
expect 0 okra predict m.okra --x two.smi -o out.smi
expect_out "$(cat two.smi)" cat out.smi

# nodes as outputs and as inputs
printf 'a b\nb c\nd\n' >n.edges
printf '1,0,0,0\n0,1,0,0\n0,0,1,0\n0,0,0,1\n' >x.csv
expect 0 okra fit --x x.csv --y n.edges --kx linear --ky diffusion --lambda 0.1 -o n.okra
expect 0 okra predict n.okra --x x.csv -o names.txt
expect_out "$(printf 'a\nb\nc\nd')" cat names.txt
printf 'c\na\n' >list.txt
expect 0 okra fit --x n.edges --y x.csv --kx diffusion --ky linear --lambda 1e-6 -o n.okra
expect 0 okra predict n.okra --x n.edges:list.txt --decode candidates -o y.csv
expect_out "$(printf '0,0,1,0\n1,0,0,0')" cat y.csv
printf 'c\na b\n' >list.txt
expect_fail 1 "okra gram: n.edges: list.txt: line 2, character 3: expected one node, found more" \
    okra gram --x n.edges:list.txt --kernel diffusion -o K.npy
printf 'a a\n' >loop.edges
expect_fail 1 "okra gram: loop.edges: line 1, character 3: an edge from a node to itself" \
    okra gram --x loop.edges --kernel diffusion -o K.npy

# distances: three points on a line at 0, 1 and 3; a fourth at 2
printf '0,1,3\n1,0,2\n3,2,0\n' >d.csv
printf '2,1,1\n' >t.csv
okra gram --x distances:t.csv --y distances:d.csv --kernel from-distance -o K.csv
awk -F, '{ for (k = 1; k <= 3; k++) { printf "%.4f ", $k } print "" }' K.csv >out
expect_in "-0.8889 -0.2222 1.1111" out # (2 - 4/3) times (0, 1, 3) - 4/3
