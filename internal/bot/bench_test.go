package bot

import (
	"fmt"
	"strings"
	"testing"

	"elobot/internal/notice"
	"elobot/internal/ranking"
	"elobot/internal/stats"
)

// Parts of updates as Telegram sends them.
const (
	aliceJSON = `{"id":1001,"is_bot":false,"first_name":"Alice","last_name":"Smith","username":"alice",` +
		`"language_code":"en"}`
	groupJSON = `{"id":-1001234567890,"title":"Table tennis","type":"supergroup"}`
	placeJSON = `"message_id":4711,"from":` + aliceJSON + `,"chat":` + groupJSON + `,"date":1777897815,`
	matchJSON = `"text":"/match @bob 11:7 9:11 11:5","entities":[{"offset":0,"length":6,"type":"bot_command"},` +
		`{"offset":7,"length":4,"type":"mention"}]`
)

// benchmarkedUpdate is an update, with the method of the service call to which it leads. The method
// is empty if there is no call.
type benchmarkedUpdate struct{ name, raw, method string }

// benchmarkedUpdates returns the most frequent kinds of updates.
func benchmarkedUpdates() []benchmarkedUpdate {
	message := func(rest string) string { return `{"update_id":900000001,"message":{` + placeJSON + rest + `}}` }
	bobJSON := strings.NewReplacer("1001", "1002", "Alice", "Bob", "alice", "bob").Replace(aliceJSON)
	return []benchmarkedUpdate{
		{"match", message(matchJSON), "match"},
		{"names", message(`"text":"/match Дмитрий Иванович vs 👩‍👩‍👧 Zoë 3:1","entities":[` +
			`{"offset":0,"length":6,"type":"bot_command"},` +
			`{"offset":7,"length":16,"type":"text_mention",` +
			`"user":{"id":1002,"first_name":"Дмитрий","last_name":"Иванович"}},` +
			`{"offset":27,"length":12,"type":"text_mention","user":{"id":1003,"first_name":"👩‍👩‍👧 Zoë"}}]`), "match"},
		{"reply", message(`"reply_to_message":{"message_id":4710,"from":` + bobJSON + `,"chat":` + groupJSON +
			`,"date":1777897800,"text":"` + strings.Repeat("gut gespielt ", 20) + `"},` +
			`"text":"/match 3:1","entities":[{"offset":0,"length":6,"type":"bot_command"}]`), "match"},
		{"ranking", message(`"text":"/ranking","entities":[{"offset":0,"length":8,"type":"bot_command"}]`), "ranking"},
		{"edit", `{"update_id":900000001,"edited_message":{` + placeJSON +
			`"edit_date":1777897820,` + matchJSON + `}}`, "match"},
		{"press", `{"update_id":900000001,"callback_query":{"id":"4382bfdwdsb323b2d9","from":` + aliceJSON +
			`,"message":{` + placeJSON + `"text":"` + strings.Repeat("Alice beat Bob ", 20) +
			`"},"chat_instance":"-3871","data":"` + cardButton{42, 0, ranking.TagOf("m:-100:7")}.data(undoCode) + `"}}`, "undo"},
		{"chat", message(`"text":"` + strings.Repeat("Wer spielt heute Abend noch? ", 20) + `"`), ""},
	}
}

// BenchmarkReadUpdate measures decoding an update, the first step for every update.
func BenchmarkReadUpdate(b *testing.B) {
	for _, u := range benchmarkedUpdates() {
		raw := []byte(u.raw)
		b.Run("update="+u.name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(raw)))
			for b.Loop() {
				if in, err := ReadUpdate(raw); err != nil || in.Lane != -1001234567890 {
					b.Fatal(in, err)
				}
			}
		})
	}
}

// BenchmarkHandle measures routing a decoded update to a service that only records the call.
func BenchmarkHandle(b *testing.B) {
	for _, u := range benchmarkedUpdates() {
		in, err := ReadUpdate([]byte(u.raw))
		must(b, err)
		b.Run("update="+u.name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(in.Raw)))
			rankings := &fakeRankings{}
			router := newRouter(rankings)
			for b.Loop() {
				rankings.calls = rankings.calls[:0]
				if err := router.Handle(b.Context(), in); err != nil {
					b.Fatal(err)
				}
			}
			called := ""
			for _, c := range rankings.calls {
				called += c.method
			}
			if called != u.method {
				b.Fatalf("the call is %q, want %q", called, u.method)
			}
		})
	}
}

// BenchmarkShowText measures showText with names in several scripts and of several lengths.
func BenchmarkShowText(b *testing.B) {
	for _, c := range []struct{ name, raw string }{
		{"latin", "Alice Smith"}, {"cyrillic", "Дмитрий Иванович"}, {"arabic", "محمد"}, {"emoji", "Zoë 👩‍👩‍👧 🏓"},
		{"hostile", hostile}, {"long", strings.Repeat("a", 300)}, {"accents", longestNames[3]},
	} {
		b.Run("name="+c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				showText(c.raw)
			}
		})
	}
}

// benchmarkedPage returns a page of the ranking whose players have these names, repeated as
// necessary.
func benchmarkedPage(names ...string) stats.RankingPage {
	page := stats.RankingPage{Title: "Table tennis", Total: 31}
	for i := range stats.PageRows {
		page.Rows = append(page.Rows, stats.Row{
			Position: i + 1, Name: called(names[i%len(names)]), Elo: 1700 - 10*i, Won: 30 - i, Drawn: i % 3, Lost: i,
		})
	}
	return page
}

// BenchmarkRender measures rendering one notice, from JSON to HTML.
func BenchmarkRender(b *testing.B) {
	w := wordsFor("")
	for _, c := range []struct {
		name string
		n    notice.Notice
	}{
		{"match", goldenMatches()["new_and_reported"]},
		{"teams", goldenTeamsAndSets()["tens"]},
		{"longest match", longestMatches(10, 10, longestNames[1])["fixed"]},
		{"refusal", ranking.Refusal{Code: ranking.NotYours, Number: 42}},
		{"ranking", benchmarkedPage("Alice Smith", "Bob", "Дмитрий Иванович", "Zoë 🏓")},
		{"longest ranking", benchmarkedPage(longestNames...)},
	} {
		item := itemOf(b, c.n)
		b.Run("notice="+c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if out, err := render(item, w); err != nil || out.html == "" {
					b.Fatal(out, err)
				}
			}
		})
	}
}

// BenchmarkMerge measures merging 1, 10 and 64 results into one message, into which at least ten
// fit.
func BenchmarkMerge(b *testing.B) {
	w := wordsFor("")
	for _, count := range []int{1, 10, 64} {
		m := messageOf(b, 1, results(101, count, "Alice Smith", "Bob", "Дмитрий Иванович", "Zoë 🏓")...)
		for i := range m.Items {
			m.Items[i].Addressee = "Alice Smith"
		}
		b.Run(fmt.Sprintf("results=%d", count), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, covered := merge(m, w); covered < min(count, 10) {
					b.Fatalf("covered %d", covered)
				}
			}
		})
	}
}

// BenchmarkCallbackAnswer measures turning a rendered notice into the answer to a button press.
func BenchmarkCallbackAnswer(b *testing.B) {
	out := mustRender(b, goldenUndone()["others"])
	b.ReportAllocs()
	for b.Loop() {
		if out.callbackAnswer() == "" {
			b.Fatal("the text is empty")
		}
	}
}
