package pgranking

import (
	"slices"

	"github.com/jackc/pgx/v5"

	"elobot/internal/postgres"
	"elobot/internal/ranking"
)

// amendedBy returns what an effect amends, nil if it is no amendment.
func amendedBy(e ranking.Effect) *ranking.Amended {
	switch e := e.(type) {
	case *ranking.Undone:
		return &e.Amended
	case *ranking.Restored:
		return &e.Amended
	case *ranking.Fixed:
		return &e.Amended
	case *ranking.MovedMatch:
		return &e.Amended
	}
	return nil
}

func queueUndo(batch *pgx.Batch, u *ranking.Undone) {
	batch.Queue(`
		WITH undone AS (
		    UPDATE matches SET undone_at = $4, undone_by = nullif($3::bigint, 0), changes = changes + 1
		    WHERE id = $1 AND changes = $2 AND undone_at IS NULL
		    RETURNING 1)
		SELECT EXISTS (SELECT FROM undone)::unchanged`, u.Match, u.Changes, u.By, u.At)
	queueRewrite(batch, u.Rewrite)
	queueLastPlayed(batch, u.Match)
}

func queueRestore(batch *pgx.Batch, r *ranking.Restored) {
	batch.Queue(`
		WITH restored AS (
		    UPDATE matches SET undone_at = NULL, undone_by = NULL, changes = changes + 1
		    WHERE id = $1 AND changes = $2 AND undone_at IS NOT NULL
		    RETURNING 1)
		SELECT EXISTS (SELECT FROM restored)::unchanged`, r.Match, r.Changes)
	queueRewrite(batch, r.Rewrite)
}

func queueFix(batch *pgx.Batch, f *ranking.Fixed) {
	oldA, oldB, oldWinner := scoreColumns(f.Old.Score)
	newA, newB, newWinner := scoreColumns(f.New.Score)
	batch.Queue(`
		WITH fixed AS (
		    UPDATE matches SET score_a = $5, score_b = $6, sets = $7, winner = $11, changes = changes + 1
		    WHERE id = $1 AND changes = $9 AND undone_at IS NULL
		      AND (score_a, score_b, sets, winner) IS NOT DISTINCT FROM ($2::integer, $3::integer, $4::smallint[], $10::smallint)
		    RETURNING 1
		), noted AS (
		    INSERT INTO match_fixes
		        (match_id, old_score_a, old_score_b, old_sets, new_score_a, new_score_b, new_sets, fixed_by, old_winner, new_winner)
		    SELECT $1, $2, $3, $4, $5, $6, $7, nullif($8::bigint, 0), $10, $11 FROM fixed
		    WHERE NOT $12 OR ($2::integer, $3::integer, $4::smallint[], $10::smallint) IS DISTINCT FROM ($5::integer, $6::integer, $7::smallint[], $11::smallint)
		)
		SELECT EXISTS (SELECT FROM fixed)::unchanged`,
		f.Match, oldA, oldB, setPoints(f.Old.Sets), newA, newB, setPoints(f.New.Sets), f.By, f.Changes, oldWinner, newWinner, len(f.Rewrite.Players) > 0)
	queueRewriteOf(batch, f.Season, f.Rewrite)
	if len(f.Rewrite.Players) > 0 {
		queueLastPlayedBy(batch, f.Season, postgres.Column(f.Rewrite.Players, func(r ranking.ReplacedPlayer) ranking.PlayerID { return r.From }))
	}
}

func queueMove(batch *pgx.Batch, m *ranking.MovedMatch) {
	batch.Queue(`
		WITH moved AS (
		    UPDATE matches SET ladder_id = (SELECT ladder_id FROM seasons WHERE id = $4), season_id = $4, k_factor = $6, provisional_k_factor = $7, provisional_matches = $8, margin_of_victory = $9,
		        changes = changes + 1
		    WHERE id = $1 AND changes = $2 AND season_id = $3 AND undone_at IS NULL
		    RETURNING 1
		), noted AS (
		    INSERT INTO match_moves (match_id, old_ladder_id, new_ladder_id, moved_by) SELECT $1, old.ladder_id, new.ladder_id, nullif($5::bigint, 0) FROM moved, seasons old, seasons new WHERE old.id = $3 AND new.id = $4
		)
		SELECT EXISTS (SELECT FROM moved)::unchanged`,
		m.Match, m.Changes, m.From, m.To, m.By, m.Rules.K, m.Rules.Provisional.K, m.Rules.Provisional.Matches, m.Rules.Margin)
	queueRewrite(batch, m.Rewrite)
	queueRewriteOf(batch, m.To, m.Into)
	queueLastPlayedBy(batch, m.From, postgres.Column(m.Rewrite.Superseded, func(e ranking.OldEntry) ranking.PlayerID { return e.Player }))
}

// queueRewriteOf is queueRewrite for a season in which some of the standings are new.
func queueRewriteOf(batch *pgx.Batch, season ranking.SeasonID, w ranking.Rewrite) {
	all := w.Standings
	isNew := func(s ranking.Standing) bool { return s.ID == 0 }
	w.Standings = slices.DeleteFunc(slices.Clone(all), isNew)
	queueRewrite(batch, w)
	for _, s := range all {
		if isNew(s) {
			queueNewStanding(batch, season, s)
		}
	}
}

// queueLastPlayedBy corrects when players of a season last played, some of whose matches are not theirs any more.
func queueLastPlayedBy(batch *pgx.Batch, season ranking.SeasonID, players []ranking.PlayerID) {
	batch.Queue(`
		UPDATE group_players s SET last_played_at = (`+lastPlayed+`) WHERE s.season_id = $1 AND s.player_id = ANY ($2)`, season, players)
}

// queueRewrite takes a handful of statements, however much there is to rewrite. It raises an error if anything has changed since it was
// read.
func queueRewrite(batch *pgx.Batch, w ranking.Rewrite) {
	if len(w.Superseded) > 0 {
		batch.Queue(`
			WITH superseded AS (
			    UPDATE elo_history h SET superseded_at = clock_timestamp()
			    FROM unnest($1::jsonb[]) AS one CROSS JOIN LATERAL jsonb_to_record(one) AS old (id bigint, match_id bigint, player_id bigint)
			    WHERE h.id = old.id AND h.match_id = old.match_id AND h.player_id = old.player_id AND h.superseded_at = 'infinity'
			    RETURNING 1)
			SELECT (count(*) = cardinality($1))::unchanged FROM superseded`, w.Superseded)
	}
	if len(w.Players) > 0 { // the superseded entries of a player pass to the one who takes the place
		batch.Queue(`
			WITH replaced AS (
			    UPDATE match_players mp SET player_id = r.into_id
			    FROM unnest($1::jsonb[]) AS one CROSS JOIN LATERAL jsonb_to_record(one) AS r (match_id bigint, from_id bigint, into_id bigint)
			    WHERE mp.match_id = r.match_id AND mp.player_id = r.from_id
			    RETURNING 1)
			SELECT (count(*) = cardinality($1))::unchanged FROM replaced`, w.Players)
	}
	if len(w.Entries) > 0 {
		batch.Queue(`
			INSERT INTO elo_history
			    (match_id, player_id, elo_before, elo_after, k_factor, best_before, streak_before, longest_before, reason)
			SELECT e.match_id, e.player_id, e.elo_before, e.elo_after, e.k_factor, e.best_before, e.streak_before, e.longest_before, $2
			FROM unnest($1::jsonb[]) AS one CROSS JOIN LATERAL jsonb_populate_record(NULL::elo_history, one) AS e`, w.Entries, w.Reason)
	}
	if len(w.Upsets) > 0 {
		batch.Queue(`
			UPDATE matches m SET upset = nullif(u.upset, 0)
			FROM unnest($1::jsonb[]) AS one CROSS JOIN LATERAL jsonb_to_record(one) AS u (id bigint, upset integer) WHERE m.id = u.id`, w.Upsets)
	}
	queueChangedStandings(batch, w.Standings)
}

// lastPlayed reads when the player of the standing s last played a match that counts.
const lastPlayed = `
		    SELECT max(m.played_at) FROM match_players mp
		    CROSS JOIN LATERAL (SELECT * FROM matches WHERE id = mp.match_id AND undone_at IS NULL LIMIT 1) AS m
		    WHERE mp.player_id = s.player_id AND m.season_id = s.season_id`

// queueLastPlayed corrects when the players of matches that no longer count last played. A replay cannot: it does not go back to their
// matches before.
func queueLastPlayed(batch *pgx.Batch, undone ...ranking.MatchID) {
	if len(undone) == 0 {
		return
	}
	batch.Queue(`
		UPDATE group_players s SET last_played_at = (`+lastPlayed+`)
		FROM matches undone JOIN match_players mp ON mp.match_id = undone.id
		WHERE undone.id = ANY ($1) AND s.season_id = undone.season_id AND s.player_id = mp.player_id`, undone)
}
