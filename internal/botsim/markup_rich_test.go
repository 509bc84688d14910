package botsim_test

import (
	"strings"
	"testing"

	"elobot/internal/botsim/markup"
)

func TestParseRich(t *testing.T) {
	t.Parallel()
	nobody := func(int64) bool { return false }
	table := `<table bordered striped><caption><b>Chess</b></caption>` +
		`<tr><th>Player</th><th align="right">Rating</th></tr>` +
		`<tr><td><b>Bob &amp; Al</b></td><td align="right">1516</td></tr></table><footer>1 player</footer>`
	plain, marked, warnings, err := markup.ParseRich(table, nobody)
	if want := "Chess\nPlayer | Rating\nBob & Al | 1516\n1 player\n"; plain != want || err != nil || len(warnings) != 0 {
		t.Errorf("%q, %v, %v", plain, warnings, err)
	}
	if len(marked) != 2 || marked[1].Offset != 22 || marked[1].Length != 8 {
		t.Errorf("entities: %+v", marked)
	}
	row := "<tr>" + strings.Repeat("<td>1</td>", 20) + "</tr>"
	for html, want := range map[string]string{
		"<table>" + row + "</table>":                                      "",
		"<table><tr>" + strings.Repeat("<td></td>", 21) + "</tr></table>": "columns",
		"<table>" + strings.Repeat(row, 500) + "</table>":                 "blocks",
		"<p>" + strings.Repeat("x", 32_769) + "</p>":                      "too long",
		"<table>text</table>":                                             `Text in the tag "table"`,
		"<table><td></td></table>":                                        `Unexpected tag "td"`,
		"<table><tr></table>":                                             "Unexpected end tag",
		"<table>":                                                         "Can't find end tag",
		`<table width="5"></table>`:                                       "Unsupported attribute",
		`<table><tr><td align="top"></td></tr></table>`:                   "Unsupported attribute",
		`<table><tr><td align></td></tr></table>`:                         "Unsupported attribute",
		`<table><tr><td colspan="2"></td></tr></table>`:                   "",
		`<table><tr><td colspan="x"></td></tr></table>`:                   "Unsupported attribute",
		"<p><b>x</p></b>":                                                 "Can't find end tag",
		"<video>x</video>":                                                `Unsupported start tag "video"`,
	} {
		if _, _, _, err := markup.ParseRich(html, nobody); (err == nil) != (want == "") ||
			err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%.60s: %v, want %q", html, err, want)
		}
	}
}
