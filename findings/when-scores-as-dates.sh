#!/bin/sh
# github.com/olebedev/when v1.1.0 with its rules for English: it finds dates in names and scores of reports. A username
# counts from behind the "@" on, and a month takes the first number of the score as its day: "@may 3:1" is 3 May. Scores
# of badminton or volleyball are times, with a hyphen, too: "@bob 21-15 19-21" is 21:15 of the day, and "@bob 11:9 9:11"
# is 9:11, because 11:9 is none. A bot that lets people add "yesterday" to a report gives other reports a wrong day or
# order, and only those against certain people or with certain scores.
#
# Seen: on 30 November 2026, "@may 3:1" is 3 May 2026, "@sun 3:0" 6 December, "@bob 21-15 19-21" is 21:15, "@bob 3:10"
# is 3:10, and "@bob 3:1" has no date. A bare weekday is the next one, so that "friday" in a report lies ahead.
#
# What helps: cut names and scores out of a report first, and give it only the rest.
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
	"time"

	"github.com/olebedev/when"
	"github.com/olebedev/when/rules/common"
	"github.com/olebedev/when/rules/en"
)

func main() {
	parser := when.New(nil)
	parser.Add(en.All...)
	parser.Add(common.All...)
	now := time.Date(2026, 11, 30, 13, 0, 0, 0, time.UTC) // a Monday
	ok := true
	for _, report := range [][2]string{
		{"/match @bob 3:1", "no date"},
		{"/match @may 3:1", "2026-05-03 13:00"},
		{"/match @sun 3:0", "2026-12-06 13:00"},
		{"/match @bob 3:10", "2026-11-30 03:10"},
		{"/match @bob 21-15 19-21", "2026-11-30 21:15"},
		{"/match @bob 11:9 9:11 11:5", "2026-11-30 09:11"},
		{"/match @bob 3:1 friday", "2026-12-04 13:00"},
	} {
		found, err := parser.Parse(report[0], now)
		if err != nil {
			panic(err)
		}
		got := "no date"
		if found != nil {
			got = found.Time.Format("2006-01-02 15:04")
		}
		fmt.Printf("%q: %s\n", report[0], got)
		ok = ok && got == report[1]
	}
	if !ok {
		fmt.Println("it is no longer so")
		os.Exit(1)
	}
}
GO
go get github.com/olebedev/when@v1.1.0 >/dev/null 2>&1
go mod tidy >/dev/null 2>&1
go run .
