#!/bin/sh
# pgn-extract 19.04 (Debian 12): it does not know PGN's comments to the end of the line, which begin with ";", only
# those in braces. It reads their text as moves and results. A comment that names a result makes three games out of
# one: the first has the names, the result and no moves, the others have moves or results that belong to nobody. The
# exit status is 0. The messages on the standard error name the character, and say "3 games matched out of 3".
#
# Seen: the game that Ann won against Bob, with the comment "; 0-1 was close", comes out as Ann against Bob 1-0, ?
# against ? 0-1, and ? against ? 1-0. With the same comment in braces, it comes out as it was.
#
# What helps: turn such comments into braces before, as with sed 's/;\(.*\)/{\1}/', if no other ";" is in the file.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
cd "$work"
apt-get download -q=2 pgn-extract=19.04-1 2>/dev/null
dpkg-deb --extract pgn-extract_*.deb root
cat >line.pgn <<'PGN'
[Event "Club evening"]
[Site "Hall"]
[Date "2026.05.01"]
[Round "1"]
[White "Ann"]
[Black "Bob"]
[Result "1-0"]

1. e4 e5 ; 0-1 was close
2. Nf3 Nc6 1-0
PGN
sed 's/;\(.*\)/{\1}/' line.pgn >braces.pgn
# Prints the names and results of the games that come out.
games() { root/usr/games/pgn-extract -s "$1" | sed -nE 's/^\[(White|Black|Result) "(.*)"\]/\2/p' | xargs -n 3; }
line=$(games line.pgn 2>errors)
braces=$(games braces.pgn)
printf 'comment to the end of the line:\n%s\nin braces:\n%s\n' "$line" "$braces"
grep 'Unknown character' errors
[ "$line" = 'Ann Bob 1-0
? ? 0-1
? ? 1-0' ] && [ "$braces" = 'Ann Bob 1-0' ] || { echo 'it is no longer so'; exit 1; }
