package main

import (
	"fmt"
	"slices"
	"strings"
)

// writeViews writes the figures of views, if there are any, as a table in Markdown: the time at each size, and what each view reads in
// the largest ladder.
func writeViews(b *strings.Builder, figures []figure) {
	var sizes []string
	for _, f := range figures {
		size, ok := strings.CutPrefix(f.Name, viewFigure(allViews()[0], ""))
		if ok && f.Unit == "ms" {
			sizes = append(sizes, size)
		}
	}
	if len(sizes) == 0 {
		return
	}
	columns := slices.Concat(sizes, []string{"queries", "rows", "blocks"})
	fmt.Fprintf(b, "\n| p99 in ms, by the number of matches | %s |\n|%s\n", strings.Join(columns, " | "), strings.Repeat(" --- |", 1+len(columns)))
	for _, v := range allViews() {
		cells := []string{v.title}
		for _, column := range columns {
			cell := ""
			if f, ok := find(figures, viewFigure(v, column)); ok {
				cell = formatValue(f.Value)
			}
			cells = append(cells, cell)
		}
		fmt.Fprintf(b, "| %s |\n", strings.Join(cells, " | "))
	}
}
