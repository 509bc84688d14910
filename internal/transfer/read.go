package transfer

import (
	"bufio"
	"io"
	"regexp"
)

// The beginnings of files that are not CSV.
var (
	beginsJSON       = regexp.MustCompile(`^\s*[{\[]`)
	beginsKickertool = regexp.MustCompile(`^\s*\{[^{}]*"type"\s*:\s*"Tournament"`)
	beginsTRF        = regexp.MustCompile(`^(?:(?:###|XX)[^\r\n]*|[ \r\n])*\d{3}(?:[ \r\n]|$)`)
)

// Read reads a file in any of the forms that this package knows. The content tells which it is. The
// error is a Fault if the whole file is refused, and otherwise the error of in.
func Read(in io.Reader, o Options) (File, error) {
	r := bufio.NewReaderSize(in, maxRow)
	if mark, _ := r.Peek(len("\ufeff")); string(mark) == "\ufeff" {
		_, _ = r.Discard(len(mark)) // never fails after Peek
	}
	head, _ := r.Peek(maxRow) // an error comes again with the next read
	switch {
	case beginsKickertool.Match(head):
		return readKickertool(r, o)
	case beginsJSON.Match(head):
		return File{}, Fault{Reason: UnknownForm, Value: excerpt(string(head))}
	case beginsTRF.Match(head):
		return readTRF(r, o)
	}
	return ReadCSV(r, o)
}
