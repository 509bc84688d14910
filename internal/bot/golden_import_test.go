package bot

import (
	"slices"
	"strings"
	"testing"
	"time"

	"elobot/internal/botsim"
	"elobot/internal/ladder"
	"elobot/internal/notice"
	"elobot/internal/ranking"
	"elobot/internal/transfer"
)

func goldenImports(t *testing.T) map[string]notice.Notice {
	t.Helper()
	first, last := time.Date(2019, 3, 3, 12, 0, 0, 0, time.UTC), time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)
	asked := ranking.ImportPrompt{
		Tag: "Aa0_-zZ9", File: "results.csv", Results: 412, First: first, Last: last, Zone: "Europe/Berlin",
		Dates: transfer.DayFirst,
	}
	all, guests, dates, order, hostileFile, starts := asked, asked, asked, asked, asked, asked
	all.Prompt, all.Known, all.LeftOut, all.Unused, all.Refused = 12, 1200, 3, []string{"court", "umpire"}, 17
	for i := range 10 {
		all.Faults = append(all.Faults, transfer.Fault{Line: i + 2, Column: "score", Reason: transfer.BadScore, Value: "3-x"})
	}
	all.Unknown, all.Names = 3, []ranking.UnknownName{{Name: "Zoe"}, {Name: "Bobb", Similar: "@bob (Bob)"}, {Name: "Zed"}}
	all.People = []ranking.PersonFault{
		{Name: "Ann", Who: "who?"}, {Name: "Bo", Who: "guest", Code: ranking.NameTaken, Free: "Bo S."},
		{Name: "vs", Who: "guest", Code: ranking.GuestUnusable}, {Name: "Cid", Who: "@cid", Code: ranking.PlayerOut},
	}
	all.MorePeople, all.Closed, all.Choices, all.Later = 2, []int{1, 3}, ranking.ImportChoices(), 60001
	guests.Results, guests.Last, guests.Unknown, guests.Names = 1, first, 1, []ranking.UnknownName{{Name: "Zoe"}}
	guests.Choices = []ranking.ImportChoice{ranking.ImportGuests, ranking.ImportPeople}
	dates.Results, dates.First, dates.Last, dates.Dates, dates.Ask = 0, time.Time{}, time.Time{}, "", transfer.AskDates
	dates.Choices = []ranking.ImportChoice{ranking.ImportDayFirst, ranking.ImportMonthFirst}
	order.First, order.Last, order.Ask = time.Time{}, time.Time{}, transfer.AskOrder
	order.Choices = []ranking.ImportChoice{ranking.ImportByRow}
	hostileFile.File, hostileFile.Unused, hostileFile.Unknown = hostile, []string{hostile}, 1
	hostileFile.Names = []ranking.UnknownName{{Name: hostile, Similar: hostile}}
	hostileFile.People = []ranking.PersonFault{{Name: hostile, Who: hostile, Code: ranking.NameTaken, Free: hostile}}
	hostileFile.Refused, hostileFile.Faults = 1, []transfer.Fault{
		{Line: 2, Column: hostile, Reason: transfer.Contradiction, Value: hostile, Against: hostile},
	}
	chat, zone := asked, asked
	chat.File, chat.Messages, chat.LeftOut, chat.Refused = "result.json", true, 2, 1
	chat.Faults = []transfer.Fault{{Line: 4711, Message: true, Reason: transfer.InDoubt, Value: "/match Max 3:1"}}
	zone.File, zone.Results, zone.Dates, zone.Ask = "result.json", 0, "", transfer.AskZone
	zone.Choices = []ranking.ImportChoice{ranking.ImportZone}
	starts.Results, starts.First, starts.Last, starts.Starts, starts.Refused = 0, time.Time{}, time.Time{}, 12, 1
	starts.Faults = []transfer.Fault{{Line: 2, Reason: transfer.HasPlayed, Value: "Ann"}}
	starts.Choices = []ranking.ImportChoice{ranking.ImportSkip}
	done := ranking.Imported{Number: 3, Tag: "Aa0_-zZ9", Matches: 412, First: first, Last: last}
	kept, more, again := done, done, done
	kept.Kept, again.Later = true, 3
	more.Players, more.LeftOut, more.Known, more.Later = 5, 4, 1200, 3
	more.Equal, more.Same = "2–5, 7", "9"
	notices := map[string]notice.Notice{
		"page": ranking.ImportPage{}, "example": ranking.ImportExample{},
		"people":         ranking.PeopleOfImport{Title: "Table tennis", All: []transfer.Person{{Name: "Ann", Who: "@ann"}}},
		"people_hostile": ranking.PeopleOfImport{Title: hostile, All: []transfer.Person{{Name: hostile}}},
		"ask_all":        all, "ask_guests": guests, "ask_dates": dates, "ask_order": order, "ask_hostile": hostileFile,
		"ask_chat": chat, "ask_zone": zone,
		"ask_starts": starts, "recalculating": ranking.Recalculating{Later: 60001},
		"dropped": ranking.ImportDropped{}, "answered": ranking.ImportDropped{Answered: true},
		"done": done, "kept": kept, "done_more": more, "nothing_new": ranking.Imported{Known: 412},
		"ask_restore": ranking.ImportPrompt{
			Tag: "Aa0_-zZ9", File: "club.zip", Results: 412, Zone: "Europe/Berlin",
			Choices: []ranking.ImportChoice{ranking.ImportRestore},
			Export:  &ranking.FoundExport{Title: "Table tennis", At: last, Players: 12},
		},
		"ask_restore_hostile": ranking.ImportPrompt{
			Tag: "Aa0_-zZ9", File: hostile, Export: &ranking.FoundExport{Title: hostile, At: last},
		},
		"restored":          ranking.Imported{Number: 1, Tag: "Aa0_-zZ9", Restored: true, Matches: 412, Players: 12},
		"restored_empty":    ranking.Imported{Restored: true, Players: 2},
		"done_starts":       ranking.Imported{Number: 4, Tag: "Aa0_-zZ9", Starts: 12, Players: 2},
		"take_back":         ranking.TakeBackPrompt{Imported: again},
		"take_back_starts":  ranking.TakeBackPrompt{Imported: ranking.Imported{Number: 4, Tag: "Aa0_-zZ9", Starts: 12}},
		"taken_back":        ranking.ImportTakenBack{Imported: again},
		"taken_back_starts": ranking.ImportTakenBack{Imported: ranking.Imported{Number: 4, Starts: 12}},
		"gone":              ranking.ImportTakenBack{Imported: ranking.Imported{Number: 3}},
		"refused_hostile":   ranking.ImportRefused{File: hostile, Fault: transfer.Fault{Reason: transfer.NoColumns, Value: hostile}},
		"fault_unknown":     ranking.ImportRefused{File: "results.csv"},
		"fault_in_people":   ranking.ImportRefused{File: "people.csv", OfPeople: true, Fault: transfer.Fault{Reason: transfer.NotText}},
	}
	never := []transfer.Reason{
		transfer.EmptyRow, transfer.NotPlayed, transfer.Walkover, transfer.SameRow, // refuse nothing
		transfer.Undone, transfer.OtherBot, transfer.NewSeason, transfer.OtherLadder, // nor do these
		transfer.NoSuchColumn, transfer.NoSuchRole, transfer.TwoRoles, // nobody in a chat names columns
		transfer.NotPeople, transfer.TooManyRows, // the chat has other answers to them
	}
	for _, name := range constants(t, "../transfer", ofType("Reason")) {
		if reason := transfer.Reason(name); !slices.Contains(never, reason) {
			notices["fault_"+name] = ranking.ImportRefused{File: "results.csv", Fault: transfer.Fault{
				Line: 7, Column: "Score", Reason: reason, Value: "12", Against: "b", Other: 3,
				Likely: []ladder.Score{{A: 3, B: 1}, {A: 1, B: 3}},
			}}
		}
	}
	return notices
}

// TestTheLongestImportFits checks that a question with the longest lists fits into a message.
func TestTheLongestImportFits(t *testing.T) {
	t.Parallel()
	inEachLanguage(t, func(t *testing.T, w words, send func(notice.Notice) botsim.Message) {
		for _, name := range namesIn(w) {
			long := strings.Repeat(name, 3)
			n := ranking.ImportPrompt{
				File: long, Results: 5000, First: time.Unix(0, 0), Last: time.Now(), Zone: "America/Argentina/ComodRivadavia",
				Unused: slices.Repeat([]string{long}, 10), Known: 5000, LeftOut: 5000, Refused: 5000, Unknown: 1000,
				Names: slices.Repeat([]ranking.UnknownName{{Name: long, Similar: long}}, 10), MorePeople: 1000, Later: 99999,
				Ask: transfer.AskOrder, Choices: ranking.ImportChoices(), Tag: "Aa0_-zZ9",
			}
			for _, code := range []ranking.RefusalCode{"", ranking.NameTaken, ranking.GuestUnusable, ranking.PlayerOut} {
				fault := ranking.PersonFault{Name: long, Who: long, Code: code, Free: long}
				n.People = append(n.People, fault, fault, fault)
			}
			for _, reason := range []transfer.Reason{transfer.ScoreIsDate, transfer.TwoVersions, transfer.Contradiction} {
				n.Faults = append(n.Faults, slices.Repeat([]transfer.Fault{{
					Line: 5000, Column: long, Reason: reason, Value: long, Against: long, Other: 5000,
					Likely: slices.Repeat([]ladder.Score{{A: 999, B: 999}}, 4),
				}}, 4)...)
			}
			for season := range 100 {
				n.Closed = append(n.Closed, 1000+season)
			}
			if m := send(n); !strings.Contains(m.Text, "…") || len(m.Buttons) != 11 {
				t.Errorf("the message is %+q", m.Text)
			}
			done := ranking.Imported{
				Number: 9999, Matches: 5000, Last: time.Now(), Players: 1000, LeftOut: 5000, Known: 5000, Later: 99999,
			}
			done.Equal = strings.Repeat("1000–1005, ", 10)
			done.Same = done.Equal
			_ = send(done)
		}
	})
}

// TestImportButtons checks that the data of buttons about imports is read as it was written, and
// that other data is refused.
func TestImportButtons(t *testing.T) {
	t.Parallel()
	for _, step := range []ranking.UndoStep{ranking.UndoAsk, ranking.UndoKeep, ranking.UndoSure} {
		back := ranking.TakeBackImport{Import: 12345678, Tag: "Aa0_-zZ9", Step: step}
		args, ok := argsOf(importCode, dataInLadder(takeBackData(back), 1<<40))
		if b, valid := parseImportButton(args); !ok || !valid || b.back != back {
			t.Errorf("%s is read as %+v", args, b)
		}
	}
	for _, args := range []string{"x", "1", "ask:1", "ask:01:Aa0_-zZ9", "ask:-:Aa0_-zZ9", "ask:1:a:b"} {
		if b, ok := parseImportButton(args); ok {
			t.Errorf("%q is read as %+v", args, b)
		}
	}
}
