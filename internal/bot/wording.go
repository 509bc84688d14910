package bot

import (
	"elobot/internal/ranking"
	"elobot/internal/stats"
)

// wording is one language: all texts of the bot, and nothing else. The methods return Telegram's HTML. Every text that people
// chose must go through showText or showName.
type wording interface {
	matchRecorded(n ranking.MatchRecorded) string
	resultsExpired(n ranking.ResultsExpired) string
	rankingPage(n stats.RankingPage) string
	joined(n ranking.Joined) string
	matchUndone(n ranking.MatchUndone) string
	matchFixed(n ranking.MatchFixed) string
	playersMerged(n ranking.PlayersMerged) string
	groupsJoined(n ranking.GroupsMerged) string
	notRecorded(n ranking.NotRecorded) string
	fixOffer(n ranking.FixOffer) string
	refusal(n ranking.Refusal) string
	myStanding(n stats.MyStanding) string
	myStandings(n stats.MyStandings) string

	undo() string                    // label of the button that undoes a match
	fixTo(n ranking.FixOffer) string // label of the button that corrects a match; not HTML

	// These are the lines of a merged message, which has a line without line breaks for each item.
	matchLine(n ranking.MatchRecorded) string
	undoneLine(n ranking.MatchUndone) string
	fixedLine(n ranking.MatchFixed) string
	playersMergedLine(n ranking.PlayersMerged) string
	myStandingLine(n stats.MyStanding) string
	addressed(name, line string) string // puts the addressee in front of a line
	more(count int) string              // count items are not listed
	amendment(number int) string        // how to undo a match, with number as an example

	greeting(n Greeting) string
	addToGroup() string // label of the button that adds the bot to a group
	help(n Help) string
	wrongForm(n WrongForm) string
	groupOnly(n GroupOnly) string
	unknownCommand() string
	commandFailed(n CommandFailed) string

	command(name string) commandText // the texts about a command of the table
}

// commandText has the texts about a command in one language.
type commandText struct {
	menu        string   // plain text
	privateMenu string   // plain text for private chats; empty if it is the same
	usage       []string // lines of /help
	help        string   // answer to "/<command> help"
}

// menuIn returns the menu line for a kind of chat.
func (t commandText) menuIn(where Where) string {
	if where == InPrivate && t.privateMenu != "" {
		return t.privateMenu
	}
	return t.menu
}

// wordingFor returns the wording for an IETF language tag, or the English one if there is none.
func wordingFor(language string) wording {
	switch language {
	default:
		return english{}
	}
}
