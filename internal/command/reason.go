package command

import "strings"

// Reason says what is wrong with the form of a command. Its values are stored, so their meaning must not change.
type Reason string

// The reasons, with what Detail is.
const (
	ReasonEmpty           Reason = "empty"             // no arguments, as when the command was tapped in the menu
	ReasonNoOpponent      Reason = "no_opponent"       // nobody is mentioned, and the message is no reply to anybody
	ReasonNameBothPlayers Reason = "name_both_players" // one person is missing, and the sender is not known: an anonymous admin
	ReasonNoVersus        Reason = "no_versus"         // three or more people, and no "vs" between them
	ReasonEmptySide       Reason = "empty_side"        // nobody on one side of "vs", unless it is the sender against one person
	ReasonTooManyPeople   Reason = "too_many_people"   // more than MaxTeam people on one side: the first one too many
	ReasonSamePerson      Reason = "same_person"       // one person plays twice, on either side: that person
	ReasonOnlyYourself    Reason = "only_yourself"     // the only person is the sender
	ReasonBot             Reason = "bot"               // one of the players is a bot: the bot
	ReasonUnknownMention  Reason = "unknown_mention"   // a word with an @ that Telegram has not marked as a mention: the word
	ReasonUnexpectedWord  Reason = "unexpected_word"   // a word, a separator or a mention in the wrong place: the word or the person
	ReasonSpan            Reason = "span"              // a question about a span of time that has no answer: what was typed
	ReasonNoScore         Reason = "no_score"          // people or the number of a match, but no score
	ReasonIncompleteScore Reason = "incomplete_score"  // a number lacks its other half, or may be that of a match: the number
	ReasonThirdNumber     Reason = "third_number"      // three numbers: the third
	ReasonSeveralScores   Reason = "several_scores"    // several scores, one without a colon or a dash: the word in which the second begins
	ReasonTooManySets     Reason = "too_many_sets"     // more than MaxSets scores
	ReasonNegativeNumber  Reason = "negative_number"   // a number with a minus sign: the number
	ReasonDecimalNumber   Reason = "decimal_number"    // a number with a point or a comma in it: the word
	ReasonScoreTooLarge   Reason = "score_too_large"   // a number of more than three digits in a score: the number
	ReasonNoSuchNumber    Reason = "no_such_number"    // a match number that cannot exist, zero or more than nine digits: the number
	ReasonFreeForAll      Reason = "free_for_all"      // at least three people or sides with a number each, or three sides
	ReasonSeveralResults  Reason = "several_results"   // several results in one line that cannot be told apart, or lines that are not each one
	ReasonUnknownName     Reason = "unknown_name"      // a word that can only be the name of a player, and nobody has it: the word
	ReasonUnclearName     Reason = "unclear_name"      // a name that several players have, or that may be another word: the name
	ReasonContradiction   Reason = "contradiction"     // the words contradict each other
	ReasonUnclearWinner   Reason = "unclear_winner"    // the words and the score, or the order of the words, let either side be the winner
	ReasonUnclearTotal    Reason = "unclear_total"     // the first or the last score may be the total of the others: that score
	ReasonPlayers         Reason = "players"           // fewer than MinPlayers people, or more than MaxPlayers
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

func formError(reason Reason, word string) error {
	return &FormError{Reason: reason, Detail: Excerpt(word)}
}

// Excerpt returns a word as a Detail.
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
