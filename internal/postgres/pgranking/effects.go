package pgranking

import (
	"github.com/jackc/pgx/v5"

	"elobot/internal/ranking"
)

// effect describes how to write the effect of a command, and which lanes it wakes.
type effect struct {
	// locksGroup is set if the group must be locked before its people and standings, so that no
	// result of the group is recorded meanwhile.
	locksGroup bool
	write      func(*pgx.Batch) // queues the rows of the effect; nil if there are none
	amended    *ranking.Amended // the match whose card is updated after write; nil for none
	// writeChat writes to the chat, or to its ladders, seasons or boards; nil for nothing. It runs
	// after the notices, because the dispatcher and a move of the chat lock notices first.
	writeChat    func(*pgx.Batch)
	sends        bool // write or writeChat queues a message to the chat other than a board's
	changesBoard bool
}

func (s *Store) effect(c ranking.Changes) effect {
	switch e := c.Effect.(type) {
	case ranking.NewMatches:
		return effect{sends: true, write: func(b *pgx.Batch) { queueNewMatches(b, s.Now(), c, e) }}
	case *ranking.Undone:
		return effect{amended: &e.Amended, write: func(b *pgx.Batch) {
			queueAmended(b, &e.Amended, `undone_at = $3, undone_by = nullif($4::bigint, 0)`, e.At, e.By)
		}}
	case *ranking.Restored:
		return effect{amended: &e.Amended, write: func(b *pgx.Batch) {
			queueAmended(b, &e.Amended, `undone_at = NULL, undone_by = NULL`)
		}}
	case *ranking.Fixed:
		return effect{amended: &e.Amended, write: func(b *pgx.Batch) { queueFix(b, c, e) }}
	case *ranking.MovedMatch:
		return effect{amended: &e.Amended, write: func(b *pgx.Batch) { queueMove(b, e) }}
	case *ranking.Remapping:
		return effect{sends: true, write: func(b *pgx.Batch) { queueRemapping(b, e) }}
	case *ranking.NewStanding:
		return effect{locksGroup: true, write: func(b *pgx.Batch) { queueJoined(b, e) }}
	case *ranking.CameBack:
		return effect{locksGroup: true, write: func(b *pgx.Batch) { queueCameBack(b, *e) }}
	case *ranking.Left:
		return effect{locksGroup: true, write: func(b *pgx.Batch) { queueLeft(b, e) }}
	case *ranking.NewNick:
		return effect{locksGroup: true, write: func(b *pgx.Batch) { queueNick(b, e) }}
	case *ranking.OffWeb:
		return effect{write: func(b *pgx.Batch) { queueOffWeb(b, e) }}
	case *ranking.TakenOut:
		return effect{
			locksGroup: true, write: func(b *pgx.Batch) { queueTakenOut(b, e) },
			writeChat: func(b *pgx.Batch) {
				queuePromptsOver(b, c, e) // while the player still has a name
				queueDeleted(b, e)
			},
		}
	case *ranking.Ignored:
		return effect{locksGroup: true, write: func(b *pgx.Batch) { queueIgnored(b, e) }}
	case *ranking.UndoneDay:
		return effect{write: func(b *pgx.Batch) { queueUndoneDay(b, e) }}
	case *ranking.ChangedSetting:
		return effect{writeChat: func(b *pgx.Batch) { queueSetting(b, e) }}
	case *ranking.ChangedBoard:
		return effect{changesBoard: true, writeChat: func(b *pgx.Batch) { queueBoard(b, c, e) }}
	case *ranking.ChangedLadder:
		return effect{writeChat: func(b *pgx.Batch) { queueLadder(b, c, e) }}
	case *ranking.NewSeason:
		return effect{sends: true, writeChat: func(b *pgx.Batch) { queueNewSeason(b, c, e) }}
	case *ranking.SeasonUntil:
		return effect{writeChat: func(b *pgx.Batch) { queueUntil(b, c.Chat, *e) }}
	case *ranking.ToldSeason:
		return effect{sends: true, writeChat: func(b *pgx.Batch) { queueTold(b, c.Chat, c.Key, e.Season, "{}") }}
	case *ranking.Forgotten: // the rest is written before
		return effect{writeChat: func(b *pgx.Batch) { b.Queue(forgetChat, e.User) }}
	case *ranking.Greeted:
		return effect{writeChat: func(b *pgx.Batch) { queueGreeted(b, c.Chat, e) }}
	default:
		return effect{}
	}
}

func newMatches(c ranking.Changes) ranking.NewMatches {
	matches, _ := c.Effect.(ranking.NewMatches)
	return matches
}
