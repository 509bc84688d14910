package telegram

import (
	"testing"
	"time"

	"elobot/internal/ranking"
)

// TestLifetimes: what came of a command is told for a day, an answer to a question only while somebody waits for it.
func TestLifetimes(t *testing.T) {
	t.Parallel()
	for lifetime, notices := range map[time.Duration][]ranking.Notice{
		24 * time.Hour: {
			ranking.MatchRecorded{}, ranking.MatchUndone{}, ranking.MatchFixed{}, ranking.PlayersMerged{}, ranking.Joined{},
			ranking.Refusal{}, WrongForm{},
		},
		10 * time.Minute: {ranking.RankingPage{}, Greeting{}, Help{}, GroupOnly{}, UnknownCommand{}},
	} {
		for _, n := range notices {
			if got := n.Lifetime(); got != lifetime {
				t.Errorf("%T lives for %v, want %v", n, got, lifetime)
			}
		}
	}
}
