package ranking_test

import (
	"testing"

	"elobot/internal/plainladder"
	"elobot/internal/ranking"
)

// byName and byIdentity are SQL expressions that identify players in a plainladder.Standings: by
// the name in the group, or by an identity that survives a change of name.
const (
	byName     = "s.name"
	byIdentity = "coalesce(p.telegram_user_id::text, p.username, '#' || p.id)"
)

// notKept leaves out the standings s that are kept for players who count as others.
const notKept = " AND s.named_id IS DISTINCT FROM s.player_id"

// ladderWithID and laddersOf are SQL conditions that select ladders, by the ladder's id or by
// Telegram's id of the chat, in $1.
const (
	ladderWithID = "l.id = $1"
	laddersOf    = "ch.telegram_chat_id = $1"
)

// seasonWithID and goingOnIn are SQL conditions that select a season by id, or the current seasons
// of a chat.
const (
	seasonWithID = "n.id = $1"
	goingOnIn    = laddersOf + " AND n.id = l.season_id"
)

// standingTable returns the stored standings in the current seasons of a chat's ladders. who is
// byName or byIdentity.
func (g *game) standingTable(t *testing.T, chat ranking.ExternalChatID, who string) plainladder.Standings {
	t.Helper()
	return g.storedStandings(t, goingOnIn, int64(chat), who)
}

func (g *game) storedStandings(t *testing.T, seasons string, id int64, who string) plainladder.Standings {
	t.Helper()
	all := make(plainladder.Standings)
	for _, p := range rows[plainladder.Standing](t, g, `
		SELECT `+who+`, s.elo, s.start_elo, s.best_elo, s.played, s.won, s.drawn, s.lost, s.streak, s.longest_streak
		FROM group_players s JOIN players p ON p.id = s.player_id JOIN seasons n ON n.id = s.season_id
		JOIN ladders l ON l.id = n.ladder_id JOIN groups g ON g.id = l.group_id JOIN chats ch ON ch.id = g.chat_id
		WHERE `+seasons+notKept, id) {
		all[p.Who] = p
	}
	return all
}

// currentHistory returns the current history entries of the current seasons of a chat's ladders, in
// the order in which the matches are replayed, side A first. who is byName or byIdentity.
func (g *game) currentHistory(t *testing.T, chat ranking.ExternalChatID, who string) []plainladder.Entry {
	t.Helper()
	return g.storedEntries(t, goingOnIn, int64(chat), who)
}

func (g *game) storedEntries(t *testing.T, seasons string, id int64, who string) []plainladder.Entry {
	t.Helper()
	return rows[plainladder.Entry](t, g, `
		SELECT m.number, `+who+`, h.elo_before, h.elo_after, h.k_factor, h.best_before, h.streak_before, h.longest_before
		FROM elo_history h JOIN matches m ON m.id = h.match_id JOIN match_players mp USING (match_id, player_id)
		JOIN players p ON p.id = h.player_id
		JOIN seasons n ON n.id = m.season_id JOIN ladders l ON l.id = m.ladder_id AND l.id = n.ladder_id
		JOIN group_players s ON s.season_id = n.id AND s.player_id = h.player_id
		JOIN groups g ON g.id = m.group_id JOIN chats ch ON ch.id = g.chat_id
		WHERE `+seasons+` AND h.superseded_at = 'infinity'
		ORDER BY coalesce(m.position, m.number::bigint << 32), mp.side, mp.place`, id)
}

// historyEntry returns the entry of a player in a match. best, streak and longest are the values
// before the match.
func historyEntry(number int, who string, before, after, k, best, streak, longest int) plainladder.Entry {
	return plainladder.Entry{
		Number: number, Who: who, Before: before, After: after, K: k, Best: best, Streak: streak, Longest: longest,
	}
}
