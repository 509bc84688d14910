package main

import (
	"fmt"
	"io"
	"math"
	"strings"
	"unicode/utf8"
)

// printTable prints a measurement, with an earlier one next to it if old is not nil.
func printTable(w io.Writer, now, old *measurement) {
	var b strings.Builder
	fmt.Fprintf(&b, "%s on %s, %s, %d CPUs, %s\n", now.Postgres, now.FileSystem, now.Go, now.CPUs, extent(now))
	if inMemory(now.FileSystem) {
		b.WriteString(inMemoryWarning + "\n")
	}
	if now.Profiled {
		b.WriteString(profiledWarning + "\n")
	}
	if old != nil {
		fmt.Fprintf(&b, "Compared with %s.\n", old.Started.Format("2006-01-02 15:04 MST"))
		if differs := differences(now, old); len(differs) > 0 {
			fmt.Fprintf(&b, "ATTENTION: the earlier run had other conditions: %s.\n", strings.Join(differs, ", "))
		}
	}
	b.WriteByte('\n')
	writeColumns(&b, rows(now, old))
	writeViews(&b, now.Figures)
	// standard output may be closed already
	_, _ = io.WriteString(w, b.String())
}

func extent(m *measurement) string {
	size := "full"
	if m.Short {
		size = "short"
	}
	if m.Runs == 1 {
		return size
	}
	return fmt.Sprintf("%s, medians of %d runs", size, m.Runs)
}

// differences returns the differences in conditions that make two measurements hard to compare.
func differences(now, old *measurement) []string {
	var all []string
	differs := func(what string, now, old any) {
		if now != old {
			all = append(all, fmt.Sprintf("%s %v, now %v", what, old, now))
		}
	}
	differs("short", now.Short, old.Short)
	differs("runs", now.Runs, old.Runs)
	differs("CPUs", now.CPUs, old.CPUs)
	differs("file system", now.FileSystem, old.FileSystem)
	differs("database", now.Postgres, old.Postgres)
	differs("Go", now.Go, old.Go)
	differs("profiled", now.Profiled, old.Profiled)
	return all
}

// rows returns the cells of the table, with the heading first.
func rows(now, old *measurement) [][]string {
	heading := []string{"figure", "value", "unit"}
	if old != nil {
		heading = append(heading, "before", "change")
	}
	all := [][]string{heading}
	for _, f := range now.Figures {
		row := []string{f.Name, formatValue(f.Value), f.Unit}
		if old != nil {
			before, known := find(old.Figures, f.Name)
			if known {
				row = append(row, formatValue(before.Value), change(f, before.Value))
			} else {
				row = append(row, "", "new")
			}
		}
		all = append(all, row)
	}
	return all
}

// change describes by how much a figure differs from an earlier value, and whether it is better or worse.
func change(f figure, before float64) string {
	percent := (f.Value - before) / math.Abs(before) * 100
	switch {
	case f.Value == before || math.Abs(percent) < 0.05:
		return "same"
	case before == 0:
		return "from nothing"
	case (percent > 0) == (f.Better == higher):
		return fmt.Sprintf("%+.1f %% better", percent)
	default:
		return fmt.Sprintf("%+.1f %% worse", percent)
	}
}

// formatValue formats a value with three or four significant digits.
func formatValue(v float64) string {
	switch a := math.Abs(v); {
	case a >= 100 || v == math.Trunc(v):
		return fmt.Sprintf("%.0f", v)
	case a >= 10:
		return fmt.Sprintf("%.1f", v)
	default:
		return fmt.Sprintf("%.2f", v)
	}
}

// writeColumns writes rows as aligned columns, with values aligned to the right.
func writeColumns(b *strings.Builder, rows [][]string) {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for _, row := range rows {
		var line strings.Builder
		for i, cell := range row {
			space := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			if i == 1 || i == 3 {
				cell = space + cell
			} else {
				cell += space
			}
			line.WriteString(cell + "  ")
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
}
