package transfer

import (
	"bytes"
	"encoding/csv"
	"errors"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Person says who a name in a file is.
type Person struct {
	Name string
	// Who is a username such as @bob, a Telegram id, Guest, Guest and another name, or LeaveOut. It
	// is empty as long as nobody has decided.
	Who     string
	Open    bool   // nobody has decided; Who is empty or a proposal
	Similar string // players with similar names
	Matches int    // number of matches with this name
}

// The words for Person.Who. Guest may be followed by a name.
const (
	Guest    = "guest"
	LeaveOut = "leave out"
)

var peopleHeader = []string{
	"name in the file", "who: @username, Telegram id, " + Guest + ", " + Guest + " NAME, or " + LeaveOut,
	"players with similar names", "matches",
}

// WritePeople returns a file that ReadPeople can read once somebody has edited it.
func WritePeople(people []Person) []byte {
	b := bytes.NewBufferString("\ufeff")
	w := csv.NewWriter(b)
	_ = w.Write(peopleHeader) // a Buffer takes everything
	for _, p := range people {
		_ = w.Write([]string{p.Name, p.Who, p.Similar, strconv.Itoa(p.Matches)})
	}
	w.Flush()
	return b.Bytes()
}

// ReadPeople returns who the names of a file are, by name. The first two columns have the names and
// who they are. The header is read like the other rows, because somebody may have removed it. The
// error is a Fault if the file is not in the form of WritePeople, and otherwise the error of in.
func ReadPeople(in io.Reader) (map[string]string, error) {
	r, err := newReader(in)
	if err != nil {
		return nil, err
	}
	who, lines := make(map[string]string), make(map[string]int)
	for isHeader := true; ; isHeader = false {
		record, err := r.Read()
		var quotes *csv.ParseError
		switch {
		case errors.Is(err, io.EOF):
			return who, nil
		case errors.As(err, &quotes):
			return nil, Fault{Line: quotes.StartLine, Reason: BadQuotes}
		case err != nil:
			return nil, err
		case isHeader && new(sheet).readHeader(record) == nil:
			return nil, Fault{Reason: NotPeople}
		}
		line, _ := r.FieldPos(0)
		switch text := strings.Join(record, " "); {
		case len(record) < 2:
			return nil, Fault{Line: line, Reason: CellCount, Value: strconv.Itoa(len(record)), Against: "2"}
		case !utf8.ValidString(text):
			return nil, Fault{Line: line, Reason: NotUTF8, Value: excerpt(text)}
		}
		name, is := strings.TrimSpace(record[0]), strings.TrimSpace(record[1])
		if other, ok := who[name]; ok && other != is {
			return nil, Fault{Line: line, Reason: TwoVersions, Value: excerpt(name), Other: lines[name]}
		}
		who[name], lines[name] = is, line
	}
}
