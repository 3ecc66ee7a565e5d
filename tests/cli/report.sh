# okra report: results as a page; what is no result is refused by name and place.
printf '{"okra":"0","format":1,"kind":"score","name":"mine","title":"a & b","tables":[],"figures":[]}\n' >r.json
expect 0 okra report r.json -o page.html
expect_in "a &amp; b" page.html
expect_in "</html>" page.html
okra report r.json -o - --quiet >out
expect_in "<!DOCTYPE html>" out
printf '[1]\n' >bad.json
expect_fail 1 "okra report: bad.json: element 0 is no result of okra: expected an object with the fields kind and format" \
    okra report bad.json -o no.html
printf '{"okra":"9","format":2,"kind":"score"}\n' >new.json
expect_fail 1 "okra report: new.json: format 2, expected 1: a newer okra wrote it" \
    okra report new.json -o no.html
printf '{"okra":\n' >cut.json
expect 1 okra report cut.json -o no.html
expect_in "okra report: cut.json: line 2" err
expect 1 okra report missing.json -o no.html
[ ! -e no.html ]
printf '{"okra":"0","format":1,"kind":"score","figures":[{"id":"x","type":"curve","title":"t"}]}\n' >odd.json
expect 0 okra report odd.json -o odd.html
expect_in "This figure cannot be drawn: it has no series" odd.html
expect 2 okra report -o no.html
printf '1\n2\n' >a.csv
okra score --y a.csv --yhat a.csv --metric mse,mae --json >score.json
expect 0 okra report score.json -o score.html
expect_in "<td>mae</td>" score.html
