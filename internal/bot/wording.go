package bot

import (
	"elobot/internal/ranking"
	"elobot/internal/stats"
)

// wording is one language: everything that the bot says, and nothing else. What a method returns is HTML as Telegram
// reads it; every text that people have chosen has gone through showText or showName.
type wording interface {
	matchRecorded(n ranking.MatchRecorded) string
	resultsExpired(n ranking.ResultsExpired) string
	rankingPage(n stats.RankingPage) string
	joined(n ranking.Joined) string
	matchUndone(n ranking.MatchUndone) string
	matchFixed(n ranking.MatchFixed) string
	playersMerged(n ranking.PlayersMerged) string
	groupsJoined(n ranking.GroupsJoined) string
	notRecorded(n ranking.NotRecorded) string
	fixOffer(n ranking.FixOffer) string
	refusal(n ranking.Refusal) string
	myStanding(n stats.MyStanding) string
	myStandings(n stats.MyStandings) string

	undo() string                    // on the button that undoes a match
	fixTo(n ranking.FixOffer) string // on the button that corrects a match; not HTML

	// A message that tells several has a line or two for each, without a line break. These are the lines of what else is
	// said at greater length.
	matchLine(n ranking.MatchRecorded) string
	undoneLine(n ranking.MatchUndone) string
	fixedLine(n ranking.MatchFixed) string
	playersMergedLine(n ranking.PlayersMerged) string
	myStandingLine(n stats.MyStanding) string
	addressed(name, line string) string // a line, and whom it is meant for
	more(count int) string              // so many more are not named
	amendment(number int) string        // how a result is taken back, with a number for an example

	greeting(n Greeting) string
	addToGroup() string // on the button that adds the bot to a group
	help(n Help) string
	wrongForm(n WrongForm) string
	groupOnly(n GroupOnly) string
	unknownCommand() string
	commandFailed(n CommandFailed) string

	command(name string) commandText // for each command of the table
}

// commandText is what a language says about a command.
type commandText struct {
	menu        string   // plain text
	privateMenu string   // the same in a private chat, if it differs
	usage       []string // lines of /help
	help        string   // what "/<command> help" says
}

// menuIn returns the line in the menu of a kind of chat.
func (t commandText) menuIn(where Where) string {
	if where == InPrivate && t.privateMenu != "" {
		return t.privateMenu
	}
	return t.menu
}

// wordingFor returns the wording of a language, given by its IETF tag, or else the English one.
func wordingFor(language string) wording {
	switch language {
	default:
		return english{}
	}
}
