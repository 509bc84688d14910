package ranking

import "elobot/internal/ladder"

// namedResult returns the result in the form used by notices, without the players' names.
func namedResult(r ladder.Result) NamedResult {
	return NamedResult{Score: [2]int{r.A, r.B}, Sets: setScores(r)}
}

// shown returns the score in the form used by notices.
func shown(r ladder.Result) OldScore { return OldScore{Score: [2]int{r.A, r.B}, Sets: setScores(r)} }

func setScores(r ladder.Result) []SetScore {
	var sets []SetScore
	for _, s := range r.Sets {
		sets = append(sets, SetScore{s.A, s.B})
	}
	return sets
}
