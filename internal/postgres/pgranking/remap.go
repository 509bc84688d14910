package pgranking

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"

	"elobot/internal/ladder"
	"elobot/internal/postgres"
	"elobot/internal/ranking"
)

// Mapping implements ranking.Store.
func (s *Store) Mapping(
	ctx context.Context, group ranking.GroupID, from, into ladder.PlayerID, longest int,
) (*ranking.Mapping, error) {
	m := &ranking.Mapping{Group: group, CountsAs: make(ranking.CountsAs)}
	const counting = `SELECT player_id, counts_as FROM sightings WHERE group_id = $1 AND counts_as IS NOT NULL`
	type row struct{ Player, As ladder.PlayerID }
	rows, err := postgres.Collect(ctx, s.db, "read who counts for whom", pgx.RowToStructByPos[row], counting, group)
	if err != nil {
		return nil, err
	}
	for _, r := range rows {
		m.CountsAs[r.Player] = r.As
	}
	players := []ladder.PlayerID{from, cmp.Or(m.CountsAs[into], into, m.CountsAs[from])}
	for player, as := range m.CountsAs {
		if slices.Contains(players[:2], as) {
			players = append(players, player)
		}
	}
	var seasons []mappedSeason
	var batch pgx.Batch
	queueMapped(&batch, m, players, &seasons)
	if err := s.db.SendBatch(ctx, &batch).Close(); err != nil {
		return nil, fmt.Errorf("read two players: %w", Translate(err))
	}
	// The parts of a doubled match have the players who were named, so MatchHistory does not find
	// the players for whom those count. But the change may pass parts to them.
	others := slices.AppendSeq(slices.Clone(players), maps.Values(m.CountsAs))
	for _, row := range seasons {
		m.Later = max(m.Later, row.Later)
	}
	if m.Later > longest {
		return m, nil
	}
	for _, row := range seasons {
		season := ranking.MappedSeason{Chat: row.Chat}
		if row.Name != "" {
			season.Label = &ranking.LadderLabel{ID: row.Ladder, Name: row.Name}
		}
		var err error
		if season.History, err = s.MatchHistory(ctx, row.Season, row.First, others...); err != nil {
			return nil, err
		}
		season.History.Over = row.Over
		m.Seasons = append(m.Seasons, season)
	}
	return m, nil
}

// mappedSeason is a season in which one of the players of a change has a standing or was named.
type mappedSeason struct {
	Season ladder.SeasonID
	Over   int // the number of the season, 0 if it is current
	Ladder ladder.ID
	Chat   ranking.ChatID
	Name   string          // empty if the group has only this ladder
	First  ladder.Position // of the players' first match, or of the group's next match
	Later  int             // the number of matches in the group from First on
}

// queueMapped reads the names of the first two players, which of them are accounts, and the doubled
// matches of all players into m, and the seasons of all players into seasons. It reads no name of a
// player who was deleted. Doubled matches are undone only because two of their parts count for one
// player.
func queueMapped(batch *pgx.Batch, m *ranking.Mapping, players []ladder.PlayerID, seasons *[]mappedSeason) {
	batch.Queue(`
		SELECT p.id, coalesce(s.nick, p.display_name), p.telegram_user_id IS NOT NULL FROM players p
		LEFT JOIN sightings s ON s.group_id = $1 AND s.player_id = p.id
		WHERE p.id = ANY ($2) AND p.merged_into IS NULL
		  AND (p.telegram_user_id IS NOT NULL OR p.display_name <> '`+ranking.Nameless+`')
		  AND (p.group_id = $1 OR p.group_id IS NULL AND (
		    s.player_id IS NOT NULL OR EXISTS (
		        SELECT FROM group_players g JOIN seasons ON seasons.id = g.season_id
		        WHERE g.player_id = p.id AND seasons.group_id = $1)))`,
		m.Group, players[:2]).Query(func(rows pgx.Rows) error {
		m.Names, m.Accounts = make(map[ladder.PlayerID]string), make(map[ladder.PlayerID]bool)
		var player ladder.PlayerID
		var name string
		var isAccount bool
		_, err := pgx.ForEachRow(rows, []any{(*int64)(&player), &name, &isAccount}, func() error {
			m.Names[player], m.Accounts[player] = name, isAccount
			return nil
		})
		return err
	})
	batch.Queue(`
		SELECT s.id, CASE WHEN l.season_id <> s.id THEN s.number ELSE 0 END, l.id, coalesce(g.chat_id, g.former_chat_id),
		       CASE WHEN (SELECT count(*) FROM ladders WHERE group_id = g.id) > 1 THEN coalesce(l.name, '') ELSE '' END,
		       coalesce(f.position, (g.last_match_number + 1)::bigint << 32),
		       coalesce(g.last_match_number - (f.position >> 32)::integer + 1, 0)
		FROM groups g JOIN seasons s ON s.group_id = g.id JOIN ladders l ON l.id = s.ladder_id
		LEFT JOIN (
		    SELECT m.season_id, min(`+postgres.Position+`) AS position
		    FROM match_players mp JOIN matches m ON m.id = mp.match_id
		    WHERE mp.player_id = ANY ($2) AND m.group_id = $1 GROUP BY m.season_id) AS f ON f.season_id = s.id
		WHERE g.id = $1 AND (f.position IS NOT NULL
		    OR EXISTS (SELECT FROM group_players WHERE season_id = s.id AND player_id = ANY ($2)))
		ORDER BY s.id`, m.Group, players).Query(func(rows pgx.Rows) (err error) {
		*seasons, err = pgx.CollectRows(rows, pgx.RowToStructByPos[mappedSeason])
		return err
	})
	batch.Queue(`
		SELECT id, number, idempotency_key, changes, coalesce(reported_by, 0) FROM matches
		WHERE undone_at = `+doubled+` AND group_id = $1
		  AND id = ANY (ARRAY(SELECT match_id FROM match_players WHERE player_id = ANY ($2)))`,
		m.Group, players).Query(func(rows pgx.Rows) error {
		m.Doubled = make(map[ladder.MatchID]ranking.RecentMatch)
		var id ladder.MatchID
		var known ranking.RecentMatch
		_, err := pgx.ForEachRow(rows, []any{
			(*int64)(&id), &known.Number, &known.Key, &known.Changes, (*int64)(&known.ReportedBy),
		}, func() error {
			m.Doubled[id] = known
			return nil
		})
		return err
	})
}

// queueRemapping writes a change of who counts for whom. The group must be locked.
func queueRemapping(batch *pgx.Batch, r *ranking.Remapping) {
	players := slices.Sorted(maps.Keys(r.CountsAs))
	as := make([]ladder.PlayerID, len(players))
	for i, player := range players {
		as[i] = r.CountsAs[player]
	}
	if r.Claimed != 0 {
		queueClaimed(batch, r)
	}
	batch.Queue(`
		INSERT INTO sightings (group_id, player_id, counts_as)
		SELECT $1, player, nullif(counts_as, 0) FROM unnest($2::bigint[], $3::bigint[]) AS one (player, counts_as)
		ON CONFLICT ON CONSTRAINT sightings_pkey DO UPDATE SET counts_as = excluded.counts_as`, r.Group, players, as)
	for _, season := range r.Seasons {
		queueRemapped(batch, season)
		queueRewrite(batch, season.Rewrite)
	}
	batch.Queue(stayOut, r.Group)
}

// queueRemappingNotices queues the notices about new ratings, the updates of messages about ended
// seasons, and the edits of cards. The command's own notice must be queued first, because many
// edits take minutes in a busy group.
func (s *Store) queueRemappingNotices(batch *pgx.Batch, c ranking.Changes, r *ranking.Remapping) {
	for _, season := range r.Seasons {
		if season.History.Over != 0 {
			queueCorrected(batch, season.Chat, c.Key, season.Rewrite.Season)
		} else if season.Notice != nil {
			queueNotices(batch, s.Now(), ranking.Changes{
				Key: c.Key, Chat: season.Chat, Ladder: season.Label, Thread: c.Thread,
				Decision: ranking.Decision{Notice: season.Notice},
			})
		}
		for _, card := range season.Cards {
			queueCard(batch, season.Chat, c.Key, card, season.Label)
		}
	}
}

// queueClaimed takes r.Username from a claimed player. A claimant without a nick gets the claimed
// player's nick. The claimant stays out of the rankings if the claimed player does.
func queueClaimed(batch *pgx.Batch, r *ranking.Remapping) {
	batch.Queue(`UPDATE players SET username = NULL WHERE id = $1 AND username = $2`, r.Claimed, r.Username)
	batch.Queue(`
		INSERT INTO sightings AS known (group_id, player_id, nick, out_at)
		SELECT group_id, $2, nick, out_at FROM sightings WHERE group_id = $3 AND player_id = $1
		ON CONFLICT ON CONSTRAINT sightings_pkey DO UPDATE
		SET nick = coalesce(known.nick, excluded.nick), out_at = coalesce(known.out_at, excluded.out_at)`,
		r.Claimed, r.Claimant, r.Group)
	queueShownName(batch, r.Group, r.Claimant)
}

// queueRemapped passes standings of a season to other players. It also undoes matches that are
// doubled now, and restores matches that no longer are.
func queueRemapped(batch *pgx.Batch, season ranking.RemappedSeason) {
	for _, card := range season.Cards {
		set, was := "NULL", doubled
		if card.Notice.Undone {
			set, was = doubled, "NULL"
		}
		batch.Queue(`
			WITH changed AS (
			    UPDATE matches SET undone_at = `+set+`, changes = changes + 1
			    WHERE id = $1 AND undone_at IS NOT DISTINCT FROM `+was+` RETURNING 1)
			SELECT EXISTS (SELECT FROM changed)::unchanged`, card.Match)
	}
	// A player can have only one standing in a season, so the standings that return to their owners
	// go first and make room for the others.
	returns := func(p ladder.RankedPlayer) bool { return p.Player == p.Owner() }
	for _, first := range []bool{true, false} {
		for _, p := range season.Moved {
			if returns(p) == first {
				batch.Queue(`
					UPDATE group_players SET player_id = $2, named_id = nullif($3::bigint, 0), name = $4 WHERE id = $1`,
					p.ID, p.Player, p.Named, p.Name)
			}
		}
	}
}
