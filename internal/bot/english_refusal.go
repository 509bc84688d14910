package bot

import (
	"fmt"
	"strconv"
	"strings"

	"elobot/internal/command"
	"elobot/internal/ranking"
)

func (english) refusal(n ranking.Refusal) string {
	match := fmt.Sprintf("match #%d", n.Number)
	switch n.Code {
	case ranking.SamePlayer:
		return "Two of the names are the same person. Name everyone who played once: " + formOther +
			", or in teams: " + formTeams
	case ranking.NotAPerson:
		return showText(n.Name) + " looks like a bot, and bots don’t play. " +
			"If it’s a person, ask them to send <code>/join</code> first."
	case ranking.NoDraws:
		return "This ranking has no draws, so one side must score more, as in <code>3:1</code>."
	case ranking.UnevenTeams:
		return "Both sides need the same number of players here: " + formTeams
	case ranking.NobodyToJoin:
		return "You’re writing as the group, so I can’t see who you are. Send <code>/join</code> under your own name."
	case ranking.NobodyToShow:
		return "You’re writing as the group, so I can’t see who you are. Send <code>/me</code> under your own name."
	case ranking.TooManyAtOnce:
		return "Too much came in at once, so this was not done. Please try again."
	case ranking.NoSuchMatch:
		return "There is no " + match + " here. You can find the number on the match’s card."
	case ranking.NotAboutAMatch:
		return "That message is neither the card of one match nor the <code>/match</code> that reported it. " +
			"Reply to one of those, or give the match’s number: " + formUndo + ", " + formFix + " or " + formRestore
	case ranking.NothingOfYours:
		return "You have no match to undo or fix from the last " + duration(n.Minutes) + ". Give the number of the one you mean: " +
			formUndo + " or " + formFix
	case ranking.WhichMatch:
		return "You’re writing as the group, so I can’t see which match is yours. Give its number: " +
			formUndo + " or " + formFix
	case ranking.NotYours:
		return "Only those who played or reported " + match + ", and the group’s admins, can undo or fix it."
	case ranking.TooLate:
		return fmt.Sprintf("Match #%d is more than ", n.Number) + duration(n.Minutes) +
			" old, so only a group admin can undo or fix it."
	case ranking.UndoneAlready:
		return undoneAlready(n)
	case ranking.SameScore:
		return fmt.Sprintf("Match #%d already has this score. To change it: ", n.Number) + formFix
	case ranking.AdminsUnknown:
		return "I couldn’t find out from Telegram whether you’re an admin here, so nothing was changed. " +
			"Please try again."
	case ranking.NotYourPrompt:
		return "Only the admin who was asked can answer."
	case ranking.AdminsOnlyPrompt:
		return "Only the group’s admins can answer."
	case ranking.PromptOver:
		return "Too late: somebody has answered, or time is up."
	case ranking.AskedAlready:
		return "I’ve asked you about " + match + " already: please answer there."
	case ranking.AdminsOnly:
		return "Only the group’s admins can change the rules."
	case ranking.SameRules:
		return "These are the rules already."
	case ranking.RulesOutOfRange:
		return fmt.Sprintf("That’s too much or too little. A start rating is from %d to %d, a K-factor from %d to %d, and "+
			"provisional matches are at most %d.", ranking.MinStart, ranking.MaxStart, ranking.MinK, ranking.MaxK, ranking.MaxProvisionalMatches)
	case ranking.Inconsistent:
		return "Something is wrong with the stored ratings, so nothing was changed. The operator of this bot can find " +
			"out more with <code>elobot verify</code>."
	case ranking.UnknownButton:
		return "This button no longer works."
	case ranking.TooManyQuestions:
		return "That’s a lot at once: I’ll answer again in a minute. Results are still recorded."
	case ranking.TooManyResults:
		return "That’s a lot at once, so this was not done. Please try again in a minute."
	case ranking.TooManyPresses:
		return "Easy there… That was a lot of taps. Please try again in a minute."
	default:
		return notAmended(n)
	}
}

// notAmended says why a match was not restored, or not changed at all.
func notAmended(n ranking.Refusal) string {
	match := fmt.Sprintf("Match #%d", n.Number)
	switch n.Code {
	case ranking.NotUndone:
		return match + " counts, so there is no undo to take back."
	case ranking.UndoneLongAgo:
		return match + " was undone more than " + duration(n.Minutes) +
			" ago, so it can no longer be restored. If it should count, report it again: " + formMatch
	case ranking.NotUndoneByYou:
		return fmt.Sprintf("Only the person who undid match #%d, and the group’s admins, can restore it.", n.Number)
	case ranking.SamePersonTwice:
		return match + " can’t be restored: two of its players are the same person, and nobody can play twice in one match."
	case ranking.NothingToRestore:
		return "You have undone no match in the last " + duration(n.Minutes) + ". Give the number of the one you mean: " + formRestore
	case ranking.WhichUndone:
		return "You’re writing as the group, so I can’t see which match you undid. Give its number: " + formRestore
	case ranking.TooFarBack:
		return match + " is too far back: " + thousands(n.Matches) + " matches after it would have to be calculated again."
	case ranking.ChangedSince:
		return match + " has changed since, so this button no longer works."
	default:
		return "That didn’t work, and nothing was changed."
	}
}

// thousands formats a number that is not negative, with commas.
func thousands(n int) string {
	if n < 1_000 {
		return strconv.Itoa(n)
	}
	return fmt.Sprintf("%s,%03d", thousands(n/1_000), n%1_000)
}

// duration formats minutes, as hours if possible.
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
	case n.Command == command.NameRestore:
		form = formRestore
	case n.Command == command.NameFix:
		form, sets = formFix, formFixSets
	case n.Teams:
		form, sets = formTeams, formTeamsSets
	}
	switch n.Reason {
	case command.ReasonEmpty:
		if n.Command == command.NameFix {
			return "What is the right score? For example: " + formFix + ", or in reply to the match’s card: " + formFixReply
		}
		return "Who played, and how did it end? For example: " + formMatch + ", or for others: " + formOther
	case command.ReasonNoOpponent:
		return "Who did you play against? Name them: " + formMatch + ", or reply to one of their messages with " + formReply
	case command.ReasonNameBothPlayers:
		return "You’re writing as the group, so please name both players: " + formOther
	case command.ReasonNoVersus:
		return "Who played together? Put “vs” between the two sides: " + formTeams
	case command.ReasonEmptySide:
		return "Someone is missing before or after “vs”. Name everyone who played: " + formTeams
	case command.ReasonTooManyPeople:
		return fmt.Sprintf("A side can have at most %d players; %s is one too many: %s", command.MaxTeam, quoted, formTeams)
	case command.ReasonSamePerson:
		return quoted + " can’t play twice in one match. Name everyone once: " + form
	case command.ReasonBot:
		return "Bots don’t play. Name a person: " + form
	case command.ReasonUnknownMention:
		if n.Command != command.NameMatch {
			return notByName(quoted, form)
		}
		return quoted + " is not a valid username. Type @ and pick the person from the list: " + form
	case command.ReasonUnexpectedWord:
		if n.Command != command.NameMatch && strings.HasPrefix(n.Detail, "@") {
			return notByName(quoted, form)
		}
		return "I don’t understand " + quoted + ". Write it like this: " + form
	case command.ReasonNoScore:
		return "The score is missing: " + form
	case command.ReasonIncompleteScore:
		return "A score has two numbers, but " + quoted + " stands alone: " + form
	case command.ReasonThirdNumber:
		return "A score has two numbers, and " + quoted + " is a third: " + form
	case command.ReasonSeveralScores:
		return "From " + quoted + " on, I can’t tell which numbers belong together. Write each set with a colon: " + sets
	case command.ReasonTooManySets:
		return fmt.Sprintf("A match can have at most %d sets. Send the number of sets won instead: %s", command.MaxSets, form)
	case command.ReasonNoSuchNumber:
		return "No match has the number " + quoted + ". You can find the number on the match’s card: " + form
	case command.ReasonNegativeNumber:
		return "I can’t use a negative number such as " + quoted + ": " + form
	case command.ReasonDecimalNumber:
		return "I need whole numbers, not " + quoted + ": " + form
	case command.ReasonForeignDigits:
		return "I only read the digits 0 to 9, not " + quoted + ": " + form
	case command.ReasonScoreTooLarge:
		return "Scores go up to 999, and " + quoted + " is higher: " + form
	default:
		return "I don’t understand that. Write it like this: " + form
	}
}

func notByName(quoted, form string) string {
	return "Give the match’s number instead of " + quoted + ": " + form
}

// undoneAlready says that a match is undone, and how to restore it if that is possible.
func undoneAlready(n ranking.Refusal) string {
	text := fmt.Sprintf("Match #%d is already undone.", n.Number)
	if n.Minutes > 0 {
		text += fmt.Sprintf(" If it should count, take the undo back: <code>/restore %d</code>", n.Number)
	}
	return text
}
