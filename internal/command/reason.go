package command

import "strings"

// Reason is what is wrong with the form of a command. Reasons are stored, so their meaning must not
// change.
type Reason string

// The reasons. If the comment on a reason says what Detail is, FormError.Detail has an excerpt of
// that. Otherwise it is empty.
const (
	// ReasonEmpty means that there are no arguments, as when the command is tapped in the menu.
	ReasonEmpty Reason = "empty"
	// ReasonNoOpponent means that no opponent is named, and that the message does not reply to a
	// known person.
	ReasonNoOpponent Reason = "no_opponent"
	// ReasonNameBothPlayers means that one of the players can only be the sender, but the sender
	// cannot play, for example as an anonymous admin.
	ReasonNameBothPlayers Reason = "name_both_players"
	// ReasonNoVersus means that there are more than two people, or two on the same side, but no
	// "vs" between the sides.
	ReasonNoVersus Reason = "no_versus"
	// ReasonEmptySide means that a side has no people, and that the sender cannot be meant.
	ReasonEmptySide Reason = "empty_side"
	// ReasonTooManyPeople means that a side has more than MaxTeam people. Detail is the first
	// person beyond the limit.
	ReasonTooManyPeople Reason = "too_many_people"
	// ReasonNamelessGuest means that a side has only stand-ins.
	ReasonNamelessGuest Reason = "nameless_guest"
	// ReasonTooManyStandIns means that there are more than MaxStandIns stand-ins.
	ReasonTooManyStandIns Reason = "too_many_stand_ins"
	// ReasonSamePerson means that one person plays twice, on either side. Detail is that person.
	ReasonSamePerson Reason = "same_person"
	// ReasonOnlyYourself means that the only person is the sender.
	ReasonOnlyYourself Reason = "only_yourself"
	// ReasonBot means that one of the players is a bot. Detail is the bot.
	ReasonBot Reason = "bot"
	// ReasonUnknownMention means that a word has an @, but Telegram has not marked it as a mention.
	// Detail is the word.
	ReasonUnknownMention Reason = "unknown_mention"
	// ReasonUnexpectedWord means that a word, a separator or a mention is in the wrong place.
	// Detail is the word, the separator or the mentioned person.
	ReasonUnexpectedWord Reason = "unexpected_word"
	// ReasonSpan means that a question is about an unsupported span of time. Detail is the span as
	// typed.
	ReasonSpan Reason = "span"
	// ReasonNoScore means that there is neither a score nor a word that states the outcome.
	ReasonNoScore Reason = "no_score"
	// ReasonIncompleteScore means that the other half of a score is missing, or may be a match
	// number. Detail is the number that is there.
	ReasonIncompleteScore Reason = "incomplete_score"
	// ReasonThirdNumber means that there are three numbers. Detail is the third.
	ReasonThirdNumber Reason = "third_number"
	// ReasonSeveralScores means that there are several scores, but not all have a colon or a dash.
	// Detail is the word with the third number.
	ReasonSeveralScores Reason = "several_scores"
	// ReasonTooManySets means that there are more than MaxSets scores, or that the text about the
	// games of a match that ended early is too long.
	ReasonTooManySets Reason = "too_many_sets"
	// ReasonNegativeNumber means that a number has a minus sign. Detail is the number.
	ReasonNegativeNumber Reason = "negative_number"
	// ReasonDecimalNumber means that a number has a decimal point or comma. Detail is the word.
	ReasonDecimalNumber Reason = "decimal_number"
	// ReasonScoreTooLarge means that a number of a score has more than three digits. Detail is the
	// number.
	ReasonScoreTooLarge Reason = "score_too_large"
	// ReasonNoSuchNumber means that no match can have the number: it is zero, or has more than nine
	// digits. Detail is the number.
	ReasonNoSuchNumber Reason = "no_such_number"
	// ReasonFreeForAll means that there are at least three sides, or at least three people with a
	// number each.
	ReasonFreeForAll Reason = "free_for_all"
	// ReasonSeveralResults means that several results cannot be told apart, or that only one is
	// allowed. It is also the reason of a Doubt that has no reason of its own.
	ReasonSeveralResults Reason = "several_results"
	// ReasonUnknownName means that a word can only be a player's name, but no player has it. Detail
	// is the word.
	ReasonUnknownName Reason = "unknown_name"
	// ReasonUnclearName means that several players have a name, or that it may be another word.
	// Detail is the name.
	ReasonUnclearName Reason = "unclear_name"
	// ReasonContradiction means that the words contradict each other, or state a winner of a drawn
	// game.
	ReasonContradiction Reason = "contradiction"
	// ReasonUnclearWinner means that it is not clear which side won.
	ReasonUnclearWinner Reason = "unclear_winner"
	// ReasonUnclearTotal means that a score may not be a set, but for example the total of the
	// others. Detail is that score.
	ReasonUnclearTotal Reason = "unclear_total"
	// ReasonPlayers means that there are fewer than MinPlayers people or more than MaxPlayers, or
	// that the sender is among them and cannot play.
	ReasonPlayers Reason = "players"
)

// FormError reports why a command cannot be read.
type FormError struct {
	Reason Reason `json:"reason"`
	// Detail is an excerpt of the offending word as typed, or empty. It has at most 32 runes of
	// valid UTF-8 without control and formatting characters. It must be escaped before display.
	Detail string `json:"detail,omitempty"`
}

// Error implements error. It omits Detail, because message text does not belong in a log.
func (e *FormError) Error() string {
	return "command form: " + string(e.Reason)
}

func formError(reason Reason, word string) error {
	return &FormError{Reason: reason, Detail: Excerpt(word)}
}

// Excerpt returns a word as a Detail: without invisible characters, and at most 32 runes long.
func Excerpt(word string) string {
	const most = 32 // runes
	visible := strings.Map(func(r rune) rune {
		if isInvisible(r) {
			return -1
		}
		return r
	}, word)
	runes := []rune(visible)
	return string(runes[:min(len(runes), most)])
}
