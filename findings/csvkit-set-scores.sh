#!/bin/sh
# csvkit 1.0.7 (Debian 12): csvsort and csvjoin, which are to sort and to join rows, also change results. If every cell
# of a column can be read as a date, the column is written as dates, and parsedatetime, which decides that, reads dates
# out of much. A match in two sets such as "6-4 7-5" is one: the last set becomes the month and the day, and the first
# is gone. Points with a decimal comma, in a file with semicolons, lose the comma: 2,5 becomes 25. csvcut, csvgrep and
# csvstack leave cells alone, so that a file is right or wrong by the tools that it went through.
#
# Seen: csvsort makes dates with 07-05 and 06-03 of "6-4 7-5" and "7-6 6-3", and 25 of 2,5; csvcut leaves the sets.
#
# What helps: --no-inference (-I).
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
cd "$work"
apt-get download -q=2 csvkit=1.0.7-1 python3-csvkit=1.0.7-1 python3-agate=1.6.3-2 python3-isodate=0.6.1-1 \
    python3-leather=0.3.4-2 python3-parsedatetime=2.6-3 python3-pytimeparse=1.1.5-3 python3-slugify=4.0.0-2 \
    python3-babel=2.10.3-1 python-babel-localedata=2.10.3-1 python3-tz=2022.7.1-4 python3-unidecode=1.3.6-1 \
    python3-six=1.16.0-4 2>/dev/null
for package in *.deb; do
    dpkg-deb --extract "$package" root
done
tool() {
    tool=$1
    shift
    PYTHONPATH=root/usr/lib/python3/dist-packages /usr/bin/python3 "root/usr/bin/$tool" "$@"
}
printf 'winner,loser,sets\nAnn,Bob,6-4 7-5\nCid,Dan,7-6 6-3\n' >sets.csv
printf 'player;points\nAnn;2,5\nCid;3\n' >points.csv
sorted=$(tool csvsort -c winner sets.csv | tail -n +2 | xargs)
points=$(tool csvsort -c player points.csv | tail -n +2 | xargs)
echo "csvsort, sets:    $sorted"
echo "csvsort, points:  $points"
cut=$(tool csvcut -c sets sets.csv | tail -n +2 | xargs)
echo "csvcut, sets:     $cut"
kept=$(tool csvsort -I -c winner sets.csv | tail -n +2 | xargs)
echo "csvsort -I, sets: $kept"
echo "$sorted" | grep -qE '^Ann,Bob,[0-9]{4}-07-05 Cid,Dan,[0-9]{4}-06-03$' && [ "$points" = 'Ann,25 Cid,3' ] &&
    [ "$cut" = '6-4 7-5 7-6 6-3' ] && [ "$kept" = 'Ann,Bob,6-4 7-5 Cid,Dan,7-6 6-3' ] ||
    { echo 'it is no longer so'; exit 1; }
