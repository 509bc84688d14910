package bot

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"elobot/internal/catalog"
	"elobot/internal/chart"
	"elobot/internal/notice"
	"elobot/internal/ranking"
	"elobot/internal/stats"
)

// scripts has names in several scripts, and one that looks like markup. shown is the name in the
// HTML of a message, where a long name is cut.
var scripts = []struct{ script, name, shown string }{
	{"Latin", "Zoë Łukasz-Müller", "Zoë Łukasz-Müller"},
	{"Cyrillic", "Ольга Їжакевич", "Ольга Їжакевич"},
	{"Arabic", "محمد علي", "محمد علي"},
	{"Chinese", "王小明", "王小明"},
	{"emoji", "🏓 Kim " + family, "🏓 Kim " + family},
	{"64 characters", strings.Repeat("Maximilian ", 5) + "Alexander", "Maximilian Maximilian Maximilia…"},
	{"markup", "<b>&", "&lt;b&gt;&amp;"},
}

// goldenWithNames maps each kind of notice that contains names to the golden notice that is
// rendered with the names in scripts.
var goldenWithNames = map[string]string{
	"match_recorded":  "match/upset_and_notes",
	"results_summary": "results_summary/one",
	"joined":          "joined/new",
	"refusal":         "refusal/no_such_player_near",
	"match_undone":    "undone/win",
	"match_restored":  "restored/win",
	"match_fixed":     "fixed/score",
	"match_moved":     "moved/by_alice",
	"players_merged":  "merged/players",
	"settings":        "settings/changed",
	"not_recorded":    "not_recorded/each",
	"undo_prompt":     "undo/prompt",
	"winner_offer":    "fix_offer/winner",
	"fix_prompt":      "undo/fix",
	"which_prompt":    "which/two",
	"undo_dropped":    "undo/canceled",
	"report_prompt":   "report/winner_teams",
	"opponent_prompt": "wizard/opponent",
	"together_prompt": "wizard/together",
	"name_prompt":     "wizard/name",
	"score_prompt":    "wizard/score",
	"report_chosen":   "report/chosen",
	"report_dropped":  "report/canceled",
	"ranking_page":    "ranking/newcomers",
	"month_ranking":   "ranking/of_month",
	ranking.KindBoard: "board/on",
	"my_standing":     "me/everything",
	"left_ranking":    "left_ranking/removed",
	"head_to_head":    "h2h/met",
	"chart":           "chart/numbers",
	"records":         "records/all_time",
	"unclear_people":  "people/unknown_name",
	"who_meant":       "people/similar_name",
	"match_page":      "matches/of_group",
	"history_page":    "matches/of_player",
	"player_card":     "player/account",
	"player_page":     "player/merge",
	"mapping_prompt":  "mapping/merge",
	"undo_day_prompt": "undone_day/prompt",
	"day_undone":      "undone_day/several",
	"odds":            "odds/doubles",
	"teams":           "odds/teams",
	"my_standings":    "me/groups_one",
	"wrong_form":      "wrong_form/hostile",
	"command_failed":  "command_failed/command",
	"season_table":    "season/over",
	"season_ended":    "season/told",
	"all_time":        "season/all_time",
}

// rename replaces each name in a notice, and some other texts that people chose, with the next
// name, unless the text is empty. It returns how many texts it replaced.
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
		case *stats.Gains:
			words = &n.Title
		case *stats.MatchPage:
			words = &n.Title
		case *stats.GroupStanding:
			words = &n.Title
		case *stats.Records:
			words = &n.Title
		case *stats.UnclearPeople:
			words = &n.Word
		case *stats.WhoMeant:
			words = &n.Word
		case *time.Time:
			return 0
		case *ranking.WrongForm:
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

// renamed returns a copy of a notice with names from scripts, beginning with the one at index
// script. count is the number of names that were replaced.
func renamed(t *testing.T, n notice.Notice, script int) (named notice.Notice, count int) {
	t.Helper()
	content := reflect.New(reflect.TypeOf(n))
	if err := json.Unmarshal(itemOf(t, n).Payload, content.Interface()); err != nil {
		t.Fatalf("decode notice: %v", err)
	}
	count = rename(content.Elem(), func() string {
		script++
		return scripts[(script-1)%len(scripts)].name
	})
	return content.Elem().Interface().(notice.Notice), count
}

// numbered returns a replacer that turns the names from scripts into numbers. {1} stands for the
// name in the given script, {2} for the next one.
func numbered(script int) *strings.Replacer {
	var pairs []string
	for i := range scripts {
		pairs = append(pairs, scripts[(script+i)%len(scripts)].shown, fmt.Sprintf("{%d}", i+1))
	}
	return strings.NewReplacer(pairs...)
}

// difference returns the lines of a text that differ from the lines of another text, or the whole
// text if the numbers of lines differ.
func difference(text, other string) string {
	lines, others := slices.Collect(strings.Lines(text)), slices.Collect(strings.Lines(other))
	if len(lines) != len(others) {
		return text
	}
	different := ""
	for i, line := range lines {
		if line != others[i] {
			different += line
		}
	}
	return different
}

// TestGoldenNames checks that notices with names in several scripts read as in
// testdata/golden/<language>/names.txtar, and members see these names in the messages. A section
// has the text with numbers instead of names, and the lines that differ for other scripts, because
// a name there is too long or escaped.
func TestGoldenNames(t *testing.T) {
	t.Parallel()
	notices := goldenNotices(t)
	for name, n := range notices {
		_, count := renamed(t, n, 0)
		if _, ok := goldenWithNames[notice.KindOf(n).Name]; count > 0 && !ok {
			t.Errorf("%s has names, and no notice of its kind, %s, is shown with those of several scripts",
				name, notice.KindOf(n).Name)
		}
	}
	for _, language := range catalog.All() {
		t.Run(language.Tag(), func(t *testing.T) {
			t.Parallel()
			sim, client := startSimulator(t)
			group := sim.Group("Table tennis", sim.User("alice"))
			sender := NewSender(client, selfOf(sim), slog.New(slog.DiscardHandler)).WithViews(&fakeViews{})
			sender.draw = dot
			for kind, name := range goldenWithNames {
				_, usual := renderGolden(t, notices[name], language)
				_, want := usual.below()
				var first, got string
				for i, s := range scripts {
					n, count := renamed(t, notices[name], i)
					if count == 0 || notice.KindOf(n).Name != kind {
						t.Fatalf("%s, of kind %s, has %d names", name, notice.KindOf(n).Name, count)
					}
					_, out := renderGolden(t, n, language)
					if _, effects := out.below(); effects != want {
						t.Errorf("the buttons of %s with names in %s are %s; want %s", name, s.script, effects, want)
					}
					text := numbered(i).Replace(out.shown(n))
					switch {
					case i == 0:
						first, got = text, text
					case text != first:
						got += s.script + ":\n" + difference(text, first)
					}
					sent := messageOf(t, group.ID(), n)
					sent.Language = language.Tag()
					for _, sent.Tables = range []bool{false, true} {
						m := deliver(testContext(t), t, sim, sender, group, sent)
						shown := fmt.Sprint(m.Text, m.Buttons)
						if kind == "chart" && !chart.Labels([]string{s.name})[0].Lettered {
							continue // the picture has the name
						}
						if first := string([]rune(s.name)[:min(4, len([]rune(s.name)))]); !strings.Contains(shown, first) {
							t.Errorf("%s in %s: %q is not in %q", name, language.Tag(), first, shown)
						}
					}
				}
				compareWithGolden(t, language.Tag(), "names/"+kind, got)
			}
		})
	}
}
