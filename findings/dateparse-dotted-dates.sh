#!/bin/sh
# github.com/araddon/dateparse v0.0.0-20210429162001-6b43995a97de (the newest): PreferMonthFirst(false), by which days
# come before months, has no effect on dates with dots, the form that countries with the day first use. 05.07.2005 is
# 7 May with either value, and 13.07.2005 is an error. RetryAmbiguousDateWithSwap(true) does not help. An importer that
# leaves out rows whose date it cannot read gets 144 days of a year, and 132 of them wrong.
#
# Seen: with PreferMonthFirst(false), 05/07/2005 is 5 July and 05.07.2005 is 7 May. Of the 365 days of 2005 with dots,
# 12 are right, 132 are another day, and 221 are errors. ParseStrict refuses all of them.
#
# What helps: time.Parse with the layout 2.1.2006 for dates with dots.
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

	"github.com/araddon/dateparse"
)

func main() {
	dayFirst, swap := dateparse.PreferMonthFirst(false), dateparse.RetryAmbiguousDateWithSwap(true)
	for _, date := range []string{"05/07/2005", "05.07.2005", "13.07.2005"} {
		parsed, err := dateparse.ParseAny(date, dayFirst)
		if err != nil {
			fmt.Println(date, "is refused:", err)
			continue
		}
		fmt.Println(date, "is", parsed.Format(time.DateOnly))
	}
	slashes, err := dateparse.ParseAny("05/07/2005", dayFirst)
	if err != nil {
		panic(err)
	}
	var right, wrong, refused, strict int
	for day := time.Date(2005, 1, 1, 0, 0, 0, 0, time.UTC); day.Year() == 2005; day = day.AddDate(0, 0, 1) {
		date := day.Format("02.01.2006")
		if _, err := dateparse.ParseStrict(date); err == nil {
			strict++
		}
		switch parsed, err := dateparse.ParseAny(date, dayFirst, swap); {
		case err != nil:
			refused++
		case parsed.Equal(day):
			right++
		default:
			wrong++
		}
	}
	fmt.Printf("of 2005, written with dots: %d right, %d wrong, %d refused; ParseStrict takes %d\n",
		right, wrong, refused, strict)
	if slashes.Month() != time.July || right != 12 || wrong != 132 || refused != 221 || strict != 0 {
		fmt.Println("it is no longer so")
		os.Exit(1)
	}
}
GO
go get github.com/araddon/dateparse@v0.0.0-20210429162001-6b43995a97de >/dev/null 2>&1
go mod tidy >/dev/null 2>&1
go run .
