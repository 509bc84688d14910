package bot

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-telegram/bot/models"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"elobot/internal/botsim"
	"elobot/internal/command"
	"elobot/internal/intake"
	"elobot/internal/ladder"
	"elobot/internal/notice"
	"elobot/internal/ranking"
	"elobot/internal/stats"
	"elobot/internal/telegram"
)

// call is one call of the ranking service.
type call struct {
	method  string
	origin  ranking.Origin
	report  command.Match
	more    []command.Match // further matches of the message
	take    ranking.Amendment
	scores  []ladder.Score // of a fix
	setting ranking.ChangeSetting
	notice  notice.Notice
	who     command.Person // the person who left, or the opponent of a wizard

	malformed string // the malformed command that an answer is about
	ambiguous command.Report
	offer     int64 // message of the pressed button, for an accepted offer or a page

	from, to ranking.ExternalChatID // of MoveChat only
}

// String describes the call, leaving out most of its origin.
func (c call) String() string {
	switch c.method {
	case "match":
		all := []string{"match " + reported(c.report)}
		for _, r := range c.more {
			all = append(all, reported(r))
		}
		return strings.Join(all, " and ")
	case "ask":
		var readings []string
		for _, reading := range c.ambiguous.Readings {
			var all []string
			for _, r := range reading {
				all = append(all, reported(r))
			}
			readings = append(readings, strings.Join(all, " and "))
		}
		return fmt.Sprintf("ask %s %s: %s", c.ambiguous.Doubt, c.ambiguous.Word, strings.Join(readings, ", or "))
	case "wizard":
		return "wizard " + who(c.who)
	case "undo", "restore":
		return c.method + " " + which(c.take.Match)
	case "fix":
		return "fix " + which(c.take.Match) + " " + points(c.scores)
	case "accept":
		return fmt.Sprintf("fix %s %s in %d", which(c.take.Match), points(c.scores), c.offer)
	case "move":
		return fmt.Sprintf("move %d to %d", c.from, c.to)
	case "left":
		return "left " + who(c.who)
	case "setting":
		return fmt.Sprintf("setting %s to %s in %d", c.setting.Setting.Name, c.setting.Value, c.origin.Pressed)
	case "seen":
		return "seen " + team(c.origin.VisibleUsers)
	case "answer", "greet", "added", "page":
		payload, err := json.Marshal(c.notice)
		if err != nil {
			return err.Error()
		}
		return c.method + " " + notice.KindOf(c.notice).Name + " " + string(payload)
	default:
		return c.method
	}
}

func reported(r command.Match) string {
	return fmt.Sprintf("%s %s %s", team(r.A), team(r.B), points(r.Scores))
}

// points formats scores as in "3:1".
func points(scores []ladder.Score) string {
	var all []string
	for _, s := range scores {
		all = append(all, fmt.Sprintf("%d:%d", s.A, s.B))
	}
	return strings.Join(all, " ")
}

// which describes a match: "#42", "#42 Aa0_-zZ9" with the tag of a button, "message 7 or m:-100:7",
// or "last".
func which(ref ranking.MatchRef) string {
	switch {
	case ref == ranking.MatchRef{}:
		return "last"
	case ref.Message == 0 && ref.Key == "":
		return strings.TrimSpace(fmt.Sprintf("#%d %s", ref.Number, ref.Tag))
	default:
		return fmt.Sprintf("message %d or %s", ref.Message, ref.Key)
	}
}

// team lists the people of a side, joined by "+".
func team(people []command.Person) string {
	var all []string
	for _, p := range people {
		all = append(all, who(p))
	}
	return strings.Join(all, "+")
}

// who describes a person as "Name@username#id", without unknown parts, and with a "?" for a
// possible bot.
func who(p command.Person) string {
	s := strings.ReplaceAll(p.Name, " ", "_")
	if p.Username != "" {
		s += "@" + p.Username
	}
	if p.ID != 0 {
		s += fmt.Sprintf("#%d", p.ID)
	}
	if p.MayBeBot() {
		s += "?"
	}
	return s
}

// unsaid ignores the words of a command, because the calls of fakeRankings show how the words were
// understood.
var unsaid = cmpopts.IgnoreFields(ranking.Origin{}, "Said")

// fakeRankings records its calls, and returns err.
type fakeRankings struct {
	calls  []call
	err    error
	people []command.Person       // members of the group
	reads  int                    // number of reads of the people
	wizard *ranking.WizardRequest // the sender's open wizard
}

var _ Rankings = (*fakeRankings)(nil)

func (f *fakeRankings) add(c call) error {
	f.calls = append(f.calls, c)
	return f.err
}

// asked returns what a question gets from the service: the origin and, if the command may name
// players, the group's people.
func (f *fakeRankings) asked(o ranking.Origin) ranking.Asked {
	a := ranking.Asked{Origin: o}
	for _, p := range f.everybody(o) {
		a.Everybody = append(a.Everybody, ranking.Known{
			Player: &ranking.Player{ID: p.Player, UserID: p.ID, Username: p.Username, Name: p.Name},
			Former: p.Former, Left: p.Left,
		})
	}
	return a
}

// everybody returns the group's people if the command may name players, and otherwise nil.
func (f *fakeRankings) everybody(o ranking.Origin) []command.Person {
	if !o.Chat.IsGroup() || !o.Said.MayNamePlayers() {
		return nil
	}
	f.reads++
	return f.people
}

// Do records an operation as a call.
func (f *fakeRankings) Do(ctx context.Context, o ranking.Origin, op ranking.Operation) error {
	c := call{origin: o}
	switch op := op.(type) {
	case interface {
		Meant(command.Command) ranking.Operation
	}:
		return f.Do(ctx, o, op.Meant(o.Said))
	case ranking.Ask:
		return f.ask(o, op)
	case ranking.ReadReport:
		return f.report(o)
	case ranking.StartTeamWizard:
		players, err := command.ParsePlayers(o.Said, command.NewNames(f.everybody(o)))
		split, ok := ladder.SplitOf(op.Split, len(players))
		if err != nil || !ok {
			return f.Do(ctx, o, ranking.Say{Notice: ranking.Refusal{Code: ranking.UnknownButton}})
		}
		teams := ladder.Divide(split, players)
		c.method = "wizard " + team(teams[0]) + " " + team(teams[1])
	case ranking.ReplyToWizard:
		return f.replyToWizard(ctx, o, op)
	case ranking.Join:
		c.method = "join"
	case ranking.Rename:
		c.method = fmt.Sprintf("rename %d %q %t", op.Player, op.Nick, op.Off)
	case ranking.Leave:
		c.method = "leave"
	case ranking.UndoMatch:
		c.method, c.take = "undo", op.Amendment
	case ranking.RestoreMatch:
		c.method, c.take = "restore", op.Amendment
	case ranking.PromptAnswer:
		c.method = answered(o, op)
	case ranking.FixMatch:
		c.method, c.take, c.scores = "fix", op.Amendment, op.Scores
	case ranking.FixPlayers:
		return f.fixPlayers(ctx, o, op)
	case ranking.AcceptFix:
		c.method, c.take, c.scores, c.offer = "accept", op.Amendment, op.Scores, o.Pressed
	case ranking.Say:
		c = said(o, op)
	case ranking.Greet:
		c.method, c.notice = "greet", op.Greeting
	case ranking.ChangeBoard:
		c.method = "board " + string(op.Change)
	case ranking.ShowWeb:
		c.method = "web"
	case ranking.ShowSettings:
		c.method = strings.TrimSpace("settings " + op.Open)
	case ranking.ExportGroup:
		c.method = "export"
	case ranking.ShowImport:
		c.method = fmt.Sprintf("import, example %t", op.Example)
	case ranking.TakeBackImport:
		c.method = fmt.Sprintf("take back %v", op)
	case ranking.ReplyWithFile:
		c.method = fmt.Sprintf("file %v for %v", op.File, op.Prompt)
	case ranking.StartSeason:
		c.method = fmt.Sprintf("start season %q after %s", op.Name, op.Tag)
	case ranking.ChangeSetting:
		c.method, c.setting = "setting", op
	default:
		return fmt.Errorf("unknown operation %T", op)
	}
	return f.add(c)
}

// said describes an answer, or a page of help that replaces the message of the pressed button.
func said(o ranking.Origin, s ranking.Say) call {
	c := call{method: "answer", origin: o, notice: s.Notice, malformed: s.Malformed}
	if _, isHelp := s.Notice.(Help); isHelp && o.Pressed != 0 {
		c.method, c.offer = "page", o.Pressed
	}
	return c
}

// report records the content of a /match.
func (f *fakeRankings) report(o ranking.Origin) error {
	if o.Said.Args == "" && !o.Said.SaysWhoWon() {
		c := call{method: "wizard", origin: o}
		if to := o.Said.Reply; to != nil && to.ID != o.Said.Sender.ID {
			c.who = *to
		}
		return f.add(c)
	}
	r := ranking.ParseReport(o.Said, nil)
	if o.Chat.IsGroup() && o.Said.MayNamePlayers() && r.NeedsNames(o.Said) {
		r = ranking.ParseReport(o.Said, command.NewNames(f.everybody(o)))
	}
	switch {
	case r.Unscored != nil && o.Sender != nil:
		return f.add(call{method: "score " + team(r.Unscored.A) + " " + team(r.Unscored.B), origin: o})
	case r.Malformed != nil:
		return f.add(call{method: "answer", origin: o, notice: r.Malformed, malformed: "match"})
	case r.Ambiguous != nil:
		return f.add(call{method: "ask", origin: o, ambiguous: *r.Ambiguous})
	default:
		return f.add(call{method: "match", origin: o, report: r.Reports[0], more: r.Reports[1:]})
	}
}

func (f *fakeRankings) fixPlayers(ctx context.Context, o ranking.Origin, op ranking.FixPlayers) error {
	r := ranking.ParseReport(op.Lineup, command.NewNames(f.everybody(o)))
	players := "fix players " + which(op.Match) + " "
	switch {
	case r.Unscored != nil:
		return f.add(call{method: players + team(r.Unscored.A) + " " + team(r.Unscored.B), origin: o})
	case r.Malformed != nil && op.Ladder != "":
		return f.add(call{method: "move " + which(op.Match) + " to " + op.Ladder, origin: o})
	case r.Malformed != nil:
		form, _ := r.Malformed.(ranking.WrongForm)
		form.Command, form.Teams, form.Corrected = command.NameFix, false, ""
		return f.Do(ctx, o, ranking.Say{Notice: form, Malformed: command.NameFix})
	default:
		return f.add(call{method: players + reported(r.Reports[0]), origin: o})
	}
}

func (f *fakeRankings) replyToWizard(ctx context.Context, o ranking.Origin, op ranking.ReplyToWizard) error {
	if f.wizard == nil {
		return f.err
	}
	option, malformed := f.wizard.AnswerOf(o.Said, op.Offered, f.everybody(o))
	if malformed != nil {
		return f.Do(ctx, o, ranking.Say{Notice: malformed})
	}
	return f.Do(ctx, o, ranking.PromptAnswer{Option: option})
}

func (f *fakeRankings) ask(o ranking.Origin, ask ranking.Ask) error {
	asked := ask.Question
	if typed, ok := asked.(stats.Typed); ok {
		a := ranking.Asked{Origin: o}
		if typed.IsAbout(o.Said) {
			a = f.asked(o)
		}
		q, unclear := typed.Meant(a)
		if unclear != nil {
			return f.add(call{method: "answer", origin: o, notice: unclear})
		}
		asked = q
	}
	method := ""
	switch q := asked.(type) {
	case stats.PersonQuestion:
		about := "nobody"
		if len(q.Who) > 0 {
			about = team(q.Who)
		}
		return f.add(call{method: "standing of " + about, origin: o})
	case stats.PresentQuestion:
		return f.add(call{method: "ranking of " + team(q.Who), origin: o})
	case stats.HeadToHeadQuestion:
		return f.add(call{method: who(q.Two[0]) + " against " + who(q.Two[1]), origin: o})
	case stats.HistoryQuestion:
		method := "matches"
		if len(q.Who) > 0 {
			method = "history of " + team(q.Who)
		}
		return f.add(call{method: method + pageOf(q.At), origin: o})
	case stats.ChartQuestion:
		about := "chart of " + team(q.Who) + " in " + string(q.Period)
		return f.add(call{method: strings.TrimSuffix(about, " in month"), origin: o})
	case stats.OddsQuestion:
		return f.add(call{method: "odds " + team(q.Sides[0]) + " " + team(q.Sides[1]), origin: o})
	case stats.TeamsQuestion:
		if method = "teams " + team(q.Players); o.Pressed != 0 {
			method += fmt.Sprintf(" %d in %d", q.K, o.Pressed)
		}
		return f.add(call{method: method, origin: o})
	case stats.SameChartQuestion:
		return f.add(call{method: fmt.Sprintf("chart %+v in %d", q.Chart, o.Pressed), origin: o})
	case stats.PlayerChartQuestion:
		return f.add(call{method: fmt.Sprintf("post the chart of %d", q.Player), origin: o})
	case stats.RestQuestion:
		return f.add(call{method: "post the rest", origin: o})
	case stats.RankingQuestion:
		if method = rankingOf(q); o.Pressed != 0 {
			method += fmt.Sprintf(" for %d", q.Asker)
		}
	case stats.RecordsQuestion:
		if method = "records"; o.Pressed != 0 || q.Span == command.Month {
			method += fmt.Sprintf(" of the month %t", q.Span == command.Month)
		}
	case stats.PlayerQuestion:
		method = fmt.Sprintf("player %d", q.Player)
	case stats.AgainstSenderQuestion:
		method = fmt.Sprintf("against %d", q.Player)
	case stats.MatchesQuestion:
		switch method = "matches"; {
		case q.Player != 0:
			method = fmt.Sprintf("history of player %d%s", q.Player, pageOf(q.At))
		default:
			if method += pageOf(q.At); q.Span != "" {
				method += " of " + string(q.Span)
			}
		}
	case stats.GainQuestion:
		method = "gains since " + string(q.Span)
	case stats.SeasonQuestion:
		method = fmt.Sprintf("season %d", q.Number)
	case stats.StandingsQuestion:
		method = "me"
	default:
		return fmt.Errorf("unknown question %T", q)
	}
	if o.Pressed != 0 {
		method += fmt.Sprintf(" in %d", o.Pressed)
	}
	return f.add(call{method: method, origin: o})
}

// pageOf describes a page of matches. It returns an empty string for the first page.
func pageOf(at stats.Paging) string {
	switch {
	case at.Page > 0:
		return fmt.Sprintf(" page %d", at.Page)
	case at.Key == 0:
		return ""
	case at.Newer:
		return fmt.Sprintf(" before %d", at.Key)
	default:
		return fmt.Sprintf(" after %d", at.Key)
	}
}

func rankingOf(q stats.RankingQuestion) string {
	s := "ranking"
	switch {
	case q.Places > 0:
		s = fmt.Sprintf("top %d", q.Places)
	case q.Page != 1:
		s = fmt.Sprintf("ranking page %d", q.Page)
	}
	if q.All {
		s += " of all"
	}
	return s
}

func answered(o ranking.Origin, a ranking.PromptAnswer) string {
	method := fmt.Sprintf("prompt %d %s %T %v in %d", a.Prompt.ID, a.Prompt.Tag, a.Option, a.Option, o.Pressed)
	switch typed := a.Option.(type) {
	case command.Person:
		method = "typed against " + who(typed)
	case ranking.UnclearOpponent:
		method = fmt.Sprintf("typed %s %s:", typed.Doubt, typed.Word)
		for _, p := range typed.People {
			method += " " + who(p)
		}
		if s := typed.Score; s != nil {
			method += fmt.Sprintf(" %d:%d", s.A, s.B)
		}
	case command.Reading:
		method = "typed " + reported(typed[0])
	}
	return method
}

func (f *fakeRankings) BotAdded(_ context.Context, o ranking.Origin, n notice.Notice) error {
	return f.add(call{method: "added", origin: o, notice: n})
}

func (f *fakeRankings) BotBack(_ context.Context, o ranking.Origin) error {
	return f.add(call{method: "back", origin: o})
}

func (f *fakeRankings) BotRemoved(_ context.Context, o ranking.Origin) error {
	return f.add(call{method: "removed", origin: o})
}

func (f *fakeRankings) Renamed(_ context.Context, o ranking.Origin) error {
	return f.add(call{method: "renamed", origin: o})
}

func (f *fakeRankings) MembersSeen(_ context.Context, o ranking.Origin) error {
	return f.add(call{method: "seen", origin: o})
}

func (f *fakeRankings) MemberLeft(_ context.Context, o ranking.Origin, who command.Person) error {
	return f.add(call{method: "left", origin: o, who: who})
}

func (f *fakeRankings) MoveChat(_ context.Context, from, to ranking.ExternalChatID) error {
	return f.add(call{method: "move", from: from, to: to})
}

// world is a simulator with users, a group, and a router for its updates.
type world struct {
	t                 *testing.T
	sim               *botsim.Server
	client            *telegram.Client
	rankings          *fakeRankings
	router            *Router
	offset            int64
	alice, bob, carol botsim.User // with the ids 1001, 1002 and 1003
	nameless          botsim.User // with the id 1004, "Dan 2", without a username
	group             *botsim.Chat
}

var worldTime = time.Date(2026, 5, 4, 12, 30, 15, 0, time.UTC)

func newWorld(t *testing.T) *world {
	t.Helper()
	sim, client := startSimulator(t, botsim.WithClock(func() time.Time { return worldTime }))
	w := &world{t: t, sim: sim, client: client, rankings: &fakeRankings{}}
	w.router = NewRouter(w.rankings, selfOf(sim))
	w.alice, w.bob, w.carol, w.nameless = sim.User("alice"), sim.User("bob"), sim.User("carol"), sim.User("Dan 2")
	w.group = sim.Group("Table tennis", w.alice, w.bob, w.carol, w.nameless)
	return w
}

func newRouter(rankings Rankings) *Router {
	return NewRouter(rankings, telegram.Self{ID: 7000000001, Username: "elo_bot"})
}

// decoded returns an update in the form in which intake passes it on.
func decoded(u intake.Update) intake.Update {
	read, _ := ReadUpdate(u.Raw)
	u.Content = read.Content
	return u
}

// checkUnchanged checks that handling did not modify the update, which a second attempt would get
// again.
func checkUnchanged(t *testing.T, u intake.Update) {
	t.Helper()
	if !reflect.DeepEqual(u.Content, decoded(u).Content) {
		t.Errorf("the router has changed %s", u.Raw)
	}
}

// fetch returns the new updates and confirms the earlier ones.
func (w *world) fetch() []intake.Update {
	w.t.Helper()
	updates, err := w.client.Updates(testContext(w.t), w.offset, 0, ReadUpdate)
	if err != nil {
		w.t.Fatalf("get updates: %v", err)
	}
	for i, u := range updates {
		w.offset = u.ID + 1
		if u.SentAt.IsZero() {
			updates[i].SentAt = worldTime.Add(time.Minute)
		}
	}
	return updates
}

// handle passes all new updates to the router, and returns the service calls.
func (w *world) handle() []call {
	w.t.Helper()
	before := len(w.rankings.calls)
	updates := w.fetch()
	if len(updates) == 0 {
		w.t.Fatal("no update came")
	}
	for _, u := range updates {
		if err := w.router.Handle(testContext(w.t), u); err != nil {
			w.t.Fatalf("handle %s: %v", u.Raw, err)
		}
		checkUnchanged(w.t, u)
	}
	return w.rankings.calls[before:]
}

// expect handles all new updates and returns the resulting service calls. It fails the test unless
// the calls, as text, equal want.
func (w *world) expect(what string, want ...string) []call {
	w.t.Helper()
	calls := w.handle()
	if got := texts(calls); !slices.Equal(got, want) {
		w.t.Fatalf("%s: got %q, want %q", what, got, want)
	}
	return calls
}

const ignored = "" // no call at all

func none(want string) []string {
	if want == ignored {
		return nil
	}
	return []string{want}
}

func TestCommandsInAGroup(t *testing.T) {
	t.Parallel()
	unexpected := func(name, word string) string {
		return fmt.Sprintf(`answer wrong_form {"command":%q,"reason":"unexpected_word","detail":%q}`, name, word)
	}
	noSpan := func(name, span string) string {
		return fmt.Sprintf(`answer wrong_form {"command":%q,"reason":"span","detail":%q}`, name, span)
	}
	for text, want := range map[string]string{
		"/match @bob 3:1":           "match Alice@alice#1001 @bob 3:1",
		"/match @alice @bob 3:1":    "match Alice@alice#1001 @bob 3:1",
		"/match @ALICE @Bob 3 1":    "match Alice@alice#1001 @Bob 3:1",
		"/match @bob @carol 3-1":    "match @bob @carol 3:1",
		"/match @bob @alice 1:3":    "match @bob Alice@alice#1001 1:3",
		"/Match@ELO_bot @bob 0:0":   "match Alice@alice#1001 @bob 0:0",
		"/MATCH @bob 999:0":         "match Alice@alice#1001 @bob 999:0",
		"/match 3:1 @bob":           "match Alice@alice#1001 @bob 3:1",
		"/match\n@bob\n3:1":         "match Alice@alice#1001 @bob 3:1",
		"/match @scorebot 3:1":      "match Alice@alice#1001 @scorebot? 3:1",
		"/match @Talbot @bob 3:1":   "match @Talbot? @bob 3:1",
		"/match@other_bot @bob 3:1": ignored,
		"3:1":                       ignored,
		"@bob 3:1":                  ignored,
		"I said /match @bob 3:1":    ignored,
		"match @bob 3:1":            ignored,
		"hello":                     ignored,
		"//match @bob 3:1":          ignored,

		"/match [Dan 2](tg://user?id=1004) 3:1":      "match Alice@alice#1001 Dan_2#1004 3:1",
		"/match [Dan 2](tg://user?id=1004) @bob 3:1": "match Dan_2#1004 @bob 3:1",
		"/match 😀 [Dan 2](tg://user?id=1004) 3:1":    "match Alice@alice#1001 Dan_2#1004 3:1",
		"/match [🏓🏓 2](tg://user?id=1004) @bob 3:1":  "match Dan_2#1004 @bob 3:1",
		"/match [Ally](tg://user?id=1001) 3:1":       `answer wrong_form {"command":"match","reason":"only_yourself"}`,
		"/match":                                     "wizard ",
		"/match@elo_bot":                             "wizard ",
		"/undo match 42":                             `answer wrong_form {"command":"undo","reason":"unexpected_word","detail":"match","corrected":"/undo 42"}`,
		"/match @bob":                                "score Alice@alice#1001 @bob",
		"/match @bob @carol":                         "score @bob @carol",
		"/won @bob":                                  "match Alice@alice#1001 @bob 0:-1",
		"/win @bob 3:1":                              "match Alice@alice#1001 @bob 3:1",
		"/lose @bob":                                 "match Alice@alice#1001 @bob -1:0",
		"/draw @bob":                                 "match Alice@alice#1001 @bob -1:-1",
		"/match @bob won":                            "match Alice@alice#1001 @bob -1:0",
		"/match @bob 1/2":                            "ask half : Alice@alice#1001 @bob 1:2, or Alice@alice#1001 @bob 1000:1000",
		"/won":                                       `answer wrong_form {"command":"match","reason":"empty"}`,
		"/result":                                    "wizard ",
		"/game @bob 3:1":                             "match Alice@alice#1001 @bob 3:1",
		"/undo2":                                     "undo #2",
		"/fix42 3:2":                                 "fix #42 3:2",
		"/match3:1 @bob":                             "match Alice@alice#1001 @bob 3:1",
		"/match 3:1":                                 `answer wrong_form {"command":"match","reason":"no_opponent"}`,
		"/match @alice 3:1":                          `answer wrong_form {"command":"match","reason":"only_yourself"}`,
		"/match @elo_bot 3:1":                        `answer wrong_form {"command":"match","reason":"bot","detail":"@elo_bot"}`,
		"/match @a @b 3:1":                           `answer wrong_form {"command":"match","reason":"unknown_mention","detail":"@a"}`,
		"/match @GroupAnonymousBot @bob 3:1":         `answer wrong_form {"command":"match","reason":"bot","detail":"@GroupAnonymousBot"}`,
		"/match @bob Versus. @carol":                 "score @bob @carol",
		"/match @alice @bob @carol":                  `answer wrong_form {"command":"match","reason":"no_versus","teams":true}`,
		"/match @alice @bob @carol 3:x":              `answer wrong_form {"command":"match","reason":"unexpected_word","detail":"3:x","teams":true}`,
		"/match @ab v 3:1":                           `answer wrong_form {"command":"match","reason":"unknown_mention","detail":"@ab","teams":true}`,
		"/match @alice & @bob near":                  `answer wrong_form {"command":"match","reason":"unexpected_word","detail":"near"}`,

		"/ranking": "ranking", "/top": "ranking", "/leaderboard": "ranking", "/TOP@elo_bot": "ranking",
		"/ranking of all": "ranking of all", "/ranking@other_bot": ignored, "/top@other_bot": ignored,
		"/join": "join", "/leave": "leave", "/Join@Elo_Bot": "join", "/join@other_bot": ignored,
		"/top10": "ranking", "/lb": "ranking", "/table": "ranking", "/rank": "ranking", "/elo": "ranking",
		"/top 3": "top 3", "/TOP@elo_bot 3": "top 3", "/top 0": "ranking", "/top 2 3": unexpected("ranking", "2 3"), "/top -1": unexpected("ranking", "-1"), "/top3": "top 3", "/top10 3": "ranking page 3",
		"/ranking 2": "ranking page 2", "/leaderboard 2": "ranking page 2", "/lb #2": "ranking page 2", "/ranking 0": "ranking",
		"/ranking 99999999999999999999": unexpected("ranking", "99999999999999999999"), "/ranking month": "gains since month", "/top abc": `answer unclear_people {"reason":"unknown_name","command":"ranking","word":"abc"}`,
		"/ranking all": "ranking of all", "/ranking ALL 2": "ranking page 2 of all", "/leaderboard 2 alle": "ranking page 2 of all",
		"/top 3 todos": "top 3 of all", "/top все": "ranking of all", "/ranking усі": "ranking of all", "/ranking 2 0": unexpected("ranking", "2 0"),
		"/ranking today": "gains since today", "/ranking diese Woche": "gains since week", "/ranking 2025": "season 2025", "/ranking 999": "ranking page 999",
		"/top 2025": "top 2025", "/ranking all 2025": "ranking page 2025 of all", "/ranking year": noSpan("ranking", "year"), "/ranking last week": noSpan("ranking", "last week"),
		"/ranking @bob week": noSpan("ranking", "week"), "/stats today": noSpan("stats", "today"), "/me week": noSpan("stats", "week"), "/history Monat": noSpan("history", "Monat"), "/h2h @bob year": noSpan("h2h", "year"),
		"/matches today": "matches of today", "/matches esta semana": "matches of week", "/matches year": noSpan("matches", "year"), "/matches all": "matches of all",
		"/chart year": "chart of  in year", "/chart this month": "chart of ", "/chart alles": "chart of  in all",
		"/chart week":           noSpan("chart", "week"),
		"/chart @bob last year": noSpan("chart", "last year"), "/chart letztes Jahr": noSpan("chart", "letztes Jahr"),
		"/matches last week":      noSpan("matches", "last week"),
		"/chart @bob @carol Jahr": "chart of @bob+@carol in year", "/records week": unexpected("records", "week"), "/records month 2": unexpected("records", "month"),
		"/matches": "matches", "/matches 2": "matches page 2", "/matches2": "matches page 2", "/matches @bob": "history of @bob",
		"/matches 2 3": unexpected("matches", "2"), "/history 2": "history of Alice@alice#1001 page 2", "/history @bob 2": "history of @bob",
		"/settings": "settings", "/settings k 24": "setting k to 24 in 0", "/settings K 20": "settings k",
		"/settings margin ON": "setting margin to on in 0", "/language pt-br": "setting language to pt-BR in 0", "/language German": "setting language to de in 0",
		"/settings language Українська": "setting language to uk in 0", "/settings zone Berlin": "setting zone to Europe/Berlin in 0", "/language": "settings language",
		"/settings k": unexpected("settings", "k"), "/settings k 24 now": unexpected("settings", "k 24 now"), "/settings @bob": unexpected("settings", "@bob"),
		"/settings zone Europe/Berlin": "setting zone to Europe/Berlin in 0", "/settings zone europe/BERLIN": "setting zone to Europe/Berlin in 0",
		"/settings Zone America/New York": "setting zone to America/New_York in 0", "/settings zone utc": "setting zone to UTC in 0",
		"/settings zone america/port-au-prince": "setting zone to America/Port-au-Prince in 0", "/settings zone Etc/GMT+3": "setting zone to Etc/GMT+3 in 0",
		"/settings zone Asia/Kathmandu": "setting zone to Asia/Kathmandu in 0", "/settings zone Istanbul": `answer refusal {"code":"unknown_zone","name":"Istanbul"}`,
		"/settings zone Local":                `answer refusal {"code":"unknown_zone","name":"Local"}`,
		"/settings zone ../../etc/localtime":  `answer refusal {"code":"unknown_zone","name":"../../etc/localtime"}`,
		"/settings zone Europe/Berlin please": `answer refusal {"code":"unknown_zone","name":"Europe/Berlin please"}`, "/settings zone": unexpected("settings", "zone"),
		"/elo @bob": "standing of @bob", "/ranking @bob @carol": "ranking of @bob+@carol",
		"/elo [Dan 2](tg://user?id=1004)": "standing of Dan_2#1004", "/ranking of @bob 3": "standing of @bob",
		"/me bob": `answer unclear_people {"reason":"unknown_name","command":"stats","word":"bob"}`,
		"/rating": "standing of Alice@alice#1001", "/profile": "standing of Alice@alice#1001", "/me 3": unexpected("stats", "3"), "/rating @bob": "standing of @bob", "/profile @bob!": "standing of @bob",
		"/me [Dan 2](tg://user?id=1004)": "standing of Dan_2#1004",
		"/me":                            "standing of Alice@alice#1001", "/Me@elo_bot": "standing of Alice@alice#1001", "/me of all": `answer unclear_people {"reason":"unknown_name","command":"stats","word":"all"}`, "/me@other_bot": ignored,
		"/stats": "standing of Alice@alice#1001", "/stats @bob": "standing of @bob", "/stats me": "standing of Alice@alice#1001", "/stats@other_bot": ignored,
		"/stats @bob @carol": `answer unclear_people {"reason":"too_many","command":"stats"}`, "/vs @bob": "Alice@alice#1001 against @bob",
		"/h2h": `answer unclear_people {"reason":"nobody","command":"h2h"}`, "/h2h @bob": "Alice@alice#1001 against @bob",
		"/h2h @bob vs @carol": "@bob against @carol", "/h2h @bob me": "@bob against Alice@alice#1001",
		"/h2h @bob @carol @dan": `answer unclear_people {"reason":"too_many","command":"h2h"}`,
		"/h2h help":             `answer help {"topic":"h2h"}`, "/records": "records", "/records month": "records of the month true", "/records Monat": "records of the month true",
		"/records all": "records", "/records @bob": unexpected("records", "@bob"), "/records year": unexpected("records", "year"), "/records help": `answer help {"topic":"records"}`, "/records@other_bot": ignored,
		"/start": "greet greeting {}", "/start@elo_bot": "greet greeting {}", "/START true": "greet greeting {}",
		"/start help": "greet greeting {}", "/start@other_bot": ignored,

		"/help": "answer help {}", "/HELP@elo_bot": "answer help {}", "/help me please": "answer help {}", "/help help": "answer help {}",
		"/help match": `answer help {"topic":"match"}`, "/help /match": `answer help {"topic":"match"}`,
		"/help MATCH": `answer help {"topic":"match"}`, "/help ranking": `answer help {"topic":"ranking"}`,
		"/help me": `answer help {"topic":"stats"}`, "/me help": `answer help {"topic":"stats"}`,
		"/help join": `answer help {"topic":"join"}`, "/help top": `answer help {"topic":"ranking"}`, "/help@other_bot match": ignored,
		"/match help": `answer help {"topic":"match"}`, "/match HELP": `answer help {"topic":"match"}`,
		"/match@elo_bot help": `answer help {"topic":"match"}`, "/ranking help": `answer help {"topic":"ranking"}`,
		"/top help": `answer help {"topic":"ranking"}`, "/join help": `answer help {"topic":"join"}`,
		"/match@other_bot help": ignored,

		"/nick": `rename 0 "" false`, "/nick Big\tBob": `rename 0 "Big Bob" false`, "/nick “Бобби”": `rename 0 "Бобби" false`,
		"/nick off": `rename 0 "" true`, "/nick Aus": `rename 0 "" true`, "/ник нет": `rename 0 "" true`,
		"/nickname \u202eBob": `rename 0 "Bob" false`, "/nick @bob": `answer help {"topic":"nick"}`, "/nick help": `answer help {"topic":"nick"}`,

		"/unknown": ignored, "/unknown@elo_bot": "answer unknown_command {}", "/unknown help": ignored, "/matchdays @bob 3:1": ignored,
		"/match robert 3:1": "ask unknown_name robert: Alice@alice#1001 robert 3:1", // nobody plays yet

		"/match @bob 11:7 9:11 11:5":                                 "match Alice@alice#1001 @bob 11:7 9:11 11:5",
		"/match @carol @bob 11-7, 9-11, 11-5":                        "match @carol @bob 11:7 9:11 11:5",
		"/match @alice @bob vs @carol [Dan](tg://user?id=1004) 10:8": "match Alice@alice#1001+@bob @carol+Dan_2#1004 10:8",
		"/match @alice vs @bob @carol 10:8":                          "match Alice@alice#1001 @bob+@carol 10:8",
		"/match @alice & @bob vs @carol and @dave 10:8":              "match Alice@alice#1001+@bob @carol+@dave 10:8",
		"/match vs @bob 2:1":                                         "match Alice@alice#1001 @bob 2:1",
		"/match @bob @scorebot V @carol @Talbot 11:7 11:9":           "match @bob+@scorebot? @carol+@Talbot? 11:7 11:9",
		"/match @alice @bob @carol 10:8":                             `answer wrong_form {"command":"match","reason":"no_versus","teams":true}`,
		"/match @alice vs 10:8":                                      `answer wrong_form {"command":"match","reason":"empty_side","teams":true}`,
		"/match @alice @bob vs @carol @alice 10:8":                   `answer wrong_form {"command":"match","reason":"same_person","detail":"@alice","teams":true}`,
		"/match @bob 11 7 9 11":                                      `answer wrong_form {"command":"match","reason":"several_scores","detail":"9"}`,

		"/undo": "undo last", "/Undo@ELO_bot": "undo last", "/undo@other_bot": ignored, "/undo@other_bot 42": ignored,
		"/undo 42": "undo #42", "/undo #42": "undo #42", "/undo@elo_bot 42": "undo #42", "/undo 999999999": "undo #999999999",
		"/undo 42 43":                 `answer wrong_form {"command":"undo","reason":"unexpected_word","detail":"43"}`,
		"/undo @bob":                  `answer wrong_form {"command":"undo","reason":"unexpected_word","detail":"@bob"}`,
		"/undo 0":                     `answer wrong_form {"command":"undo","reason":"no_such_number","detail":"0"}`,
		"/undo last":                  `answer wrong_form {"command":"undo","reason":"unexpected_word","detail":"last"}`,
		"/undo help":                  `answer help {"topic":"undo"}`,
		"/help undo":                  `answer help {"topic":"undo"}`,
		"I said /undo":                ignored,
		"/undone":                     ignored,
		"/fix 42 3:2":                 "fix #42 3:2",
		"/fix #42 3 2":                "fix #42 3:2",
		"/fix 3:2":                    "fix last 3:2",
		"/FIX 7 2-2":                  "fix #7 2:2",
		"/fix 11:7 5:9":               "fix last 11:7 5:9",
		"/fix 42 11:7 9:11 11:5":      "fix #42 11:7 9:11 11:5",
		"/fix@other_bot 3:2":          ignored,
		"/fix":                        "fix last ",
		"/fix 13 :3":                  `answer wrong_form {"command":"fix","reason":"incomplete_score","detail":"3"}`,
		"/fix 42":                     `answer wrong_form {"command":"fix","reason":"no_score"}`,
		"/fix @bob 3:2":               "fix players last Alice@alice#1001 @bob 3:2",
		"/fix 42 @bob @carol":         "fix players #42 @bob @carol",
		"/fix #42 @carol vs @bob 1:3": "fix players #42 @carol @bob 1:3", "/fix 42 @alice @bob vs @carol @dan": "fix players #42 Alice@alice#1001+@bob @carol+@dan",
		"/fix 42 padel":            "move #42 to padel",
		"/fix 42, @bob and @carol": "fix players #42 @bob @carol", "/fix @bob 42 @carol": `answer wrong_form {"command":"fix","reason":"incomplete_score","detail":"42"}`,
		"/fix help":  `answer help {"topic":"fix"}`,
		"/help /fix": `answer help {"topic":"fix"}`,
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.group.Say(w.alice, text)
			w.expect(text, none(want)...)
		})
	}
}

func TestCommandsInAPrivateChat(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"/start":           `answer greeting {"private":true}`,
		"/start group":     `answer greeting {"private":true}`,
		"/start file":      `answer greeting {"private":true,"for_file":true}`,
		"/help":            `answer help {"private":true}`,
		"/help match":      `answer help {"topic":"match","private":true}`,
		"/match help":      `answer help {"topic":"match","private":true}`,
		"/top help":        `answer help {"topic":"ranking","private":true}`,
		"/match":           `answer group_only {"command":"match"}`,
		"/match @bob 3:1":  `answer group_only {"command":"match"}`,
		"/ranking":         `answer group_only {"command":"ranking"}`,
		"/leaderboard":     `answer group_only {"command":"ranking"}`,
		"/join":            `answer group_only {"command":"join"}`,
		"/me":              "me",
		"/rating":          "me",
		"/me 3":            `answer group_only {"command":"stats @bobby"}`,
		"/me @bob":         `answer group_only {"command":"stats @bobby"}`,
		"/stats today":     `answer group_only {"command":"stats @bobby"}`,
		"/stats 27.11.":    `answer group_only {"command":"stats @bobby"}`,
		"/stats 2025":      `answer group_only {"command":"stats @bobby"}`,
		"/me help":         `answer help {"topic":"stats","private":true}`,
		"/stats":           "me",
		"/stats bob":       `answer group_only {"command":"stats @bobby"}`,
		"/h2h @bob":        `answer group_only {"command":"h2h"}`,
		"/records":         `answer group_only {"command":"records"}`,
		"/unknown":         "answer unknown_command {}",
		"/unknown help":    "answer unknown_command {}",
		"/start@other_bot": `answer greeting {"private":true}`,
		"hello":            `answer greeting {"private":true}`,
		"3:1":              `answer greeting {"private":true}`,
		"/undo":            `answer group_only {"command":"undo"}`,
		"/undo 42":         `answer group_only {"command":"undo"}`,
		"/undo x":          `answer group_only {"command":"undo"}`,
		"/fix 42 3:2":      `answer group_only {"command":"fix"}`,
		"/fix":             `answer group_only {"command":"fix"}`,
		"/restore 42":      `answer group_only {"command":"restore"}`,
		"/undo help":       `answer help {"topic":"undo","private":true}`,
		"/fix help":        `answer help {"topic":"fix","private":true}`,
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.sim.Private(w.alice).Say(w.alice, text)
			w.expect(text, none(want)...)
		})
	}
}

func TestOrigin(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	alice := command.Person{ID: 1001, Username: "alice", Name: "Alice"}
	check := func(what string, want ranking.Origin) {
		t.Helper()
		calls := w.handle()
		if len(calls) != 1 {
			t.Fatalf("%s: %d calls", what, len(calls))
		}
		if want.Update = calls[0].origin.Update; want.Update == 0 {
			t.Errorf("%s: the origin says no update", what)
		}
		if diff := cmp.Diff(want, calls[0].origin, unsaid); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
	}
	chat := func(c *botsim.Chat, title string) ranking.Chat {
		return ranking.Chat{ID: ranking.ExternalChatID(c.ID()),
			Kind: ranking.ChatKind(c.Kind()), Title: title, Language: "en"}
	}

	m := w.group.Say(w.alice, "/ranking")
	check("supergroup", ranking.Origin{
		Logged: ranking.Logged{Command: "ranking"}, Place: ranking.Place{ReplyTo: int64(m.ID)},

		Key: fmt.Sprintf("m:%d:%d", w.group.ID(), m.ID), Chat: chat(w.group, "Table tennis"), Sender: &alice,
		SentAt: worldTime,
	})
	basic := w.sim.BasicGroup("\u202eOld \n <group>", w.alice)
	m = basic.Say(w.alice, "/match @bob 3:1")
	check("basic group with a title to be cleaned", ranking.Origin{
		Logged: ranking.Logged{Command: "match"}, Place: ranking.Place{ReplyTo: int64(m.ID)},

		Key: fmt.Sprintf("m:%d:%d", basic.ID(), m.ID), Chat: chat(basic, "Old <group>"), Sender: &alice,
		SentAt: worldTime,
	})
	private := w.sim.Private(w.alice)
	m = private.Say(w.alice, "/start")
	check("private chat", ranking.Origin{Logged: ranking.Logged{Command: "start"},

		Key: fmt.Sprintf("m:1001:%d", m.ID), Chat: chat(private, ""), Sender: &alice, SentAt: worldTime,
	})
	m = w.group.Post(botsim.Post{From: w.nameless, Text: "/join", Date: worldTime.Add(-time.Hour)})
	check("somebody without a username, an hour ago", ranking.Origin{
		Logged: ranking.Logged{Command: "join"}, Place: ranking.Place{ReplyTo: int64(m.ID)},

		Key: fmt.Sprintf("m:%d:%d", w.group.ID(), m.ID), Chat: chat(w.group, "Table tennis"),
		Sender: &command.Person{ID: 1004, Name: "Dan 2"}, SentAt: worldTime.Add(-time.Hour),
	})
	robot := w.sim.AddUser(botsim.User{FirstName: "\u3164", LastName: "<i>", Username: "Talbot"})
	m = w.group.Say(robot, "/join")
	shown := chat(w.group, "Table tennis")
	shown.Language = "" // this person's language is unknown
	check("a person whose username looks like a bot's", ranking.Origin{
		Logged: ranking.Logged{Command: "join"}, Place: ranking.Place{ReplyTo: int64(m.ID)},

		Key: fmt.Sprintf("m:%d:%d", w.group.ID(), m.ID), Chat: shown,
		Sender: &command.Person{ID: ladder.UserID(robot.ID), Username: "Talbot", Name: "<i>"}, SentAt: worldTime,
	})
}

// TestKeyWithoutMessageID checks that the key of a message without an id is built from the update's
// id. If the update has no id either, the key is built from the text, the sender, the chat and the
// date.
func TestKeyWithoutMessageID(t *testing.T) {
	t.Parallel()
	const template = `{"update_id":%d,"message":{"message_id":0,"date":%d,"chat":{"id":%d,"type":"supergroup"},` +
		`"from":{"id":%d,"first_name":"A"},"text":"/join %s","entities":[{"type":"bot_command","offset":0,"length":5}]}}`
	key := func(updateID, date, chat, from int, text string) string {
		t.Helper()
		rankings := &fakeRankings{}
		raw := fmt.Sprintf(template, updateID, date, chat, from, text)
		if err := newRouter(rankings).Handle(t.Context(), decoded(intake.Update{Raw: []byte(raw)})); err != nil {
			t.Fatalf("handle %s: %v", raw, err)
		}
		if len(rankings.calls) != 1 {
			t.Fatalf("calls of %s: %v", raw, rankings.calls)
		}
		return rankings.calls[0].origin.Key
	}
	original := key(0, 100, -5, 1001, "now")
	equal(t, key(0, 100, -5, 1001, "now"), original, "key of the same message")
	equal(t, key(7, 100, -5, 1001, "now"), "u:7", "key of the message of update 7")
	for what, other := range map[string]string{
		"later": key(0, 101, -5, 1001, "now"), "elsewhere": key(0, 100, -6, 1001, "now"),
		"by another": key(0, 100, -5, 1002, "now"), "in other words": key(0, 100, -5, 1001, "soon"),
	} {
		if other == original {
			t.Errorf("the same message %s has the same key", what)
		}
	}
}

func TestTopics(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	forum := w.sim.Forum("Club", w.alice, w.bob)
	topic := forum.Topic(w.bob, "Results")
	w.expect("the creation of a topic")

	m := forum.Post(botsim.Post{From: w.alice, Text: "/match @bob 3:1", ThreadID: topic.ID})
	o := w.expect("in a topic", "match Alice@alice#1001 @bob 3:1")[0].origin
	if o.Thread != int64(topic.ID) || o.ReplyTo != int64(m.ID) {
		t.Errorf("in topic %d: thread %d, reply to %d", topic.ID, o.Thread, o.ReplyTo)
	}
	forum.Post(botsim.Post{From: w.alice, Text: "/match 3:1", ThreadID: topic.ID})
	w.expect("what seems to reply to the creation of its topic replies to nobody",
		`answer wrong_form {"command":"match","reason":"no_opponent"}`)

	forum.Say(w.alice, "/ranking")
	if o := w.expect("in General", "ranking")[0].origin; o.Thread != 0 {
		t.Errorf("in General: thread %d", o.Thread)
	}
	forum.Post(botsim.Post{From: w.alice, Text: "/ranking", ThreadID: 1, Extra: map[string]any{"is_topic_message": true}})
	if o := w.expect("in General, named by its id", "ranking")[0].origin; o.Thread != 0 {
		t.Errorf("in General, named by its id: thread %d", o.Thread)
	}
	// A thread of replies has an id too, but is not a topic.
	first := w.group.Say(w.bob, "who wins?")
	w.group.Post(botsim.Post{From: w.alice, Text: "/match 3:1", ReplyTo: first.ID, ThreadID: first.ID})
	o = w.expect("in a thread of replies", "match Alice@alice#1001 Bob@bob#1002 3:1")[0].origin
	equal(t, o.Thread, 0, "thread of replies")
}

func TestReplies(t *testing.T) {
	t.Parallel()
	const noOpponent = `answer wrong_form {"command":"match","reason":"no_opponent"}`
	channel := &botsim.SenderChat{ID: -1001234567890, Type: "channel", Title: "News"}
	for name, c := range map[string]struct {
		target botsim.Post
		text   string
		want   string
	}{
		"to a person":                {botsim.Post{From: botsim.User{ID: 1002}}, "/match 3:1", "match Alice@alice#1001 Bob@bob#1002 3:1"},
		"to somebody nameless":       {botsim.Post{From: botsim.User{ID: 1004}}, "/match 3:1", "match Alice@alice#1001 Dan_2#1004 3:1"},
		"to oneself":                 {botsim.Post{From: botsim.User{ID: 1001}}, "/match 3:1", `answer wrong_form {"command":"match","reason":"same_person","detail":"@alice"}`},
		"to a bot":                   {botsim.Post{From: botsim.User{ID: 77, IsBot: true, FirstName: "Helper", Username: "helper_bot"}}, "/match 3:1", noOpponent},
		"to a channel":               {botsim.Post{From: botsim.User{ID: 136817688, IsBot: true, FirstName: "Channel", Username: "Channel_Bot"}, SenderChat: channel}, "/match 3:1", noOpponent},
		"to a person as a channel":   {botsim.Post{From: botsim.User{ID: 1002}, SenderChat: channel}, "/match 3:1", noOpponent},
		"to nobody":                  {botsim.Post{SenderChat: channel}, "/match 3:1", noOpponent},
		"a mention wins":             {botsim.Post{From: botsim.User{ID: 1002}}, "/match @carol 3:1", "match Alice@alice#1001 @carol 3:1"},
		"two mentions win":           {botsim.Post{From: botsim.User{ID: 1004}}, "/match @carol @bob 3:1", "match @carol @bob 3:1"},
		"a mention of the one there": {botsim.Post{From: botsim.User{ID: 1002}}, "/match @BOB 3:1", "match Alice@alice#1001 Bob@bob#1002 3:1"},
		"without a score":            {botsim.Post{From: botsim.User{ID: 1002}}, "/match", "wizard Bob@bob#1002"},
		"without the command":        {botsim.Post{From: botsim.User{ID: 1002}}, "3:1", ignored},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			for _, u := range []botsim.User{w.alice, w.bob, w.nameless} {
				if u.ID == c.target.From.ID {
					c.target.From = u
				}
			}
			c.target.Text = "good game"
			target := w.group.Post(c.target)
			w.expect("the message itself")
			w.group.Reply(w.alice, target, c.text)
			w.expect(name, none(c.want)...)
		})
	}
}

func TestAnonymousAdmin(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"/match @alice @bob 3:1": "match @alice @bob 3:1",
		"/match @bob 3:1":        `answer wrong_form {"command":"match","reason":"name_both_players"}`,
		"/match 3:1":             `answer wrong_form {"command":"match","reason":"name_both_players"}`,
		"/match":                 "wizard ",
		"/join":                  "join",
		"/ranking":               "ranking",
		"/me":                    "standing of nobody",
		"/stats me":              `answer refusal {"code":"nobody_to_show"}`,
		"/h2h @bob @carol":       "@bob against @carol",
		"/h2h @bob":              `answer unclear_people {"reason":"name_both","command":"h2h"}`,
		"/start":                 "greet greeting {}",
		"/help":                  "answer help {}",
		"/match [Dan 2](tg://user?id=1004) @bob 3:1": "match Dan_2#1004 @bob 3:1",
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			m := w.group.SayAnonymously(text)
			o := w.expect(text, want)[0].origin
			if o.Sender != nil {
				t.Errorf("the sender is %+v", *o.Sender)
			}
			if o.ReplyTo != int64(m.ID) || o.Key != fmt.Sprintf("m:%d:%d", w.group.ID(), m.ID) {
				t.Errorf("origin %+v of message %d", o, m.ID)
			}
		})
	}
	t.Run("as a reply", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		target := w.group.Say(w.bob, "good game")
		w.group.Post(botsim.Post{
			From: botsim.User{ID: 1087968824, IsBot: true, FirstName: "Group", Username: "GroupAnonymousBot"},
			Text: "/match 3:1", ReplyTo: target.ID,
			SenderChat: &botsim.SenderChat{ID: w.group.ID(), Type: "supergroup", Title: "Table tennis"},
		})
		w.expect("as a reply", `answer wrong_form {"command":"match","reason":"name_both_players"}`)
	})
}

func TestMessagesOfNoPersonAreIgnored(t *testing.T) {
	t.Parallel()
	channel := &botsim.SenderChat{ID: -1001234567890, Type: "channel", Title: "News"}
	groupBot := botsim.User{ID: 1087968824, IsBot: true, FirstName: "Group", Username: "GroupAnonymousBot"}
	alice := botsim.User{ID: 1001, FirstName: "Alice"}
	for name, p := range map[string]botsim.Post{
		"a bot":                         {From: botsim.User{ID: 77, IsBot: true, FirstName: "Helper", Username: "helper_bot"}},
		"nobody":                        {SenderChat: channel},
		"an automatic forward":          {From: botsim.User{ID: 777000, FirstName: "Telegram"}, SenderChat: channel, Extra: map[string]any{"is_automatic_forward": true}},
		"an automatic forward alone":    {From: alice, Extra: map[string]any{"is_automatic_forward": true}},
		"a forward":                     {From: alice, Extra: map[string]any{"forward_origin": json.RawMessage(`{"type":"user","date":1,"sender_user":{"id":1002,"is_bot":false,"first_name":"Bob"}}`)}},
		"a forward of the unheard-of":   {From: alice, Extra: map[string]any{"forward_origin": json.RawMessage(`{"type":"hologram"}`)}},
		"by way of an inline bot":       {From: alice, Extra: map[string]any{"via_bot": map[string]any{"id": 78, "is_bot": true, "first_name": "Helper"}}},
		"the stand-in without a chat":   {From: groupBot},
		"the stand-in of another group": {From: groupBot, SenderChat: &botsim.SenderChat{ID: -1009, Type: "supergroup"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			p.Text = "/match @alice @bob 3:1"
			w.group.Post(p)
			w.expect(name)
		})
	}
}

// TestWrittenAsAChannel checks that the bot tells a person who writes a command as a channel why it
// does nothing.
func TestWrittenAsAChannel(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"/match @bob 3:1": `answer refusal {"code":"sent_as_channel"}`, "/ranking": `answer refusal {"code":"sent_as_channel"}`,
		"/match@other_bot @bob 3:1": ignored, "/unknown": ignored, "@bob 3:1": ignored,
	} {
		w := newWorld(t)
		m := w.group.Post(botsim.Post{
			From: botsim.User{ID: 136817688, IsBot: true, FirstName: "Channel", Username: "Channel_Bot"}, Text: text,
			SenderChat: &botsim.SenderChat{ID: -1001234567890, Type: "channel", Title: "News"},
		})
		for _, c := range w.expect(text, none(want)...) {
			if c.origin.Sender != nil || c.origin.ReplyTo != int64(m.ID) {
				t.Errorf("%s: origin %+v", text, c.origin)
			}
		}
	}
}

// TestCaptions checks that the caption of a photo is read like a text, and so is its edit. If there
// is a text, the caption is ignored.
func TestCaptions(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	captioned := func(p botsim.Post, caption string) botsim.Post {
		head := map[string]any{"type": "bot_command", "offset": 0, "length": strings.Index(caption+" ", " ")}
		mention := map[string]any{"type": "mention", "offset": strings.Index(caption, "@"), "length": len("@bob")}
		p.Extra = map[string]any{"photo": []any{}, "caption": caption, "caption_entities": []any{head, mention}}
		return p
	}
	w.group.Post(captioned(botsim.Post{From: w.alice}, "/match @bob 3:1"))
	w.expect("a caption", "match Alice@alice#1001 @bob 3:1")
	w.group.Post(captioned(botsim.Post{From: w.alice}, "final against @bob 3:1"))
	w.expect("a caption without a command")
	w.group.Post(captioned(botsim.Post{From: w.alice, Text: "hello"}, "/match @bob 3:1"))
	w.expect("a text counts")
	var posted struct {
		Message json.RawMessage `json:"message"`
	}
	w.group.Post(captioned(botsim.Post{From: w.alice}, "/match @bob 3:2"))
	must(t, json.Unmarshal(w.fetch()[0].Raw, &posted))
	edited := strings.Replace(string(posted.Message), `"date"`, fmt.Sprintf(`"edit_date":%d,"date"`, worldTime.Unix()), 1)
	w.sim.Update(json.RawMessage(`{"edited_message":` + edited + `}`))
	w.expect("an edited caption", "match Alice@alice#1001 @bob 3:2")
}

// TestFieldsThatAreNull checks that a message whose via_bot and forward_origin are null is handled
// like a message without them.
func TestFieldsThatAreNull(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.group.Post(botsim.Post{
		From: botsim.User{ID: 1001, FirstName: "Alice"}, Text: "/match @alice @bob 3:1",
		Extra: map[string]any{"via_bot": nil, "forward_origin": nil},
	})
	w.expect("null", "match @alice @bob 3:1")
}

// TestOtherKindsOfUpdatesAreIgnored checks that a valid message in an update of another kind is
// ignored, and so are other updates and messages that the bot does not handle. An update of another
// kind may arrive if it is older than the bot's first request.
func TestOtherKindsOfUpdatesAreIgnored(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.group.Say(w.alice, "/match @bob 3:1")
	var original map[string]json.RawMessage
	if err := json.Unmarshal(w.fetch()[0].Raw, &original); err != nil {
		t.Fatalf("read update: %v", err)
	}
	for _, kind := range []string{
		"edited_message", "channel_post", "edited_channel_post", "business_message", "edited_business_message",
		"guest_message", "message_of_the_future",
	} {
		raw, err := json.Marshal(map[string]json.RawMessage{kind: original["message"]})
		if err != nil {
			t.Fatalf("encode update: %v", err)
		}
		w.sim.Update(raw)
		w.expect(kind)
	}
	for _, raw := range []string{
		`{"my_chat_member":{"chat":{"id":-100},"from":{"id":1001}}}`,
		`{"poll":{"id":"1"}}`, `{}`, `{"message":null}`,
		`{"message":{"message_id":1,"date":1,"chat":{"id":-100,"type":"supergroup"},"from":{"id":1001,"first_name":"A"},"dice":{"emoji":"🎲","value":3}}}`,
		`{"message":{"message_id":1,"date":1,"chat":{"id":-100,"type":"channel"},"sender_chat":{"id":-100,"type":"channel"},"from":{"id":1087968824,"is_bot":true},` +
			`"text":"/ranking","entities":[{"type":"bot_command","offset":0,"length":8}]}}`,
	} {
		w.sim.Update(json.RawMessage(raw))
		w.expect(raw)
	}
	w.group.Kick()
	w.expect("the bot's removal, and the message about it", "removed")
}

func TestEditsAreAskedFor(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if len(w.fetch()) != 0 { // from now on, Telegram knows the allowed updates
		t.Fatal("there are updates already")
	}
	m := w.group.Say(w.alice, "/match @bob 3:1")
	w.group.Edit(m, "/match @bob 3:2")
	w.expect("a message and its edit", "match Alice@alice#1001 @bob 3:1", "match Alice@alice#1001 @bob 3:2")
}

func TestUndecodableUpdatesAreUnreadable(t *testing.T) {
	t.Parallel()
	rankings := &fakeRankings{}
	router := newRouter(rankings)
	for _, raw := range []string{
		``, `{`, `[]`, `"text"`, `12`, `{"update_id":"one"}`, `{"update_id":1,"message":"text"}`, `{"update_id":1,"message":{"message_id":"one"}}`,
		`{"update_id":1,"message":{"message_id":1,"from":5}}`, `{"update_id":1,"message":{"message_id":1,"entities":{}}}`, `{"message":{"date":1e99}}`,
		`{"message":{"migrate_to_chat_id":"-5"}}`, `{"message":{"migrate_from_chat_id":99999999999999999999}}`,
		`{"callback_query":"text"}`, `{"callback_query":{"id":1}}`, `{"callback_query":{"id":"1","data":5}}`,
		`{"callback_query":{"id":"1","message":"text"}}`, `{"callback_query":{"id":"1","from":[]}}`,
	} {
		err := router.Handle(t.Context(), decoded(intake.Update{ID: 1, Raw: json.RawMessage(raw)}))
		if !errors.Is(err, intake.ErrUnreadable) {
			t.Errorf("%q: %v", raw, err)
		}
	}
	if len(rankings.calls) > 0 {
		t.Errorf("calls: %v", rankings.calls)
	}
}

// TestUnknownThingsInARepliedMessage checks that unknown content of the replied-to message does not
// matter. The types of the Telegram library would not decode such an update.
func TestUnknownThingsInARepliedMessage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	target := w.group.Post(botsim.Post{
		From: w.bob, Text: "look",
		Entities: []botsim.Entity{{Type: "sparkle", Offset: 0, Length: 4}},
		Extra: map[string]any{
			"forward_origin":  json.RawMessage(`{"type":"hologram","date":1}`),
			"paid_media":      map[string]any{"star_count": 1, "paid_media": []any{map[string]any{"type": "smell"}}},
			"chat_background": map[string]any{"type": map[string]any{"type": "lava"}},
			"external_reply":  map[string]any{"origin": map[string]any{"type": "hologram"}},
			"of_the_future":   []any{1, "two", nil},
			"reply_markup":    7,
		},
	})
	w.expect("the message itself")
	w.group.Reply(w.alice, target, "/match 3:1")
	updates := w.fetch()
	var theirs models.Update
	if err := json.Unmarshal(updates[0].Raw, &theirs); err == nil {
		t.Error("the library can read it, so it shows nothing")
	}
	if err := w.router.Handle(t.Context(), updates[0]); err != nil {
		t.Fatalf("handle: %v", err)
	}
	if len(w.rankings.calls) != 1 || w.rankings.calls[0].String() != "match Alice@alice#1001 Bob@bob#1002 3:1" {
		t.Errorf("calls: %v", w.rankings.calls)
	}
}

func TestErrorsOfTheServiceAreReturned(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"/match @bob 3:1", "/match", "/join", "/ranking", "/help", "/start", "/undo", "/undo x", "/fix 3:1", "/fix",
	} {
		w := newWorld(t)
		w.rankings.err = errors.New("the database is away")
		w.group.Say(w.alice, text)
		err := w.router.Handle(t.Context(), w.fetch()[0])
		if !errors.Is(err, w.rankings.err) || errors.Is(err, intake.ErrUnreadable) {
			t.Errorf("%s: %v", text, err)
		}
	}
	const from = `"from":{"id":1001,"first_name":"Alice"}`
	const pressed = `{"callback_query":{"id":"1",` + from + `,"message":{"message_id":5,"chat":` + someGroup + `},"data":`
	for _, raw := range []string{
		memberJSON("my_chat_member", someGroup, "left", "member"),
		memberJSON("my_chat_member", someGroup, "member", "left"),
		memberJSON("my_chat_member", someGroup, "member", "administrator"),
		memberJSON("chat_member", someGroup, "member", "left"),
		`{"message":{"message_id":5,"chat":` + someGroup + `,"date":100,"new_chat_title":"Chess 2"}}`,
		`{"message":{"message_id":5,"chat":` + someGroup + `,"date":100,"migrate_to_chat_id":-1002000000001}}`,
		`{"message":{"message_id":5,"chat":` + someGroup + `,"date":100,"migrate_from_chat_id":-4000000001}}`,
		`{"edited_message":{"message_id":5,"chat":` + someGroup + `,"date":100,"edit_date":101,` + from + `,
			"text":"/match 3:1","entities":[{"type":"bot_command","offset":0,"length":6}]}}`,
		pressed + `"1u:42:0:Aa0_-zZ9"}}`, pressed + `"x"}}`,
	} {
		rankings := &fakeRankings{err: errors.New("the database is away")}
		err := newRouter(rankings).Handle(t.Context(), decoded(intake.Update{ID: 1, Raw: json.RawMessage(raw)}))
		if !errors.Is(err, rankings.err) {
			t.Errorf("%s: %v", raw, err)
		}
	}
}

// FuzzRouter checks that an update of arbitrary bytes leads to at most one call, which is valid, or
// to intake.ErrUnreadable, and can be stored as a dead letter. Its corpus is in testdata.
func FuzzRouter(f *testing.F) {
	f.Fuzz(func(t *testing.T, raw []byte) {
		if u, err := ReadUpdate(raw); err == nil && (u.ID == 0 || string(u.Raw) != string(raw)) {
			t.Errorf("read as update %d: %s", u.ID, u.Raw)
		}
		letters := &fakeLetters{}
		if err := storeLetter(t, letters, string(raw)); err != nil || len(letters.kept) != 1 {
			t.Errorf("%d letters stored, error %v", len(letters.kept), err)
		}
		if letters.notice != nil {
			mustRender(t, letters.notice)
		}
		rankings := &fakeRankings{}
		u := decoded(intake.Update{Raw: raw})
		err := newRouter(rankings).Handle(t.Context(), u)
		checkUnchanged(t, u)
		if err != nil && !errors.Is(err, intake.ErrUnreadable) {
			t.Fatalf("error %v", err)
		}
		if len(rankings.calls) > 1 || err != nil && len(rankings.calls) > 0 {
			t.Fatalf("calls %v, error %v", rankings.calls, err)
		}
		for _, c := range rankings.calls {
			checkCall(t, c)
		}
	})
}

// checkCall checks that a call has a valid key and cleaned names, and that its players, scores and
// notice are possible.
func checkCall(t *testing.T, c call) {
	t.Helper()
	if c.method == "move" {
		if c.from == 0 || c.to == 0 {
			t.Errorf("%v", c)
		}
		return
	}
	var chat, message int64
	_, err := fmt.Sscanf(c.origin.Key, "m:%d:%d", &chat, &message)
	byContent := len(c.origin.Key) == len("h:")+64 && strings.HasPrefix(c.origin.Key, "h:")
	happened := len(c.origin.Key) == len("s:")+64 && strings.HasPrefix(c.origin.Key, "s:")
	ephemeral := strings.HasPrefix(c.origin.Key, "u:") && c.origin.ReplyTo == 0
	pressed := c.origin.Button != "" && c.origin.Key == "c:"+c.origin.Button
	if c.origin.Trigger == ranking.ByEdit {
		_, err = fmt.Sscanf(c.origin.Key, "e:%d:%d", &chat, &message)
	}
	if !pressed && !byContent && !ephemeral && !happened &&
		(err != nil || message == 0 || chat != int64(c.origin.Chat.ID)) {
		t.Errorf("key %q for chat %d", c.origin.Key, c.origin.Chat.ID)
	}
	checkName(t, c.origin.Chat.Title)
	people := []command.Person{}
	if c.origin.Sender != nil {
		people = append(people, *c.origin.Sender)
	}
	switch c.method {
	case "match":
		players := slices.Concat(c.report.A, c.report.B)
		people = append(people, players...)
		for _, p := range players {
			if p.ID == 0 && p.Username == "" {
				t.Errorf("nobody plays: %v", c)
			}
		}
		if len(c.report.A) == 0 || len(c.report.B) == 0 || len(players) > 20 {
			t.Errorf("sides of %v", c)
		}
		checkScores(t, c.report.Scores)
	case "undo", "restore", "fix", "accept":
		if c.take.Match.Number < 0 {
			t.Errorf("match %+v", c.take.Match)
		}
		// A /fix without a score only asks for the score.
		if c.method == "fix" && len(c.scores) > 0 || c.method == "accept" {
			checkScores(t, c.scores)
		}
	case "answer", "greet", "added":
		mustRender(t, c.notice)
	case "left":
		people = append(people, c.who)
	}
	if l := c.origin.Chat.Language; l != languageTag(l) {
		t.Errorf("language %q", l)
	}
	for _, p := range people {
		equal(t, p.Name, cleanName(p.Name), "clean name")
		if p.ID != 0 && p.Name == "" {
			t.Errorf("user %d has no name", p.ID)
		}
	}
}

func checkScores(t *testing.T, scores []ladder.Score) {
	t.Helper()
	if len(scores) == 0 || len(scores) > 25 {
		t.Errorf("%d scores", len(scores))
	}
	for _, s := range scores {
		if s.A < 0 || s.A > 999 || s.B < 0 || s.B > 999 {
			t.Errorf("score %v", s)
		}
	}
}
