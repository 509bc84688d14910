package ranking_test

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"elobot/internal/command"
	"elobot/internal/notice"
	"elobot/internal/ranking"
	"elobot/internal/stats"
)

// editOf returns the origin of an edit of a message, sent n seconds after the start of the test's
// clock.
func editOf(sender *command.Person, message string, n int) ranking.Origin {
	o := from(sender, fmt.Sprintf("e%s:%d", strings.TrimPrefix(message, "m"), n))
	o.Message, o.Trigger, o.SentAt = message, ranking.ByEdit, o.SentAt.Add(time.Duration(n)*time.Second)
	return o
}

// TestEditedCommands checks that if a message is refused, the first of its edits that is not
// refused takes effect.
func TestEditedCommands(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	const message = "m:-100:7"
	must(t, g.RecordMatch(t.Context(), from(&alice, message), singles(alice, alice, 3, 1)))
	edit := func(n int, r command.Match) ranking.Notice {
		t.Helper()
		o := editOf(&alice, message, n)
		for range 2 { // the second is a redelivery
			must(t, g.RecordMatch(t.Context(), o, r))
		}
		return g.notice(t, o.Key)
	}
	checkNotice(t, edit(1, singles(alice, alice, 3, 1)), ranking.Refusal{Code: ranking.SamePlayer})
	if n, ok := edit(2, singles(alice, bob, 3, 1)).(ranking.MatchRecorded); !ok || n.Number != 1 {
		t.Errorf("the second edit is answered with %+v", n)
	}
	notices := g.count(t, "outbox")
	must(t, g.RecordMatch(t.Context(), editOf(&alice, message, 3), singles(alice, bob, 3, 2)))
	must(t, g.ShowRanking(t.Context(), editOf(&alice, message, 4)))
	must(t, g.Do(t.Context(), editOf(&alice, message, 5), ranking.UndoMatch{}))
	must(t, g.RecordMatch(t.Context(), editOf(&alice, message, 6), singles(alice, alice, 3, 2)))
	g.has(t, notices+1, "outbox")
	// The match belongs to the message, not to its edit.
	made := ranking.MatchRef{Message: 7, Key: message}
	if offer := g.edit(t, g.origin(&alice), message, singles(alice, bob, 3, 2)); offer == nil || offer.Number != 1 {
		t.Errorf("the offer is %+v", offer)
	}
	must(t, g.Do(t.Context(), g.origin(&alice), ranking.UndoMatch{Amendment: ranking.Amendment{Match: made}}))
	must(t, g.RecordMatch(t.Context(), editOf(&alice, message, 7), singles(alice, bob, 3, 0)))
	got := texts(t, g, `SELECT concat_ws(' ', idempotency_key, score_a, score_b, undone_at IS NOT NULL,
		extract(epoch FROM played_at)::bigint) FROM matches`)
	equal(t, "matches", []string{"m:-100:7 3 1 t 1700000002"}, got)
	got = texts(t, g, `SELECT concat_ws(' ', key, trigger, outcome, rate_class) FROM handled_commands
		WHERE key LIKE '%:-100:7%' ORDER BY key`)
	want := []string{"e:-100:7:1 edit refused result", "e:-100:7:2 edit recorded result",
		"e:-100:7:3 edit answered question", "e:-100:7:7 edit refused question", "m:-100:7 edit recorded result"}
	equal(t, "keys", want, got)
}

// TestEditedIntoWhatIsAsked checks that matches that an edit reports get keys of the edited
// message, even if the bot asks first or the edit reports several matches.
func TestEditedIntoWhatIsAsked(t *testing.T) {
	t.Parallel()
	g := newAskingGame(t)
	g.report(t, &bob, 0, singles(alice, bob, 3, 1))
	const message, other = "m:-100:7", "m:-100:8"
	must(t, g.RecordMatch(t.Context(), from(&alice, message), singles(alice, alice, 3, 1)))
	must(t, g.RecordMatch(t.Context(), editOf(&alice, message, 1), singles(alice, bob, 3, 1)))
	id := g.newestPrompt(t)
	press := g.origin(&alice)
	press.Button = press.Key
	must(t, g.Do(t.Context(), below(77, press), ranking.PromptAnswer{Prompt: id, Option: ranking.Choice(0)}))
	must(t, g.RecordMatch(t.Context(), editOf(&alice, message, 3), singles(alice, bob, 3, 0)))
	must(t, g.RecordMatch(t.Context(), editOf(&alice, other, 1), singles(alice, carol, 3, 1), singles(alice, carol, 3, 2)))
	must(t, g.RecordMatch(t.Context(), editOf(&alice, other, 2), singles(alice, carol, 3, 1), singles(alice, carol, 3, 2)))
	got := texts(t, g, `SELECT concat_ws(' ', idempotency_key, trigger, outcome) FROM matches
		JOIN handled_commands ON key = split_part(idempotency_key, '#', 1) WHERE number > 1 ORDER BY number`)
	want := []string{"m:-100:7 press recorded", "m:-100:8 edit recorded", "m:-100:8#2 edit recorded"}
	equal(t, "matches", want, got)
}

// TestEditsOfOtherCommands checks that a message leads to at most one command that is not refused.
func TestEditsOfOtherCommands(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	g.record(t, &alice, alice, bob, 3, 1)
	undo := func(o ranking.Origin, number int) error {
		return g.Do(t.Context(), o, ranking.UndoMatch{Amendment: matchNumber(number)})
	}
	const wrong = "m:-100:8"
	must(t, undo(from(&alice, wrong), 99))
	must(t, undo(editOf(&alice, wrong, 1), 98))
	must(t, undo(editOf(&alice, wrong, 2), 1))
	must(t, undo(editOf(&alice, wrong, 3), 97))
	const text = "m:-100:9" // a message that was no command
	must(t, g.ShowRanking(t.Context(), editOf(&alice, text, 1)))
	must(t, g.RecordMatch(t.Context(), editOf(&alice, text, 2), singles(alice, bob, 3, 1)))
	const unknown = "m:-100:10"
	must(t, g.Do(t.Context(), from(&alice, unknown), ranking.Say{Notice: refusing{}}))
	must(t, g.Do(t.Context(), editOf(&carol, unknown, 1), ranking.Join{}))
	must(t, g.Do(t.Context(), editOf(&zoe, unknown, 2), ranking.Join{}))
	got := texts(t, g, `SELECT concat_ws(' ', key, trigger, outcome) FROM handled_commands
		WHERE key LIKE '%:-100:%' ORDER BY handled_at, key`)
	want := []string{
		"m:-100:8 edit undone", "e:-100:8:1 edit refused", "e:-100:8:2 edit undone",
		"e:-100:9:1 edit answered", "m:-100:9 edit answered", "m:-100:10 edit joined", "e:-100:10:1 edit joined",
	}
	equal(t, "keys", want, got)
}

// TestEditOfAnUndo checks that a message that led to an undo prompt cannot become another command.
func TestEditOfAnUndo(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	g.record(t, &alice, alice, bob, 3, 1)
	g.record(t, &zoe, zoe, bob, 3, 1)
	const message = "m:-100:7"
	must(t, g.Do(asAdmin(t), from(&zoe, message),
		ranking.UndoMatch{Amendment: ranking.Amendment{Match: ranking.MatchRef{Number: 1}}}))
	g.respond(t, g.press(&zoe), g.newestPrompt(t), ranking.Choice(0))
	must(t, g.Do(asAdmin(t), editOf(&zoe, message, 1), ranking.UndoMatch{}))
	g.mustEnd(t, "after the edit", true, "answered")
	g.has(t, 1, "matches WHERE undone_at IS NOT NULL")
}

// refusing is a refusal of a kind that package ranking does not define.
type refusing struct{}

var _ = notice.Register[refusing](notice.Kind{Name: "refusing", Purpose: notice.Outcome, Refuses: true})

// overtakenApply is a store that calls do just before its first Apply.
type overtakenApply struct {
	ranking.Store
	once atomic.Bool
	do   func()
}

func (s *overtakenApply) Apply(ctx context.Context, c ranking.Changes) error {
	if s.once.CompareAndSwap(false, true) {
		s.do()
	}
	return s.Store.Apply(ctx, c)
}

// TestEditsOvertaken checks that of two updates about one message, handled by two instances at
// once, only the first that is not refused takes effect. The updates may be the message and an
// edit, two edits, or one update twice. If the second one is an edit with another score, it leads
// to an offer to fix the match.
func TestEditsOvertaken(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	g.record(t, &alice, alice, bob, 3, 1)
	commands := []struct {
		edit     int // the number of the edit, 0 for the message itself
		opponent command.Person
		effect   string // outcome, empty if refused
	}{
		{0, bob, "recorded"}, {0, alice, ""}, {1, bob, "recorded"}, {2, bob, "recorded"}, {3, alice, ""}, {4, command.Person{}, "answered"},
	}
	const answered, offered = "outbox WHERE kind NOT IN ('refusal', 'fix_offer')", "outbox WHERE kind = 'fix_offer'"
	for i, x := range commands {
		for j, y := range commands {
			if x.edit == 0 && y.edit == 0 && i != j {
				continue // a message has one text
			}
			message := fmt.Sprintf("m:-100:%d%d", i+1, j)
			matches, answers, offers := g.count(t, "matches"), g.count(t, answered), g.count(t, offered)
			store := &overtakenApply{Store: newStore(g.pool), do: func() {
				must(t, g.handleOne(t, g.newInstance(), message, y.edit, y.opponent))
			}}
			must(t, g.handleOne(t, g.newService(store), message, x.edit, x.opponent))
			matches, answers, offers = g.count(t, "matches")-matches, g.count(t, answered)-answers, g.count(t, offered)-offers
			got := strings.Join(texts(t, g, `SELECT outcome FROM handled_commands
				WHERE key = $1 AND outcome <> 'refused'`, message), " ")
			want := cmp.Or(y.effect, x.effect)
			if got != want || (answers == 1) != (want != "") || (matches == 1) != (want == "recorded") || answers > 1 {
				t.Errorf("%+v overtaken by %+v: %q, %d matches, %d answers; want %q", x, y, got, matches, answers, want)
			}
			// The edits of the result differ in their score.
			corrects := y.effect == "recorded" && x.opponent == bob && x.edit > 0 && x.edit != y.edit
			if offers > 1 || (offers == 1) != corrects {
				t.Errorf("%+v overtaken by %+v: %d offers to fix the match", x, y, offers)
			}
		}
	}
}

// handleOne has an instance handle a message of Alice, or an edit of it if edit is not 0. The text
// is a result against the opponent, or a question if opponent is the zero Person. A match of Alice
// against herself is refused.
func (g *game) handleOne(t *testing.T, s *ranking.Service, message string, edit int, opponent command.Person) error {
	o := from(&alice, message)
	if edit > 0 {
		o = editOf(&alice, message, edit)
	}
	if opponent.ID == 0 {
		return s.Do(t.Context(), o, ranking.Ask{Question: stats.RankingQuestion{Page: 1}})
	}
	return s.RecordMatch(t.Context(), o, singles(alice, opponent, 3, edit))
}
