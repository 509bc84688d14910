#!/bin/sh
# github.com/tealeg/xlsx/v3 v3.3.13: Cell.FormattedValue does not know elapsed hours, the format [h]:mm:ss that
# spreadsheets give to 25:23 when they take a score for a time. Whole days are dropped, and an hour of zero is left out
# altogether, so that the minutes stand in its place. What comes out looks like a score, but is another one. A column of
# basketball or volleyball in that format gets other scores, and the sides change where the first one had no point.
#
# Seen: 25:23 comes out as 01:23:00, 55:49 as 07:49:00, 3:0 as 03:00:00, and 0:3 as 03:00. excelize v2.11.1 has
# 25:23:00, 55:49:00, 3:00:00 and 0:03:00 for the same cells.
#
# What helps: count the minutes, which are Cell.Float times 1440, rounded: 60 of them are a point of the first side.
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

	"github.com/tealeg/xlsx/v3"
	"github.com/xuri/excelize/v2"
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
	var values, formatted []string
	for _, score := range [][2]float64{{25, 23}, {55, 49}, {3, 0}, {0, 3}} {
		values = append(values, strconv.FormatFloat((score[0]*60+score[1])/(24*60), 'g', 15, 64))
	}
	file := workbook(46, values) // [h]:mm:ss
	book, err := xlsx.OpenBinary(file)
	if err != nil {
		panic(err)
	}
	for row := range values {
		cell, err := book.Sheets[0].Cell(row, 0)
		if err != nil {
			panic(err)
		}
		text, err := cell.FormattedValue()
		if err != nil {
			panic(err)
		}
		formatted = append(formatted, text)
	}
	other, err := excelize.OpenReader(bytes.NewReader(file))
	if err != nil {
		panic(err)
	}
	rows, err := other.GetRows("Results")
	if err != nil {
		panic(err)
	}
	fmt.Println("25:23, 55:49, 3:0 and 0:3 come out as", formatted, "and with excelize as", rows)
	if fmt.Sprint(formatted) != "[01:23:00 07:49:00 03:00:00 03:00]" ||
		fmt.Sprint(rows) != "[[25:23:00] [55:49:00] [3:00:00] [0:03:00]]" {
		fmt.Println("it is no longer so")
		os.Exit(1)
	}
}
GO
go get github.com/tealeg/xlsx/v3@v3.3.13 >/dev/null 2>&1
go get github.com/xuri/excelize/v2@v2.11.1 >/dev/null 2>&1
go mod tidy >/dev/null 2>&1
go run .
