package ranking_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"elobot/internal/notice"
	"elobot/internal/ranking"
	"elobot/internal/transfer"
)

// fakeFiles has files by their ids.
type fakeFiles map[string]string

func (f fakeFiles) Download(_ context.Context, id string, limit int64) ([]byte, error) {
	if content, ok := f[id]; ok && int64(len(content)) <= limit {
		return []byte(content), nil
	}
	return nil, errors.New("no such file")
}

// sends has an admin reply to an ImportPage with a file, and returns the answer.
func (g *game) sends(t *testing.T, file string) ranking.Notice {
	t.Helper()
	o := g.origin(&zoe)
	o.SentAt = time.Now()
	must(t, g.Do(asAdmin(t), o, ranking.ReplyWithFile{File: ranking.SentFile{ID: file, Name: file}}))
	return g.notice(t, o.Key)
}

// refusingFiles refuses the first requests with the errors, and then has no file.
type refusingFiles []error

func (f *refusingFiles) Download(context.Context, string, int64) ([]byte, error) {
	err := (*f)[0]
	*f = (*f)[1:]
	return nil, fmt.Errorf("download: %w", err)
}

// TestImportOfNoFile checks that the bot says at once why it cannot have a file, if trying again is
// pointless.
func TestImportOfNoFile(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	g.begin(t)
	away := errors.New("away for a moment")
	for cause, want := range map[error]ranking.Refusal{
		ranking.ErrFileTooLarge:  {Code: ranking.FileTooLarge, Matches: ranking.MaxImportMegabytes},
		ranking.ErrFileNotServed: {Code: ranking.FileNotServed},
	} {
		files := refusingFiles{away, cause}
		g.Service = g.newInstance().WithFiles(&files, transfer.ChatOptions{})
		checkNotice(t, g.sends(t, "a"), want)
		equal(t, "requests left", 0, len(files))
	}
}

// TestImportChosenAtOnce checks that choices of two admins through two instances at the same time
// both count, and that the file is imported once.
func TestImportChosenAtOnce(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	g.begin(t)
	files := fakeFiles{"a": "date,a,b,score\n2022-01-02,Alice,Bob,1:0\n2022-01-01,Alice,Cid,1:0\n2022-01-01,Bob,Cid,1:0\n"}
	one := g.newInstance().WithFiles(files, transfer.ChatOptions{})
	other := g.newInstance().WithFiles(files, transfer.ChatOptions{})
	g.Service = one
	for round := range 5 {
		asked, ok := g.sends(t, "a").(ranking.ImportPrompt)
		if !ok || fmt.Sprint(asked.Choices) != "[guests people rows]" {
			t.Fatalf("round %d: the question is %+v", round, asked)
		}
		id := g.newestPrompt(t)
		presses := []ranking.Origin{g.press(&zoe), g.press(&alice)}
		var both errgroup.Group
		for i, service := range []*ranking.Service{one, other} {
			choice := []ranking.PromptOption{ranking.ImportGuests, ranking.ImportByRow}[i]
			both.Go(func() error { return service.Do(asAdmin(t), presses[i], answerBy(id, choice)) })
		}
		must(t, both.Wait())
		if imports, matches := g.count(t, "imports"), g.count(t, "matches"); imports != round+1 || matches != 3 {
			t.Fatalf("round %d: %d imports, %d matches", round, imports, matches)
		}
		_, err := ranking.UndoImport(t.Context(), g.store, club.ID, round+1)
		must(t, err)
		g.exec(t, `DELETE FROM sightings WHERE player_id IN (SELECT id FROM players WHERE group_id IS NOT NULL)`)
		g.exec(t, `DELETE FROM players WHERE group_id IS NOT NULL AND telegram_user_id IS NULL`)
	}
}

// TestImportOfManyLater checks that an import in the chat that calculates many later matches again
// asks first and is then carried out by a timer, and so is its undo. Results that are recorded
// while the rows are written or deleted count. The end is as if the chat had waited.
func TestImportOfManyLater(t *testing.T) {
	t.Parallel()
	var states [][]string
	for _, longest := range []int{100, 2} { // the first game has no long imports
		g := newGame(t)
		g.begin(t)
		isLong := longest == 2
		during := func() {
			if isLong {
				g.record(t, &alice, alice, bob, 3, 1)
			}
		}
		const head = "date,a,b,score\n"
		files := fakeFiles{
			"later": head + strings.Repeat("2022-01-02,Alice,Bob,1:0\n", 5),
			"first": head + "2021-01-01,Alice,Bob,1:0\n2021-01-02,Bob,Alice,1:0\n",
		}
		settings := ranking.Settings{ResultsPerMinute: -1, LongestReplay: longest}
		g.Service = g.newServiceOn(stagedStore{g.store, during}, settings).WithFiles(files, transfer.ChatOptions{})
		if before, ok := g.sends(t, "later").(ranking.Imported); !ok || before.Matches != 5 {
			t.Fatalf("the answer is %+v", before)
		}
		answer := g.sends(t, "first")
		if isLong {
			asked, ok := answer.(ranking.ImportPrompt)
			if !ok || asked.Later != 5 || fmt.Sprint(asked.Choices) != "[long]" {
				t.Fatalf("the question is %+v", answer)
			}
			id := g.newestPrompt(t)
			g.exec(t, `UPDATE prompts SET telegram_message_id = 77, delivered_at = now() WHERE id = $1`, id.ID)
			checkNotice(t, g.respond(t, g.press(&zoe), id, ranking.ImportLong), ranking.Recalculating{Later: 5})
			equal(t, "matches while the import waits", 5, g.count(t, "matches"))
			late := g.press(&alice)
			must(t, g.Do(asAdmin(t), late, answerBy(id, ranking.Cancel{})))
			checkNotice(t, g.answer(t, late.Key, "action = 'callback_answer'"), ranking.Refusal{Code: ranking.PromptOver})
			due := g.dueLong(t)
			must(t, g.FireTimer(t.Context(), due))
			must(t, g.FireTimer(t.Context(), due)) // as if another leader had read the timer earlier
			answer = message77[ranking.Imported](t, g)
		} else {
			g.record(t, &alice, alice, bob, 3, 1)
		}
		done, ok := answer.(ranking.Imported)
		if !ok || done.Number != 2 || done.Matches != 2 || done.Later != 5 || done.Known > 0 {
			t.Fatalf("the answer is %+v", answer)
		}
		equal(t, "open prompts", 0, g.count(t, "prompts WHERE closed_at IS NULL"))
		g.verifyClean(t)
		states = append(states, withoutKeys(g.state(t)))

		o := g.press(&zoe)
		back := ranking.TakeBackImport{Import: 2, Tag: done.Tag, Step: ranking.UndoSure}
		must(t, g.Do(asAdmin(t), o, back))
		if isLong {
			checkNotice(t, message77[ranking.Recalculating](t, g), ranking.Recalculating{Later: 6})
			equal(t, "matches while the undo waits", 8, g.count(t, "matches"))
			due := g.dueLong(t)
			must(t, g.FireTimer(t.Context(), due))
			must(t, g.FireTimer(t.Context(), due))
		} else {
			g.record(t, &alice, alice, bob, 3, 1)
		}
		if back := message77[ranking.ImportTakenBack](t, g); back.Number != 2 || back.Matches != 2 || back.Later != 6 {
			t.Errorf("the answer to the undo is %+v", back)
		}
		g.verifyClean(t)
		states = append(states, withoutKeys(g.state(t)))
		equal(t, "timers of long actions", 0, g.count(t, "timers WHERE key LIKE 't:long:%'"))
	}
	equal(t, "state after a long import", states[0], states[2])
	equal(t, "state after a long undo", states[1], states[3])
}

// TestLongImportIsGivenUp checks that the bot gives up a long import that has not ended in an hour,
// and says so.
func TestLongImportIsGivenUp(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	g.begin(t)
	for _, key := range []string{"t:long:import:5", "t:long:undo:1:-100:77:Aa0_-zZ9"} {
		g.exec(t, `INSERT INTO timers SELECT $1, id, now() - interval '61 minutes' FROM chats`, key)
		must(t, g.FireTimer(t.Context(), g.dueLong(t)))
		equal(t, "answers", 1, g.count(t, `outbox WHERE key = '`+key+`' AND payload ->> 'code' = 'too_many_at_once'`))
	}
	equal(t, "timers", 0, g.count(t, "timers WHERE key LIKE 't:long:%'"))
	g.exec(t, `INSERT INTO timers SELECT 't:long:newer', id, now() FROM chats`)
	if err := g.FireTimer(t.Context(), g.dueLong(t)); !errors.Is(err, ranking.ErrUnknownTimer) {
		t.Errorf("a timer of a newer release: %v", err)
	}
}

// TestLongImportFails checks that a timer that does not carry out a long import says why in the
// message that says that it is at work, and closes the prompt.
func TestLongImportFails(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	g.begin(t)
	const head = "date,a,b,score\n"
	files := fakeFiles{
		"later": head + strings.Repeat("2022-01-02,Alice,Bob,1:0\n", 5), "first": head + "2021-01-01,Alice,Bob,1:0\n",
	}
	service := func(f ranking.Files) *ranking.Service {
		settings := ranking.Settings{ResultsPerMinute: -1, LongestReplay: 2}
		return g.newServiceOn(g.store, settings).WithFiles(f, transfer.ChatOptions{})
	}
	g.Service = service(files)
	g.sends(t, "later")
	for code, fail := range map[ranking.RefusalCode]func(){
		ranking.FileNotServed: func() { g.Service = service(&refusingFiles{ranking.ErrFileNotServed}) },
		ranking.TooManyAtOnce: func() {
			g.exec(t, `UPDATE timers SET due_at = now() - interval '61 minutes' WHERE key LIKE 't:long:%'`)
		},
	} {
		g.Service = service(files)
		g.sends(t, "first")
		id := g.newestPrompt(t)
		g.exec(t, `UPDATE prompts SET telegram_message_id = 77, delivered_at = now() WHERE id = $1`, id.ID)
		checkNotice(t, g.respond(t, g.press(&zoe), id, ranking.ImportLong), ranking.Recalculating{Later: 5})
		fail()
		must(t, g.FireTimer(t.Context(), g.dueLong(t)))
		checkNotice(t, message77[ranking.Refusal](t, g), ranking.Refusal{Code: code})
		g.exec(t, `DELETE FROM outbox`)
		equal(t, "open prompts", 0, g.count(t, "prompts WHERE closed_at IS NULL"))
		equal(t, "timers", 0, g.count(t, "timers"))
	}
	equal(t, "matches", 5, g.count(t, "matches"))
}

// dueLong returns the only due timer with a LongTimer.
func (g *game) dueLong(t *testing.T) ranking.Timer {
	t.Helper()
	due, err := g.DueTimers(t.Context(), ranking.Timer{}, 100)
	must(t, err)
	due = slices.DeleteFunc(due, func(o ranking.Timer) bool { return !strings.HasPrefix(o.Key, ranking.LongTimer) })
	if len(due) != 1 {
		t.Fatalf("the due timers are %+v", due)
	}
	return due[0]
}

// message77 returns the content of message 77.
func message77[T ranking.Notice](t *testing.T, g *game) (n T) {
	t.Helper()
	pages := notices[T](t, g, "action = 'page' AND edited_message_id = 77 AND kind = $1", notice.KindOf(n).Name)
	if len(pages) != 1 {
		t.Fatalf("the pages are %+v", pages)
	}
	return pages[0]
}
