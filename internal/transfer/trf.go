package transfer

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// trf is a chess tournament in FIDE's format TRF16 or TRF26, which is being read. Each line is a
// record. Its first three characters say what it is, and its fields have fixed columns.
type trf struct {
	sheet
	header  map[string]string // about the tournament, by the first characters of the records
	dates   []rune            // of the rounds, with ten characters for each
	days    []string          // of the rounds, empty if they are unknown
	players map[int]*trfPlayer
	same    map[string]int // how many players have a name, by its letters
}

type trfPlayer struct {
	line, number int
	name, games  string // games has ten characters for each round
}

// trfWinners has the results of games that were played, as the side that won if the player is A.
var trfWinners = map[string]string{"1": "a", "W": "a", "0": "b", "L": "b", "=": "draw", "D": "draw"}

var opposite = map[string]string{"a": "b", "b": "a", "draw": "draw"}

// readTRF is Read for a tournament.
func readTRF(in io.Reader, o Options) (File, error) {
	o.Columns = nil
	t := trf{sheet: newSheet(o), header: map[string]string{}, players: map[int]*trfPlayer{}, same: map[string]int{}}
	_ = t.readHeader([]string{"id", "date", "order", "a", "b", "winner"}) // all are known
	text := bufio.NewScanner(&lines{in: in, line: 1, start: 1, isPlain: true})
	text.Buffer(nil, 2*maxRow)
	rounds := 0
	for text.Scan() {
		if t.line++; !utf8.Valid(text.Bytes()) {
			return File{}, Fault{Line: t.line, Reason: NotUTF8, Value: excerpt(text.Text())}
		}
		r := []rune(strings.TrimRight(text.Text(), " "))
		switch kind := field(r, 1, 4); kind {
		case "012", "022", "042", "052":
			if t.header[kind] = field(r, 5, len(r)); kind > "022" {
				t.addDate(t.header[kind])
			}
		case "132":
			t.dates = r[min(91, len(r)):]
		case "001":
			p := trfPlayer{t.line, number(field(r, 5, 8), 4), field(r, 15, 47), string(r[min(91, len(r)):])}
			if t.players[p.number] != nil || p.number < 1 {
				return File{}, Fault{Line: t.line, Reason: BadOrder, Value: excerpt(field(r, 5, 8))}
			}
			t.players[p.number] = &p
			t.same[letters(p.name)]++
			rounds = max(rounds, (len(p.games)+9)/10)
		}
	}
	if err := cmp.Or(text.Err(), t.readDays(rounds)); err != nil || t.Ask != "" {
		return File{Ask: t.Ask}, err
	}
	for round := range rounds {
		for _, n := range slices.Sorted(maps.Keys(t.players)) {
			if err := t.readGame(t.players[n], round); err != nil {
				return File{}, err
			}
		}
	}
	if len(t.raw)+len(t.Refused) == 0 {
		return File{}, Fault{Reason: NoRows}
	}
	f, err := t.finish()
	for i := range f.Rows { // a pair plays once in a round, so nothing is vague
		r := &f.Rows[i]
		r.Text, r.ID, r.Count = r.ID, "", 0
	}
	return f, err
}

// field returns the given columns of a record, of which the first is 1.
func field(record []rune, first, last int) string {
	last = min(last, len(record))
	return strings.TrimSpace(string(record[min(first-1, last):last]))
}

// readDays reads the days of the rounds. The year comes first in their dates, as the days of the
// tournament show. Without those, it asks for the order of the numbers. If the rounds have none,
// all were on the only day of the tournament, or else on days that nobody knows.
func (t *trf) readDays(rounds int) error {
	begin, end, layout := t.header["042"], t.header["052"], "06/1/2"
	t.hasDates = false // of matches
	if err := t.settleDates(); err != nil {
		return err
	}
	first, _, _ := t.when(begin)
	last, _, _ := t.when(end)
	if first.IsZero() && len(t.dates) > 0 {
		layout = map[DateOrder]string{DayFirst: "2/1/06", MonthFirst: "1/2/06"}[t.Options.Dates]
	}
	if layout == "" {
		t.Ask = AskDates
	}
	for round := range rounds {
		day := ""
		if text := field(t.dates, 1+10*round, 8+10*round); text != "" {
			at, err := time.ParseInLocation(layout, text, t.Zone)
			if day = at.Format(time.DateOnly); err != nil || at.Before(first) || !last.IsZero() && at.After(last) {
				day = "? " + text // it is refused
			}
		} else if len(t.dates) == 0 && begin == end {
			day = begin
		}
		t.days = append(t.days, day)
	}
	return nil
}

// readGame reads a player's game of a round, counted from 0. A game stands on the lines of both
// players. It is read on that of the player with the lower number.
func (t *trf) readGame(p *trfPlayer, round int) error {
	t.line = p.line
	column := fmt.Sprintf("round %d", round+1)
	refuse := func(reason Reason, value string) *Fault {
		f := t.refuse("", reason, value)
		f.Column = column
		return f
	}
	other, result := t.game(p, round)
	back, resultThere := t.game(other, round)
	winner := trfWinners[result]
	isPair := other != nil && back == p
	switch {
	case isPair && other.number < p.number:
	case winner == "" && !strings.Contains("+-HFUZ", result):
		_ = refuse(BadScore, result)
	case other == nil && winner != "":
		_ = refuse(NoPlayer, "")
	case other == p:
		_ = refuse(SamePlayer, p.name)
	case winner != "" && !isPair, isPair && trfWinners[resultThere] != opposite[winner]:
		refuse(ResultsDiffer, result).Other = other.line
	case winner == "":
		t.leaveOut("", NotPlayed, "").Column = column
	case t.same[letters(p.name)] > 1:
		_ = refuse(SameName, p.name)
	case t.same[letters(other.name)] > 1:
		_ = refuse(SameName, other.name)
	default:
		id := []string{column, p.name, other.name}
		slices.Sort(id[1:])
		id = append(id, t.header["012"], t.header["022"], t.header["042"])
		return t.addRow([]string{strings.Join(id, ", "), t.days[round], strconv.Itoa(round), p.name, other.name, winner})
	}
	if len(t.raw)+len(t.Refused)+len(t.LeftOut) > MaxRows {
		return Fault{Reason: TooManyRows, Value: strconv.Itoa(MaxRows)}
	}
	return nil
}

// game returns the opponent of a player in a round, nil if there is none, and the player's result.
func (t *trf) game(p *trfPlayer, round int) (opponent *trfPlayer, result string) {
	if p == nil || 10*round >= len(p.games) {
		return nil, ""
	}
	g := fmt.Sprintf("%-10s", p.games[10*round:min(10*round+10, len(p.games))])
	return t.players[number(strings.TrimSpace(g[:4]), 4)], strings.TrimSpace(g[7:8])
}
