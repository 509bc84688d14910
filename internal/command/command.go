package command

import (
	"regexp"
	"slices"
	"strings"

	"elobot/internal/ladder"
)

// The names of commands, as in Command.Name.
const (
	NameMatch   = "match"
	NameWon     = "won"
	NameLost    = "lost"
	NameDraw    = "draw"
	NameUndo    = "undo"
	NameRestore = "restore"
	NameFix     = "fix"
	NameOdds    = "odds"
	NameTeams   = "teams"
	NameSeason  = "season"
)

// Command is a command with its arguments, as Parse finds it in a message or Text makes it.
type Command struct {
	Name string // as typed, normalized by the function Name; the caller replaces an alias with the main name
	// Written is like Name, but keeps an alias such as "won" when Name becomes the main name of the
	// command, here "match". It also stays the same when AboutSeason changes Name.
	Written string
	Args    string // the trimmed text after the command, with a placeholder for each mention
	// Ladder has the first words of the arguments if they name a ladder. WithoutWords moves them
	// here.
	Ladder    string
	Beyond    bool     // the name has characters that Telegram does not mark, so it need not be a command
	Addressed bool     // the message names this bot or answers it, so it is not meant for another bot
	Mentions  []Person // in the order of their placeholders; nil if there are none

	// Parse leaves the following fields empty, because the text does not contain them. The caller
	// sets them.
	MayNameLadder bool   // the first words of the arguments may name the ladder
	Sender        Person // the author of the message; zero if unknown, as for an anonymous admin
	// Reply is the author of the message that this one replies to, or an opponent chosen earlier.
	// It is nil if there is neither. IsBot must be set if the person is a bot.
	Reply *Person
	// Picked has the players chosen so far for the unclear names in a question, in the order of the
	// names.
	Picked []ladder.PlayerID
}

// Parse reads a message that begins with a command. botUsername is this bot's username, without the
// @. ok is false if the message does not begin with a command, or if the command is for another
// bot. Parse ignores entities that do not fit the text.
func Parse(text string, entities []Entity, botUsername string) (c Command, ok bool) {
	head := commandHead(text, entities)
	if head == nil || head[2] != "" && !strings.EqualFold(head[2], botUsername) {
		return Command{}, false
	}
	c = Command{Name: Name(head[1]), Written: Name(head[1]), Beyond: !isWord(head[1]), Addressed: head[2] != ""}
	c.Args, c.Mentions = cutMentions(text, len(head[0]), entities, botUsername)
	return c, true
}

// SplitNumber splits the number off a name that ends with one, as if a space preceded it: /undo2 is
// /undo 2. For any other command, ok is false and split is c.
func (c Command) SplitNumber() (split Command, ok bool) {
	name := strings.TrimRightFunc(c.Name, isDigit)
	number := c.Name[len(name):]
	if number == "" {
		return c, false
	}
	c.Name, c.Written, c.Args = name, name, strings.TrimSpace(number+" "+c.Args)
	return c, true
}

// Typed returns the arguments without the mentions.
func (c Command) Typed() string {
	return strings.TrimSpace(strings.ReplaceAll(c.Args, placeholder, " "))
}

// Unquoted splits the result of Typed into words, at white space and double quotes.
func (c Command) Unquoted() []string {
	return strings.FieldsFunc(c.Typed(),
		func(r rune) bool { return isSpace(r) || strings.ContainsRune(`"“”„«»`, r) })
}

// AboutSeason turns a command whose first argument is "season", such as /ranking season, into
// /season, and returns any other command unchanged.
func (c Command) AboutSeason() Command {
	if first, rest, _ := strings.Cut(c.Args, " "); c.Name != NameSeason && strings.EqualFold(first, NameSeason) {
		c.Name, c.Args = NameSeason, rest
	}
	return c
}

// SaysWhoWon reports whether the command's name states the outcome, as /won and /draw do.
func (c Command) SaysWhoWon() bool { return commandOutcomes[c.Written] != unknown }

// FirstWord returns the first word of the arguments or, if they have none, the label of the first
// person mentioned.
func (c Command) FirstWord() string {
	word, _ := cutWord(c.Args)
	if word == "" && len(c.Mentions) > 0 {
		return c.Mentions[0].label()
	}
	return word
}

// Text returns a command called name with text as its arguments. It is used for replies to the bot
// that contain no command. botUsername means the same as in Parse.
func Text(name, text string, entities []Entity, botUsername string) Command {
	c := Command{Name: name, Written: name, Addressed: true}
	c.Args, c.Mentions = cutMentions(text, 0, entities, botUsername)
	return c
}

// WantsHelp reports whether the command asks for help, as in "/match help".
func (c Command) WantsHelp() bool { return strings.EqualFold(c.Args, "help") }

// commandPattern matches a command at the beginning of a text. Its submatches are the name and the
// username of a bot, which may be missing.
var commandPattern = regexp.MustCompile(`^/([\pL\pN\pM_]+)(?:@(\w+))?`)

// commandHead returns the submatches of commandPattern for the command that text begins with, or
// nil if there is none. Telegram marks only names made of the letters a to z, digits and "_".
// Another word, such as "/gané" or "/матч", has no mark, or a mark that ends inside the word. Such
// a word is a command unless an entity of another kind, such as code, begins there.
func commandHead(text string, entities []Entity) []string {
	if head := commandPattern.FindStringSubmatch(text); head != nil && !isWord(head[1]) {
		if slices.ContainsFunc(entities, func(e Entity) bool { return e.Offset == 0 && e.Kind != KindBotCommand }) {
			return nil
		}
		return head
	}
	for _, e := range entities {
		if e.Kind != KindBotCommand || e.Offset != 0 || e.Length < 0 || e.Length > len(text) {
			continue
		}
		isWhole := e.Length == len(text) || !isWord(text[e.Length:e.Length+1])
		head := commandPattern.FindStringSubmatch(text[:e.Length])
		if head != nil && len(head[0]) == e.Length && isWhole {
			return head
		}
	}
	return nil
}

// Name normalizes the name of a command: "match" for "match", "/Match" and "MATCH", and "gane" for
// "gané".
func Name(word string) string { return fold(strings.TrimPrefix(word, "/")) }

// wordBytes are the characters allowed in commands and usernames.
const wordBytes = digits + "_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

// isWord reports whether s consists of wordBytes and is not empty.
func isWord(s string) bool { return s != "" && strings.Trim(s, wordBytes) == "" }

// Person is a person in a message: named by username (a mention), known as a Telegram user (a text
// mention, the sender, the author of a replied-to message), or found in the store. The zero Person
// stands for no one. The JSON form is part of stored reports.
type Person struct {
	ID ladder.UserID `json:"id,omitempty"` // 0 if unknown
	// Username is written without the @, in the original letter case. It is empty if unknown.
	Username string `json:"username,omitempty"`
	Name     string `json:"name,omitempty"` // the display name, empty for a mention
	// Player is set if the person was found in the store rather than in the message.
	Player ladder.PlayerID `json:"player,omitempty"`
	IsBot  bool            `json:"-"`
	// Former lists the player's former usernames in the group, in lower case, separated by spaces.
	Former string `json:"-"`
	// Shown is the name that Telegram shows for the player, if the group has another Name for the
	// player. Otherwise it is empty.
	Shown string `json:"-"`
	// Nameless is the number that messages show instead of a name, as in Player 2, or 0 if there is
	// a name.
	Nameless int `json:"-"`
	// CountsAs is the player that Player counts as after a merge. It is 0 without a merge.
	CountsAs ladder.PlayerID `json:"-"`
	// Left is set if the player has left the group. A name means this person only if it means no
	// player who is still in the group.
	Left bool `json:"-"`
	// Earlier is set if the data comes from an earlier message rather than from the command's own.
	Earlier bool `json:"-"`
	Oblique bool `json:"-"` // the name is in a case that a subject cannot have
	Whom    bool `json:"-"` // Oblique is set, and the case may be the accusative
	// IsStandIn is set only while parsing. It means that Name is not a name, but a word for a
	// stand-in.
	IsStandIn bool `json:"-"`
}

// MayBeBot reports whether p is a mention that may refer to a bot. Telegram does not say which
// mentioned accounts are bots, but the usernames of almost all bots end in "bot", and hardly any
// other usernames do.
func (p Person) MayBeBot() bool {
	return p.ID == 0 && p.Player == 0 && strings.HasSuffix(strings.ToLower(p.Username), "bot")
}

// IsShownNow reports whether the person's data comes from this command's message, and not from the
// store or an earlier message. It is false for a new guest, of whom a message shows only the name.
func (p Person) IsShownNow() bool { return p.Player == 0 && !p.Earlier && !p.IsNewGuest() }

// IsGuest reports whether p is a player without Telegram, whom only Player identifies.
func (p Person) IsGuest() bool { return p.Player != 0 && p.ID == 0 && p.Username == "" }

// isKnown reports whether p is identified by an id or a username, or is a guest.
func (p Person) isKnown() bool { return p.ID != 0 || p.Username != "" || p.IsGuest() }

// IsSame reports whether p and q have an id or a username in common, or are the same guest. It
// ignores the letter case of usernames, and compares the names of new guests by FoldName.
func (p Person) IsSame(q Person) bool {
	return p.ID != 0 && p.ID == q.ID || p.Username != "" && strings.EqualFold(p.Username, q.Username) ||
		p.IsGuest() && q.IsGuest() && p.Player == q.Player ||
		p.IsNewGuest() && q.IsNewGuest() && foldName(p.Name) == foldName(q.Name)
}

// identify returns known, with the grammatical case of p, if both are the same person, because
// known has more data than a mention. Otherwise it returns p.
func (p Person) identify(known Person) Person {
	if !p.IsSame(known) {
		return p
	}
	known.IsBot, known.Oblique, known.Whom = known.IsBot || p.IsBot, p.Oblique, p.Whom
	return known
}

// IsCalled reports whether a word is p's username, one of p's names, or the first word of any of
// these.
func (p Person) IsCalled(word string) bool {
	word = foldName(word)
	return word != "" && slices.ContainsFunc([]string{p.Name, p.Shown, p.Username}, func(name string) bool {
		name = foldName(name)
		return word == name || word == firstName(name)
	})
}

// label returns p's username with an @, or p's name if the username is unknown.
func (p Person) label() string {
	if p.Username != "" {
		return "@" + p.Username
	}
	return p.Name
}

// isBotUsername reports whether username is this bot's, or belongs to a bot that Telegram shows as
// the sender for anonymous admins and channels. No other username proves that an account is a bot.
func isBotUsername(username, botUsername string) bool {
	bots := []string{botUsername, "GroupAnonymousBot", "Channel_Bot"}
	return username != "" && slices.ContainsFunc(bots, func(bot string) bool { return strings.EqualFold(username, bot) })
}
