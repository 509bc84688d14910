package bot

import (
	"testing"

	"elobot/internal/ranking"
	"elobot/internal/stats"
)

// TestPurposes: the outcome of a command is not an answer to a question. Answers expire, outcomes do not.
func TestPurposes(t *testing.T) {
	t.Parallel()
	for purpose, notices := range map[ranking.Purpose][]ranking.Notice{
		ranking.Outcome: {
			ranking.MatchRecorded{}, ranking.MatchUndone{}, ranking.MatchRestored{}, ranking.MatchFixed{}, ranking.Joined{},
			ranking.Refusal{}, WrongForm{}, Greeting{}, ranking.NotRecorded{}, CommandFailed{},
			ranking.UndoPrompt{}, ranking.UndoDropped{}, ranking.WhichPrompt{}, ranking.ReportPrompt{}, ranking.ReportDropped{},
		},
		ranking.Answer: {
			stats.RankingPage{}, stats.MyStanding{}, stats.MyStandings{}, ranking.FixOffer{}, ranking.ReportChosen{},
			ranking.Refusal{Code: ranking.TooManyQuestions}, Greeting{Private: true}, Help{}, GroupOnly{}, UnknownCommand{},
		},
		ranking.Notification: {ranking.PlayersMerged{}},
	} {
		for _, n := range notices {
			if got := n.Purpose(); got != purpose {
				t.Errorf("%T has the purpose %s, want %s", n, got, purpose)
			}
		}
	}
}
