package transfer

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf16"

	"elobot/internal/command"
	"elobot/internal/ladder"
)

// undoWindow is how long the players and the reporter of a match can usually undo it.
const undoWindow = 24 * time.Hour

// chatResults turns the commands of a chat into results.
type chatResults struct {
	*chatReader
	File
	names   *command.Names
	matches []chatMatch
	made    map[int32][]int // indexes of matches by message
	// bound has the ladders to which commands of the chat have bound topics so far. That of General
	// is the default.
	bound map[int32]string
	said  saidMessage // the current one
}

// chatMatch is a match with what can still change it.
type chatMatch struct {
	Row
	by      int64 // the account that reported it, 0 if unknown
	at      time.Time
	topic   int32
	isNamed bool // the report names the ladder
	swapped bool // a card shows the second side first
	undone  int  // the message that undid it, or 0
}

// commandHead matches a command, and the bot that it names.
var commandHead = regexp.MustCompile(`^/([\pL\pN\pM_]+)(?:@(\w+))?`)

// typedMention matches a username in a text. Telegram marks no entity inside another one.
var typedMention = regexp.MustCompile(`(^|[^\w@./])(@\w{1,32})`)

// results reads all commands.
func (r *chatReader) results() (File, error) {
	c := chatResults{chatReader: r, made: make(map[int32][]int), bound: make(map[int32]string)}
	c.File.Accounts, c.Likely, c.Members = make(map[string]int64), make(map[string]int64), make(map[int64]string)
	c.File.Chat = r.chat
	var members []command.Person
	for i, a := range r.accounts {
		if c.Members[a.id] = a.name; a.name != "" && a.id != r.BotID {
			p := command.Person{ID: ladder.UserID(a.id), Name: a.name, Player: ladder.PlayerID(i + 1)}
			members = append(members, p)
		}
	}
	c.names = command.NewNames(members)
	for _, c.said = range r.said {
		r.line = int(c.said.ID)
		if c.read(); len(c.matches) > MaxRows {
			return File{}, Fault{Reason: TooManyRows, Value: strconv.Itoa(MaxRows)}
		}
	}
	for _, m := range c.matches {
		if r.line = m.Line; m.undone != 0 {
			c.leaveOut(Fault{Line: m.Line, Reason: Undone, Other: m.undone})
		} else if c.inTopic(&m) {
			c.Rows = append(c.Rows, m.Row)
		}
	}
	sortRows(c.Rows)
	for _, m := range c.Rows {
		c.First, c.Last = c.Rows[0].When, m.When
	}
	if c.Ask != "" {
		return File{Ask: c.Ask}, nil
	}
	return c.File, nil
}

func (c *chatResults) refuse(reason Reason) {
	value := excerpt(c.said.Text.String())
	if reason == BadDate || reason == BadClock || reason == FutureDate {
		value = excerpt(cmp.Or(c.said.Date, c.said.Unix.String()))
	}
	c.Refused = append(c.Refused, Fault{Line: c.line, Message: true, Reason: reason, Value: value})
}

func (c *chatResults) leaveOut(f Fault) {
	f.Message = true
	c.LeftOut = append(c.LeftOut, f)
}

// read reads the current message.
func (c *chatResults) read() {
	text, bot := c.said.Text.String(), ""
	if len(c.Bots) > 0 {
		bot = c.Bots[0]
	}
	head := commandHead.FindStringSubmatch(text)
	if head == nil {
		c.readTalk(command.Text(command.NameMatch, text, c.said.entities(), bot))
		return
	}
	name := c.Commands[command.Name(head[1])]
	isResult := slices.Contains(
		[]string{command.NameMatch, command.NameUndo, command.NameFix, command.NameRestore}, name.Name)
	if head[2] != "" {
		bot = head[2]
	}
	isOurs := func(name string) bool { return strings.EqualFold(name, bot) }
	said, ok := command.Parse(text, c.said.entities(), bot)
	said.Name, said.Written, said.Sender, said.Reply = name.Name, name.Written, c.person(c.said.author), c.replied()
	switch {
	case name.Name == ladderCommand && ok && !c.said.isForeign():
		c.readLadder(said.Unquoted())
	case name.Name == command.NameSeason && slices.Contains(said.Unquoted(), "new"):
		c.leaveOut(Fault{Line: c.line, Reason: NewSeason})
	case !isResult:
	case head[2] != "" && !slices.ContainsFunc(c.Bots, isOurs):
		c.leaveOut(Fault{Line: c.line, Reason: OtherBot, Value: excerpt(head[2])})
	case c.said.isForeign():
		c.refuse(NotWritten)
	case !ok || slices.Contains([]string{"code", "pre"}, c.said.Text[0].Type):
		c.refuse(Unreadable)
	case name.Name == command.NameMatch:
		c.readMatches(said)
	default:
		c.amend(said)
	}
}

const (
	ladderCommand = "ladder"
	maxLadders    = 100
)

// entities returns the entities of a message that commands need.
func (s saidMessage) entities() (all []command.Entity) {
	text, at := s.Text.String(), 0
	if head := commandHead.FindString(text); head != "" {
		all = append(all, command.Entity{Kind: command.KindBotCommand, Length: units(head)})
	}
	for _, p := range s.Text {
		length := units(p.Text)
		if p.Type == "mention_name" && p.User > 0 {
			user := command.Person{ID: ladder.UserID(p.User), Name: p.Text}
			all = append(all, command.Entity{Kind: command.KindTextMention, Offset: at, Length: length, User: &user})
		}
		at += length
	}
	for _, m := range typedMention.FindAllStringSubmatchIndex(text, -1) {
		all = append(all, command.Entity{Kind: command.KindMention, Offset: units(text[:m[4]]), Length: m[5] - m[4]})
	}
	return all
}

// units returns the length of a text in UTF-16 code units.
func units(text string) int { return len(utf16.Encode([]rune(text))) }

// person returns the person with an account, zero for nobody.
func (r *chatReader) person(i int32) command.Person {
	if i < 0 {
		return command.Person{}
	}
	return command.Person{ID: ladder.UserID(r.accounts[i].id), Name: r.accounts[i].name}
}

// replied returns the author of the message that the current one replies to, nil if that is no
// person.
func (c *chatResults) replied() *command.Person {
	p := c.person(c.said.to.author)
	if !c.said.isReply || p.ID == 0 || int64(p.ID) == c.BotID {
		return nil
	}
	return &p
}

// readTalk reads a line without a command. Unless it has both sides and a score, it is only talk.
func (c *chatResults) readTalk(said command.Command) {
	said.Sender = c.person(c.said.author)
	report, err := command.ParseMatch(said, c.names)
	if err != nil || c.said.isForeign() {
		return
	}
	m, err := command.Certain(report)
	if err == nil && !m.Self && m.Scores[0].HasPoints() && m.When == (command.When{}) {
		c.add(said, m, "", 0)
	}
}

func (c *chatResults) readMatches(said command.Command) {
	in, said, ok := c.inLadder(said)
	report, err := c.parse(said)
	switch {
	case !ok:
		c.refuse(UnknownLadder)
		return
	case err != nil:
		c.refuse(Unreadable)
		return
	case report.Doubt != command.DoubtNone:
		c.refuse(InDoubt)
		if report.Doubt != command.DoubtLine {
			return
		}
	}
	for i, m := range report.Readings[0] {
		c.add(said, m, in, i)
	}
}

// parse parses a report as command.ParseMatchOf does.
func (c *chatResults) parse(said command.Command) (command.Report, error) {
	if !said.LikelyNamesPlayers() {
		if report, err := command.ParseMatch(said, nil); err == nil && report.Doubt != command.DoubtLine {
			return report, nil
		}
	}
	return command.ParseMatch(said, c.names)
}

// add adds the n-th match of the current message.
func (c *chatResults) add(said command.Command, m command.Match, in string, n int) {
	s := c.said
	at, isLocal, reason := s.time(c.Zone)
	row := chatMatch{at: at, topic: s.topic, isNamed: in != "", Row: Row{
		Line: c.line, ID: c.key(n), When: at, Ladder: cmp.Or(in, c.bound[s.topic], c.bound[0]),
		Result: ladder.ResultOf(m.Scores), order: c.line,
	}}
	row.Result.Games = m.Games
	row.swapped = row.Result.B > row.Result.A
	if s.author >= 0 {
		row.by = c.accounts[s.author].id
	}
	if day, ok := m.When.On(at); m.When != (command.When{}) {
		day, today := midnight(day), midnight(at)
		if row.IsDay = day.Before(today); row.IsDay {
			row.When = day
		}
		if !ok || day.Before(today.AddDate(0, 0, -1)) { // only admins may name another day
			reason = cmp.Or(reason, DayTooEarly)
		}
	}
	var all []string
	for side, people := range [][]command.Person{m.A, m.B} {
		for _, p := range people {
			name := c.name(p, said.Args)
			isSame := func(o string) bool { return o == name || c.accountOf(o) != 0 && c.accountOf(o) == c.accountOf(name) }
			if slices.ContainsFunc(all, isSame) {
				reason = cmp.Or(reason, SamePlayer)
			}
			row.Sides[side], all = append(row.Sides[side], name), append(all, name)
		}
	}
	switch {
	case isLocal && !c.HasZone:
		c.Ask = AskZone
	case reason != "":
		c.refuse(reason)
	case at.Year() < 1800:
		c.refuse(BadDate)
	case at.After(c.Now):
		c.refuse(FutureDate)
	case m.StandIns != [2]int{}:
		c.refuse(Unreadable)
	default:
		c.made[s.ID] = append(c.made[s.ID], len(c.matches))
		c.matches = append(c.matches, row)
	}
}

func midnight(at time.Time) time.Time {
	return time.Date(at.Year(), at.Month(), at.Day(), 0, 0, 0, 0, at.Location())
}

// time returns when a message was sent. isLocal means that the file has only the time in a zone.
func (m *chatMessage) time(zone *time.Location) (at time.Time, isLocal bool, reason Reason) {
	if unix, err := m.Unix.Int64(); err == nil {
		return time.Unix(unix, 0).In(zone), false, ""
	}
	if at, ok := parse(m.Date, []string{time.RFC3339}); ok {
		return at.In(zone), false, ""
	}
	wall, ok := parse(m.Date, []string{"2006-01-02T15:04:05"})
	if !ok {
		return at, false, BadDate
	}
	if at, ok = onClock(wall, zone); !ok {
		reason = BadClock
	}
	return at, true, reason
}

// key returns what identifies the n-th match of the current message. The messages of a basic group
// have other ids in a supergroup and in the exports of other members.
func (c *chatResults) key(n int) (key string) {
	id, basic := c.said.ID, c.said.ID < 0 || !strings.HasSuffix(c.chat.Kind, "supergroup")
	switch {
	case !basic:
		key = fmt.Sprintf("m:%d:%d", c.chat.BotAPI(), id)
	case id < 0:
		id -= migrated
		fallthrough
	default:
		key = fmt.Sprintf(BasicGroup+"%d:%d", c.person(c.said.author).ID, id)
	}
	if n > 0 {
		key += fmt.Sprintf("#%d", n+1)
	}
	return key
}

// name returns how a row names a person of a report with the given arguments: as it was typed,
// unless the file has the person's account.
func (c *chatResults) name(p command.Person, args string) string {
	switch {
	case p.Player == 0 && p.ID != 0:
		name := strings.TrimSpace(fmt.Sprintf("%s (%d)", c.Members[int64(p.ID)], p.ID))
		c.File.Accounts[name] = int64(p.ID)
		return name
	case p.Player == 0:
		return "@" + p.Username
	}
	name := typed(p, args)
	c.Likely[name] = int64(p.ID)
	return name
}

// typed returns how the arguments of a report name a person.
func typed(p command.Person, args string) string {
	words := strings.FieldsFunc(args, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("-_'.’", r)
	})
	for n := min(len(words), 6); n > 0; n-- {
		for i := range len(words) - n + 1 {
			if name := strings.Trim(strings.Join(words[i:i+n], " "), ".-'’"); p.IsCalled(name) {
				return name
			}
		}
	}
	return p.Name
}

// accountOf returns the account that a name of a row stands for, 0 if that is not known.
func (c *chatResults) accountOf(name string) int64 {
	return cmp.Or(c.File.Accounts[name], c.ChatOptions.Accounts[name])
}

// readLadder reads the arguments of a /ladder.
func (c *chatResults) readLadder(words []string) {
	if len(words) < 2 || c.said.topic == lost {
		return
	}
	name := strings.Join(words[1:], " ")
	switch strings.ToLower(words[0]) {
	case "new":
		if len(c.Ladders) < maxLadders {
			c.Ladders = append(c.Ladders, name)
		}
	case "use":
		if strings.EqualFold(name, "none") {
			name = ""
		}
		c.bound[c.said.topic] = name
	}
}

// inLadder cuts the name of a ladder off a report. ok is false if the bot would ask which ladder is
// meant.
func (c *chatResults) inLadder(said command.Command) (name string, cut command.Command, ok bool) {
	const most = 4 // words
	name, words, ok := c.ladderAt(said.FirstWords(most))
	var later []int
	for _, line := range said.LaterWords(most) {
		other, n, isClear := c.ladderAt(line)
		ok = ok && isClear && (other == "" || other == name)
		later = append(later, n)
	}
	return name, said.WithoutWords(words, later...), ok
}

// ladderAt returns the ladder that a text begins with, and how many words its name has.
func (c *chatResults) ladderAt(text string) (name string, words int, ok bool) {
	all := strings.Fields(text)
	for n := len(all); n > 0; n-- {
		typed := strings.Join(all[:n], " ")
		var ofGame []string
		for _, l := range c.Ladders {
			game := command.Game(typed)
			switch {
			case strings.EqualFold(l, typed):
				return l, n, true
			case game != "" && command.IsOfGame(l, game):
				ofGame = append(ofGame, l)
			case game != "", command.IsSlip(typed, l):
				ok = true // for now, it means that the text may name a ladder
			}
		}
		if len(ofGame) > 0 {
			return ofGame[0], n, len(ofGame) == 1
		}
	}
	return "", 0, !ok
}

// inTopic sets the ladder of a match by its topic, unless the report names one. It reports false,
// and refuses the match, if the topic is lost and matters.
func (c *chatResults) inTopic(m *chatMatch) bool {
	if m.isNamed {
		return true
	}
	ofGroup := c.Topics
	if c.Group != c.chat.BotAPI() {
		ofGroup = nil
	}
	_, isBound := c.bound[m.topic]
	switch {
	case m.topic == lost && len(ofGroup)+len(c.bound) > 0:
		c.Refused = append(c.Refused, Fault{Line: m.Line, Message: true, Reason: LostTopic})
		return false
	case !isBound && m.topic > 0:
		m.Ladder = cmp.Or(ofGroup[int64(m.topic)], m.Ladder)
	}
	return true
}

// amend reads an /undo or a /fix.
func (c *chatResults) amend(said command.Command) {
	m, reason := c.amended()
	fix, err := command.ParseFix(said)
	if said.Name == command.NameUndo {
		fix.Scores = []ladder.Score{ladder.Draw} // of no meaning
		fix.Number, err = command.ParseNumber(said)
	}
	isPlayer := len(said.Mentions) == 1 && said.Typed() == "" && said.Name == command.NameFix
	switch number, _, ok := command.LineupAfter(said); {
	case said.Name == command.NameRestore, fix.Number+number > 0 && ok, fix.Number > 0:
		c.refuse(Numbered)
	case reason != "":
		c.refuse(reason)
	case isPlayer && c.replace(m, said.Mentions[0]):
	case err != nil, fix.Scores == nil:
		c.refuse(Unreadable)
	case said.Name == command.NameUndo:
		m.undone = c.line
	default:
		r := ladder.ResultOf(fix.Scores)
		if c.said.isReply && c.said.to.id != int32(m.Line) && m.swapped || !c.said.isReply && c.sideOf(m) == 1 {
			r = r.Swapped()
		}
		m.Result, m.swapped = r, r.B > r.A || r.B == r.A && m.swapped
	}
}

// replace replaces the opponent of the sender in a match of two.
func (c *chatResults) replace(m *chatMatch, with command.Person) bool {
	side, name := c.sideOf(m), c.name(with, "")
	if side < 0 || len(m.Sides[0])+len(m.Sides[1]) != 2 || slices.Contains(slices.Concat(m.Sides[:]...), name) {
		return false
	}
	m.Sides[1-side] = []string{name}
	return true
}

// sideOf returns the side on which the sender of the current message plays, or -1.
func (c *chatResults) sideOf(m *chatMatch) int {
	sender := int64(c.person(c.said.author).ID)
	return slices.IndexFunc(m.Sides[:], func(side []string) bool {
		return sender != 0 && slices.ContainsFunc(side, func(name string) bool { return c.accountOf(name) == sender })
	})
}

// amended returns the match that the current message amends: that of the message that it replies
// to, or whose card it replies to, or else the sender's last one. reason says why it amends none.
func (c *chatResults) amended() (m *chatMatch, reason Reason) {
	s, sender := c.said, int64(c.person(c.said.author).ID)
	at, _, _ := s.time(c.Zone)
	isAdmin := s.FromID.isChat && s.FromID.id == c.chat.ID
	isMine := func(m chatMatch) bool { return sender != 0 && (m.by == sender || c.sideOf(&m) >= 0) }
	var found []int
	if s.isReply {
		found = c.made[s.to.id]
		if of, isCard := c.cards[s.to.id]; isCard {
			found = c.made[of]
		}
	} else {
		for i, m := range slices.Backward(c.matches) {
			if at.Sub(m.at) > undoWindow {
				break
			}
			if m.undone == 0 && isMine(m) {
				found = []int{i}
				if m.by != sender || len(c.made[int32(m.Line)]) > 1 {
					return nil, WhichMatch
				}
				break
			}
		}
	}
	switch {
	case len(found) == 0:
		return nil, NoTarget
	case len(found) > 1:
		return nil, WhichMatch
	}
	m = &c.matches[found[0]]
	switch {
	case !isAdmin && (!isMine(*m) || at.Sub(m.at) > undoWindow):
		return nil, OnlyAdmins
	case m.undone != 0:
		return nil, NoTarget
	}
	return m, ""
}
