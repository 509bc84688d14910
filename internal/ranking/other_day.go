package ranking

import (
	"context"
	"slices"
	"time"

	"elobot/internal/command"
	"elobot/internal/ladder"
)

// The number of days, before today, for which members and admins may report matches. A match of an
// earlier day counts as of the time of its report.
const (
	MemberDays = 1
	AdminDays  = 31
)

// OtherDay is the day before today on which all matches of a report were played. It is zero if the
// matches count as of the time of the report.
type OtherDay struct{ Starts, Ends time.Time }

func (d OtherDay) isZero() bool { return d == OtherDay{} }

// last returns the last instant of the day, at the precision of the store. A report gives no time
// of day, so its matches come after all others of the day.
func (d OtherDay) last() time.Time { return d.Ends.Add(-time.Microsecond) }

// Reports about another day have these needs.
type (
	// permittedDay is the need for Snapshot.Day. The next round locks the group. If ofAdmins is
	// set, the day counts only if the reporter is an admin. A nil reporter is an anonymous admin.
	permittedDay struct {
		day      OtherDay
		ofAdmins bool
		reporter *command.Person
	}
	// gapOf is the need for Beside.Gap, and for Beside.History from the gap on, with the standings
	// of the players. If there are too many matches to replay, only the Gap is read.
	gapOf struct {
		day     OtherDay
		players []ladder.PlayerID
	}
)

func (permittedDay) what() string { return "the day of a match" }
func (gapOf) what() string        { return "the matches after a day" }

// day returns the need for Snapshot.Day, nil if the day is settled already, or if all of the
// matches count as of the time of the report.
func (r *recordOperation) day(snap *Snapshot) need {
	if snap.Day != nil || !slices.ContainsFunc(r.reports, func(m command.Match) bool { return m.When != command.When{} }) {
		return nil
	}
	now := r.message.SentAt.In(snap.Display.Zone())
	noon, _ := r.reports[0].On(now)
	for _, m := range r.reports {
		if day, ok := m.On(now); !ok || !day.Equal(noon) {
			return nil
		}
	}
	d := OtherDay{Starts: LaterDay(noon, 0), Ends: LaterDay(noon, 1)}
	if d.Starts.Before(LaterDay(now, -AdminDays)) || d.Ends.After(now) {
		return nil
	}
	ofAdmins := d.Starts.Before(LaterDay(now, -MemberDays)) || d.last().Before(snap.Ladder.Season.Starts)
	return permittedDay{day: d, ofAdmins: ofAdmins, reporter: r.message.Reporter}
}

// permit settles the call's day: the day of the need if the reporter may report for it, otherwise
// none. If the check of the reporter fails, the call only says so.
func (s *Service) permit(ctx context.Context, c *call, n permittedDay) {
	status := IsAdmin
	if n.ofAdmins {
		of := Origin{Chat: c.Chat, Key: c.Key, Sender: n.reporter}
		status = s.adminStatus(ctx, &call{Origin: of, job: job{ofAdmins: true}})
	}
	switch status {
	case IsAdmin:
		c.day, c.locks = &n.day, true
	case AdminUnknown:
		*c = *c.onlySaying(Refusal{Code: AdminsUnknown})
	default:
		c.day = new(OtherDay)
	}
}

func (r *recordOperation) playedAt(snap *Snapshot) time.Time {
	if snap.isOfOtherDay() {
		return snap.Day.last()
	}
	return r.message.SentAt
}

func (s *Snapshot) isOfOtherDay() bool { return s.Day != nil && !s.Day.isZero() }

// sayDay adds to the card what the report says about the day of the match: the day, or that the
// match was not played today but counts as of the time of the report.
func (r *recordOperation) sayDay(snap *Snapshot, said command.When, card *MatchRecorded) {
	now := r.message.SentAt.In(snap.Display.Zone())
	day, ok := said.On(now)
	switch {
	case snap.isOfOtherDay(), ok && said.Day != nil && !day.Before(LaterDay(now, 0)):
		card.Day = r.playedAt(snap).UTC()
	case !ok || day.Before(LaterDay(now, 0)):
		card.Past = true
	}
}

// insert plays the matches at their place in the season, and then replays the later matches.
func (r *recordOperation) insert(snap *Snapshot) (matches NewMatches, refusal Notice, lacks need, err error) {
	if snap.Gap == nil {
		n := gapOf{day: *snap.Day}
		for person, known := range snap.People {
			if r.plays(person) {
				n.players = append(n.players, known.Player.ID)
			}
		}
		return nil, nil, n, nil
	}
	if snap.History == nil {
		return nil, Refusal{Code: TooManyToReplay, Matches: snap.Gap.Later}, nil, nil
	}
	history := *snap.History
	table, err := history.Initial()
	if err != nil {
		return nil, nil, nil, err
	}
	if matches, err = r.playAll(snap, table); err != nil {
		return nil, nil, nil, err
	}
	var players []ladder.PlayerID
	places, spread := snap.Gap.Places(len(matches))
	for i, m := range matches {
		m.Inserted = &Inserted{Ladder: snap.Ladder.ID, Position: places[i]}
		for _, p := range m.Players {
			players = append(players, p.Before.Player)
			isThere := func(s ladder.RankedPlayer) bool { return s.Player == p.Before.Player }
			if !slices.ContainsFunc(history.Standings, isThere) {
				history.Standings = append(slices.Clip(history.Standings), ladder.RankedPlayer{Standing: p.Before})
			}
		}
	}
	last := matches[len(matches)-1]
	matches[0].Inserted.Spread = spread
	last.Inserted.Rewrite, err = history.ReplayFrom(table, ladder.ByMatch, func(*ladder.Match) {})
	slices.Sort(players)
	others := moved(history, last.Inserted.Rewrite, players)
	last.Card.Moved = len(others.Ratings) + others.Others - len(slices.Compact(players))
	return matches, nil, nil, err
}

// Inserted is the place of a match of another day, and what the match changes besides its players'
// standings.
type Inserted struct {
	Ladder          ladder.ID
	ladder.Position // 0 for the position that follows from the match's number
	// Spread has the positions of other matches that must change first, to make room. Only the
	// first match of a message has them.
	Spread []ladder.MovedPosition
	// Rewrite has all changed standings, and the changes of the later matches. Only the last match
	// of a message has them.
	Rewrite ladder.Rewrite
}
