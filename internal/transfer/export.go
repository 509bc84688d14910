package transfer

import (
	"archive/zip"
	"encoding/csv"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"strings"
	"time"
)

// ExportName is the name of the file in the zip file of an export that OpenExport reads.
const ExportName = "elobot.json"

// maxExportRow is the maximum length of a row of an export in bytes. It limits the memory.
const maxExportRow = 1 << 20

// The reasons to refuse an export. Column is the table, and Line the row in it, from 1 on, or 0.
const (
	NoExport     Reason = "no_export"     // neither an export nor the zip file of one
	BadExport    Reason = "bad_export"    // damaged, or with unknown parts
	NewerExport  Reason = "newer_export"  // by a later release
	LargeExport  Reason = "large_export"  // longer than allowed, or with a row that is
	BadExportRow Reason = "bad_row"       // Line or a later row is impossible; Value is PostgreSQL's word for it
	WrongSeasons Reason = "wrong_seasons" // its rankings, seasons and matches contradict one another
	WrongRatings Reason = "wrong_ratings" // do not follow; Line is a match or 0, Value a ranking.Problem
)

// ExportHeader is what an export says about itself, and about its chat rather than the rankings.
type ExportHeader struct {
	Schema int           `json:"schema"` // version of the database's schema, which settles the columns
	At     time.Time     `json:"exported_at"`
	Chat   ExportChat    `json:"chat"`
	Topics []ExportTopic `json:"topics,omitempty"`
}

// ExportChat is the chat of an export.
type ExportChat struct {
	ID    int64  `json:"telegram_chat_id"`
	Title string `json:"title"`
}

// ExportTopic is a forum topic that is bound to a ranking.
type ExportTopic struct {
	Thread int64 `json:"thread_id"`
	Ladder int   `json:"ladder_id"` // the id of a row in ladders
}

// Export is a group's export that is being read. After the header, it has tables in a fixed order,
// and each table has its rows as JSON objects.
type Export struct {
	Header  ExportHeader
	limited limitedReader
	decoder *json.Decoder
	table   string // the name before what follows, empty at the end
}

// zipMark begins each zip file.
const zipMark = "PK\x03\x04"

// OpenExport begins to read an export from a file of the given size: from ExportName, or a zip file
// with it. limit is the maximum length of ExportName. The error is a Fault if the file is refused.
func OpenExport(file io.ReaderAt, size, limit int64) (*Export, error) {
	first := make([]byte, len(zipMark))
	if _, err := file.ReadAt(first, 0); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	var in io.Reader = io.NewSectionReader(file, 0, size)
	if first[0] != '{' {
		all, err := zip.NewReader(file, size)
		if err == nil {
			in, err = all.Open(ExportName)
		}
		switch {
		case all == nil && string(first) == zipMark:
			return nil, Fault{Reason: BadExport}
		case err != nil:
			return nil, Fault{Reason: NoExport}
		}
	}
	e := &Export{limited: limitedReader{in: in, left: limit}}
	e.decoder = json.NewDecoder(&e.limited)
	err := e.next()
	if err == nil {
		err = e.next()
	}
	switch {
	case err == nil && e.table == "header":
		err = e.decoder.Decode(&e.Header)
	case err == nil:
		err = Fault{Reason: NoExport}
	}
	if err == nil {
		err = e.next()
	}
	if err != nil {
		return nil, e.fault(0, err)
	}
	return e, nil
}

// next reads the name of the next table, or a brace.
func (e *Export) next() error {
	e.limited.row = maxExportRow
	token, err := e.decoder.Token()
	e.table, _ = token.(string)
	return err
}

// fault returns the Fault for an error of the decoder.
func (e *Export) fault(row int, err error) error {
	f := Fault{Line: row, Column: excerpt(e.table), Reason: BadExport}
	_ = errors.As(err, &f)
	return f
}

// Rows returns the rows of a table. It has none unless it is the next one. An error is a Fault.
func (e *Export) Rows(table string) iter.Seq2[json.RawMessage, error] {
	return func(yield func(json.RawMessage, error) bool) {
		if e.table != table {
			return
		}
		row := 0
		token, err := e.decoder.Token()
		if err == nil && token != json.Delim('[') {
			err = errors.New("no rows")
		}
		for err == nil && e.decoder.More() {
			var r json.RawMessage
			row++
			e.limited.row = maxExportRow
			if err = e.decoder.Decode(&r); err == nil && !yield(r, nil) {
				return
			}
		}
		if err == nil {
			_, err = e.decoder.Token()
		}
		if err == nil {
			err = e.next()
		}
		if err != nil {
			yield(nil, e.fault(row, err))
		}
	}
}

// End returns a Fault unless all tables were read, and nothing follows.
func (e *Export) End() error {
	if e.table == "" {
		if _, err := e.decoder.Token(); errors.Is(err, io.EOF) {
			return nil
		}
	}
	return e.fault(0, nil)
}

// limitedReader fails with a Fault if the file or a row is too long.
type limitedReader struct {
	in        io.Reader
	left, row int64 // how many bytes may follow
}

func (l *limitedReader) Read(p []byte) (int, error) {
	most := min(l.left, l.row, int64(len(p)))
	if most <= 0 {
		return 0, Fault{Reason: LargeExport}
	}
	n, err := l.in.Read(p[:most])
	l.left, l.row = l.left-int64(n), l.row-int64(n)
	return n, err
}

// formula has the characters with which formulas begin.
const formula = "=+-@\t\r"

// CSVWriter writes a file for spreadsheets. ReadCSV reads it too.
type CSVWriter struct{ *csv.Writer }

// NewCSVWriter returns a writer to out.
func NewCSVWriter(out io.Writer) (CSVWriter, error) {
	_, err := io.WriteString(out, "\ufeff") // otherwise some spreadsheets expect another encoding
	return CSVWriter{csv.NewWriter(out)}, err
}

// Write writes a row. An apostrophe before a cell that begins like a formula keeps a spreadsheet
// from calculating it. Write changes such cells.
func (w CSVWriter) Write(cells ...string) error {
	for i, c := range cells {
		if strings.IndexAny(c, formula) == 0 {
			cells[i] = "'" + c
		}
	}
	return w.Writer.Write(cells)
}
