package bot

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"reflect"
	"strings"
	"testing"
	"time"

	"elobot/internal/catalog"
	"elobot/internal/chart"
	"elobot/internal/ranking"
	"elobot/internal/stats"
)

// scripts are names as people have them, and one that would be markup.
var scripts = []struct{ script, name string }{
	{"Latin", "Zoë Łukasz-Müller"},
	{"Cyrillic", "Ольга Їжакевич"},
	{"Arabic", "محمد علي"},
	{"Chinese", "王小明"},
	{"emoji", "🏓 Kim " + family},
	{"64 characters", strings.Repeat("Maximilian ", 5) + "Alexander"},
	{"markup", "<b>&"},
}

// goldenWithNames are the golden notices that are rendered with the names of scripts: one of each kind that has names in it.
var goldenWithNames = map[string]string{
	ranking.KindMatchRecorded:  "match/upset_and_notes",
	ranking.KindResultsSummary: "results_summary/one",
	ranking.KindJoined:         "joined/new",
	ranking.KindMatchUndone:    "undone/win",
	ranking.KindMatchRestored:  "restored/win",
	ranking.KindMatchFixed:     "fixed/score",
	ranking.KindPlayersMerged:  "merged/players",
	ranking.KindSettings:       "settings/changed",
	ranking.KindNotRecorded:    "not_recorded/each",
	ranking.KindUndoPrompt:     "undo/prompt",
	ranking.KindWhichPrompt:    "which/two",
	ranking.KindUndoDropped:    "undo/cancelled",
	ranking.KindReportPrompt:   "report/winner_teams",
	ranking.KindOpponentPrompt: "wizard/opponent",
	ranking.KindNamePrompt:     "wizard/name",
	ranking.KindScorePrompt:    "wizard/score",
	ranking.KindReportChosen:   "report/chosen",
	ranking.KindReportDropped:  "report/cancelled",
	stats.KindRankingPage:      "ranking/newcomers",
	ranking.KindBoard:          "board/on",
	stats.KindMyStanding:       "me/everything",
	stats.KindHeadToHead:       "h2h/met",
	stats.KindChart:            "chart/numbers",
	stats.KindRecords:          "records/all_time",
	stats.KindUnclearPeople:    "people/similar_name",
	stats.KindMatchPage:        "matches/of_group",
	stats.KindHistoryPage:      "matches/of_player",
	stats.KindOdds:             "odds/doubles",
	stats.KindTeams:            "odds/teams",
	stats.KindMyStandings:      "me/groups_one",
	kindWrongForm:              "wrong_form/hostile",
	kindCommandFailed:          "command_failed/command",
}

// rename gives all names in a notice, and other words of people, the next name each. It returns how many there were.
func rename(notice reflect.Value, next func() string) (count int) {
	switch notice.Kind() {
	case reflect.Pointer:
		if !notice.IsNil() {
			count += rename(notice.Elem(), next)
		}
	case reflect.Slice, reflect.Array:
		for i := range notice.Len() {
			count += rename(notice.Index(i), next)
		}
	case reflect.Struct:
		var words *string
		switch n := notice.Addr().Interface().(type) {
		case *ranking.Name:
			words = &n.Name
		case *stats.RankingPage:
			words = &n.Title
		case *stats.MatchPage:
			words = &n.Title
		case *stats.GroupStanding:
			words = &n.Title
		case *stats.Records:
			words = &n.Title
		case *stats.UnclearPeople:
			words = &n.Word
		case *time.Time:
			return 0
		case *WrongForm:
			words = &n.Detail
		case *CommandFailed:
			words = &n.Command
		}
		if words != nil && *words != "" {
			*words = next()
			count++
		}
		for i := range notice.NumField() {
			count += rename(notice.Field(i), next)
		}
	}
	return count
}

// renamed returns a copy of a notice whose first name is that of a script, and the next ones those of the scripts that follow.
func renamed(t *testing.T, notice ranking.Notice, script int) (named ranking.Notice, count int) {
	t.Helper()
	content := reflect.New(reflect.TypeOf(notice))
	if err := json.Unmarshal(itemOf(t, notice).Payload, content.Interface()); err != nil {
		t.Fatalf("decode notice: %v", err)
	}
	count = rename(content.Elem(), func() string {
		script++
		return scripts[(script-1)%len(scripts)].name
	})
	return content.Elem().Interface().(ranking.Notice), count
}

// TestGoldenNames compares the notices with names of several scripts with testdata/golden/<language>/names.txtar, and
// looks for the names in the messages as members see them.
func TestGoldenNames(t *testing.T) {
	t.Parallel()
	notices := goldenNotices(t)
	for name, notice := range notices {
		_, count := renamed(t, notice, 0)
		if _, ok := goldenWithNames[notice.Kind()]; count > 0 && !ok {
			t.Errorf("%s has names, and no notice of its kind, %s, is shown with those of several scripts", name, notice.Kind())
		}
	}
	for _, language := range catalog.All() {
		t.Run(language.Tag(), func(t *testing.T) {
			t.Parallel()
			sim, client := startSimulator(t)
			group := sim.Group("Table tennis", sim.User("alice"))
			sender := NewSender(client, selfOf(sim), slog.New(slog.DiscardHandler)).WithViews(&fakeViews{})
			sender.pictures.draw = dot
			for kind, name := range goldenWithNames {
				var got strings.Builder
				for i, s := range scripts {
					notice, count := renamed(t, notices[name], i)
					if count == 0 || notice.Kind() != kind {
						t.Fatalf("%s, of kind %s, has %d names", name, notice.Kind(), count)
					}
					out, err := render(itemOf(t, notice), words{Language: language, tables: true})
					if err != nil {
						t.Fatal(err)
					}
					fmt.Fprintf(&got, "%s: %s\n\n", s.script, out.shown(notice))
					sent := messageOf(t, group.ID(), notice)
					sent.Language = language.Tag()
					for _, sent.Tables = range []bool{false, true} {
						m := deliver(testContext(t), t, sim, sender, group, sent)
						shown := fmt.Sprint(m.Text, m.Buttons)
						if kind == stats.KindChart && !chart.Labels([]string{s.name})[0].Numbered {
							continue // the picture shows it
						}
						if first := string([]rune(s.name)[:min(4, len([]rune(s.name)))]); !strings.Contains(shown, first) {
							t.Errorf("%s in %s: %q is not in %q", name, language.Tag(), first, shown)
						}
					}
				}
				compareWithGolden(t, language.Tag(), "names/"+kind, visible.Replace(got.String()))
			}
		})
	}
}
