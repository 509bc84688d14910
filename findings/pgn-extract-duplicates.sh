#!/bin/sh
# pgn-extract 19.04 (Debian 12): -D, which leaves out duplicate games, compares the moves alone, and not the players,
# the day or the result. So of all the forfeits of a season, which have no moves, it keeps the first, and of several
# games that were agreed drawn after the same few moves, too. Whoever merges the files of a club with it before an
# import loses results, and the count at the end does not say that they were taken for duplicates.
#
# Seen: of three forfeits (1-0, 0-1, 1-0) and two short games with the same moves (1/2-1/2, 1-0), played by ten people
# on five days, -D keeps the first forfeit and the draw.
#
# What helps: compare tags (the day, the round and the players; for games of lichess, Site) instead.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
cd "$work"
apt-get download -q=2 pgn-extract=19.04-1 2>/dev/null
dpkg-deb --extract pgn-extract_*.deb root
# Writes a game: round, players, result, moves.
game() {
    printf '[Event "Club"]\n[Site "Hall"]\n[Date "2026.05.0%s"]\n[Round "%s"]\n' "$1" "$1"
    printf '[White "%s"]\n[Black "%s"]\n[Result "%s"]\n\n%s %s\n\n' "$2" "$3" "$4" "$5" "$4"
}
{
    game 1 Ann Bob 1-0 ''
    game 2 Cid Dan 0-1 ''
    game 3 Eve Fay 1-0 ''
    game 4 Gus Hal 1/2-1/2 '1. e4 e5 2. Nf3'
    game 5 Ida Jan 1-0 '1. e4 e5 2. Nf3'
} >games.pgn
# Prints the names and results of the games that come out.
games() {
    root/usr/games/pgn-extract -s "$@" games.pgn | sed -nE 's/^\[(White|Black|Result) "(.*)"\]/\2/p' | xargs -n 3
}
all=$(games | wc -l)
kept=$(games -D)
printf 'of %s games, -D keeps:\n%s\n' "$all" "$kept"
[ "$all" = 5 ] && [ "$kept" = 'Ann Bob 1-0
Gus Hal 1/2-1/2' ] || { echo 'it is no longer so'; exit 1; }
