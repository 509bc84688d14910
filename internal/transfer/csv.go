package transfer

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// maxRow is the maximum length of a row in bytes. It limits the memory needed for a file without
// line endings.
const maxRow = 1 << 16

// MaxRows is the maximum number of rows in a file. It limits the memory, like maxRow.
const MaxRows = 60_000

// separator separates the cells in Row.Text. A row whose cells contain it is refused.
const separator = "\x00"

// ReadCSV reads a file that begins with a header, and whose cells are separated by commas,
// semicolons or tabs. The error is a Fault if the whole file is refused, and otherwise the error of
// in.
func ReadCSV(in io.Reader, o Options) (File, error) {
	s := newSheet(o)
	if err := s.read(in); err != nil {
		return File{}, err
	}
	return s.finish()
}

func newSheet(o Options) sheet {
	return sheet{Options: o, first: map[string]rawRow{}, rival: map[string]int{}, count: map[string]int{}}
}

// finish interprets the rows.
func (s *sheet) finish() (File, error) {
	if err := s.settleDates(); err != nil || s.Ask != "" {
		return File{Ask: s.Ask}, err
	}
	for _, r := range s.raw {
		s.line, s.cells = r.line, strings.Split(r.text, separator)
		first, rival := s.first[r.key].line, s.rival[r.key]
		if first == r.line {
			first = rival
		}
		switch {
		case r.key != "" && rival > 0:
			s.refuse(s.keyRole, TwoVersions, r.key).Other = first
		case r.key != "" && first > 0:
			s.leaveOut(s.keyRole, SameRow, r.key).Other = first
		case s.areStarts:
			s.readStart()
		default:
			s.readMatch(r.text)
		}
	}
	s.sort()
	byLine := func(a, b Fault) int { return cmp.Compare(a.Line, b.Line) }
	slices.SortStableFunc(s.Refused, byLine)
	slices.SortStableFunc(s.LeftOut, byLine)
	return s.File, nil
}

// sheet is a file that is being read.
type sheet struct {
	Options
	File
	header    []string
	at        map[string]int // maps roles to the indexes of their columns
	teams     [2][]string    // the roles of the columns with the players of each side
	areStarts bool           // the file has start ratings, not matches
	isWon     bool           // the players are in winner and loser, so the first side won
	isAway    bool           // the winner A is the away side, as in H, D, A

	hasDates             bool // a cell has a date
	dayFirst, monthFirst int  // the first line with a date that requires it, or 0
	isOpen               bool // some date, such as 03/04/2024, can be read in both orders

	raw     []rawRow          // the rows, except those that are empty or were refused unread
	keyRole string            // the role that identifies a row: "id", or "player" for start ratings
	first   map[string]rawRow // the first row with each key
	rival   map[string]int    // by key, the line of the first row that contradicts first
	count   map[string]int    // the number of matches so far, by Row.Text

	line  int      // the line where the current row begins
	cells []string // the cells of the current row
}

// rawRow is a row whose cells have not been interpreted.
type rawRow struct {
	line      int
	text      string // will be Row.Text
	key, says string // the cell of keyRole, and what other rows with this key must agree with
}

func (s *sheet) has(role string) bool { _, ok := s.at[role]; return ok }

// cell returns the current row's cell in the column of a role, without the apostrophe of a
// CSVWriter. It is empty if there is no such column.
func (s *sheet) cell(role string) string {
	i, ok := s.at[role]
	if !ok {
		return ""
	}
	cell := strings.TrimSpace(s.cells[i])
	if bare, isQuoted := strings.CutPrefix(cell, "'"); isQuoted && strings.IndexAny(bare, formula) == 0 {
		return bare
	}
	return cell
}

// refuse adds a fault of the current row to s.Refused. role is the role of the column with the
// fault, or empty if the fault concerns the whole row. value is the text that is wrong. The caller
// may add details to the returned fault before the next call.
func (s *sheet) refuse(role string, reason Reason, value string) *Fault {
	return s.add(&s.Refused, role, reason, value)
}

// leaveOut is like refuse, but adds the fault to s.LeftOut.
func (s *sheet) leaveOut(role string, reason Reason, value string) *Fault {
	return s.add(&s.LeftOut, role, reason, value)
}

func (s *sheet) add(faults *[]Fault, role string, reason Reason, value string) *Fault {
	f := Fault{Line: s.line, Reason: reason, Value: excerpt(value)}
	if s.has(role) {
		f.Column = excerpt(s.header[s.at[role]])
	}
	*faults = append(*faults, f)
	return &(*faults)[len(*faults)-1]
}

// excerpt returns the beginning of a cell for display. It replaces invalid bytes with question
// marks, and characters without a visible form, such as line breaks, with spaces.
func excerpt(cell string) string {
	return strings.Map(func(r rune) rune {
		if unicode.In(r, unicode.C, unicode.Zl, unicode.Zp) {
			return ' '
		}
		return r
	}, fmt.Sprintf("%.40s", strings.ToValidUTF8(cell, "?")))
}

// read reads the header, and collects the rows. It does not interpret their cells, apart from
// noting what settles the order of days and months.
func (s *sheet) read(in io.Reader) error {
	r, err := newReader(in)
	if err != nil {
		return err
	}
	for {
		record, err := r.Read()
		var quotes *csv.ParseError
		switch isQuotes := errors.As(err, &quotes); {
		case errors.Is(err, io.EOF) && s.raw == nil && s.Refused == nil:
			return Fault{Reason: NoRows, Value: excerpt(strings.Join(s.header, ", "))}
		case errors.Is(err, io.EOF):
			return nil
		case isQuotes && (quotes.Line > quotes.StartLine || s.header == nil):
			return Fault{Line: quotes.StartLine, Reason: OpenQuote}
		case isQuotes:
			column := excerpt(s.header[min(len(record), len(s.header)-1)])
			s.Refused = append(s.Refused, Fault{Line: quotes.StartLine, Column: column, Reason: BadQuotes})
			continue
		case err != nil:
			return err
		}
		s.line, _ = r.FieldPos(0)
		add := s.addRow
		if s.header == nil {
			add = s.readHeader
		}
		if err := add(record); err != nil {
			return err
		}
	}
}

// addRow adds a row to s.raw, unless the row is empty or malformed. It notes what the row
// contributes to the interpretation of other rows: the order of its date, the letters by which it
// names the winner, and its key. It returns a Fault if there are too many rows.
func (s *sheet) addRow(record []string) error {
	text := strings.Join(record, separator)
	switch {
	case len(s.raw)+len(s.Refused)+len(s.LeftOut) == MaxRows:
		return Fault{Reason: TooManyRows, Value: strconv.Itoa(MaxRows)}
	case strings.Trim(text, separator+" \t\u00a0") == "":
		_ = s.leaveOut("", EmptyRow, "")
		return nil
	case len(record) != len(s.header):
		s.refuse("", CellCount, strconv.Itoa(len(record))).Against = strconv.Itoa(len(s.header))
		return nil
	case !utf8.ValidString(text):
		_ = s.refuse("", NotUTF8, strings.ReplaceAll(text, separator, " "))
		return nil
	case strings.Count(text, separator) >= len(record):
		_ = s.refuse("", ControlChar, "U+0000")
		return nil
	}
	s.cells = strings.Split(text, separator)
	s.addDate(s.cell("date"))
	s.isAway = s.isAway || slices.Contains([]string{"h", "d"}, strings.ToLower(s.cell("winner")))
	r := rawRow{s.line, text, s.cell(s.keyRole), text}
	if s.areStarts {
		r.says = s.cell("rating")
	}
	if first, ok := s.first[r.key]; !ok {
		s.first[r.key] = r
	} else if first.says != r.says && s.rival[r.key] == 0 {
		s.rival[r.key] = r.line
	}
	s.raw = append(s.raw, r)
	return nil
}

// sort puts the matches in the order of play. If it is unclear whether matches of the same time are
// in the order of their rows, sort asks.
func (s *sheet) sort() {
	isSettled := s.OrderByRow || s.has("order") || slices.IsSortedFunc(s.Rows, byTime)
	sortRows(s.Rows)
	for i, r := range s.Rows {
		if !isSettled && i > 0 && byTime(s.Rows[i-1], r) == 0 {
			s.Ask = AskOrder
		}
		s.First, s.Last = s.Rows[0].When, r.When
	}
}

func sortRows(rows []Row) {
	slices.SortStableFunc(rows, func(a, b Row) int { return cmp.Or(byTime(a, b), cmp.Compare(a.order, b.order)) })
}

// byTime sorts a match of which only the day is known behind those of that day that have a time.
func byTime(a, b Row) int {
	at := func(r Row) time.Time {
		if r.IsDay {
			return r.When.AddDate(0, 0, 1)
		}
		return r.When
	}
	return at(a).Compare(at(b))
}

// newReader returns a reader of the rows. The cells are separated by commas, semicolons or tabs,
// whichever are most frequent in the header. The error is a Fault if the header is not UTF-8 text.
func newReader(in io.Reader) (*csv.Reader, error) {
	raw := bufio.NewReader(in)
	if mark, _ := raw.Peek(len("\ufeff")); string(mark) == "\ufeff" {
		_, _ = raw.Discard(len(mark)) // never fails after Peek
	}
	text := bufio.NewReaderSize(&lines{in: raw, line: 1, start: 1}, maxRow)
	head, err := text.Peek(maxRow)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	header, _, _ := strings.Cut(string(bytes.TrimLeft(head, "\n")), "\n")
	kind := http.DetectContentType([]byte(header))
	switch isText := strings.HasPrefix(kind, "text/plain"); { // UTF-16 is text, too
	case !isText:
		return nil, Fault{Line: 1, Reason: NotText, Value: kind}
	case !strings.HasSuffix(kind, "utf-8") || !utf8.ValidString(header):
		return nil, Fault{Line: 1, Reason: NotUTF8, Value: excerpt(header)}
	}
	r := csv.NewReader(text)
	r.FieldsPerRecord, r.ReuseRecord = -1, true
	for _, delimiter := range ";\t" {
		if strings.Count(header, string(delimiter)) > strings.Count(header, string(r.Comma)) {
			r.Comma = delimiter
		}
	}
	return r, nil
}

// lines is a reader that turns the line endings CR and CRLF into LF. It fails with a Fault if a row
// is longer than maxRow.
type lines struct {
	in              io.Reader
	isPlain         bool // quotes mean nothing
	afterCR, quoted bool // the last byte was a CR; the next byte is inside quotes
	line            int
	start, size     int // the line where the row begins, and its bytes so far
}

func (l *lines) Read(p []byte) (int, error) {
	n, err := l.in.Read(p)
	read := p[:0]
	for _, c := range p[:n] {
		isSecond := c == '\n' && l.afterCR
		if l.afterCR = c == '\r'; isSecond {
			continue
		}
		if l.afterCR {
			c = '\n'
		}
		read = append(read, c)
		l.quoted = l.quoted != (c == '"' && !l.isPlain)
		if l.size++; c == '\n' {
			l.line++
			if !l.quoted {
				l.start, l.size = l.line, 0
			}
		}
		switch {
		case l.size > maxRow && l.quoted:
			return len(read), Fault{Line: l.start, Reason: OpenQuote}
		case l.size > maxRow:
			return len(read), Fault{Line: l.start, Reason: TooLong}
		}
	}
	return len(read), err
}
