package chart

import (
	"encoding/binary"
	"strings"
	"testing"
	"time"
)

// fuzzed makes a chart from arbitrary names and data. Each point takes 17 bytes of data, the first
// of which selects the line.
func fuzzed(names string, data []byte, byMatch, dark bool) Chart {
	c := Chart{ByMatch: byMatch, Dark: dark, Date: func(t time.Time) string { return t.Format(time.DateOnly) }}
	for _, name := range strings.SplitN(names, "\n", MaxHighlighted) {
		c.Highlighted = append(c.Highlighted, Line{Name: name})
	}
	c.Others = make([][]Point, 3)
	for ; len(data) >= 17; data = data[17:] {
		first := binary.LittleEndian.Uint64(data[1:])
		point := Point{
			At:    time.Unix(int64(first), 0).UTC(),                            //nolint:gosec // any number
			Match: int(int64(binary.LittleEndian.Uint64(data[9:]))),            //nolint:gosec // any number
			Elo:   int(binary.LittleEndian.Uint16(data[15:])) * 10_000 / 65535, // 0 to 10,000
		}
		switch whose := int(data[0]) % 8; {
		case whose < len(c.Highlighted):
			c.Highlighted[whose].Points = append(c.Highlighted[whose].Points, point)
		default:
			c.Others[whose%3] = append(c.Others[whose%3], point)
		}
	}
	return c
}

// FuzzDraw checks that any chart of one season can be drawn.
func FuzzDraw(f *testing.F) {
	f.Add("Ann", []byte{}, false, false)
	f.Add("Ann\nБорис\n\xff\u0301\n🎱", []byte(strings.Repeat("\x00at=time\x00match=0z", 3)), true, true)
	f.Add("1\n\n"+strings.Repeat("W", 1000),
		[]byte(strings.Repeat("\x01\x7f\xff\xff\xff\xff\xff\xff\x7f\xff\xff\xff\xff\xff\xff\xff\x7f", 2)), true, false)
	f.Add("a\nb", []byte(strings.Repeat("\x00\xff\xff\xff\xff\xff\xff\xff\x7f", 17)), false, false)
	f.Add("a\nb\nc\nd", []byte(strings.Repeat("\x03\x00\x00\x00\x00\x00\x00\x00\x80", 34)), false, true)
	f.Fuzz(func(t *testing.T, names string, data []byte, byMatch, dark bool) {
		picture, err := Draw(fuzzed(names, data, byMatch, dark))
		if err != nil {
			t.Fatal(err)
		}
		decode(t, picture)
	})
}
