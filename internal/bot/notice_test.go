package bot

import (
	"testing"

	"elobot/internal/notice"
	"elobot/internal/ranking"
	"elobot/internal/stats"
)

// TestPurposes checks that the outcomes of commands and the answers to questions have different
// purposes, because answers expire sooner.
func TestPurposes(t *testing.T) {
	t.Parallel()
	for purpose, notices := range map[notice.Purpose][]notice.Notice{
		notice.Outcome: {
			ranking.MatchRecorded{}, ranking.MatchUndone{}, ranking.MatchRestored{}, ranking.MatchFixed{}, ranking.Joined{},
			ranking.Refusal{}, ranking.WrongForm{}, Greeting{}, ranking.NotRecorded{}, CommandFailed{},
			ranking.UndoPrompt{}, ranking.UndoDropped{}, ranking.WhichPrompt{}, ranking.ReportPrompt{}, ranking.ReportDropped{},
		},
		notice.Answer: {
			stats.RankingPage{}, stats.PlayerStanding{}, stats.MyStandings{}, ranking.FixOffer{}, ranking.WinnerOffer{},
			ranking.FixPrompt{}, ranking.ReportChosen{},
			ranking.Refusal{Code: ranking.TooManyQuestions}, Greeting{Private: true}, Help{}, GroupOnly{}, PrivateOnly{},
			UnknownCommand{},
		},
		notice.Notification: {ranking.PlayersMerged{}},
	} {
		for _, n := range notices {
			if got := notice.KindOf(n).Purpose; got != purpose {
				t.Errorf("%T has the purpose %s, want %s", n, got, purpose)
			}
		}
	}
}
