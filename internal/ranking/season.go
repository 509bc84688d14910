package ranking

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"elobot/internal/notice"
)

// Season is a part of a ladder in which everybody starts afresh. Its matches are rated on their own. In JSON, its fields have the names of
// its columns.
type Season struct {
	ID     SeasonID  `json:"id"`
	Number int       `json:"number"`    // 1, 2, 3 … in its ladder
	Name   string    `json:"name"`      // empty if nobody has named it
	Starts time.Time `json:"starts_at"` // the instant from which on messages report its matches, zero for the first one
	Ends   time.Time `json:"ends_at"`   // the instant from which on they do not any more, zero if it goes on until an admin ends it
}

// match returns the match that an operation amends, nil for none.
func (j job) match(snap Snapshot) *StoredMatch {
	switch op := j.operation.(type) {
	case replaying:
		return op.replays(snap)
	case amending:
		return op.amends(snap)
	}
	return nil
}

// about returns the ladder and the season that a command is about, as an Origin has them. A match that is amended stays in its season; when
// the message was sent decides about a new one.
func about(ctx context.Context, store writer, o Origin, j job, snap Snapshot) (LadderID, SeasonID, error) {
	ladder := j.ladder(o, snap)
	if ladder != o.Ladder || snap.NewGroup {
		return ladder, 0, nil
	}
	op, isDated := j.operation.(dated)
	isDated = isDated && !op.at().IsZero()
	switch m := j.match(snap); {
	case m != nil && snap.isOver(m.Season):
		return ladder, m.Season, nil
	case m == nil && isDated && o.Season != 0:
		return ladder, o.Season, nil
	case m == nil && isDated:
		season, err := seasonAt(ctx, store, snap.Ladder, op.at())
		if season == snap.Ladder.Season.ID {
			season = 0
		}
		return ladder, season, err
	}
	return ladder, 0, nil
}

// seasonAt returns the season of a ladder in which a message of this time reports a match.
func seasonAt(ctx context.Context, store writer, l Ladder, at time.Time) (SeasonID, error) {
	if !at.Before(l.Season.Starts) {
		return l.Season.ID, nil
	}
	return store.SeasonAt(ctx, l.ID, at)
}

// isOver is true if a season of the group does not go on.
func (s Snapshot) isOver(season SeasonID) bool {
	return season != 0 && !slices.ContainsFunc(s.Ladders, func(l GroupLadder) bool { return l.Season.ID == season })
}

// correctedByAdmins is the permission to amend a match of a season that is over.
func correctedByAdmins(m *StoredMatch) Permission {
	return Permission{Who: Admins, Refusal: Refusal{Code: SeasonClosed, Number: m.Number}}
}

// MaxSeasonName is the maximum length of a season's name, in bytes: the button that starts the season has it.
const MaxSeasonName = 32

// StartSeason ends the season of a ladder that goes on, and starts another one with the Name, which may be empty. Only admins may.
type StartSeason struct {
	Name string
	// Ends is the season that ends, as the pressed button says. Without it, the admin is asked first.
	Ends    SeasonID
	IsAdmin func(context.Context) (bool, error)
}

func (c StartSeason) do(ctx context.Context, s *Service, o Origin) error {
	return s.handle(ctx, o, job{
		name: "start season", bucket: RateQuestion, isAdmin: c.IsAdmin, locks: c.Ends != 0,
		operation: seasonOperation{adminsOnly: adminsOnly{people: senderOf(o)}, StartSeason: c, origin: o},
	})
}

type seasonOperation struct {
	adminsOnly
	StartSeason
	origin Origin
}

func (n seasonOperation) needs() Needs { return Needs{People: n.people, Everybody: true} }

func (n seasonOperation) refuse(snap Snapshot) Notice {
	switch l := snap.Ladder; {
	case l.Archived:
		return Refusal{Code: LadderArchived, Name: l.Name}
	case len(n.Name) > MaxSeasonName || strings.ContainsAny(n.Name, "\n:@") || !utf8.ValidString(n.Name):
		return Refusal{Code: SeasonName, Name: n.Name}
	case n.Ends != 0 && n.Ends != l.Season.ID:
		return Refusal{Code: SeasonEnded}
	case n.players(snap) == 0:
		return Refusal{Code: SeasonEmpty}
	}
	return nil
}

// players returns how many people have played in the season.
func (n seasonOperation) players(snap Snapshot) (played int) {
	for _, k := range snap.Everybody {
		if k.Standing != nil && k.Standing.Played > 0 {
			played++
		}
	}
	return played
}

func (n seasonOperation) decide(snap Snapshot) (Decision, error) {
	ending := snap.Ladder.Season
	if n.Ends == 0 {
		return Decision{Notice: SeasonPrompt{
			Ends: ending.ID, Number: ending.Number, Ended: ending.Name, Name: n.Name, Players: n.players(snap), Start: snap.Ladder.Start, Halfway: snap.Ladder.Halfway,
		}}, nil
	}
	// a message has the second in which it was sent
	at := n.origin.SentAt.Truncate(time.Second)
	return Decision{
		Page:   SeasonStarted{Number: ending.Number + 1, Name: n.Name, Ended: ending.Number},
		Effect: &NewSeason{Ladder: snap.Ladder.ID, Ends: ending.ID, Name: n.Name, At: at},
	}, nil
}

// NewSeason ends a season and starts the next one at a time. The group is locked.
type NewSeason struct {
	Ladder LadderID
	Ends   SeasonID
	Name   string
	At     time.Time
}

func (*NewSeason) outcome() CommandOutcome { return OutcomeSettingChanged }

// SeasonPrompt says what starting a season will do, with a button that starts it.
type SeasonPrompt struct {
	Ends    SeasonID `json:"ends"`
	Number  int      `json:"number"`            // of the season that will end
	Ended   string   `json:"ended,omitempty"`   // its name
	Name    string   `json:"name,omitempty"`    // of the new one
	Players int      `json:"players"`           // how many have played in the season that will end
	Start   int      `json:"start"`             // the rating with which everybody starts
	Halfway bool     `json:"halfway,omitempty"` // they start half-way between their rating and that
}

var _ = notice.Register[SeasonPrompt](notice.Kind{Name: "season_prompt", Purpose: notice.Answer, Alone: true})

// SeasonStarted says that a season has started.
type SeasonStarted struct {
	Number int    `json:"number"`
	Name   string `json:"name,omitempty"`
	Ended  int    `json:"ended"` // the number of the season before
}

var _ = notice.Register[SeasonStarted](notice.Kind{Name: "season_started", Purpose: notice.Outcome})

// KindSeason is the kind of the message that tells how a season ended. What is stored of it says nothing: what it shows is read when it is
// sent, and again when the season is corrected.
const KindSeason = "season_ended"

// SeasonObject identifies that message in its chat, apart from its topic.
func SeasonObject(id SeasonID) string { return fmt.Sprintf("season:%d", id) }

// SeasonOfObject returns the season whose message an object identifies.
func SeasonOfObject(object string) (id SeasonID) {
	_, _ = fmt.Sscanf(object, "season:%d", &id)
	return id
}
