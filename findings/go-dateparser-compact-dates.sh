#!/bin/sh
# github.com/markusmobius/go-dateparser v1.4.7: most dates of eight digits, year first, become other days, often of
# another millennium, and there is no error. The order that goes with the language, by default month, day, year, is
# tried before the year first: 20230102 has the month 2, the day 02, the year 3010 and the hour 2. Even the example in
# the package's documentation, 20211011 for 2021-10-11, is read as 2 February 1101.
#
# It matters to importers of results: the best known public tables of tennis results have the days of tournaments so.
#
# Seen: 20230102 is 3010-02-02 02:00. Of the 11,688 days from 1995 to 2026, 3,043 are right, 8,645 are wrong, and none
# is refused. With DateOrder YMD, or with the layout 20060102 as a further argument of Parse, all are right.
#
# What helps: that layout. DateOrder YMD would change how 05/07/2005 is read.
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

	dateparser "github.com/markusmobius/go-dateparser"
)

// counts returns how many days from 1995 to 2026 are right, wrong and refused.
func counts(config dateparser.Configuration, layouts ...string) (n [3]int) {
	config.CurrentTime = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	config.DefaultTimezone = time.UTC
	for day := time.Date(1995, 1, 1, 0, 0, 0, 0, time.UTC); day.Year() < 2027; day = day.AddDate(0, 0, 1) {
		switch parsed, err := dateparser.Parse(&config, day.Format("20060102"), layouts...); {
		case err != nil:
			n[2]++
		case parsed.Time.Equal(day):
			n[0]++
		default:
			n[1]++
		}
	}
	return n
}

func main() {
	for _, date := range []string{"20211011", "20230102"} {
		parsed, err := dateparser.Parse(nil, date)
		fmt.Println(date, "is", parsed.Time.Format("2006-01-02 15:04"), err)
	}
	byDefault := counts(dateparser.Configuration{})
	yearFirst := counts(dateparser.Configuration{DateOrder: dateparser.YMD})
	layout := counts(dateparser.Configuration{}, "20060102")
	fmt.Printf("right, wrong, refused: by default %d, with YMD %d, with a layout %d\n", byDefault, yearFirst, layout)
	if byDefault != [3]int{3043, 8645, 0} || yearFirst != [3]int{11688, 0, 0} || layout != yearFirst {
		fmt.Println("it is no longer so")
		os.Exit(1)
	}
}
GO
go get github.com/markusmobius/go-dateparser@v1.4.7 >/dev/null 2>&1
go mod tidy >/dev/null 2>&1
go run .
