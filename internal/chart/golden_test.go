package chart

import (
	"bytes"
	"flag"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

var updateGolden = flag.Bool("update", false, "write the golden files instead of comparing with them")

// A picture may differ this much from its golden file, because processors round differently.
const (
	tolerance      = 24     // of a color, from 0 to 255
	differingShare = 0.0003 // of the pixels
)

// names has names in several scripts. One has an emoji, and one is too long to show in full.
var names = []string{"Alice", "Борис Ґалаґан", "ليلى", "王小明", "Zoë 🎱", strings.Repeat("Maximiliana ", 5) + "Rex!"}

// season returns the rating histories of players who together play the given number of matches, one
// every 1 to 10 hours.
func season(players, matches int) []Line {
	random := rand.New(rand.NewPCG(uint64(players), uint64(matches)))
	lines := make([]Line, players)
	elo := make([]int, players)
	for i := range lines {
		lines[i].Name, elo[i] = fmt.Sprintf("player%d", i+1), 1500
	}
	at := time.Date(2026, 3, 2, 18, 0, 0, 0, time.UTC)
	for n := 1; n <= matches; n++ {
		at = at.Add(time.Duration(1+random.IntN(10)) * time.Hour)
		for i := range min(2, players) {
			player := (n*7 + i*(1+random.IntN(max(players-1, 1)))) % players
			strength := 1650 - 300*player/players
			change := int(32 / (1 + math.Exp(float64(elo[player]-strength)/80)))
			if random.IntN(2) == 0 {
				change -= 32 - change
				change /= 2
			}
			elo[player] += change
			lines[player].Points = append(lines[player].Points, Point{At: at, Match: n, Elo: elo[player]})
		}
	}
	return lines
}

// chartOf returns a chart of the lines that have points. It highlights the first of them, up to
// MaxHighlighted.
func chartOf(lines []Line) Chart {
	lines = slices.DeleteFunc(lines, func(l Line) bool { return len(l.Points) == 0 })
	n := min(len(lines), MaxHighlighted)
	c := Chart{Highlighted: lines[:n], Date: func(t time.Time) string { return t.Format("2 Jan") }}
	if first, last := lines[0].Points[0],
		lines[0].Points[len(lines[0].Points)-1]; last.At.Sub(first.At) > 365*24*time.Hour {
		c.Date = func(t time.Time) string { return t.Format("Jan 2006") }
	}
	for _, line := range lines[n:] {
		c.Others = append(c.Others, line.Points)
	}
	return c
}

// goldenCharts returns the charts of the golden files, keyed by the file's name without .png.
func goldenCharts() map[string]Chart {
	named := func(c Chart, names ...string) Chart {
		for i := range c.Highlighted {
			c.Highlighted[i].Name = names[i]
		}
		return c
	}
	charts := map[string]Chart{
		"one_player_two_matches":       chartOf(season(1, 2)),
		"one_player_one_match":         chartOf(season(1, 1)),
		"one_match":                    chartOf(season(2, 1)),
		"four_players_two_matches":     named(chartOf(season(4, 2)), names[:4]...),
		"four_players_200_matches":     named(chartOf(season(4, 200)), names[:4]...),
		"four_of_six_200_matches_dark": named(chartOf(season(6, 200)), names[2:]...),
		"four_of_400_200_matches":      chartOf(season(400, 200)),
		"four_of_400_20000_matches":    chartOf(season(400, 20_000)),
		"one_player_20000_matches":     chartOf(season(1, 20_000)),
		"level":                        chartOf([]Line{{Name: "Ann", Points: []Point{{time.Unix(1e9, 0).UTC(), 1, 1500}, {time.Unix(2e9, 0).UTC(), 90, 1500}}}}),
		"extremes":                     chartOf([]Line{{Name: "Ann", Points: []Point{{time.Unix(1e9, 0).UTC(), 1, 0}, {time.Unix(1.001e9, 0).UTC(), 90, 10_000}}}}),
		"none":                         {},
		"three_seasons":                inSeasons(named(chartOf(season(6, 200)), names[:4]...)),
		"by_match_of_three_seasons":    inSeasons(chartOf(season(6, 200))),
	}
	for name, c := range charts {
		c.ByMatch = strings.HasPrefix(name, "four_of_400") || strings.HasPrefix(name, "by_match")
		c.Dark = strings.HasSuffix(name, "dark")
		charts[name] = c
	}
	dark := charts["four_of_400_20000_matches"]
	dark.Dark, dark.ByMatch = true, false
	charts["four_of_400_20000_matches_dark"] = dark
	return charts
}

// inSeasons adds a second and a third season to a chart. Players begin both at 1500. The first
// highlighted player is not in the third season.
func inSeasons(c Chart) Chart {
	for i, first := range []int{70, 120} {
		c.Seasons = append(c.Seasons, Season{Match: first, Label: fmt.Sprintf("Season %d", i+2)})
	}
	c.everyPoint(func(p Point) {
		for i, s := range c.Seasons {
			if p.Match == s.Match {
				c.Seasons[i].Starts = p.At
			}
		}
	})
	anew := func(points []Point) (all []Point) {
		before, base := 0, 0
		for _, p := range points {
			for _, s := range c.Seasons {
				if before > 0 && before < s.Match && p.Match >= s.Match {
					base = 1500 - all[len(all)-1].Elo + base
					all = append(all, Point{At: p.At, Match: p.Match - 1, Elo: 1500})
				}
			}
			before = p.Match
			p.Elo += base
			all = append(all, p)
		}
		return all
	}
	for i, line := range c.Highlighted {
		c.Highlighted[i].Points = anew(line.Points)
	}
	for i, points := range c.Others {
		c.Others[i] = anew(points)
	}
	first := &c.Highlighted[0]
	first.Points = slices.DeleteFunc(first.Points, func(p Point) bool { return !p.At.Before(c.Seasons[1].Starts) })
	return c
}

// TestGolden checks that charts look like the pictures in testdata.
func TestGolden(t *testing.T) {
	t.Parallel()
	for name, c := range goldenCharts() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := Draw(c)
			if err != nil {
				t.Fatal(err)
			}
			path := filepath.Join("testdata", name+".png")
			if *updateGolden {
				write(t, path, got)
			}
			want, err := os.ReadFile(path) //nolint:gosec // a file of the test
			if err != nil {
				t.Fatal(err)
			}
			if share := differing(decode(t, got), decode(t, want)); share > differingShare {
				t.Errorf("%.2f %% of the pixels differ from %s", share*100, path)
			}
		})
	}
}

// write writes a PNG picture to a file, compressed as much as possible.
func write(t *testing.T, path string, data []byte) {
	t.Helper()
	var small bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&small, decode(t, data)); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, small.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
}

func decode(t *testing.T, data []byte) image.Image {
	t.Helper()
	picture, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	if size := picture.Bounds().Size(); size != image.Pt(Width, Height) {
		t.Fatalf("the picture has %v pixels", size)
	}
	return picture
}

// differing returns the share of pixels that differ by more than tolerance between two pictures.
func differing(a, b image.Image) float64 {
	count := 0
	for y := range Height {
		for x := range Width {
			if distance(a.At(x, y), b.At(x, y)) > tolerance {
				count++
			}
		}
	}
	return float64(count) / (Width * Height)
}

// distance returns the largest difference between two colors in red, green or blue, from 0 to 255.
func distance(a, b color.Color) int {
	ar, ag, ab, _ := a.RGBA()
	br, bg, bb, _ := b.RGBA()
	most := 0
	for _, d := range []int{int(ar) - int(br), int(ag) - int(bg), int(ab) - int(bb)} {
		most = max(most, d, -d)
	}
	return most / 0x101
}
