// Package command parses the text and the entities of a chat message into typed commands: the
// command's name, its people and its arguments.
//
// It owns the syntax of commands and nothing else. It is pure: no database, no network, no state,
// no log, no texts for users. A malformed report, correction or lineup gives a [FormError], an
// unclear name in a question or a lineup a [NameError], and a report in doubt a [Report] with a
// [Doubt]. Other packages render them. This package must not decide what the rules of a ladder
// allow, who has a username, or which matches exist. All input is untrusted, so no text and no
// entities may make the package panic.
//
// # Commands
//
//	message  = "/" name [ "@" bot ] [ arguments ]
//	name     = letters, digits and "_", in any letter case
//
// The command is the bot_command entity at offset 0. Telegram does not mark the whole of a name
// with letters other than a to z, such as "/gané", so such a name needs no entity. A command
// addressed to another bot is ignored.
//
// # Matches
//
// The arguments of /match are people and scores. People are mentions or names of players. They may
// stand anywhere among the words and are cut out before the text is read, so a name such as "Bob 2"
// does no harm. Apart from the versus and the vocabulary below, the rest must be scores:
//
//	people    = [ person [ person ] ] | { person } versus { person }
//	versus    = "v" | "vs" | "versus" | …       in any letter case
//	scores    = score | set set { set }         at most 25 sets
//	score     = number white space number | set
//	set       = number [ white space ] ( colon | dash ) [ white space ] number
//	number    = 1 to 3 digits, of any script [ "½" ] | "½"
//	colon     = ":" | "：" | "/" | "x"
//	dash      = "-" | "–" | "—" | "−"
//
// A name is the full name, the first name or the username of a player of the group, regardless of
// letter case, accents and apostrophes. The first name may be followed by the second name or by the
// initial of the last name. In Russian and Ukrainian a name may be declined, but the subject of a
// sentence cannot be in an oblique case. The longest name wins, and quotes join all words in them
// into one name. If several players have the name, or it is also a word of the vocabulary, each
// choice that makes a complete report is a reading. A player who has left is meant only if no
// other player has the name. If no player has it, the readings use the players with similar names.
//
// White space includes invisible characters and mentions. Commas, semicolons, slashes and bars
// count as white space at either end of a word, and so does a period after it. Inside a word, they
// do so only between two scores. In a match, brackets, quotes, emoji and the like around a word
// count as white space, too, and so does a colon or a dash after a name or before everything else.
// A dash or a colon between two names is a versus. A dash that touches the number after it, but not
// one before it, is a minus sign.
//
// The vocabulary has words of all languages of the bot. In a match, fillers ("gg") and "and" are
// white space, "me" is the sender, and "to" and "x" between two numbers are colons. /won, /lost,
// /draw and words such as "won", "lost" and "drew" state the outcome, so the match needs no score.
// These words also separate the sides if no versus does. A score has a ½ on both sides or on
// neither; "½" alone, "½-½" and "1/2-1/2" are drawn games, each half a point for both sides. So is
// "1/2" beside games that are all won, lost or drawn, or alone in a stated draw; elsewhere it may
// be 1:2.
//
// A sentence that says who won is clear only if it has one of the forms of its language,
// such as "@alice beat @bob", "gegen @bob gewonnen" or "le gané a @bob"; see the variable forms.
// Any other sentence is in doubt: its object may come first, or it may be passive, negated or about
// a pronoun. After a word for losing, the loser has the smaller number, no matter which is typed
// first. After a word for winning, a score with the smaller number first is in doubt. So is a score
// that a word gives to one person ("3:1 for @bob").
//
// A score between two teams of the same size separates them, and so do points that follow each
// team. If "and" joins two people, and nothing else tells the sides apart, the sender may have
// played each of them. Several scores with few points may be several matches.
//
// If a text has at least four numbers, and at least two of its lines have people and numbers, each
// line is a report. If scores follow each person in a line, each person with those scores is a
// result of the sender, unless the first score is the total of the scores after the second person.
// A score between two people or two teams is one result. Any other line with people between the
// scores is in doubt.
//
// Of at least three scores, the first or the last may be the total of the others if none of its
// numbers exceeds the count of the others, and each of the others has a number that does. The total
// is dropped if it equals the sets that were won. Otherwise there is a reading without it and one
// with it.
//
// The first number of each score belongs to the first side. If nothing separates the sides, there
// is one person on each: with one person named, the sender is the first side; with none, the author
// of the replied-to message is the second. Otherwise there are 1 to 10 people on each side; before
// a single person the sender may be left out. No person plays twice. In these examples sam replies
// to a message of rita:
//
//	/match @alice @bob 3 1                alice 3:1 bob
//	/match @bob 3-1                       sam 3:1 bob
//	/match 3:1                            sam 3:1 rita
//	/match @alice @bob 11:7 9:11 11:5     alice 11:7 9:11 11:5 bob
//	/match @bob 3:1 11:5 9:11 11:7 11:9   sam 11:5 9:11 11:7 11:9 bob
//	/match @bob 2:1 11:5 9:11 11:7 11:9   ReasonUnclearTotal "2:1"
//	/match I lost to @bob, 1 to 3!        sam 1:3 bob
//	/match @alice beat @bob 1:3           ReasonUnclearWinner
//	/draw @bob 2:1                        ReasonUnclearWinner
//	/match @bob was beaten by @carl 1:3   ReasonUnclearWinner
//	/match lost to @bob 3:1               sam 1:3 bob
//	/won @bob                             sam won bob
//	/match @bob won                       sam lost bob
//	/match @alice ½-½ @bob                alice ½:½ bob
//	/match @bob 3:1 and @carl 3:2         ReasonSeveralResults
//	/match @a 10 @b 7 @c 3                ReasonFreeForAll
//	/match @alice @bob vs @carl @dora 3:1 alice bob 3:1 carl dora
//	/match @a @b 10, @c @d 8              a b 10:8 c d
//	/match                                ReasonEmpty
//	/match @alice @bob                    ReasonNoScore
//	/match @alice @bob @carl 3:1          ReasonNoVersus
//	/match @alice vs 3:1                  ReasonEmptySide
//	/match @alice near @bob 3:1           ReasonUnexpectedWord "near"
//	/match @alice vs @bob @alice 3:1      ReasonSamePerson "@alice"
//	/match @bob 3 1 2                     ReasonThirdNumber "2"
//	/match @bob 11:7 9:11 11              ReasonIncompleteScore "11"
//	/match @bob 11 7 9 11                 ReasonSeveralScores "9"
//	/match @bob 3,5:1                     ReasonDecimalNumber "3,5:1"
//	/match @bob 3 -1                      ReasonNegativeNumber "-1"
//
// # Corrections
//
// /undo, /restore and /fix name a match by its number, or name none. Scores and white space are as
// in /match. A fix may have the whole report of a /match instead of the scores, or its players
// alone. Without players, "&", "+" or "and" is an error.
//
//	fix       = [ match ] ( scores | report | players )
//	match     = [ "#" ] 1 to 9 digits, of any script, not all of them zero
//
// A number at the beginning of a fix is a match number unless a colon or dash follows it. So
// without a match number, each score needs a colon or dash that touches the number before it. For
// example, "13 :3" may be match 13 with half a score. A word for a draw may stand in place of all
// scores.
//
//	/undo                                 the match is not given
//	/undo match 42                        ReasonUnexpectedWord "match"
//	/undo 0                               ReasonNoSuchNumber "0"
//	/restore 42                           match 42
//	/fix 42 3:2                           match 42 3:2
//	/fix 42 3 2                           match 42 3:2
//	/fix 42 ½-½                           match 42 ½:½
//	/fix 3:2                              the match is not given 3:2
//	/fix 13 :3                            ReasonIncompleteScore "3"
//	/fix 42 3                             ReasonIncompleteScore "3"
//	/fix #42: 3:2                         ReasonUnexpectedWord "#42:"
//
// # Lineups
//
// /odds names two sides as /match does, without a score, and /teams names 4 to 20 people. Words
// without an effect are the same as in /match. A score, an outcome and an unknown word are errors,
// and so is a versus in /teams.
//
//	/odds me & @alice vs @bob @carl       sam alice – bob carl
//	/teams @alice, @bob, @carl and me     alice bob carl sam
package command
