package command

import "strings"

// Reason is what is wrong with the form of a command. Reasons are stored, so their meaning must not
// change.
type Reason string

// The reasons, with the Detail after the colon.
const (
	// no arguments, as when the command is tapped in the menu
	ReasonEmpty Reason = "empty"
	// no opponent is named, and the message does not reply to a known person
	ReasonNoOpponent Reason = "no_opponent"
	// one of the players can only be the sender, who cannot play, such as an anonymous admin
	ReasonNameBothPlayers Reason = "name_both_players"
	// more than two people, or two on the same side, but no "vs" between the sides
	ReasonNoVersus Reason = "no_versus"
	// a side has no people, and the sender cannot be meant
	ReasonEmptySide Reason = "empty_side"
	// more than MaxTeam people on one side: the first one too many
	ReasonTooManyPeople Reason = "too_many_people"
	// a side has nobody but stand-ins
	ReasonNamelessGuest Reason = "nameless_guest"
	// more than MaxStandIns stand-ins
	ReasonTooManyStandIns Reason = "too_many_stand_ins"
	// one person plays twice, on either side: that person
	ReasonSamePerson Reason = "same_person"
	// the only person is the sender
	ReasonOnlyYourself Reason = "only_yourself"
	// one of the players is a bot: the bot
	ReasonBot Reason = "bot"
	// a word with an @ that Telegram has not marked as a mention: the word
	ReasonUnknownMention Reason = "unknown_mention"
	// a word, a separator or a mention in the wrong place: the word, the separator or the person
	ReasonUnexpectedWord Reason = "unexpected_word"
	// a question about an unsupported span of time: what was typed
	ReasonSpan Reason = "span"
	// no score, and no word that states the outcome
	ReasonNoScore Reason = "no_score"
	// a number whose other half is missing or may be a match number: the number
	ReasonIncompleteScore Reason = "incomplete_score"
	// three numbers: the third
	ReasonThirdNumber Reason = "third_number"
	// several scores, not all with a colon or a dash: the word with the third number
	ReasonSeveralScores Reason = "several_scores"
	// more than MaxSets scores, or too long a text about the games of a match that ended early
	ReasonTooManySets Reason = "too_many_sets"
	// a number with a minus sign: the number
	ReasonNegativeNumber Reason = "negative_number"
	// a number with a decimal point or comma: the word
	ReasonDecimalNumber Reason = "decimal_number"
	// more than three digits in a number of a score: the number
	ReasonScoreTooLarge Reason = "score_too_large"
	// a match number that cannot exist, zero or more than nine digits: the number
	ReasonNoSuchNumber Reason = "no_such_number"
	// at least three sides, or at least three people with a number each
	ReasonFreeForAll Reason = "free_for_all"
	// several results that cannot be told apart, or where only one is allowed, or a doubt without a
	// reason of its own
	ReasonSeveralResults Reason = "several_results"
	// a word that can only be a player's name, but no player has it: the word
	ReasonUnknownName Reason = "unknown_name"
	// a name that several players have, or that may be another word: the name
	ReasonUnclearName Reason = "unclear_name"
	// the words contradict each other, or state a winner of a drawn game
	ReasonContradiction Reason = "contradiction"
	// it is not clear which side won
	ReasonUnclearWinner Reason = "unclear_winner"
	// a score may not count, for example as the total of the others: that score
	ReasonUnclearTotal Reason = "unclear_total"
	// fewer than MinPlayers people, more than MaxPlayers, or a sender who cannot play
	ReasonPlayers Reason = "players"
)

// FormError reports why a command cannot be read.
type FormError struct {
	Reason Reason `json:"reason"`
	// Detail is an excerpt of the offending word as typed, or empty. It has at most 32 runes of
	// valid UTF-8 without control and formatting characters. It must be escaped before display.
	Detail string `json:"detail,omitempty"`
}

// Error omits Detail: message text does not belong in a log.
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
