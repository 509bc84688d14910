// Package sentences has sentences that people type after a game, in each language of the bot, with
// the result that each sentence reports. The sentences test the parser, so this package must not
// import it.
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
// The placeholders of a sentence are
//   - {W} for the winner, {L} for the loser, {W2} and {L2} for their partners. {Wm} and {Lm} are
//     men, {Wf} and {Lf} are women. If a name is declined, a dot and its case follow, as in
//     {L.acc} and {Wf.dat}. Without {W}, the sender has won; without {L}, the sender has lost.
//   - {A} and {B} for two people who have drawn, each with {d} points. Without {A}, the sender has
//     drawn with {B}.
//   - {w} for the winner's points, {l} for the loser's. {S} is a list of sets with the winner's
//     points first, {s} a list with the loser's points first.
//
// If a name in a sentence is declined, the mark applies only to the sentence with first names.
// Usernames have no cases, so the bot may ask about the sentence with usernames. The lines below a
// heading with FIRST NAMES ONLY are not used with usernames, because they would mean the reverse or
// leave the winner open.
package sentences
