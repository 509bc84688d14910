package chatpicture_test

import (
	"bytes"
	"flag"
	"image"
	"image/color"
	"image/png"
	"os"
	"strings"
	"testing"

	"elobot/internal/chatpicture"
)

var update = flag.Bool("update", false, "update the golden files")

const golden = "testdata/chat.png"

// conversation has everything that a picture can show.
func conversation() chatpicture.Chat {
	type span = chatpicture.Span
	bold, italic, link := chatpicture.Style{Bold: true}, chatpicture.Style{Italic: true}, chatpicture.Style{Link: true}
	photo := image.NewPaletted(image.Rect(0, 0, 16, 10), color.Palette{color.White, color.RGBA{0x30, 0x60, 0xa0, 0xff}})
	for x := range 16 {
		for y := 9 - x/2; y < 10; y++ {
			photo.SetColorIndex(x, max(y, 0), 1)
		}
	}
	return chatpicture.Chat{
		Title: "Table tennis", About: "6 members", Pinned: "Ranking · Table tennis\n🥇 Alice 1601 · 11–0–3 ▲1\n🥈 Dave 1570",
		Messages: []chatpicture.Message{
			{From: "Carol", Day: "October 25", Time: "19:42", Text: []span{{"/match", link}, {" ", chatpicture.Style{}}, {"@dave", link}, {" 3:2", chatpicture.Style{}}}},
			{
				From: "elobot", Time: "19:42", Buttons: [][]string{{"Undo"}},
				Text: []span{
					{"Carol", bold}, {" beat ", chatpicture.Style{}}, {"Dave", bold}, {" 3:2\nCarol +23 → ", chatpicture.Style{}},
					{"1476", bold}, {"\nDave −23 → ", chatpicture.Style{}}, {"1586", bold},
					{"\n🎯 Upset of the month: Carol, rated 156 points lower!\n", chatpicture.Style{}}, {"Match #30", italic},
				},
			},
			{From: "Bob", Own: true, Time: "19:43", Text: []span{{"/ranking", link}}},
			{
				From: "elobot", Time: "19:43", Buttons: [][]string{{"✓ Month", "›"}},
				Text: []span{
					{"Ranking · Table tennis\n🥇 ", chatpicture.Style{}}, {"Alice", bold}, {" 1601 · 11–0–3 ▲1\n🥈 ", chatpicture.Style{}}, {"Dave", bold},
					{" 1570 · 8–1–2 ▼1\n🥉 ", chatpicture.Style{}}, {"Erin", bold}, {" 1513 · 4–0–3\n", chatpicture.Style{}},
					{"▸ 6. Bob 1419 · 2–1–8 ▼2", bold}, {"\n6 players · won–drawn–lost", italic},
				},
			},
			{From: "elobot", Time: "19:44", Photo: photo, Text: []span{{"🏆 Alice is the new number one! ", chatpicture.Style{}}, {"/undo 31", chatpicture.Style{Code: true}},
				{" and ", chatpicture.Style{}}, {"Dave 1:3 Alice", chatpicture.Style{Struck: true}}}},
		},
	}
}

// TestDraw compares the picture with the golden one. On another machine, an edge may have slightly another shade.
func TestDraw(t *testing.T) {
	t.Parallel()
	got, err := chatpicture.Draw(conversation())
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		writeGolden(t, got)
	}
	file, err := os.Open(golden)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close() //nolint:errcheck // only read
	want, err := png.Decode(file)
	if err != nil {
		t.Fatal(err)
	}
	if got.Bounds() != want.Bounds() {
		t.Fatalf("the picture has the size %v, want %v", got.Bounds(), want.Bounds())
	}
	const tolerance, maxDiffering = 24, 100 // of a colour, and of pixels
	differing := 0
	for y := range want.Bounds().Dy() {
		for x := range want.Bounds().Dx() {
			if distance(got.At(x, y), want.At(x, y)) > tolerance {
				differing++
			}
		}
	}
	if differing > maxDiffering {
		t.Errorf("%d pixels differ from %s, want at most %d", differing, golden, maxDiffering)
	}
}

// distance returns by how much two colours differ, from 0 to 255.
func distance(a, b color.Color) (most int) {
	ar, ag, ab, _ := a.RGBA()
	br, bg, bb, _ := b.RGBA()
	for _, d := range []int{int(ar) - int(br), int(ag) - int(bg), int(ab) - int(bb)} {
		most = max(most, d/257, -d/257)
	}
	return most
}

func writeGolden(t *testing.T, picture image.Image) {
	t.Helper()
	var encoded bytes.Buffer
	if err := png.Encode(&encoded, picture); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(golden, encoded.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestMissingCharacter: a character that the picture would lack is an error, not a box.
func TestMissingCharacter(t *testing.T) {
	t.Parallel()
	c := chatpicture.Chat{Title: "Club", Messages: []chatpicture.Message{{From: "Al", Text: []chatpicture.Span{{Text: "a 🦆"}}}}}
	if _, err := chatpicture.Draw(c); err == nil || !strings.Contains(err.Error(), "🦆") {
		t.Errorf("error %v", err)
	}
}
