package ranking_test

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"elobot/internal/ladder"
	"elobot/internal/plainladder"
	"elobot/internal/postgres/pgstats"
	"elobot/internal/ranking"
	"elobot/internal/stats"
)

// TestAnySeasons checks that after each command of a random sequence, the ratings equal the
// reference calculation from the matches that count. At the end of the sequence, so do the tables
// of the seasons, and still do after all merges are split in random order. At first the group has
// one ladder. Later it has several ladders with topics, and finally seasons that end automatically
// or are ended by an admin. Some results arrive after the end of their season. Some players are
// guests. Files of results and start ratings are imported and taken back. In the end, an export of
// the group can be restored.
func TestAnySeasons(t *testing.T) {
	t.Parallel()
	g, other := newGame(t), newGame(t)
	countChanges(t, g)
	var groups, restored atomic.Int64
	rapid.Check(t, func(rt *rapid.T) {
		c := newSociety(t, rt, g, groups.Add(1)).newGroup()
		commands := map[string]func(*rapid.T){
			"":       func(*rapid.T) { c.compare() },
			"record": c.recordAny, "record too": c.recordAny, "undo": c.undoAny, "restore": c.restoreAny, "fix": c.fixAny,
			"show up": c.showUsername, "rules": c.changeRules, "merge": c.mergeAny, "split": c.splitAny,
			"join": c.joinAny, "leave": c.leaveAny, "remove": c.removeAny, "guest": c.addGuest,
			"import": c.importAny, "start ratings": c.importStarts, "undo import": c.undoImport,
		}
		rt.Repeat(commands)

		c.mustChange(ranking.ChangeLadder{Change: ranking.AddLadder, First: "chess", Name: "table tennis"}, 0, "")
		maps.Copy(commands, map[string]func(*rapid.T){
			"record more": c.recordAny, "record even more": c.recordAny, "move": c.moveAny, "move again": c.moveAny,
			"replace": c.replaceAny, "fix players": c.fixPlayersAny, "merge more": c.mergeAny, "join again": c.joinAny,
			"leave the group": c.leaveGroup, "ladder": c.changeLadders,
		})
		rt.Repeat(commands)

		for _, c.place.named = range c.ladders {
			seasons := rapid.SampledFrom([]string{ranking.Manual, ranking.Monthly, ranking.Monthly, ranking.Quarterly})
			c.choose(ranking.SettingSeasons, seasons.Draw(rt, "seasons"), 0)
			c.choose("halfway", rapid.SampledFrom([]string{ranking.On, ranking.Off}).Draw(rt, "halfway"), 0)
			c.choose(ranking.SettingPlace, rapid.SampledFrom([]string{"1", "5"}).Draw(rt, "place"), 0)
		}
		c.goHome()
		maps.Copy(commands, map[string]func(*rapid.T){
			"record much": c.recordAny, "show up too": c.showUsername,
			"season": c.startSeason, "season more": c.startSeason, "season again": c.startSeason,
			"wait": c.wait, "wait more": c.wait, "timers": c.fireTimers, "zone": c.changeZone,
		})
		for range 2 { // because there are so many commands
			rt.Repeat(commands)
		}
		c.compareMatches()
		c.compareTables()
		for range 2 { // the second time, the accounts are known
			other.mustRestore(t, c.game, c.chat, -ranking.ExternalChatID(restored.Add(1)))
		}
		for _, e := range rapid.Permutation(c.merged()).Draw(rt, "splits") {
			c.mustSplit(e)
			c.compare()
		}
		c.compareMatches()
		c.compareTables()
		if found := verify(t, g.store); len(found) > 0 {
			rt.Fatalf("verify finds %+v", found)
		}
	})
}

// maxSeasons is the number of seasons in a ladder at which admins stop starting new ones. More may
// begin automatically.
const maxSeasons = 3

// modelSeason is the expected state of a season.
type modelSeason struct {
	id           int64
	number       int
	name         string
	starts, ends time.Time // as in ranking.Season
	waits        bool      // a timer for its end is waiting
	placeMatches int       // matches needed for a place, set when the season ends
	halfway      bool      // the next season begins halfway, set when this one ends
	entries      map[*entity]entry
}

func newModelLadder(name string) *modelLadder {
	first := &modelSeason{number: 1, entries: make(map[*entity]entry)}
	return &modelLadder{name: name, rules: defaultRules, seasons: []*modelSeason{first}}
}

// season returns the current season.
func (l *modelLadder) season() *modelSeason { return l.seasons[len(l.seasons)-1] }

// seasonAt returns the season of a match that is played at an instant.
func (l *modelLadder) seasonAt(at time.Time) *modelSeason {
	of := l.seasons[0]
	for _, s := range l.seasons {
		if !at.Before(s.starts) {
			of = s
		}
	}
	return of
}

// endOfSeason returns the end of the month or quarter that contains at, or the zero Time if the
// ladder's seasons are manual.
func (c *modelGroup) endOfSeason(l *modelLadder, at time.Time) time.Time {
	months := l.rules.SeasonMonths
	if months == 0 {
		return time.Time{}
	}
	at = at.In(c.zone)
	end := time.Date(at.Year(), at.Month(), 1, 0, 0, 0, 0, c.zone)
	for !end.After(at) || (int(end.Month())-1)%months != 0 {
		end = time.Date(end.Year(), end.Month()+1, 1, 0, 0, 0, 0, c.zone)
	}
	return end
}

// reach advances a ladder to an instant, and reports whether that ends its season. If so, all
// players begin the next one. A season without matches, or in an archived ladder, gets a later end
// instead.
func (c *modelGroup) reach(l *modelLadder, at time.Time) bool {
	s := l.season()
	switch {
	case s.ends.IsZero() || at.Before(s.ends):
		return false
	case l.archived || len(c.playedIn(s)) == 0:
		s.ends = c.endOfSeason(l, at.Add(48*time.Hour))
		return false
	}
	s.waits = at.Before(s.ends.Add(time.Minute)) // the timer announces the end a minute after it
	c.newSeason(l, s.ends, at, "")
	return true
}

// newSeason ends the current season of a ladder and begins the next one, both at starts. now is the
// time of the command or timer that does so.
func (c *modelGroup) newSeason(l *modelLadder, starts, now time.Time, name string) {
	s := l.season()
	s.ends, s.placeMatches, s.halfway = starts, l.rules.PlaceMatches, l.rules.Halfway
	next := &modelSeason{number: s.number + 1, name: name, starts: starts, entries: make(map[*entity]entry)}
	least := starts.Add(48 * time.Hour)
	if now.Before(least) {
		now = least
	}
	next.ends = c.endOfSeason(l, now)
	next.waits = !next.ends.IsZero()
	standings := c.play(s).Standings
	for _, e := range c.inOrder(s) {
		c.entryCount++
		next.entries[e] = entry{
			order: c.entryCount, start: plainladder.Begin(standings[c.nameOf(e)], l.rules.Start, l.rules.Halfway),
		}
	}
	l.seasons = append(l.seasons, next)
}

// inOrder returns the players of the season in the order in which they entered it.
func (c *modelGroup) inOrder(s *modelSeason) []*entity {
	standings := c.standings(s)
	return slices.SortedFunc(maps.Keys(standings), func(a, b *entity) int {
		return cmp.Compare(standings[a].order, standings[b].order)
	})
}

// playedIn returns the players with a match that counts in a season.
func (c *modelGroup) playedIn(s *modelSeason) map[*entity]bool {
	played := make(map[*entity]bool)
	for _, m := range c.matches {
		for _, e := range m.players() {
			if m.season == s && !c.isUndone(m) {
				played[c.as(e)] = true
			}
		}
	}
	return played
}

// anyDate draws when the next message about a ladder was sent: now or, for a late one, at or one
// second before the end of a season.
func (c *modelGroup) anyDate(rt *rapid.T, l *modelLadder) time.Time {
	dates := []time.Time{c.now()}
	for _, s := range l.seasons {
		if !s.ends.IsZero() && !s.ends.After(c.now()) {
			dates = append(dates, s.ends.Add(-time.Second), s.ends)
		}
	}
	if len(dates) == 1 {
		return dates[0]
	}
	return rapid.SampledFrom(append(dates, c.now(), c.now(), c.now())).Draw(rt, "date")
}

// startSeason has an admin ask for a new season, and confirm it unless the bot refuses. It does
// nothing if the ladder already has maxSeasons.
func (c *modelGroup) startSeason(rt *rapid.T) {
	c.goAnywhere(rt)
	l, sender := c.applies(), c.anyPerson("admin")
	if len(l.seasons) >= maxSeasons {
		c.goHome()
		return
	}
	name := rapid.SampledFrom([]string{"", "Spring"}).Draw(rt, "season")
	c.showAccount(sender)
	asked := c.command(c.account(sender), func(o ranking.Origin) error {
		return c.Do(asAdmin(c.t), o, ranking.StartSeason{Name: name})
	})
	c.goHome()
	if !l.archived && len(c.playedIn(l.season())) > 0 {
		c.reach(l, c.now())
	}
	s := l.season()
	played := len(c.playedIn(s))
	switch {
	case l.archived:
		c.checkRefusal(asked, ranking.Refusal{Code: ranking.LadderArchived, Name: l.name})
		return
	case played == 0:
		c.checkRefusal(asked, ranking.Refusal{Code: ranking.SeasonEmpty})
		return
	}
	want := ranking.SeasonPrompt{
		Number: s.number, Ended: s.name, Name: name, Players: played,
		Start: l.rules.Start, Halfway: l.rules.Halfway,
	}
	if prompt, ok := asked.(ranking.SeasonPrompt); ok {
		want.Tag = prompt.Tag
	}
	if asked != ranking.Notice(want) {
		rt.Fatalf("a new season is answered with %+v, want %+v", asked, want)
	}
	o := c.press(c.account(sender))
	o.Pressed, o.Ladder = 5, ladder.ID(l.id)
	c.send(o, func(o ranking.Origin) error {
		return c.Do(asAdmin(c.t), o, ranking.StartSeason{Name: name, Tag: want.Tag})
	})
	started := ranking.SeasonStarted{Number: s.number + 1, Name: name, Ended: s.number}
	if diff := gocmp.Diff(ranking.Notice(started), c.answer(c.t, o.Key, "action = 'page'")); diff != "" {
		rt.Fatalf("a new season begins (-want +got):\n%s", diff)
	}
	s.waits = false
	c.newSeason(l, o.SentAt, o.SentAt, name)
}

// changeZone has an admin choose a time zone. In each of the possible zones, every day has exactly
// one midnight.
func (c *modelGroup) changeZone(rt *rapid.T) {
	zone := rapid.SampledFrom([]string{ranking.UTC, "Europe/Berlin", "America/New_York", "Asia/Tokyo"}).Draw(rt, "zone")
	sender := c.anyPerson("admin")
	c.showAccount(sender)
	o := c.press(c.account(sender))
	o.Pressed = 55
	c.send(o, func(o ranking.Origin) error { return c.Do(asAdmin(c.t), o, choice(ranking.SettingZone, zone)) })
	notice := c.answer(c.t, o.Key, toast)
	if zone == c.zone.String() {
		c.checkRefusal(notice, ranking.Refusal{Code: ranking.SameSetting})
		return
	}
	c.seen(sender)
	if n, ok := notice.(ranking.SettingChanged); !ok || n.Before != c.zone.String() || n.After != zone {
		rt.Fatalf("the zone %s is answered with %+v", zone, notice)
	}
	was := c.zone
	c.zone = ranking.Display{TimeZone: zone}.Zone()
	for _, l := range c.ladders {
		s := l.season()
		year, month, day := s.ends.In(was).Date()
		moved := time.Date(year, month, day, 0, 0, 0, 0, c.zone)
		if s.ends.After(o.SentAt) && moved.After(o.SentAt) && moved.After(s.starts) {
			s.ends = moved
		}
	}
}

// wait lets days pass if some ladder with automatic seasons has at most maxSeasons of them.
func (c *modelGroup) wait(rt *rapid.T) {
	days := rapid.SampledFrom([]int{1, 10, 30, 60}).Draw(rt, "days")
	for _, l := range c.ladders {
		if len(l.seasons) <= maxSeasons && l.rules.SeasonMonths > 0 {
			c.waited += time.Duration(days) * 24 * time.Hour
			return
		}
	}
}

// fireTimers fires the due timers of seasons.
func (c *modelGroup) fireTimers(*rapid.T) {
	now := c.now()
	due, err := c.DueTimers(c.t.Context(), ranking.Timer{}, 10_000)
	must(c.t, err)
	for _, timer := range due {
		if timer.Chat == c.chat && !timer.DueAt.After(now) && strings.HasPrefix(timer.Key, ranking.SeasonTimer) {
			must(c.t, c.FireTimer(c.t.Context(), timer))
		}
	}
	for _, l := range c.ladders {
		for _, s := range slices.Clone(l.seasons) {
			told := s.ends.Add(time.Minute)
			if !s.waits || told.After(now) {
				continue
			}
			if s != l.season() || c.reach(l, told) {
				s.waits = false
			}
		}
	}
}

// compareSeasons compares the stored seasons with the model, and reads the ids of new seasons.
func (c *modelGroup) compareSeasons() {
	type season struct {
		ID, Ladder   int64
		Number       int
		Name         string
		Starts, Ends time.Time
		Waits        bool
		PlaceMatches int
		Halfway      bool
	}
	stored := rows[season](c.t, c.game, `
		SELECT n.id, n.ladder_id, n.number, coalesce(n.name, ''), coalesce(n.starts_at, '0001-01-01Z'),
		       coalesce(n.ends_at, '0001-01-01Z'),
		       coalesce(t.due_at = n.ends_at + interval '1 minute', false),
		       coalesce(n.place_matches, 0), coalesce(n.halfway, false)
		FROM seasons n JOIN groups g ON g.id = n.group_id JOIN chats ch ON ch.id = g.chat_id
		LEFT JOIN timers t ON t.key = 't:season:' || n.ladder_id || ':' || n.id
		WHERE `+laddersOf+` ORDER BY n.ladder_id, n.number`, c.chat)
	var want []season
	for _, l := range c.ladders {
		for _, s := range l.seasons {
			if i := len(want); s.id == 0 && i < len(stored) {
				s.id = stored[i].ID
			}
			want = append(want, season{s.id, l.id, s.number, s.name, s.starts, s.ends, s.waits, s.placeMatches, s.halfway})
		}
	}
	if diff := gocmp.Diff(want, stored); diff != "" {
		c.rt.Fatalf("after %d commands the seasons differ (-model +stored):\n%s", c.commands, diff)
	}
}

// compareTables compares the tables of all seasons, and the players' achievements over all seasons,
// with the reference calculation.
func (c *modelGroup) compareTables() {
	store, who := pgstats.NewStore(c.pool, c.pool), make(map[ladder.PlayerID]string)
	for _, p := range rows[struct {
		ID  ladder.PlayerID
		Who string
	}](c.t, c.game, `SELECT id, `+byIdentity+` FROM players p`) {
		who[p.ID] = p.Who
	}
	best := func(r *stats.Record) plainladder.Best {
		if r == nil {
			return plainladder.Best{}
		}
		return plainladder.Best{Who: who[r.Name.Player], Value: r.Value}
	}
	for _, l := range c.ladders {
		var seasons []plainladder.Season
		for i, s := range l.seasons {
			played := c.play(s)
			season := plainladder.Season{
				Number: s.number, Over: s != l.season(), PlaceMatches: s.placeMatches, Upsets: played.Upsets, Left: c.absent(s),
			}
			for _, m := range c.order {
				season.Order = append(season.Order, slices.Index(c.matches, m)+1)
			}
			if !season.Over {
				season.PlaceMatches = l.rules.PlaceMatches
			}
			for _, e := range c.inOrder(s) {
				season.Standings = append(season.Standings, played.Standings[c.nameOf(e)])
			}
			seasons = append(seasons, season)
			begun := make(map[string]int) // start ratings of halfway starts
			if season.Over && s.halfway {
				for e, entry := range c.standings(l.seasons[i+1]) {
					begun[c.nameOf(e)] = entry.start
				}
			}
			n, err := store.Season(c.t.Context(), ladder.ID(l.id), s.number)
			must(c.t, err)
			got := plainladder.Table{Medals: n.HasMedals(), Played: best(n.Played), Streak: best(n.Streak)}
			for _, r := range n.Rows {
				row := plainladder.TableRow{
					Who: who[r.Name.Player], Place: r.Place, Elo: r.Elo, Won: r.Won, Drawn: r.Drawn, Lost: r.Lost,
				}
				got.Rows = append(got.Rows, row)
				if r.Next != begun[row.Who] {
					c.rt.Fatalf("in season %d of ladder %q, %s begins the next one with %d, want %d",
						s.number, l.name, row.Who, r.Next, begun[row.Who])
				}
			}
			if n.Upset != nil {
				got.Upset, got.By = n.Upset.Number, n.Upset.By
			}
			if diff := gocmp.Diff(season.Table(), got); diff != "" || n.Number != s.number || n.Over != season.Over {
				c.rt.Fatalf("the table of season %d of ladder %q (-model +shown):\n%s", s.number, l.name, diff)
			}
		}
		results, err := store.SeasonResults(c.t.Context(), ladder.ID(l.id))
		must(c.t, err)
		got := make(map[string]plainladder.Career)
		for _, r := range stats.AllSeasonsOf(results).Rows {
			w := who[r.Name.Player]
			got[w] = plainladder.Career{
				Who: w, Titles: r.Titles, Seasons: r.Seasons, Won: r.Won, Drawn: r.Drawn,
				Lost: r.Lost, Best: r.Best, BestIn: r.BestIn,
			}
		}
		if diff := gocmp.Diff(plainladder.Careers(seasons), got, cmpopts.EquateEmpty()); diff != "" {
			c.rt.Fatalf("all seasons of ladder %q (-model +shown):\n%s", l.name, diff)
		}
	}
}
