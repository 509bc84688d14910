// Package command turns the text and the entities of a chat message into typed
// commands: which command it is, whom it names, and, for /match, who played whom
// and how it ended.
//
// It owns the syntax of commands and nothing else. It is pure: it reads no
// database and no network, keeps no state, logs nothing, and has no wording for
// users; what is wrong with a command is a [FormError] that another package puts
// into a sentence. It must not decide what a ladder's rules allow (draws, uneven
// sides) nor who a username belongs to. Everything it reads comes from outside,
// so nothing in it may panic, whatever the text and the entities are.
//
// # Commands
//
//	message  = "/" name [ "@" bot ] [ arguments ]
//	name     = letters, digits and "_", in any letter case
//
// The command is the bot_command entity at offset 0, as Telegram marks it. A
// command addressed to another bot is no command for this one. Examples:
//
//	/start
//	/Match@ThisBot @alice @bob 3:1
//	/top                 an alias: the name is "ranking"
//	/match help          WantsHelp
//
// # Matches
//
// The arguments of /match are people and one score. People are mentions, marked
// by entities of kind mention (@alice) or text_mention (a name that carries its
// user). They may stand anywhere and are cut out of the text before the score is
// read, so that somebody called "Bob 2" does no harm; what is left must be:
//
//	score     = number separator number
//	number    = 1 to 3 ASCII digits
//	separator = white space | [ space ] ( colon | dash ) [ space ]
//	colon     = ":" | "："
//	dash      = "-" | "–" | "—" | "−"
//
// White space includes line breaks, invisible formatting characters, a comma or
// semicolon at either end of a word, and a full stop after it. A dash that touches the number
// after it, but not one before it, is a minus sign: "3-1" and "3 - 1" are scores,
// "3 -1" is not.
//
// The first number belongs to the first person. With one mention the first
// person is the sender; with none, the second one is the person replied to.
//
//	/match @alice @bob 3 1     alice 3, bob 1
//	/match @alice @bob 3:1     the same
//	/match 3 – 1 @alice @bob   the same
//	/match @bob 3-1            the sender 3, bob 1
//	/match 3:1                 as a reply to bob: the sender 3, bob 1
//	/match                     ReasonEmpty
//	/match @alice vs @bob 3:1  ReasonUnexpectedWord, "vs"
//	/match @bob 11:7 9:11      ReasonSeveralScores, "9:11"
package command
