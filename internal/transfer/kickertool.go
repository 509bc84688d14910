package transfer

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// kickertool is a tournament of the program Kickertool, which calls matches plays.
type kickertool struct {
	Version string
	Players []struct {
		reference
		Name string `json:"_name"`
	}
	Teams []struct {
		reference
		Players []reference
	}
	Rounds []playRound
	KO     []struct {
		Levels, LeftLevels []playRound
		Third              playRound
	}
}

type reference struct {
	ID string `json:"_id"`
}

type playRound struct{ Plays []play }

type play struct {
	reference
	Valid, Skipped, Deactivated, Team1Bye, Team2Bye bool

	Team1, Team2 reference   // to teams or players
	TimeStart    json.Number // milliseconds since 1970, or 0
	Winner       json.Number // 1, 2, or 0 if it is not said
	Disciplines  []struct {
		Sets []struct{ Team1, Team2 int }
	}
}

// These limits of a tournament limit the memory. They are enough for 3,000 matches.
const (
	maxKickertool       = 4 << 20 // bytes
	maxKickertoolCommas = 100_000
)

// readKickertool is Read for a tournament of Kickertool. The rows are its matches. Without times,
// they are in the order of the file.
func readKickertool(in io.Reader, o Options) (File, error) {
	data, err := io.ReadAll(io.LimitReader(in, maxKickertool+1))
	var k kickertool
	switch {
	case err != nil:
		return File{}, err
	case len(data) > maxKickertool || bytes.Count(data, []byte(",")) > maxKickertoolCommas:
		return File{}, Fault{Reason: TooLong}
	case json.Unmarshal(data, &k) != nil:
		return File{}, Fault{Reason: BadJSON}
	case !strings.HasPrefix(k.Version, "5."):
		return File{}, Fault{Reason: UnknownForm, Value: excerpt("Kickertool " + k.Version)}
	}
	names, same := map[string][]string{}, map[string]int{}
	for _, p := range k.Players {
		name := strings.TrimSpace(p.Name)
		names[p.ID] = []string{name}
		same[letters(name)]++
	}
	for _, t := range k.Teams {
		for _, p := range t.Players {
			names[t.ID] = append(names[t.ID], strings.Join(names[p.ID], ""))
		}
	}
	rounds := k.Rounds
	for _, ko := range k.KO {
		rounds = slices.Concat(rounds, ko.Levels, ko.LeftLevels, []playRound{ko.Third})
	}
	o.Columns, o.OrderByRow = nil, true
	s := newSheet(o)
	header := []string{"id", "date", "winner", "sets"}
	for n := range 2 * (MaxSide + 1) {
		header = append(header, fmt.Sprintf("%c%d", "ab"[n%2], n/2+1))
	}
	_ = s.readHeader(header) // all are known
	for _, r := range rounds {
		for _, p := range r.Plays {
			if s.line++; s.line > MaxRows {
				return File{}, Fault{Reason: TooManyRows, Value: strconv.Itoa(MaxRows)}
			}
			if err := s.addPlay(p, names, same); err != nil {
				return File{}, err
			}
		}
	}
	if s.line == 0 {
		return File{}, Fault{Reason: NoRows}
	}
	return s.finish()
}

// addPlay adds a match as a row. names has the names of participants by id, and same says how many
// players have a name, by its letters.
func (s *sheet) addPlay(p play, names map[string][]string, same map[string]int) error {
	if !p.Valid || p.Skipped || p.Deactivated || p.Team1Bye || p.Team2Bye || p.Team1.ID == "" || p.Team2.ID == "" {
		_ = s.leaveOut("", NotPlayed, "")
		return nil
	}
	var sets []string
	for _, d := range p.Disciplines {
		for _, set := range d.Sets {
			sets = append(sets, fmt.Sprintf("%d:%d", set.Team1, set.Team2))
		}
	}
	row := []string{
		p.ID, strings.TrimLeft(string(p.TimeStart), "0"), strings.TrimLeft(string(p.Winner), "0"), strings.Join(sets, ","),
	}
	refused := len(s.Refused)
	if len(p.Disciplines) != 1 || strings.Trim(row[3], "0:,") == "" { // 0:0 stands for no score
		_ = s.refuse("sets", BadScore, row[3])
	}
	a, b := names[p.Team1.ID], names[p.Team2.ID]
	if len(a) != len(b) || len(a) == 0 || slices.Contains(slices.Concat(a, b), "") {
		_ = s.refuse("", NoPlayer, "")
	}
	for i := range MaxSide + 1 { // one more than allowed is refused
		for _, side := range [][]string{a, b} {
			name := strings.Join(side[min(i, len(side)):min(i+1, len(side))], "")
			if same[letters(name)] > 1 {
				_ = s.refuse("", SameName, name)
			}
			row = append(row, name)
		}
	}
	if len(s.Refused) > refused {
		return nil
	}
	return s.addRow(row)
}
