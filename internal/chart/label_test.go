package chart

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestLetteredLabels(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"Alice": true, "@alice_b": true, "Zoë Nuñez-Ørsted": true, "Nguyễn": true, "Zoe\u0308": true,
		"Борис": true, "Ґалаґан Їжак": true, "Ўладзімір": true, "Әлия": true, "Ωμέγα": true, "Anna 2": true, "1": true, "E": true,
		"ليلى": false, "王小明": false, "さくら": false, "민준": false, "שרה": false, "अनु": false, "สมชาย": false,
		"Zoë 🎱": false, "Ann ♥": false, "🇧🇷": false, "A": false, "D": false,
		"": false, " ": false, "A\u0335\u0336": false, "A\u200dB": false, "\u202eAnn": false, "A\nB": false,
	} {
		if label := Labels([]string{name})[0]; label.Lettered == want || (label.Text == "A") == want {
			t.Errorf("%q has the label %+v", name, label)
		}
	}
}

func TestLabels(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("Maximiliana ", 5) + "Rex!"
	for _, tc := range []struct{ names, want []string }{
		{nil, nil},
		{[]string{"Alice", "王小明", " Борис ", "Zoë 🎱"}, []string{"Alice", "B", "Борис", "D"}},
		{[]string{long, "Zoe\u0308", long + "!"}, []string{"A", "Zoë", "C"}},
		{[]string{"B", long}, []string{"A", "Maximiliana M…"}},
	} {
		var got []string
		for i, label := range Labels(tc.names) {
			if got = append(got, label.Text); label.Lettered != (label.Text == string("ABCD"[i])) {
				t.Errorf("%q: %+v", tc.names, label)
			}
		}
		if !slices.Equal(got, tc.want) {
			t.Errorf("Labels(%q) = %q", tc.names, got)
		}
	}
}

// TestLabelsFit checks that no label is wider than maxLabel, and a label is drawn at most margin
// pixels wider than measured.
func TestLabelsFit(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.StringOfN(rapid.RuneFrom([]rune("WwMШЩ@…ij1 ÄÅЙfä")), 1, 64, -1).Draw(t, "name")
		label := Labels([]string{name})[0].Text
		if width := textWidth(label); width > maxLabel {
			t.Fatalf("%q has %d pixels", label, width)
		}
		_, _, right, _, err := newCanvas(false).context.GetStringBounds(label)
		if err != nil || int(right) > textWidth(label)+margin {
			t.Fatalf("%q ends at %v, not at %v (%v)", label, right, textWidth(label), err)
		}
	})
}

func TestSpread(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ heights, want []int }{
		{nil, nil},
		{[]int{50}, []int{50}},
		{[]int{-5}, []int{0}},
		{[]int{20, 40, 70}, []int{20, 40, 70}},
		{[]int{50, 50}, []int{45, 55}},
		{[]int{20, 48, 50, 52}, []int{20, 40, 50, 60}},
		{[]int{0, 0, 0}, []int{0, 10, 20}},
		{[]int{95, 99, 100}, []int{80, 90, 100}},
		{[]int{50, 51, 60, 61}, []int{40, 50, 60, 70}},
	} {
		if got := spread(tc.heights, 10, 0, 100); !slices.Equal(got, tc.want) {
			t.Errorf("spread(%v) = %v, want %v", tc.heights, got, tc.want)
		}
	}
}
