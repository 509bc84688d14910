package ranking_test

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"elobot/internal/command"
	"elobot/internal/ladder"
	"elobot/internal/postgres/pgstats"
	"elobot/internal/ranking"
	"elobot/internal/stats"
)

var (
	bobby = command.Person{ID: 71, Username: "bobby", Name: "Bobby"}
	ann   = command.Person{ID: 72, Username: "ann", Name: "Ann"}
)

// dayGroup is a group in which matches were played on several days before dayGroup.now.
type dayGroup struct {
	*game
	t    *testing.T
	chat ranking.Chat
	zone *time.Location
	now  time.Time
	keys int
}

// playedDays are the days of the matches in a dayGroup. Each day has two matches: Alice against
// Bobby, and Bobby against Ann.
var playedDays = []string{"2026-10-20", "2026-10-30", "2026-11-24", "2026-11-27", "2026-11-29", "2026-11-30"}

func (g *game) newDayGroup(t *testing.T, id ranking.ExternalChatID, setting string) *dayGroup {
	t.Helper()
	d := &dayGroup{game: g, t: t, chat: ranking.Chat{ID: id, Kind: ranking.Group, Title: "Days"}}
	d.now = time.Date(2026, time.November, 30, 17, 0, 0, 0, time.UTC)
	zone := "Europe/Berlin"
	if setting == "auckland" {
		zone = "Pacific/Auckland"
	}
	d.zone = ranking.Display{TimeZone: zone}.Zone()
	for i, day := range playedDays {
		at, err := time.ParseInLocation(time.DateTime, day+" 08:00:00", d.zone)
		must(t, err)
		first, second := 5-3*(i%2), 2+3*(i%2) // everybody wins and loses
		must(t, g.RecordMatch(t.Context(), d.at(&alice, at), singles(alice, bobby, first, second)))
		must(t, g.RecordMatch(t.Context(), d.at(&bobby, at.Add(time.Hour)), singles(bobby, ann, second, first)))
		if i == 0 {
			g.exec(t, `UPDATE chats SET time_zone = $2 WHERE telegram_chat_id = $1`, id, zone)
			g.exec(t, `UPDATE ladders SET k_factor = 200`) // so large that each match affects the later ones
			if setting == "friday" {
				must(t, g.Do(t.Context(), d.at(&command.Person{ID: 77, Name: "Friday"}, at), ranking.Join{}))
			}
		}
		if setting == "season" && day == "2026-11-29" {
			d.startSeason(time.Date(2026, time.November, 30, 0, 0, 0, 0, d.zone))
		}
	}
	return d
}

func (d *dayGroup) startSeason(at time.Time) {
	d.t.Helper()
	asked := d.at(&alice, at)
	must(d.t, d.Do(asAdmin(d.t), asked, ranking.StartSeason{}))
	o := d.at(&alice, at)
	o.Button, o.Pressed = o.Key, 5
	tag := d.notice(d.t, asked.Key).(ranking.SeasonPrompt).Tag
	must(d.t, d.Do(asAdmin(d.t), o, ranking.StartSeason{Tag: tag}))
}

func (d *dayGroup) at(sender *command.Person, at time.Time) ranking.Origin {
	d.keys++
	return ranking.Origin{
		Key: fmt.Sprintf("m:%d:%d", d.chat.ID, d.keys), Chat: d.chat, Sender: sender, SentAt: at,
		Place: ranking.Place{ReplyTo: 7, Thread: 8},
	}
}

var mention = regexp.MustCompile(`@\w+`)

// report has a person send a command, such as "/match @bobby 3:1", and returns the answer.
func (d *dayGroup) report(ctx context.Context, sender *command.Person, text string) ranking.Notice {
	d.t.Helper()
	var mentioned []command.Person
	for _, name := range mention.FindAllString(text, -1) {
		mentioned = append(mentioned, map[string]command.Person{"@bobby": bobby, "@ann": ann, "@alice": alice}[name])
	}
	name, args, _ := strings.Cut(mention.ReplaceAllString(text, "@"), " ")
	o := saying(d.at(sender, d.now), name[1:], args, mentioned...)
	o.Said.MayNameLadder = true
	must(d.t, d.Do(ctx, o, ranking.ReadReport{}))
	return d.notice(d.t, o.Key)
}

type dayMatch struct {
	Number, Season int
	PlayedAt       time.Time
	IsPlaced       bool // it has a position of its own
}

// ordered returns the matches of the group in the order of their replay.
func (d *dayGroup) ordered() []dayMatch {
	d.t.Helper()
	return rows[dayMatch](d.t, d.game, `
		SELECT m.number, n.number, m.played_at, m.position IS NOT NULL FROM matches m
		JOIN seasons n ON n.id = m.season_id JOIN groups g ON g.id = m.group_id JOIN chats ch ON ch.id = g.chat_id
		WHERE ch.telegram_chat_id = $1 ORDER BY coalesce(m.position, m.number::bigint << 32)`, d.chat.ID)
}

// ratings returns the ratings of a season, by name.
func (d *dayGroup) ratings(season int) map[string]int {
	d.t.Helper()
	all := make(map[string]int)
	for _, r := range rows[struct {
		Name string
		Elo  int
	}](d.t, d.game, `
		SELECT s.name, s.elo FROM group_players s JOIN seasons n ON n.id = s.season_id
		JOIN groups g ON g.id = n.group_id JOIN chats ch ON ch.id = g.chat_id
		WHERE ch.telegram_chat_id = $1 AND n.number = $2`, d.chat.ID, season) {
		all[r.Name] = r.Elo
	}
	return all
}

// TestMatchesOfOtherDays checks that each row of testdata/other_day.txt has its expected outcome
// when its command is sent in a group of its own. The outcome is the day of the recorded match, its
// place among the other matches, and what its card says. Afterward, all ratings equal their replay.
func TestMatchesOfOtherDays(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	table, err := os.ReadFile("testdata/other_day.txt")
	must(t, err)
	count := 0
	for line := range strings.Lines(string(table)) { //nolint:paralleltest // the groups share the game
		if strings.HasPrefix(line, "#") {
			continue
		}
		f := strings.Split(line, " | ")
		count++
		name, by, setting, text, outcome, day := f[0], f[1], f[2], f[3], f[4], f[5]
		t.Run(name+" "+text, func(t *testing.T) {
			d := g.newDayGroup(t, ranking.ExternalChatID(-5000-count), setting)
			ctx := t.Context()
			if by == "admin" {
				ctx = asAdmin(t)
			}
			before, old := d.ordered(), d.ratings(1)
			begun := d.ratings(2)
			said := d.report(ctx, &alice, text)
			after := d.ordered()
			if outcome == "REFUSED" || outcome == "ASKED" {
				d.checkUnrecorded(said, outcome, text, len(after)-len(before))
				return
			}
			card, ok := said.(ranking.MatchRecorded)
			if !ok || len(after) != len(before)+1 {
				t.Fatalf("%d matches, and the answer %+v", len(after)-len(before), said)
			}
			at := slices.IndexFunc(after, func(m dayMatch) bool { return m.Number == card.Number })
			got, date := after[at], after[at].PlayedAt.In(d.zone).Format(time.DateOnly)
			equal(t, "day", day, date)
			if outcome != "DAY" {
				isLast := got.PlayedAt.Equal(d.now) && at == len(before) && !got.IsPlaced
				if !isLast || card.Moved != 0 || card.Past != (outcome == "NOW") {
					t.Errorf("the match is %+v, after %d others, on the card %+v", got, at, card)
				}
				return
			}
			isEarlier := func(m dayMatch) bool { return m.PlayedAt.In(d.zone).Format(time.DateOnly) <= day }
			place := len(slices.DeleteFunc(slices.Clone(before), func(m dayMatch) bool { return !isEarlier(m) }))
			next, err := time.ParseInLocation(time.DateOnly, day, d.zone)
			must(t, err)
			next = next.AddDate(0, 0, 1).Add(-time.Microsecond)
			if at != place || !got.PlayedAt.Equal(next) || !got.IsPlaced {
				t.Errorf("the match is %+v, after %d others, want after %d, at %v", got, at, place, next)
			}
			others := 0
			for name, elo := range d.ratings(1) {
				isPlayer := slices.ContainsFunc(slices.Concat(card.Sides[0].Players, card.Sides[1].Players),
					func(p ranking.RatingChange) bool { return p.Name.Name == name })
				if elo != old[name] && !isPlayer {
					others++
				}
			}
			if card.Past || card.Celebration != nil || card.Day.In(d.zone).Format(time.DateOnly) != day || card.Moved != others {
				t.Errorf("the card is %+v; %d other ratings moved", card, others)
			}
			if setting == "season" && (got.Season != 1 || card.Season != 1) || setting == "base" && others == 0 {
				t.Errorf("the match is in season %d, on the card %d; %d other ratings moved", got.Season, card.Season, others)
			}
			equal(t, "ratings of the next season", begun, d.ratings(2))
		})
	}
	equal(t, "rows", 40, count)
}

func (d *dayGroup) checkUnrecorded(said ranking.Notice, outcome, text string, recorded int) {
	d.t.Helper()
	if recorded != 0 {
		d.t.Fatalf("recorded, and answered with %+v", said)
	}
	form, isRefused := said.(ranking.WrongForm)
	if prompt, asks := said.(ranking.ReportPrompt); outcome == "ASKED" {
		if !asks || len(prompt.Options) != 2 {
			d.t.Errorf("the answer is %+v", said)
		}
	} else if !isRefused || form.Detail == "" || !strings.HasSuffix(text, form.Detail) {
		d.t.Errorf("the answer is %+v", said)
	}
}

// TestFullGap checks that matches of another day are in the order of their reports, even if there
// are many. After about thirty of them, no position in the gap is free, so the earlier ones move.
func TestFullGap(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	d := g.newDayGroup(t, -5900, "base")
	for i := range 40 {
		pair := []command.Person{alice, bobby, ann}
		text := fmt.Sprintf("/match @alice @%s 3:%d yesterday", pair[1+i%2].Username, i%5)
		if _, ok := d.report(t.Context(), &alice, text).(ranking.MatchRecorded); !ok {
			// The bot asks first, so confirm the report.
			p := g.newestPrompt(t)
			o := d.at(&alice, d.now)
			o.Button, o.Pressed = o.Key, 5
			must(t, g.Do(t.Context(), o, ranking.PromptAnswer{Prompt: p, Option: ranking.Choice(0)}))
		}
	}
	var numbers, want []int
	for _, m := range d.ordered() {
		numbers = append(numbers, m.Number)
	}
	for n := range 10 {
		want = append(want, n+1)
	}
	for n := range 40 {
		want = append(want, n+13)
	}
	equal(t, "order", append(want, 11, 12), numbers)
}

// TestBeforeTheFirst checks that matches of another day that were played before all others of the
// ladder are in the order of their days.
func TestBeforeTheFirst(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	d := g.newDayGroup(t, -5905, "base")
	add := ranking.ChangeLadder{Change: ranking.AddLadder, First: "chess", Name: "padel"}
	must(t, g.Do(asAdmin(t), d.at(&alice, d.now), add))
	for _, day := range []string{"", "20.11.", "21.11.", "19.11."} {
		d.report(asAdmin(t), &alice, "/match padel @bobby 3:1 "+day)
	}
	var numbers []int
	for _, m := range d.ordered() {
		if m.Number > 12 { // the others are in the first ladder
			numbers = append(numbers, m.Number)
		}
	}
	equal(t, "order", []int{16, 14, 15, 13}, numbers)
}

// TestUndoOfOtherDay checks that the undo window of a match of another day begins with its report.
// Within the window, a reporter who did not play can undo the match, even with a bare /undo.
func TestUndoOfOtherDay(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	d := g.newDayGroup(t, -5901, "base")
	undo := func(sender *command.Person, after time.Duration, ref ranking.MatchRef) ranking.Notice {
		o := d.at(sender, d.now.Add(after))
		must(t, g.Do(t.Context(), o, ranking.UndoMatch{Amendment: ranking.Amendment{Match: ref}}))
		return g.notice(t, o.Key)
	}
	d.report(t.Context(), &carol, "/match @alice @bobby 3:1 yesterday")
	window := 24 * time.Hour
	checkNotice(t, undo(&alice, window+time.Second, ranking.MatchRef{Number: 13}),
		ranking.Refusal{Code: ranking.TooLate, Number: 13, Minutes: int(window / time.Minute)})
	n, ok := undo(&carol, window, ranking.MatchRef{}).(ranking.MatchUndone)
	if !ok || n.Number != 13 {
		t.Errorf("undone: %+v", n)
	}
}

// TestDuplicateOfOtherDay checks that a report about another day is compared only with the matches
// of that day, no matter how long ago they were reported.
func TestDuplicateOfOtherDay(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	d := g.newDayGroup(t, -5902, "base")
	g.Service = g.newServiceOn(g.store, ranking.Settings{AskUnusual: true})
	// Alice has reported this game of yesterday at 08:00, and the same result today.
	prompt, ok := d.report(t.Context(), &bobby, "/match @alice 2:5 yesterday").(ranking.ReportPrompt)
	if !ok || prompt.Doubt != ranking.DoubtDuplicate || prompt.Earlier.Number != 9 {
		t.Errorf("the same result is answered with %+v", prompt)
	}
	if _, ok := d.report(t.Context(), &bobby, "/match @alice 2:3 yesterday").(ranking.MatchRecorded); !ok {
		t.Error("another result is not recorded")
	}
	if n, ok := d.report(asAdmin(t), &bobby, "/match @alice 2:3 28.11.").(ranking.MatchRecorded); !ok {
		t.Errorf("the result on another day is answered with %+v", n)
	}
}

// TestOtherDayTooFarBack checks that a match of another day is refused if too many later matches
// would be replayed.
func TestOtherDayTooFarBack(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	d := g.newDayGroup(t, -5903, "base")
	g.Service = g.newServiceOn(g.store, ranking.Settings{LongestReplay: 3})
	checkNotice(t, d.report(asAdmin(t), &alice, "/match @bobby 3:1 27.11."),
		ranking.Refusal{Code: ranking.TooManyToReplay, Matches: 4})
	equal(t, "matches", 12, len(d.ordered()))
	if _, ok := d.report(asAdmin(t), &alice, "/match @bobby 3:2 yesterday").(ranking.MatchRecorded); !ok {
		t.Error("yesterday is too far back")
	}
}

// TestMoveOfOtherDay checks that when a match of another day is moved to another ladder, it follows
// the matches that were played before it, even if one of them has a higher number.
func TestMoveOfOtherDay(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	d := g.newDayGroup(t, -5904, "auckland")
	d.report(t.Context(), &alice, "/match @bobby 3:1 yesterday") // nothing is played later
	add := ranking.ChangeLadder{Change: ranking.AddLadder, First: "chess", Name: "padel"}
	must(t, g.Do(asAdmin(t), d.at(&alice, d.now), add))
	d.report(asAdmin(t), &alice, "/match padel @ann 3:1 28.11.")
	move := ranking.MoveMatch{Amendment: matchNumber(13), Name: "padel", Otherwise: ranking.Refusal{Code: "no_ladder"}}
	must(t, g.Do(asAdmin(t), d.at(&alice, d.now), move))
	var numbers []int
	for _, m := range d.ordered() {
		if m.Number > 12 { // the others are in the first ladder
			numbers = append(numbers, m.Number)
		}
	}
	equal(t, "order", []int{14, 13}, numbers)
}

// TestOtherDaysAtOnce checks that results of today and of yesterday that several instances record
// at once all count, in the order of their days.
func TestOtherDaysAtOnce(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	d := g.newDayGroup(t, -5906, "base")
	const workers, each = 3, 8
	var work errgroup.Group
	for n := range workers {
		service, origins := g.newInstance(), make([]ranking.Origin, each)
		for i := range origins {
			origins[i] = d.at(&alice, d.now.Add(time.Duration(n*each+i)*time.Second))
		}
		work.Go(func() error {
			for i, o := range origins {
				result := singles(alice, []command.Person{bobby, ann}[i%2], 3, i)
				result.When.Past = i%3 > 0 // yesterday
				if err := service.RecordMatch(t.Context(), o, result); err != nil {
					return err
				}
			}
			return nil
		})
	}
	must(t, work.Wait())
	all := d.ordered()
	equal(t, "matches", 12+workers*each, len(all))
	days := func(a, b dayMatch) int {
		return strings.Compare(a.PlayedAt.In(d.zone).Format(time.DateOnly), b.PlayedAt.In(d.zone).Format(time.DateOnly))
	}
	if !slices.IsSortedFunc(all, days) {
		t.Errorf("the order is %+v", all)
	}
	g.verifyClean(t)
}

// TestPagesOfOtherDays checks that /matches and /history show matches in the order of their days,
// on all pages, whatever their numbers.
func TestPagesOfOtherDays(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	d := g.newDayGroup(t, -5907, "base")
	for _, said := range []string{"@bobby 3:1 yesterday", "@ann 3:1 25.11.", "@bobby 3:2 24.11.", "@bobby 3:0 30.10."} {
		d.report(asAdmin(t), &alice, "/match "+said)
	}
	var all, ofAlice []int
	for _, m := range slices.Backward(d.ordered()) {
		if all = append(all, m.Number); m.Number%2 == 1 || m.Number > 12 {
			ofAlice = append(ofAlice, m.Number)
		}
	}
	in := rows1[ladder.ID](t, g, `
		SELECT l.id FROM ladders l JOIN groups g ON g.id = l.group_id JOIN chats c ON c.id = g.chat_id
		WHERE c.telegram_chat_id = $1`, d.chat.ID)[0]
	one := rows1[ladder.PlayerID](t, g, `SELECT id FROM players WHERE username = 'alice'`)[0]
	store := pgstats.NewStore(g.pool, g.pool)
	for player, want := range map[ladder.PlayerID][]int{0: all, one: ofAlice} {
		var numbers []int
		for at := (stats.Paging{}); ; {
			page, err := store.Matches(t.Context(), in, player, at)
			must(t, err)
			for _, r := range page.Rows {
				numbers = append(numbers, r.Number)
			}
			if !page.Older {
				break
			}
			last := page.Rows[len(page.Rows)-1]
			if at.Key = int64(last.Number); player != 0 {
				at.Key = int64(last.Match)
			}
		}
		equal(t, fmt.Sprintf("matches of player %d", player), want, numbers)
	}
}

// TestOtherDayOfClockChange checks when a match of a day counts on which the clocks changed, at
// night or at midnight.
func TestOtherDayOfClockChange(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	d := g.newDayGroup(t, -5908, "base")
	for _, tc := range []struct{ zone, now, want string }{
		{"Europe/Berlin", "2026-03-30T08:00:00Z", "2026-03-29T21:59:59.999999Z"},
		{"Europe/Berlin", "2026-10-26T08:00:00Z", "2026-10-25T22:59:59.999999Z"},
		{"America/Santiago", "2026-09-06T15:00:00Z", "2026-09-06T03:59:59.999999Z"}, // has no midnight afterward
		{"America/Santiago", "2026-09-07T15:00:00Z", "2026-09-07T02:59:59.999999Z"},
	} {
		g.exec(t, `UPDATE chats SET time_zone = $2 WHERE telegram_chat_id = $1`, d.chat.ID, tc.zone)
		var err error
		d.now, err = time.Parse(time.RFC3339, tc.now)
		must(t, err)
		card, ok := d.report(t.Context(), &alice, "/match @bobby 3:1 yesterday").(ranking.MatchRecorded)
		if got := card.Day.UTC().Format(time.RFC3339Nano); !ok || got != tc.want {
			t.Errorf("in %s, at %s, yesterday is %s, want %s", tc.zone, tc.now, got, tc.want)
		}
	}
	g.verifyClean(t)
}
