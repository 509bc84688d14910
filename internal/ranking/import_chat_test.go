package ranking_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"elobot/internal/ranking"
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

// TestImportChosenAtOnce checks that choices of two admins through two instances at the same time
// both count, and that the file is imported once.
func TestImportChosenAtOnce(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	g.begin(t)
	files := fakeFiles{"a": "date,a,b,score\n2022-01-02,Alice,Bob,1:0\n2022-01-01,Alice,Cid,1:0\n2022-01-01,Bob,Cid,1:0\n"}
	one, other := g.newInstance().WithFiles(files), g.newInstance().WithFiles(files)
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

// TestImportOfManyLater checks that an import in the chat that would calculate too many later
// matches again is refused without an effect, and so is its undo.
func TestImportOfManyLater(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	g.begin(t)
	const head = "date,a,b,score\n"
	files := fakeFiles{
		"later": head + strings.Repeat("2022-01-02,Alice,Bob,1:0\n", 5), "first": head + "2021-01-01,Alice,Bob,1:0\n",
	}
	g.Service = g.newServiceOn(g.store, ranking.Settings{ResultsPerMinute: -1, LongestReplay: 2}).WithFiles(files)
	before, ok := g.sends(t, "later").(ranking.Imported)
	if !ok || before.Matches != 5 {
		t.Fatalf("the answer is %+v", before)
	}
	written := g.state(t)
	checkNotice(t, g.sends(t, "first"), ranking.Refusal{Code: ranking.TooManyLater, Matches: 5})
	g.Service = g.newServiceOn(g.store, ranking.Settings{ResultsPerMinute: -1, LongestReplay: 3}).WithFiles(files)
	equal(t, "contents", written, g.state(t))
	done := g.sends(t, "first").(ranking.Imported)
	g.Service = g.newServiceOn(g.store, ranking.Settings{ResultsPerMinute: -1, LongestReplay: 2}).WithFiles(files)
	o := g.press(&zoe)
	must(t, g.Do(asAdmin(t), o, ranking.TakeBackImport{Import: 2, Tag: done.Tag, Step: ranking.UndoAsk}))
	refused := ranking.Refusal{Code: ranking.TooManyLater, Matches: 5}
	checkNotice(t, g.answer(t, o.Key, "action = 'callback_answer'"), refused)
}
