package ranking

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"elobot/internal/command"
	"elobot/internal/ladder"
	"elobot/internal/notice"
)

// Season is a part of a ladder with matches and standings of its own. The PlayedAt of a match
// determines its season.
type Season struct {
	ID     ladder.SeasonID
	Number int       // 1, 2, 3, … in its ladder
	Name   string    // empty if unnamed
	Starts time.Time // inclusive, zero for the first season
	Ends   time.Time // exclusive, zero if only an admin can end it
}

// endsBefore reports whether the season ends at or before the given time. If it does, matches with
// this PlayedAt belong to a later season. It returns false for a zero time, and for a season
// without an end. The season must be current.
func (s Season) endsBefore(at time.Time) bool {
	return !s.Ends.IsZero() && !at.IsZero() && !at.Before(s.Ends)
}

// where returns the need for a snapshot of the ladder and season that the command is about, nil if
// the snapshot already has both. If the command's button is about a ladder that the group does not
// have, the need is an onlyAnswer. An amended match stays in its season. The PlayedAt of a new
// match determines its season.
func (c *call) where(ctx context.Context, store writer, snap *Snapshot, of subject) (need, error) {
	m, at := of.amended, of.reportedAt
	if c.lacksLadder(snap, m) {
		return onlyAnswer{Refusal{Code: UnknownButton}}, nil
	}
	n := inLadder{ladder: c.ladderOf(snap, m)}
	if n.ladder != c.ladder || snap.NewGroup {
		return n.unless(c), nil
	}
	switch {
	case m != nil && snap.isOver(m.Season):
		n.season = m.Season
	case at.IsZero():
	case c.season != 0 && !snap.isOfOtherDay():
		n.season = c.season
	default:
		season, err := seasonAt(ctx, store, snap.Ladder, at)
		if err != nil {
			return nil, err
		}
		if season != snap.Ladder.Season.ID {
			n.season = season
		}
	}
	return n.unless(c), nil
}

// unless returns n, or nil if c already reads that ladder and season.
func (n inLadder) unless(c *call) need {
	if n.ladder == c.ladder && n.season == c.season {
		return nil
	}
	return n
}

// seasonAt returns the season of a ladder to which a match belongs. at is the match's PlayedAt.
func seasonAt(ctx context.Context, store writer, l Ladder, at time.Time) (ladder.SeasonID, error) {
	if !at.Before(l.Season.Starts) {
		return l.Season.ID, nil
	}
	return store.SeasonAt(ctx, l.ID, at)
}

// isOver reports whether a season of the group is over. It returns false for a zero season.
func (s *Snapshot) isOver(season ladder.SeasonID) bool {
	return season != 0 && !slices.ContainsFunc(s.Ladders, func(l GroupLadder) bool { return l.Season.ID == season })
}

func correctedByAdmins(m *StoredMatch) Permission {
	return Permission{Who: OnlyAdmins, Refusal: Refusal{Code: SeasonClosed, Number: m.Number}}
}

// MaxSeasonName is the maximum length of a season's name, in bytes. A name of that length still
// fits into the data of the button that starts the season.
const MaxSeasonName = 32

// TypedSeason is a typed /season or /ranking season. The word "new" after that starts a season,
// with the words after "new" as its name, if any. Everything else asks the Question.
type TypedSeason struct{ Question Question }

func (t TypedSeason) plan(s *Service, c *call) *call { return t.Meant(c.Said).plan(s, c) }

// Meant returns the operation that the typed command asks for.
func (t TypedSeason) Meant(said command.Command) Operation {
	rest := said.AboutSeason()
	if words := rest.Unquoted(); rest.Name == command.NameSeason && len(words) > 0 && strings.EqualFold(words[0], "new") {
		return StartSeason{Name: strings.Join(words[1:], " ")}
	}
	return Ask{Question: t.Question}
}

// StartSeason ends the current season of a ladder and starts the next. Only admins may do so. Name
// is the name of the new season and may be empty.
type StartSeason struct {
	Name string
	// Tag is the tag of the season to end, from the pressed button. Without it, the bot asks the
	// admin first.
	Tag   MatchTag
	Asked time.Time // when the button was posted
}

func (n StartSeason) plan(_ *Service, c *call) *call {
	return c.with(job{
		name: "start season", bucket: RateQuestion, ofAdmins: true, locks: n.Tag != "",
		operation: seasonOperation{adminsOnly: adminsOnly{people: senderOf(c.Origin)}, StartSeason: n, origin: c.Origin},
	})
}

type seasonOperation struct {
	adminsOnly
	StartSeason
	origin Origin
}

func (n seasonOperation) needs() Needs {
	return Needs{People: n.people, Everybody: true, Season: true, ReportedSince: n.Asked}
}

// starts returns when the new season starts. It is a whole second, because messages are dated to
// the second.
func (n seasonOperation) starts() time.Time { return n.origin.SentAt.Truncate(time.Second) }

func (n seasonOperation) refuse(snap *Snapshot) Notice {
	switch l := snap.Ladder; {
	case l.Archived:
		return Refusal{Code: LadderArchived, Name: l.Name}
	case len(n.Name) > MaxSeasonName || strings.ContainsAny(n.Name, "\n:@") || !utf8.ValidString(n.Name):
		return Refusal{Code: SeasonName, Name: n.Name}
	case n.Tag != "" && n.Tag != snap.seasonTag():
		return Refusal{Code: SeasonEnded}
	// The new season would begin in the first second of the current season, or the messenger's
	// clock is behind.
	case !n.starts().After(l.Season.Starts):
		return Refusal{Code: SeasonTooYoung}
	case played(snap) == 0:
		return Refusal{Code: SeasonEmpty}
	}
	return nil
}

// seasonTag returns the tag of the current season. It depends on the key of the ladder's first
// match, because after a backup is restored, the ids of ladders and seasons are assigned again.
func (s *Snapshot) seasonTag() MatchTag {
	return TagOf(s.FirstMatch, fmt.Sprint(s.Ladder.Season.ID), s.Ladder.Season.Starts.UTC().String())
}

// played returns how many players have played in the season of the snapshot.
func played(snap *Snapshot) (people int) {
	for _, k := range snap.Everybody {
		if k.Named == nil && k.Standing != nil && k.Standing.Played > 0 {
			people++
		}
	}
	return people
}

func (n seasonOperation) decide(snap *Snapshot) (Decision, need, error) {
	ending := snap.Ladder.Season
	at := n.starts()
	if ending.endsBefore(at) {
		return Decision{}, seasonEnd{snap.Ladder, at}, nil
	}
	if n.Tag == "" {
		return Decision{Notice: SeasonPrompt{
			Tag: snap.seasonTag(), Number: ending.Number, Ended: ending.Name, Name: n.Name,
			Players: played(snap), Start: snap.Ladder.Start, Halfway: snap.Ladder.Halfway,
		}}, nil, nil
	}
	return Decision{
		Page: SeasonStarted{Number: ending.Number + 1, Name: n.Name, Ended: ending.Number, Before: snap.Since},
		Effect: &NewSeason{
			Ladder: snap.Ladder.ID, Ends: ending.ID, Name: n.Name, At: at, Until: snap.endOfNewSeason(at, at), Tells: true,
		},
	}, nil, nil
}

// NewSeason ends a season and starts the next. The group must be locked.
type NewSeason struct {
	Ladder ladder.ID
	Ends   ladder.SeasonID
	Name   string
	At     time.Time
	Until  time.Time // when the next season ends, zero if only an admin can end it
	// Tells is set if the chat is told at once how the season ended, rather than when the season's
	// timer fires.
	Tells bool
}

func (*NewSeason) outcome() CommandOutcome { return OutcomeSettingChanged }

// AfterSeason is the delay between the end of a season and its timer. The delay lets messages sent
// before the end arrive first.
const AfterSeason = time.Minute

// minSeason is the minimum length of a new automatic season. Time zones are up to 26 hours apart,
// so after a change of the zone, the next month may begin only hours after the end of the previous
// season.
const minSeason = 48 * time.Hour

// endOfSeason returns the end of the month or quarter that contains at, zero for manual seasons.
func endOfSeason(at time.Time, r Rules, d Display) time.Time {
	at = at.In(d.Zone())
	if r.SeasonMonths == 0 {
		return time.Time{}
	}
	return LaterMonth(at, r.SeasonMonths-(int(at.Month())-1)%r.SeasonMonths)
}

// endOfNewSeason returns the end of an automatic season that starts at the time starts and is still
// current at the time at. It returns zero for manual seasons.
func (s *Snapshot) endOfNewSeason(starts, at time.Time) time.Time {
	if least := starts.Add(minSeason); at.Before(least) {
		at = least
	}
	return endOfSeason(at, s.Ladder.Rules, s.Display)
}

// seasonsUntil returns the seasons whose end changes with a setting, and their new ends. In a new
// time zone, the end moves to the start of the same day there, unless the old or the new end has
// already passed, or the new end is not after the season's start. The old end may be up to an hour
// before its day begins, if an older edition of the time zones determined it.
func seasonsUntil(setting string, now time.Time, snap *Snapshot, after GroupSettings) (moved []SeasonUntil) {
	switch setting {
	case SettingSeasons:
		l := snap.Ladder
		rules := *snap
		rules.Ladder.Rules = after.Rules
		begins := now
		if l.Season.Starts.After(now) { // the messenger's clock was set back
			begins = l.Season.Starts
		}
		moved = append(moved, SeasonUntil{Ladder: l.ID, Season: l.Season.ID, Until: rules.endOfNewSeason(begins, now)})
	case SettingZone:
		for _, l := range snap.Ladders {
			ends := l.Season.Ends
			year, month, day := ends.Add(12 * time.Hour).In(snap.Display.Zone()).Date()
			until := beginOfDay(year, month, day, after.Display.Zone())
			if !ends.IsZero() && ends.After(now) && until.After(now) && until.After(l.Season.Starts) {
				moved = append(moved, SeasonUntil{Ladder: l.ID, Season: l.Season.ID, Until: until})
			}
		}
	}
	return moved
}

// SeasonTimer is the prefix of the key of the timer that ends a season. The ids of the ladder and
// the season follow.
const SeasonTimer = "t:season:"

// SeasonUntil is a season of a ladder with its new end.
type SeasonUntil struct {
	Ladder ladder.ID
	Season ladder.SeasonID
	Until  time.Time // zero if only an admin can end it
}

func (*SeasonUntil) outcome() CommandOutcome { return OutcomeSettingChanged }

// Timer returns the key of the timer that ends the season.
func (u SeasonUntil) Timer() string { return fmt.Sprintf("%s%d:%d", SeasonTimer, u.Ladder, u.Season) }

// endSeason ends the current season of a ladder as a seasonTimer does, unless the season ends after
// at, the time of a message.
func (s *Service) endSeason(ctx context.Context, o Origin, l Ladder, at time.Time) error {
	_, _, err := s.attempt(ctx, &call{Origin: Origin{Chat: o.Chat, Ladder: l.ID}, job: job{
		operation: seasonTimer{season: l.Season.ID, at: at, early: true}, keyless: true, knownChatOnly: true, locks: true,
	}}, 1)
	return err
}

// seasonTimer ends a season whose end has passed, and starts the next. If no player has played in
// the season, the ladder is archived, or the season has no end, it sets a new end instead, or none
// if seasons are manual. If a message has already ended the season, the timer only announces the
// result.
type seasonTimer struct {
	plain
	season ladder.SeasonID
	// at is when the message of the next season was sent, or when the timer was due.
	at    time.Time
	early bool // a message ends the season, not the timer
}

func (e seasonTimer) needs() Needs { return Needs{Everybody: true, Timer: !e.early} }

func (e seasonTimer) decide(snap *Snapshot) (Decision, need, error) {
	l, d := snap.Ladder, Decision{Presence: NoChange}
	goesOn := l.Season.ID == e.season
	due := snap.Due
	if e.early { // a message ends the season, unless another command has done so
		due = goesOn && l.Season.endsBefore(e.at)
	}
	switch {
	case !due: // another command has ended or extended the season
		d.dropped = true
	case !goesOn: // a message of the next season has ended it
		d.Effect = &ToldSeason{Season: e.season}
	case l.Archived, played(snap) == 0, l.Season.Ends.IsZero():
		d.Effect = &SeasonUntil{Ladder: l.ID, Season: e.season, Until: snap.endOfNewSeason(e.at, e.at)}
	default:
		starts := l.Season.Ends
		d.Effect = &NewSeason{
			Ladder: l.ID, Ends: e.season, At: starts, Until: snap.endOfNewSeason(starts, e.at),
			// Messages of a chat arrive in order, so after a message sent this late, no message of
			// the ended season can arrive.
			Tells: !e.early || !e.at.Before(starts.Add(AfterSeason)),
		}
	}
	return d, nil, nil
}

// ToldSeason announces the result of a season that a message of the next season has already ended.
type ToldSeason struct{ Season ladder.SeasonID }

func (*ToldSeason) outcome() CommandOutcome { return "" }

// SeasonPrompt explains what starting a season will do. Its button starts the season.
type SeasonPrompt struct {
	Tag     MatchTag `json:"tag"`               // the tag of the season to end
	Number  int      `json:"number"`            // the number of the season to end
	Ended   string   `json:"ended,omitempty"`   // the name of the season to end
	Name    string   `json:"name,omitempty"`    // the name of the new season
	Players int      `json:"players"`           // how many players have played in the season to end
	Start   int      `json:"start"`             // the start rating
	Halfway bool     `json:"halfway,omitempty"` // players start halfway between their rating and Start
}

var _ = notice.Register[SeasonPrompt](notice.Kind{Name: "season_prompt", Purpose: notice.Answer, Alone: true})

// SeasonStarted says that a season has started.
type SeasonStarted struct {
	Number int    `json:"number"`
	Name   string `json:"name,omitempty"`
	Ended  int    `json:"ended"` // the number of the previous season
	// Before has the numbers of the matches that count and were reported since the button was
	// posted. They belong to the previous season, even if the button was pressed before they were
	// reported, because the messenger may deliver a press late.
	Before []int `json:"before,omitempty"`
}

var _ = notice.Register[SeasonStarted](notice.Kind{Name: "season_started", Purpose: notice.Outcome})

// KindSeason is the kind of the notice about the end of a season. The stored notice has no result,
// because the result is read when the message is sent, and again when the season is corrected.
const KindSeason = "season_ended"

// SeasonObject returns the string that identifies the message about the end of a season in its
// chat. If the message is in a topic, a colon and the topic's id follow in the store.
func SeasonObject(id ladder.SeasonID) string { return fmt.Sprintf("season:%d", id) }

// SeasonOfObject returns the season whose message the object identifies, 0 if it identifies no such
// message.
func SeasonOfObject(object string) (id ladder.SeasonID) {
	_, _ = fmt.Sscanf(object, "season:%d", &id)
	return id
}
