#!/bin/sh
# github.com/corentings/chess/v2 v2.3.2: its Scanner, which reads the games of a PGN file one by one, takes the text
# `[Event ` for the beginning of the next game. For import, the format allows tags in any order, and games without any.
# In a file whose games begin with another tag, all games but the first lose the tags that stand before their Event. In
# a file without that tag, the first game is read, and the rest of the file is gone, without an error.
#
# Seen: of three games without Event, one is read. Of three that begin with Site, all are read, but two have no site.
# That is the tag by which games of an online server are known.
#
# What helps: cut the file into games oneself, at a line with "[" that follows moves, and read each of them.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
cat >go.mod <<'MOD'
module finding

go 1.26
MOD
cat >main.go <<'GO'
package main

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/corentings/chess/v2"
)

// read returns the players and the sites of the games of a file.
func read(pgn string) []string {
	var games []string
	scanner := chess.NewScanner(strings.NewReader(pgn))
	for scanner.HasNext() {
		game, err := scanner.ParseNext()
		if err != nil {
			panic(err)
		}
		games = append(games, game.GetTagPair("White")+"-"+game.GetTagPair("Black")+" "+game.GetTagPair("Site"))
	}
	return games
}

func main() {
	game := "[Site \"%s\"]\n%s[White \"%s\"]\n[Black \"%s\"]\n[Result \"1-0\"]\n\n1. e4 e5 2. Nf3 1-0\n\n"
	var bare, sited string
	for _, who := range [][3]string{{"Aa", "Ann", "Bob"}, {"Bb", "Cid", "Dan"}, {"Cc", "Eve", "Fay"}} {
		bare += fmt.Sprintf(game, who[0], "", who[1], who[2])
		sited += fmt.Sprintf(game, who[0], "[Event \"Club evening\"]\n", who[1], who[2])
	}
	withoutEvent, siteFirst := read(bare), read(sited)
	fmt.Printf("three games without Event: %q\n", withoutEvent)
	fmt.Printf("three games that begin with Site: %q\n", siteFirst)
	if !slices.Equal(withoutEvent, []string{"Ann-Bob Aa"}) ||
		!slices.Equal(siteFirst, []string{"Ann-Bob Aa", "Cid-Dan ", "Eve-Fay "}) {
		fmt.Println("the games are others than with v2.3.2")
		os.Exit(1)
	}
}
GO
go get github.com/corentings/chess/v2@v2.3.2 >/dev/null 2>&1
go mod tidy >/dev/null 2>&1
go run .
