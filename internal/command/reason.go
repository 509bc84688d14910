package command

import "strings"

// Reason says what is wrong with the form of a command. Its values are stored, so their meaning must not change.
type Reason string

const (
	// ReasonEmpty: the command has no arguments, as when it was tapped in the menu.
	ReasonEmpty Reason = "empty"
	// ReasonNoOpponent: nobody is mentioned, and the message is no reply to anybody.
	ReasonNoOpponent Reason = "no_opponent"
	// ReasonNameBothPlayers: fewer than two people are mentioned, without "vs", and the sender, who would be one of the players, is not
	// known (an anonymous admin).
	ReasonNameBothPlayers Reason = "name_both_players"
	// ReasonNoVersus: three or more people, and no "vs" between them.
	ReasonNoVersus Reason = "no_versus"
	// ReasonEmptySide: nobody is mentioned on one side of "vs", or on both. Before "vs" the sender may be left out, if known and against
	// one person.
	ReasonEmptySide Reason = "empty_side"
	// ReasonTooManyPeople: more than MaxTeam people on one side. Detail is the first one too many.
	ReasonTooManyPeople Reason = "too_many_people"
	// ReasonSamePerson: one person plays twice, on either side. Detail is that person.
	ReasonSamePerson Reason = "same_person"
	// ReasonBot: one of the players is a bot. Detail is the bot.
	ReasonBot Reason = "bot"
	// ReasonUnknownMention: a word with an @ that Telegram has not marked as a mention, because it is too short for a username or not
	// free-standing. Detail is the word.
	ReasonUnknownMention Reason = "unknown_mention"
	// ReasonUnexpectedWord: a word or a separator in the wrong place, or a mention where none is allowed. Detail is the word or the person.
	ReasonUnexpectedWord Reason = "unexpected_word"
	// ReasonNoScore: people or the number of a match, but no score.
	ReasonNoScore Reason = "no_score"
	// ReasonIncompleteScore: a single number, or an odd count of numbers in several scores; or a score whose first number may be that of a
	// match. Detail is the number that lacks its other half.
	ReasonIncompleteScore Reason = "incomplete_score"
	// ReasonThirdNumber: three numbers. Detail is the third.
	ReasonThirdNumber Reason = "third_number"
	// ReasonSeveralScores: several scores, at least one without a colon or a dash. Detail is the word in which the second score begins.
	ReasonSeveralScores Reason = "several_scores"
	// ReasonTooManySets: more than MaxSets scores.
	ReasonTooManySets Reason = "too_many_sets"
	// ReasonNegativeNumber: a number with a minus sign. Detail is the number.
	ReasonNegativeNumber Reason = "negative_number"
	// ReasonDecimalNumber: a number with a point or a comma in it. Detail is the word.
	ReasonDecimalNumber Reason = "decimal_number"
	// ReasonScoreTooLarge: a number of more than three digits in a score. Detail is the number.
	ReasonScoreTooLarge Reason = "score_too_large"
	// ReasonWalkover: a match that was not played, which is not rated. Detail is the word that says so.
	ReasonWalkover Reason = "walkover"
	// ReasonNoSuchNumber: a match number that cannot exist: zero, or more than nine digits. Detail is the number.
	ReasonNoSuchNumber Reason = "no_such_number"
	// ReasonFreeForAll: at least three people or sides with a number each, or three sides.
	ReasonFreeForAll Reason = "free_for_all"
	// ReasonSeveralResults: several results in one line that cannot be told apart, or several lines of which not each is a result.
	ReasonSeveralResults Reason = "several_results"
	// ReasonUnknownName: a word that can only be the name of a player, and nobody has it. Detail is the word.
	ReasonUnknownName Reason = "unknown_name"
	// ReasonUnclearName: a name that several players have, or that may be another word. Detail is the name.
	ReasonUnclearName Reason = "unclear_name"
	// ReasonContradiction: the words contradict each other.
	ReasonContradiction Reason = "contradiction"
	// ReasonUnclearWinner: the words and the score, or the order of the words, let either side be the winner.
	ReasonUnclearWinner Reason = "unclear_winner"
	// ReasonUnclearTotal: the first or the last score may be the total of the others, and does not equal the sets that were won. Detail is
	// that score.
	ReasonUnclearTotal Reason = "unclear_total"
	// ReasonPlayers: fewer than MinPlayers people, or more than MaxPlayers.
	ReasonPlayers Reason = "players"
)

// FormError says why a command cannot be read.
type FormError struct {
	Reason Reason `json:"reason"`
	// Detail is an excerpt of the offending word as the user wrote it, or empty. It has at most 32 runes of valid UTF-8 without control and
	// formatting characters. It must be escaped before display.
	Detail string `json:"detail,omitempty"`
}

// Error implements error. It omits Detail: the text of a message does not belong in a log.
func (e *FormError) Error() string {
	return "command form: " + string(e.Reason)
}

// maxDetail is the maximum length of Detail in runes.
const maxDetail = 32

func formError(reason Reason, word string) error {
	return &FormError{Reason: reason, Detail: Excerpt(word)}
}

// Excerpt returns a word as a Detail.
func Excerpt(word string) string {
	var b strings.Builder
	runes := 0
	for _, r := range word {
		if isInvisible(r) {
			continue
		}
		if runes == maxDetail {
			break
		}
		b.WriteRune(r)
		runes++
	}
	return b.String()
}
