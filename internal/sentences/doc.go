// Package sentences has what people type after a game, in the languages of the bot, with the result
// that each sentence reports. The sentences test the parser, so this package must not import it.
//
// Each file has the sentences of one language. A line that starts with "# " is a heading. Every
// other line is a template: a mark, the sentence, and its meaning in English.
//
//	MARK SENTENCE | GLOSS
//
// The marks are
//   - form: one of the plain forms of the language, which must be recorded without a question;
//   - clear: a native speaker has no doubt who won;
//   - unclear: a native speaker would ask.
//
// A "!" after a mark denotes one of the ten sentences of the language that readers found hardest.
//
// In a sentence,
//   - {W} is the winner, {L} the loser, {W2} and {L2} are their partners; {Wm}, {Wf}, {Lm} and {Lf}
//     are a man or a woman. A dot and a case follow where a name is declined, as in {L.acc} and
//     {Wf.dat}. If {W} is missing, the sender has won; if {L} is, the sender has lost.
//   - {A} and {B} have drawn, each with {d} points. If {A} is missing, it is the sender.
//   - {w} are the points of the winner, {l} those of the loser. {S} are sets with the winner's
//     points first, {s} with the loser's.
//
// If a name in a sentence is declined, the mark holds only for first names. Usernames have no
// cases, so the bot may ask about the sentence with usernames. The lines below a heading with FIRST
// NAMES ONLY are not used with usernames, because they would mean the reverse or nothing.
package sentences
