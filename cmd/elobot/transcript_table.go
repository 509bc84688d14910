package main

import (
	"encoding/xml"
	"strings"

	"charm.land/lipgloss/v2"
	"charm.land/lipgloss/v2/table"
)

// richMessage is a message of the bot that consists of a table and, optionally, a caption and a
// footer.
type richMessage struct {
	Caption markup `xml:"table>caption"`
	Rows    []struct {
		Cells []struct {
			XMLName xml.Name // th or td
			Align   string   `xml:"align,attr"`
			markup
		} `xml:",any"`
	} `xml:"table>tr"`
	Footer markup `xml:"footer"`
}

// markup is text with the tags of Telegram's HTML.
type markup struct {
	HTML string `xml:",innerxml"`
}

// content renders a message of the bot: a text, or a table that is at most width columns wide.
func (t *transcript) content(message string, width int) string {
	var rich richMessage
	d := xml.NewDecoder(strings.NewReader("<message>" + message + "</message>"))
	d.Strict, d.Entity = false, xml.HTMLEntity // attributes may lack a value
	if err := d.Decode(&rich); err != nil || len(rich.Rows) == 0 {
		return t.markup(message)
	}
	heads := 0
	drawn := table.New().BorderLeft(false).BorderRight(false)
	for i, row := range rich.Rows {
		cells := make([]string, len(row.Cells))
		for i, cell := range row.Cells {
			cells[i] = t.markup(cell.HTML)
		}
		if i == 0 && row.Cells[0].XMLName.Local == "th" {
			heads = 1
			drawn.Headers(cells...)
		} else {
			drawn.Row(cells...)
		}
	}
	drawn.StyleFunc(func(row, column int) lipgloss.Style { // row is -1 for the head
		if rich.Rows[row+heads].Cells[column].Align == "right" {
			return lipgloss.NewStyle().Align(lipgloss.Right)
		}
		return lipgloss.NewStyle()
	})
	shown := drawn.Render()
	if lipgloss.Width(shown) > width {
		shown = drawn.Width(width).Render()
	}
	return strings.Trim(t.markup(rich.Caption.HTML)+"\n"+shown+"\n"+t.markup(rich.Footer.HTML), "\n")
}
