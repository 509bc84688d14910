package pgranking

import (
	"cmp"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"elobot/internal/command"
	"elobot/internal/ladder"
	"elobot/internal/postgres"
	"elobot/internal/ranking"
)

// queueNewChat stores a new chat, and a new group with its ladder, under the ids that the read drew
// from their sequences. If another transaction was faster, a unique constraint makes this
// transaction fail.
func queueNewChat(batch *pgx.Batch, s ranking.Seen, id ranking.ChatID) {
	if s.NewChat {
		batch.Queue(`
			INSERT INTO chats (id, telegram_chat_id, kind, title, language) OVERRIDING SYSTEM VALUE
			VALUES ($1, $2, $3, $4, coalesce(nullif($5, ''), $6))`,
			id, s.Chat.ID, s.Chat.Kind, s.Chat.Title, s.Chat.Language, ranking.DefaultLanguage)
	}
	if s.NewGroup {
		batch.Queue(`INSERT INTO groups (id, chat_id) OVERRIDING SYSTEM VALUE VALUES ($1, $2)`, s.Group, id)
		batch.Queue(`
			WITH l AS (
			    INSERT INTO ladders (id, group_id, is_default, season_id) OVERRIDING SYSTEM VALUE
			    VALUES ($1, $2, true, $3) RETURNING *)`+postgres.FirstSeason, s.Ladder.ID, s.Group, s.Ladder.Season.ID)
	}
}

// queueChangedChat stores the kind and the title of a known chat, unless c has a former id of the
// chat. It must be queued after the notices, because a move of a chat locks notices before chats.
func queueChangedChat(batch *pgx.Batch, c ranking.Chat, id ranking.ChatID) {
	batch.Queue(`
		UPDATE chats SET kind = $3, title = $4
		WHERE id = $1 AND telegram_chat_id = $2 AND (kind, title) IS DISTINCT FROM ($3, $4)`,
		id, c.ID, c.Kind, c.Title)
}

// queueSeenPeople stores what a command reveals about people.
func queueSeenPeople(batch *pgx.Batch, s ranking.Seen) {
	changes := inLockOrder(s.People)
	var names []string // usernames of new unclaimed players and of seen accounts
	for _, c := range changes {
		queuePlayer(batch, s, c)
		if c.New && c.Player.UserID == 0 && c.Player.Username != "" {
			names = append(names, strings.ToLower(c.Player.Username))
		}
	}
	for _, c := range changes {
		if c.Sighting != nil {
			queueSighting(batch, s.Group, c.Player.ID, *c.Sighting)
			names = append(names, strings.ToLower(c.Sighting.Username))
		}
	}
	if len(names) > 0 {
		// Fail if an unclaimed player and an account have the same username.
		batch.Queue(`
			SELECT (NOT EXISTS (
			    SELECT FROM players p JOIN sightings s ON s.group_id = p.group_id AND lower(s.username) = lower(p.username)
			    WHERE p.group_id = $1 AND lower(p.username) = ANY ($2)))::unchanged`, s.Group, names)
	}
}

// inLockOrder sorts players who are not new by id, then new accounts by user id, then all other new
// players by username. A command adds at most one guest, so the order is unique. Two instances that
// see the same people therefore lock their rows in the same order.
func inLockOrder(changes []ranking.PlayerChange) []ranking.PlayerChange {
	class := func(c ranking.PlayerChange) int {
		switch {
		case !c.New:
			return 0
		case c.Player.UserID != 0:
			return 1
		default:
			return 2
		}
	}
	return slices.SortedStableFunc(slices.Values(changes), func(a, b ranking.PlayerChange) int {
		if a.New && b.New {
			return cmp.Or(class(a)-class(b), cmp.Compare(a.Player.UserID, b.Player.UserID),
				cmp.Compare(a.Player.Username, b.Player.Username))
		}
		return cmp.Or(class(a)-class(b), cmp.Compare(a.Player.ID, b.Player.ID))
	})
}

// queuePlayer inserts a new player, or updates an existing player unless the person was only
// mentioned. It also renames the player's current standings in the group if necessary.
func queuePlayer(batch *pgx.Batch, seen ranking.Seen, c ranking.PlayerChange) {
	p := c.Player
	switch {
	case c.New:
		batch.Queue(`
			INSERT INTO players (id, telegram_user_id, group_id, username, display_name, folded, added_by)
			    OVERRIDING SYSTEM VALUE
			VALUES ($1, nullif($2::bigint, 0), CASE WHEN $2 = 0 THEN $3::bigint END, nullif($4, ''), $5,
			    CASE WHEN $2 = 0 AND $4 = '' THEN $6 END, nullif(nullif($7::bigint, 0), $1))`,
			p.ID, p.UserID, seen.Group, p.Username, p.Name, command.FoldName(p.Name), seen.AddedBy)
	case !c.Mentioned:
		// A player who was claimed by another account, or merged, in the meantime must not be
		// claimed again.
		batch.Queue(`
			WITH changed AS (
			    UPDATE players SET telegram_user_id = nullif($2::bigint, 0), username = nullif($3, ''), display_name = $4,
			        group_id = CASE WHEN $2 = 0 THEN group_id END
			    WHERE id = $1 AND (telegram_user_id = $2 OR telegram_user_id IS NULL AND username IS NOT NULL)
			    RETURNING 1)
			SELECT EXISTS (SELECT FROM changed)::unchanged`, p.ID, p.UserID, p.Username, p.Name)
	}
	if c.Standing != 0 || !c.New && !c.Mentioned {
		queueShownName(batch, seen.Group, p.ID) // a standing in another ladder may have the old name
	}
}

// queueShownName updates the player's name in the player's current standings in a group. The name
// is the nick there, or else the player's own name.
func queueShownName(batch *pgx.Batch, group ranking.GroupID, player ladder.PlayerID) {
	batch.Queue(`
		UPDATE group_players s SET name = shown.name
		FROM (SELECT coalesce((SELECT nick FROM sightings WHERE group_id = $1 AND player_id = $2), display_name) AS name
		      FROM players WHERE id = $2) AS shown
		WHERE s.season_id = `+goingOn+` AND s.player_id = $2 AND s.name <> shown.name`, group, player)
}

// queueNick stores a player's new nick, or removes the old one if n.Nick is empty. The player need
// not have been seen in the group.
func queueNick(batch *pgx.Batch, n *ranking.NewNick) {
	batch.Queue(`
		INSERT INTO sightings (group_id, player_id, nick, came)
		SELECT $1, id, nullif($3, ''), telegram_user_id IS NOT NULL FROM players WHERE id = $2
		ON CONFLICT ON CONSTRAINT sightings_pkey DO UPDATE SET nick = excluded.nick`, n.Group, n.Player, n.Nick)
	queueShownName(batch, n.Group, n.Player)
}

// formerUsernames is the list of former usernames that a sighting with the alias known has after
// losing its current username.
const formerUsernames = `array_remove(
	array_append(array_remove(known.former, lower(known.username)), lower(known.username)), NULL)`

// queueSighting records the username with which an account was seen in a group, unless a later
// sighting of this account, or of another account with this username, is stored. Another account
// that was last seen in the group with the same username, and not later, loses the username.
func queueSighting(batch *pgx.Batch, group ranking.GroupID, account ladder.PlayerID, s ranking.Sighting) {
	batch.Queue(`
		UPDATE sightings AS known SET username = NULL, former = `+formerUsernames+`
		WHERE group_id = $1 AND lower(username) = lower($3) AND player_id <> $2 AND seen_at <= $4`,
		group, account, s.Username, s.At)
	batch.Queue(`
		INSERT INTO sightings AS known (group_id, player_id, username, seen_at, came)
		SELECT $1, $2, nullif($3, ''), $4, $5
		WHERE NOT EXISTS (
		    SELECT FROM sightings WHERE group_id = $1 AND lower(username) = lower($3) AND player_id <> $2)
		ON CONFLICT ON CONSTRAINT sightings_pkey DO UPDATE
		SET username = excluded.username, seen_at = excluded.seen_at, came = known.came OR excluded.came,
		    former = array_remove(`+formerUsernames+`, lower(excluded.username))
		WHERE coalesce(known.seen_at, '-infinity') <= excluded.seen_at`, group, account, s.Username, s.At, s.Came)
}
