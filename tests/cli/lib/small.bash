# A small problem in text files: 8 training pairs, 3 test inputs.
cat >x.csv <<'END'
0,0
0,1
1,0
1,1
2,0
0,2
2,1
1,2
END
cat >y.csv <<'END'
0,1
1,2
1,0
2,1
2,-1
2,3
3,0
3,2
END
printf '0.5,0.5\n1.5,0.5\n2,2\n' >tx.csv
printf '1,1\n2,0\n4,1\n' >ty.csv
