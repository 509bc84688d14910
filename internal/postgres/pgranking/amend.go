package pgranking

import (
	"slices"

	"github.com/jackc/pgx/v5"

	"elobot/internal/ladder"
	"elobot/internal/ranking"
)

// queueAmended sets columns of a match and writes the rewrite of its season. set holds the
// assignments of the UPDATE statement, which refer to values as $3, $4 and so on. The batch fails
// unless matches.changes still has the value that was read.
func queueAmended(batch *pgx.Batch, a *ranking.Amended, set string, values ...any) {
	batch.Queue(`
		WITH amended AS (UPDATE matches SET changes = changes + 1, `+set+` WHERE id = $1 AND changes = $2 RETURNING 1)
		SELECT EXISTS (SELECT FROM amended)::unchanged`, append([]any{a.Match, a.Changes}, values...)...)
	queueRewrite(batch, a.Rewrite)
}

func queueFix(batch *pgx.Batch, c ranking.Changes, f *ranking.Fixed) {
	oldA, oldB, oldWinner := scoreColumns(f.Old.Score)
	newA, newB, newWinner := scoreColumns(f.New.Score)
	oldSets, newSets := setPoints(f.Old.Sets), setPoints(f.New.Sets)
	queueAmended(batch, &f.Amended, `score_a = $3, score_b = $4, sets = $5, winner = $6`, newA, newB, newSets, newWinner)
	if len(f.Rewrite.Players) == 0 || f.Old.Score != f.New.Score || !slices.Equal(f.Old.Sets, f.New.Sets) {
		batch.Queue(`
			INSERT INTO match_fixes
			    (match_id, old_score_a, old_score_b, old_sets, new_score_a, new_score_b, new_sets,
			     fixed_by, old_winner, new_winner)
			VALUES ($1, $2, $3, $4, $5, $6, $7, nullif($8::bigint, 0), $9, $10)`,
			f.Match, oldA, oldB, oldSets, newA, newB, newSets, f.By, oldWinner, newWinner)
	}
	if c.Ladder != nil {
		queueCameBack(batch, f.CameBack)
	}
}

func queueMove(batch *pgx.Batch, m *ranking.MovedMatch) {
	batch.Queue(`
		INSERT INTO match_moves (match_id, old_ladder_id, new_ladder_id, moved_by)
		SELECT m.id, m.ladder_id, s.ladder_id, nullif($3::bigint, 0)
		FROM matches m, seasons s WHERE m.id = $1 AND s.id = $2`, m.Match, m.To, m.By)
	var position *ladder.Position
	if m.Inserted != nil {
		position = &m.Inserted.Position
		queueSpread(batch, *m.Inserted)
	}
	queueAmended(batch, &m.Amended, `
		ladder_id = (SELECT ladder_id FROM seasons WHERE id = $3), season_id = $3, k_factor = $4, provisional_k_factor = $5,
		provisional_matches = $6, margin_of_victory = $7,
		position = CASE $8::bigint WHEN 0 THEN number::bigint << 32 ELSE coalesce($8, position) END`,
		m.To, m.Rules.K, m.Rules.Provisional.K, m.Rules.Provisional.Matches, m.Rules.Margin, position)
	queueRewrite(batch, m.Into)
}

// queueRewrite writes w with one statement per kind of change and one per new standing. The batch
// fails if a player of a match, a history entry or a standing in w has changed since it was read.
func queueRewrite(batch *pgx.Batch, w ladder.Rewrite) {
	if len(w.Players) > 0 {
		batch.Queue(`
			WITH replaced AS (
			    UPDATE match_players mp SET player_id = r.into_id, side = r.side, place = r.place,
			        named_id = CASE WHEN r.from_id = r.into_id THEN mp.named_id ELSE r.named_id END
			    FROM unnest($1::jsonb[]) AS one
			    CROSS JOIN LATERAL jsonb_to_record(one) AS r (
			        match_id bigint, from_id bigint, into_id bigint, named_id bigint, side smallint, place smallint)
			    WHERE mp.match_id = r.match_id AND mp.player_id = r.from_id
			    RETURNING 1)
			SELECT (count(*) = cardinality($1))::unchanged FROM replaced`, w.Players)
	}
	if len(w.Superseded) > 0 {
		batch.Queue(`
			WITH superseded AS (
			    UPDATE elo_history h SET superseded_at = clock_timestamp()
			    FROM unnest($1::jsonb[]) AS one
			    CROSS JOIN LATERAL jsonb_to_record(one) AS old (id bigint, match_id bigint, player_id bigint)
			    WHERE h.id = old.id AND h.match_id = old.match_id AND h.player_id = old.player_id
			      AND h.superseded_at = 'infinity'
			    RETURNING 1)
			SELECT (count(*) = cardinality($1))::unchanged FROM superseded`, w.Superseded)
	}
	if len(w.Entries) > 0 {
		batch.Queue(`
			INSERT INTO elo_history
			    (match_id, player_id, elo_before, elo_after, k_factor, best_before, streak_before, longest_before, reason)
			SELECT e.match_id, e.player_id, e.elo_before, e.elo_after, e.k_factor,
			       e.best_before, e.streak_before, e.longest_before, $2
			FROM unnest($1::jsonb[]) AS one
			CROSS JOIN LATERAL jsonb_populate_record(NULL::elo_history, one) AS e`, w.Entries, w.Reason)
	}
	if len(w.Upsets) > 0 {
		batch.Queue(`
			UPDATE matches m SET upset = nullif(u.upset, 0)
			FROM unnest($1::jsonb[]) AS one CROSS JOIN LATERAL jsonb_to_record(one) AS u (id bigint, upset integer)
			WHERE m.id = u.id`, w.Upsets)
	}
	isNew := func(s ladder.Standing) bool { return s.ID == 0 }
	queueChangedStandings(batch, slices.DeleteFunc(slices.Clone(w.Standings), isNew))
	for _, s := range w.Standings {
		if isNew(s) {
			queueNewStanding(batch, w.Season, s)
		}
	}
	if len(w.Unplayed) > 0 { // a player's last remaining match may be older than the replayed matches
		batch.Queue(`
			UPDATE group_players s SET last_played_at = (
			    SELECT max(m.played_at) FROM match_players mp
			    CROSS JOIN LATERAL (SELECT * FROM matches WHERE id = mp.match_id AND undone_at IS NULL LIMIT 1) AS m
			    WHERE mp.player_id = s.player_id AND m.season_id = s.season_id)
			WHERE s.season_id = $1 AND s.player_id = ANY ($2)`, w.Season, w.Unplayed)
	}
}
