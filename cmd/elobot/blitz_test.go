package main_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"elobot/internal/botsim"
)

// A blitz evening: in an hour, 12 people play 20 rounds at 6 tables, with opponents drawn by lot. A
// game has one of four results.
const (
	blitzRounds    = 20
	blitzTables    = 6 // two players each
	blitzGames     = blitzRounds * blitzTables
	blitzRepeats   = 12 // games that are reported twice
	blitzRepeatsBy = 9  // of these, how many the other player repeats; the same player repeats the rest
	blitzPlayed    = 60 // how many reports of one evening a real bot gets
	// blitzWindow equals ranking.SameGameWindow: within it, an equal report by the other player is
	// a repetition.
	blitzWindow = 10 * time.Minute
	// blitzAgain equals ranking.RepeatWindow: within it, an equal report by the same player is a
	// repetition.
	blitzAgain = 30 * time.Second
)

type blitzReport struct {
	at       time.Duration // since the start of the evening
	by       int           // index of the sender
	players  [2]int
	score    [2]int
	inFull   bool // the report names both players, players[0] first
	repeated bool // the game was reported before
	twice    bool // a repetition of this report was found
}

// drawBlitz draws an evening: pairings, results and senders of the reports.
func drawBlitz(random *rand.Rand) []blitzReport {
	var all []blitzReport
	for round := range blitzRounds {
		order := random.Perm(2 * blitzTables)
		for table := range blitzTables {
			r := blitzReport{players: [2]int{order[2*table], order[2*table+1]}}
			r.at = time.Duration(180*round+random.IntN(180)) * time.Second
			r.score = [][2]int{{2, 0}, {2, 1}, {1, 2}, {0, 2}}[random.IntN(4)]
			r.by = r.players[random.IntN(2)]
			all = append(all, r)
		}
	}
	for i, game := range random.Perm(blitzGames)[:blitzRepeats] {
		r := all[game]
		r.repeated, r.inFull = true, i%2 == 0
		if i < blitzRepeatsBy {
			r.at += time.Duration(20+random.IntN(460)) * time.Second
			r.by = r.players[0] + r.players[1] - r.by
		} else {
			r.at += time.Duration(2+random.IntN(28)) * time.Second
		}
		all = append(all, r)
	}
	slices.SortStableFunc(all, func(a, b blitzReport) int { return cmp.Compare(a.at, b.at) })
	return all
}

// own returns the score with the player's points first.
func (r blitzReport) own(player int) [2]int {
	if player == r.players[0] {
		return r.score
	}
	return [2]int{r.score[1], r.score[0]}
}

func (r blitzReport) opponent(player int) int { return r.players[0] + r.players[1] - player }

// text returns the report as a /match command.
func (r blitzReport) text(people []botsim.User) string {
	opponent, score := people[r.opponent(r.by)], r.own(r.by)
	if r.inFull {
		return fmt.Sprintf("/match %s %s %d:%d",
			mention(people[r.players[0]]), mention(people[r.players[1]]), r.score[0], r.score[1])
	}
	return fmt.Sprintf("/match %s %d:%d", mention(opponent), score[0], score[1])
}

// repeats returns the index of the latest recorded report that the bot should assume r repeats, or
// -1 if there is none. Both reports must have the same players and result. If the reports have the
// same sender, they must be at most blitzAgain apart, and no later recorded report may be about
// these two players. If the senders differ, the reports must be at most blitzWindow apart, and no
// other repetition of the recorded report may have been found.
func (r blitzReport) repeats(recorded []blitzReport) int {
	isLast := true
	for i, other := range slices.Backward(recorded) {
		if other.opponent(r.players[0]) != r.players[1] || !slices.Contains(other.players[:], r.players[0]) {
			continue
		}
		apart := (r.at - other.at).Abs()
		isSame := apart <= blitzWindow && !other.twice
		if r.by == other.by {
			isSame = apart <= blitzAgain && isLast
		}
		if isSame && other.own(r.players[0]) == r.score {
			return i
		}
		isLast = false
	}
	return -1
}

// TestBlitzEvenings checks that, on half an evening with many equal results, the bot asks about
// exactly the reports for which repeats finds an earlier one. Among them are the second reports of
// all games that are reported twice, and each game counts once. By the same rule, over five
// evenings, the bot would ask needlessly about fewer than 5% of the games. The senders are drawn by
// lot: if the winner always reported, there would be hardly any needless questions.
func TestBlitzEvenings(t *testing.T) {
	t.Parallel()
	b := newBotFixture(t)
	b.bot = launch(t, append(environment(b.sim, b.url), "ASK_UNUSUAL=on"), "run")
	b.blitz(drawBlitz(rand.New(rand.NewPCG(1, 0)))[:blitzPlayed])
	b.finish()
	const evenings = 5
	asked := 0
	for seed := uint64(1); seed <= evenings; seed++ {
		var recorded []blitzReport
		for _, r := range drawBlitz(rand.New(rand.NewPCG(seed, 0))) {
			earlier := r.repeats(recorded)
			if r.repeated {
				recorded[max(earlier, 0)].twice = earlier >= 0
				continue
			}
			if earlier >= 0 {
				asked++
			}
			recorded = append(recorded, r)
		}
	}
	t.Logf("%d of %d games are asked about", asked, evenings*blitzGames)
	if all := evenings * blitzGames; asked*100 >= 5*all {
		t.Errorf("%d of %d games are asked about, want less than 5 %%", asked, all)
	}
}

// blitz plays an evening. It checks that the bot asks about exactly the reports for which repeats
// finds an earlier one, which include all repetitions, and that every game is recorded once.
func (b *botFixture) blitz(reports []blitzReport) {
	b.t.Helper()
	var people []botsim.User
	for _, name := range []string{
		"alice", "bob", "carol", "dave", "erin", "frank", "grace", "heidi", "ivan", "judy", "mallory", "peggy",
	} {
		people = append(people, b.sim.User(name))
	}
	group := b.sim.Group("Blitz", people...)
	begun := time.Now().Add(-time.Hour).Truncate(time.Second)
	truth := newOracle()
	var recorded []blitzReport
	var keys []string // of the games
	for _, r := range reports {
		at := begun.Add(r.at)
		b.later.Store(int64(time.Until(at).Seconds())) // sets Telegram's clock
		posted := group.Post(botsim.Post{From: people[r.by], Text: r.text(people), Date: at})
		answer := b.answer(posted)
		earlier := r.repeats(recorded)
		ask := earlier >= 0
		if asked := len(slices.Concat(answer.Buttons...)) == 2; asked != ask || r.repeated && !ask {
			b.t.Errorf("at %v, %q is answered with\n%s\nwant a question: %t; it is a repetition: %t",
				r.at, posted.Text, visible(answer), ask, r.repeated)
		}
		if r.repeated {
			says(b.t, b.decide(people[r.by], answer, "Cancel"), "Not recorded")
			recorded[max(earlier, 0)].twice = ask
			continue
		}
		if ask {
			says(b.t, b.decide(people[r.opponent(r.by)], answer, "Another game"), "✓ ")
		}
		recorded, keys = append(recorded, r), append(keys, key(posted))
		truth.play(people[r.players[0]].FirstName, people[r.players[1]].FirstName, r.score[0], r.score[1], "")
	}
	stored := collect(b.t, b.pool, pgx.RowTo[string], `
		SELECT m.idempotency_key FROM matches m JOIN groups g ON g.id = m.group_id JOIN chats c ON c.id = g.chat_id
		WHERE c.telegram_chat_id = $1 AND m.undone_at IS NULL ORDER BY m.number`, group.ID())
	if diff := gocmp.Diff(keys, stored); diff != "" {
		b.t.Errorf("matches (-want +got):\n%s", diff)
	}
	for _, s := range b.standings(group) {
		if want := truth.Standings[s.Name]; s.Elo != want.Elo || s.Played != want.Played {
			b.t.Errorf("the standing is %+v, want %+v", s, want)
		}
	}
}
