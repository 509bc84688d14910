package pgranking

import (
	"github.com/jackc/pgx/v5"

	"elobot/internal/ranking"
)

// queueRules changes the rules of a ladder, provided that they are still those that were read.
func queueRules(batch *pgx.Batch, c *ranking.ChangedRules) {
	args := append([]any{c.Ladder}, append(rulesColumns(c.Before), rulesColumns(c.After)...)...)
	batch.Queue(`
		WITH changed AS (
		    UPDATE ladders
		    SET (start_elo, k_factor, draws_allowed, uneven_teams_allowed, provisional_k_factor, provisional_matches,
		         margin_of_victory) = ($9, $10, $11, $12, $13, $14, $15)
		    WHERE id = $1 AND (start_elo, k_factor, draws_allowed, uneven_teams_allowed, provisional_k_factor,
		         provisional_matches, margin_of_victory) = ($2, $3, $4, $5, $6, $7, $8)
		    RETURNING 1)
		SELECT EXISTS (SELECT FROM changed)::unchanged`, args...)
}

// rulesColumns returns the values of the columns of rules, in the order of queueRules.
func rulesColumns(r ranking.Rules) []any {
	return []any{r.Start, r.K, r.DrawsAllowed, r.UnevenTeamsAllowed, r.Provisional.K, r.Provisional.Matches, r.Margin}
}
