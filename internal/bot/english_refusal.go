package bot

import (
	"fmt"
	"strings"

	"elobot/internal/command"
	"elobot/internal/ranking"
)

func (english) refusal(n ranking.Refusal) string {
	match := fmt.Sprintf("match #%d", n.Number)
	switch n.Code {
	case ranking.SamePlayer:
		return "Two of the names are the same person. Name everybody who played once: " + formOther +
			", in teams: " + formTeams
	case ranking.NotAPerson:
		return showText(n.Name) + " looks like a bot, and bots don’t play. " +
			"If it is a person, let them send <code>/join</code> first."
	case ranking.NoDraws:
		return "There are no draws in this ranking, so one side must have scored more, as in <code>3:1</code>."
	case ranking.UnevenTeams:
		return "Both sides need the same number of players here: " + formTeams
	case ranking.NobodyToJoin:
		return "You write as the group, so I cannot see who joins. Send <code>/join</code> under your own name."
	case ranking.NobodyToShow:
		return "You write as the group, so I cannot see whose place you mean. Send <code>/me</code> under your own name."
	case ranking.TooManyAtOnce:
		return "Too much came in at the same moment, and this was not done. Please try again."
	case ranking.NoSuchMatch:
		return "There is no " + match + " here. The number of a match stands on its card."
	case ranking.NotAboutAMatch:
		return "That message is neither the card of one match nor a <code>/match</code> that made one. " +
			"Reply to the match’s card or to its <code>/match</code>, or give its number: " + formUndo + " or " + formFix
	case ranking.NothingOfYours:
		return "I see no match of yours in the last " + duration(n.Minutes) + ". Give the number of the one you mean: " +
			formUndo + " or " + formFix
	case ranking.WhichMatch:
		return "You write as the group, so I cannot see which match is yours. Give its number: " +
			formUndo + " or " + formFix
	case ranking.NotYours:
		return "Only those who played or reported " + match + ", and the group’s admins, can take it back or correct it."
	case ranking.TooLate:
		return "It is more than " + duration(n.Minutes) + " since " + match +
			", so only an admin of the group can take it back or correct it."
	case ranking.UndoneAlready:
		return fmt.Sprintf("Match #%d is undone already and does not count. If it should, report it again: ", n.Number) +
			formMatch
	case ranking.SameScore:
		return fmt.Sprintf("Match #%d has this score already. ", n.Number) + formFix
	case ranking.AdminsUnknown:
		return "Telegram does not tell me right now whether you are an admin here, so nothing was changed. " +
			"Please try again."
	case ranking.Inconsistent:
		return "Something is wrong with the stored ratings, so nothing was changed. Whoever runs this bot can find out " +
			"what with <code>elobot verify</code>."
	case ranking.UnknownButton:
		return "This button does nothing any more."
	case ranking.TooManyQuestions:
		return "That is a lot at once: I answer again in a minute. Results are still recorded."
	case ranking.TooManyResults:
		return "That is a lot at once, so this was not done. Please try again in a minute."
	case ranking.TooManyPresses:
		return "Easy, one moment… That was a lot of taps. Please try again in a minute."
	default:
		return "That did not work, and nothing was changed."
	}
}

// duration says how long so many minutes are.
func duration(minutes int) string {
	n, unit := minutes, "minute"
	if minutes%60 == 0 {
		n, unit = minutes/60, "hour"
	}
	if n != 1 {
		unit += "s"
	}
	return fmt.Sprintf("%d %s", n, unit)
}

func (english) wrongForm(n WrongForm) string {
	quoted := "“" + showWord(n.Detail) + "”"
	form, sets := formMatch, formSets
	switch {
	case n.Command == command.NameUndo:
		form = formUndo
	case n.Command == command.NameFix:
		form, sets = formFix, formFixSets
	case n.Teams:
		form, sets = formTeams, formTeamsSets
	}
	switch n.Reason {
	case command.ReasonEmpty:
		if n.Command == command.NameFix {
			return "How did it really end? Like this: " + formFix + ", or in reply to the match’s card: " + formFixReply
		}
		return "Who played, and how did it end? Like this: " + formMatch + ", or for others: " + formOther
	case command.ReasonNoOpponent:
		return "I don’t see against whom. Name them: " + formMatch + ", or reply to a message of theirs with " + formReply
	case command.ReasonNameBothPlayers:
		return "You write as the group, so please name both players: " + formOther
	case command.ReasonNoVersus:
		return "Who played together? Put “vs” between the two sides: " + formTeams
	case command.ReasonEmptySide:
		return "Somebody is missing before or after “vs”. Name all who played: " + formTeams
	case command.ReasonTooManyPeople:
		return fmt.Sprintf("A side has at most %d players, %s is one too many: %s", command.MaxTeam, quoted, formTeams)
	case command.ReasonSamePerson:
		return quoted + " cannot play twice in one match. Name everybody once: " + form
	case command.ReasonBot:
		return "Bots don’t play. Name a person: " + form
	case command.ReasonUnknownMention:
		if n.Command != command.NameMatch {
			return notByName(quoted, form)
		}
		return quoted + " is not a username that Telegram knows. Pick the person from the list behind the @: " + form
	case command.ReasonUnexpectedWord:
		if n.Command != command.NameMatch && strings.HasPrefix(n.Detail, "@") {
			return notByName(quoted, form)
		}
		return "I don’t understand " + quoted + ". This is the form: " + form
	case command.ReasonNoScore:
		return "The score is missing: " + form
	case command.ReasonIncompleteScore:
		return "A score has two numbers, " + quoted + " stands alone: " + form
	case command.ReasonThirdNumber:
		return "A score has two numbers, " + quoted + " is a third: " + form
	case command.ReasonSeveralScores:
		return "From " + quoted + " on I cannot tell which numbers belong together. Write each set with a colon: " + sets
	case command.ReasonTooManySets:
		return fmt.Sprintf("A match has at most %d sets. Send the sets won instead: %s", command.MaxSets, form)
	case command.ReasonNoSuchNumber:
		return "No match has the number " + quoted + ". It stands on the match’s card: " + form
	case command.ReasonNegativeNumber:
		return "Numbers here are never negative, unlike " + quoted + ": " + form
	case command.ReasonDecimalNumber:
		return "I need whole numbers, unlike " + quoted + ": " + form
	case command.ReasonForeignDigits:
		return "I read the digits 0 to 9 only, not " + quoted + ": " + form
	case command.ReasonScoreTooLarge:
		return "Scores go up to 999, " + quoted + " is more: " + form
	default:
		return "I don’t understand that. This is the form: " + form
	}
}

func notByName(quoted, form string) string {
	return "A match is named by its number and not by " + quoted + ": " + form
}
