package bot

import (
	"slices"
	"strings"

	"elobot/internal/command"
	"elobot/internal/notice"
	"elobot/internal/outbox"
	"elobot/internal/ranking"
)

// minMisspelled is the minimum length of a misspelled command, and of the command that it
// resembles, for an answer in a group. Shorter commands may well belong to another bot: /stop
// resembles /top. The limit does not apply to commands that name this bot.
const minMisspelled = 4

// unknownCommand answers a command that the bot does not have. meantForThisBot means that the
// command names this bot or was sent in a private chat. Of all other commands, unknownCommand
// answers only three kinds: those that are long enough and resemble a command of this bot, those in
// offeredAnywhere, and those in offeredInstead that reply to this bot. self is this bot's username.
func unknownCommand(req request, meantForThisBot bool, self string) ranking.Operation {
	typed := req.origin.Said.Name
	name := nearest(typed)
	isToThisBot := meantForThisBot || req.message.repliesTo(self)
	switch {
	case slices.Contains(offeredAnywhere, typed), isToThisBot && slices.Contains(offeredInstead, typed):
		return ranking.Say{Notice: Offer{Command: typed}}
	case name != "" && (meantForThisBot || min(len(typed), len(name)) >= minMisspelled):
		return ranking.Say{Notice: UnknownCommand{Meant: req.message.corrected(name)}}
	case meantForThisBot:
		return ranking.Say{Notice: UnknownCommand{}}
	default:
		return nil
	}
}

// offeredAnywhere lists commands that people try. Moderation bots do not have them, so the bot
// answers them in groups too.
var offeredAnywhere = []string{"rename", "merge"}

// offeredInstead lists other commands that people try. Moderation bots have these commands too, so
// in a group the bot answers them only if they name the bot or reply to it.
var offeredInstead = []string{"rules", "privacy", "delete", "export", "report", "mute", "ban", "remove"}

// repliesTo reports whether a message replies to a message of the bot with this username.
func (m *message) repliesTo(bot string) bool {
	to := m.replied()
	return to != nil && to.From != nil && strings.EqualFold(to.From.Username, bot)
}

// Offer says what the bot offers instead of a command that it does not have.
type Offer struct {
	Command string `json:"command"`
}

var _ = notice.Register[Offer](notice.Kind{Name: "offer", Purpose: notice.Answer})

var _ = shows(view[Offer]{text: words.offer, line: words.offer})

func (w words) offer(n Offer) string { return w.Text("offers."+n.Command, nil) }

// corrected returns the command of a message under another name. It drops the arguments if they do
// not fit into one short line, or contain characters or mentions by id that copying would lose.
func (m *message) corrected(name string) string {
	arguments := m.Text[headLength(m.Text):]
	whole := strings.Join(strings.Fields(name+" "+arguments), " ")
	mentionsByID := slices.ContainsFunc(m.Entities, func(e entity) bool { return e.User != nil })
	if mentionsByID || strings.Contains(arguments, "\n") || cleanName(whole) != whole {
		return name
	}
	return whole
}

// nearest returns the name or alias of a command that a misspelled name resembles, or an empty
// string if there is none. It prefers a name that begins with the misspelled one, so that /stat
// means /stats rather than /start.
func nearest(misspelled string) (nearest string) {
	for _, name := range commandNames() {
		if isSlip(misspelled, name) && (nearest == "" || strings.HasPrefix(name, misspelled)) {
			nearest = name
		}
	}
	return nearest
}

// isSlip reports whether two different words differ in one added, missing or replaced letter, or in
// two swapped neighbors. A replaced letter in a word of up to minMisspelled letters makes another
// word: /list is not /lost.
func isSlip(a, b string) bool {
	letters, others := []rune(a), []rune(b)
	if command.Distance(letters, others, 1) != 1 {
		return false
	}
	slices.Sort(letters)
	slices.Sort(others)
	isReplaced := len(letters) == len(others) && !slices.Equal(letters, others)
	return !isReplaced || len(letters) > minMisspelled
}

// UnknownCommand says that the bot has no such command.
type UnknownCommand struct {
	// Meant is the command that was probably meant, without the slash, possibly with its arguments.
	// It is empty if no command is similar.
	Meant string `json:"meant,omitempty"`
}

var _ = notice.Register[UnknownCommand](notice.Kind{Name: "unknown_command", Purpose: notice.Answer, Refuses: true})

var _ = shows(view[UnknownCommand]{text: words.unknownCommand, line: words.unknownCommand,
	buttons: unknownCommandButtons, personal: true})

func unknownCommandButtons(n UnknownCommand, _ outbox.Item, w words) [][]button {
	if !strings.Contains(n.Meant, " ") { // a command's name alone is quickly typed
		return nil
	}
	return copyButton("/"+n.Meant, w)
}

func (w words) unknownCommand(n UnknownCommand) string {
	if n.Meant == "" {
		return w.Text("command.unknown", nil)
	}
	return w.Text("command.meant", args{"Command": codeText(n.Meant)})
}
