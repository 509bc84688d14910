#!/bin/sh
# github.com/thedatashed/xlsxreader v1.2.8: times of day come out a second early. It multiplies the fraction of the day
# and drops what is behind the nanosecond, where the number in the file is a little less than the minute. A score such
# as 3:1 that a spreadsheet took for 03:01 is then 03:00:59, and an importer that reads hours and minutes back makes 3:0
# of it. How many minutes that hits depends on who wrote the file: with 15 digits, as excelize writes, or with 17.
#
# Seen: of the 1,440 minutes of a day in the format h:mm, 629 are a second early with 15 digits, among them 3:1, and 81
# with 17 digits, among them 0:13. 3:2 is right in both.
#
# What helps: round to the minute; have the column formatted as text before scores are typed in.
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
	"archive/zip"
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/thedatashed/xlsxreader"
)

const (
	packages = "http://schemas.openxmlformats.org/package/2006/"
	office   = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
	sheetML  = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
	types    = "application/vnd.openxmlformats-officedocument.spreadsheetml."
)

// workbook returns a workbook with a sheet that has the values in column A, all of them in a built-in number format.
func workbook(format int, values []string) []byte {
	var rows strings.Builder
	for i, value := range values {
		fmt.Fprintf(&rows, `<row r="%d"><c r="A%[1]d" s="1"><v>%s</v></c></row>`, i+1, value)
	}
	var file bytes.Buffer
	archive := zip.NewWriter(&file)
	for _, part := range [][2]string{
		{"[Content_Types].xml", `<Types xmlns="` + packages + `content-types">` +
			`<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>` +
			`<Override PartName="/xl/workbook.xml" ContentType="` + types + `sheet.main+xml"/>` +
			`<Override PartName="/xl/worksheets/sheet1.xml" ContentType="` + types + `worksheet+xml"/>` +
			`<Override PartName="/xl/styles.xml" ContentType="` + types + `styles+xml"/></Types>`},
		{"_rels/.rels", `<Relationships xmlns="` + packages + `relationships">` +
			`<Relationship Id="rId1" Type="` + office + `/officeDocument" Target="xl/workbook.xml"/></Relationships>`},
		{"xl/_rels/workbook.xml.rels", `<Relationships xmlns="` + packages + `relationships">` +
			`<Relationship Id="rId1" Type="` + office + `/worksheet" Target="worksheets/sheet1.xml"/>` +
			`<Relationship Id="rId2" Type="` + office + `/styles" Target="styles.xml"/></Relationships>`},
		{"xl/workbook.xml", `<workbook xmlns="` + sheetML + `" xmlns:r="` + office + `">` +
			`<sheets><sheet name="Results" sheetId="1" r:id="rId1"/></sheets></workbook>`},
		{"xl/styles.xml", `<styleSheet xmlns="` + sheetML + `"><fonts count="1"><font/></fonts>` +
			`<fills count="1"><fill/></fills><borders count="1"><border/></borders>` +
			`<cellStyleXfs count="1"><xf/></cellStyleXfs><cellXfs count="2"><xf/>` +
			fmt.Sprintf(`<xf numFmtId="%d" applyNumberFormat="1"/></cellXfs></styleSheet>`, format)},
		{"xl/worksheets/sheet1.xml", `<worksheet xmlns="` + sheetML + `">` +
			`<sheetData>` + rows.String() + `</sheetData></worksheet>`},
	} {
		w, err := archive.Create(part[0])
		if err != nil {
			panic(err)
		}
		fmt.Fprintf(w, "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n%s", part[1])
	}
	if err := archive.Close(); err != nil {
		panic(err)
	}
	return file.Bytes()
}

func main() {
	ok := true
	for _, precision := range []struct{ digits, early int }{{15, 629}, {17, 81}} {
		var values []string
		for minute := range 24 * 60 {
			values = append(values, strconv.FormatFloat(float64(minute)/(24*60), 'g', precision.digits, 64))
		}
		book, err := xlsxreader.NewReader(workbook(20, values)) // h:mm
		if err != nil {
			panic(err)
		}
		early, minute := 0, 0
		for row := range book.ReadRows("Results") {
			got := row.Cells[0].Value
			if strings.HasSuffix(got, ":59Z") {
				early++
			}
			if score := fmt.Sprintf("%d:%d", minute/60, minute%60); score == "3:1" || score == "3:2" || score == "0:13" {
				fmt.Printf("with %d digits, %s is %s, or %s\n", precision.digits, score, values[minute], got)
			}
			minute++
		}
		fmt.Printf("with %d digits, %d of %d minutes are a second early\n", precision.digits, early, minute)
		ok = ok && early == precision.early && minute == len(values)
	}
	if !ok {
		fmt.Println("it is no longer so")
		os.Exit(1)
	}
}
GO
go get github.com/thedatashed/xlsxreader@v1.2.8 >/dev/null 2>&1
go mod tidy >/dev/null 2>&1
go run .
