package command

import (
	"slices"
	"strings"
)

// placeholder stands for a person in a text.
const placeholder = "\uFFFC"

// text has the arguments of a command, with a placeholder for each person who is mentioned or
// named.
type text struct {
	written string
	people  []Person // in the order of their placeholders
}

func (c Command) text() text { return text{c.Args, c.Mentions} }

// with replaces each name with a placeholder for its first person.
func (t text) with(names []plainName) text {
	var b strings.Builder
	var people []Person
	done, rest := 0, t.people
	for _, n := range names {
		before := t.written[done:n.start]
		count := strings.Count(before, placeholder)
		b.WriteString(before + placeholder)
		people, rest = append(append(people, rest[:count]...), n.people[0]), rest[count:]
		done = n.end
	}
	b.WriteString(t.written[done:])
	return text{b.String(), append(people, rest...)}
}

func (t text) lines() []text {
	var all []text
	people := t.people
	for written := range strings.SplitSeq(t.written, "\n") {
		count := strings.Count(written, placeholder)
		all, people = append(all, text{written, people[:count:count]}), people[count:]
	}
	return all
}

// label returns the text on one line, with the labels of its people.
func (t text) label() string {
	parts := strings.Split(t.written, placeholder)
	for i, p := range t.people {
		parts[i+1] = " " + p.label() + " " + parts[i+1]
	}
	return strings.Join(strings.Fields(strings.Join(parts, "")), " ")
}

// word is a word in a text, or a person.
type word struct {
	string  string  // without decoration around it; empty if person is set
	person  *Person // the mentioned or named person; nil for a word
	meaning meaning
	typed   string // the word with its decoration
	before  string // everything between the previous word and this one
}

// isPerson reports whether a word names a person, including the sender, or is a stand-in.
func (w word) isPerson() bool {
	return w.person != nil || me <= w.meaning && w.meaning <= standInOblique
}

// isClaim reports whether a word states the outcome.
func (w word) isClaim() bool { return won <= w.meaning && w.meaning <= drew }

// isEnding reports whether a word says that a match ended early or went to extra time or penalties.
func (w word) isEnding() bool { return w.meaning == early || w.meaning == afterTime }

// isScore reports whether a word may belong to a score: it has a digit and no meaning of its own.
func (w word) isScore() bool { return w.meaning == unknown && strings.ContainsFunc(w.string, isDigit) }

// isParticiple reports whether a word is a Spanish participle about who won.
func (w word) isParticiple() bool {
	return slices.ContainsFunc(verbs[strings.ToLower(w.string)], func(v verb) bool {
		return v.language == "es" && (v.role == roleWon || v.role == roleBeaten)
	})
}

// words returns the words and the people of the text, in order. Decoration alone is not a word,
// unless it has a meaning.
func (t text) words() []word {
	var all []word
	before := ""
	for i, part := range strings.Split(t.written, placeholder) {
		if i > 0 {
			all, before = append(all, word{person: &t.people[i-1], before: before}), ""
		}
		for part != "" {
			typed, rest := cutWord(part)
			start := strings.Index(part, typed)
			end := start + len(typed)
			before += part[:start]
			if s := withoutTieBreak(bare(typed)); s != "" {
				all = append(all, word{string: s, meaning: meaningOf(s), typed: typed, before: before})
				before = ""
			} else {
				before += typed
			}
			before += part[end : len(part)-len(rest)]
			part = rest
		}
	}
	return all
}

// following has the words after a word.
type following []word

// next returns the first of the words, or the zero word if there are none.
func (f following) next() word {
	if len(f) == 0 {
		return word{}
	}
	return f[0]
}

// isNumber reports whether the next word begins with a digit.
func (f following) isNumber() bool { return startsWithDigit(f.next().string) }

// isObject reports whether a person follows, after at most three prepositions and articles.
func (f following) isObject() bool {
	const most = 3
	near := f[:min(len(f), most+1)]
	at := slices.IndexFunc(near, func(w word) bool { return w.meaning != the && !w.meaning.isBeforePerson() })
	return at >= 0 && near[at].isPerson()
}

// cutWord returns the first word of s, without commas and the like around it, and the rest of s.
// Both are empty if there is no word.
func cutWord(s string) (word, rest string) {
	for word == "" && s != "" {
		s = strings.TrimLeftFunc(s, isBreak)
		end := wordEnd(s)
		word, s = strings.TrimRight(s[:end], ",;./|"), s[end:]
	}
	return word, s
}

// fields returns the words of s, without commas and the like around them.
func fields(s string) (all []string) {
	for word, rest := cutWord(s); word != ""; word, rest = cutWord(rest) {
		all = append(all, word)
	}
	return all
}

// wordEnd returns the length of the word that s begins with. A comma ends it only between two
// scores: "11:7,9:11", not "3,5".
func wordEnd(s string) int {
	end := indexOrLen(s, isBreak)
	if bracket := strings.IndexAny(s[:end], "()[]"); bracket > 0 && // "2:1(11:7"
		endsWithDigit(s[:bracket]) && strings.ContainsFunc(s[:bracket], isSeparator) &&
		strings.ContainsFunc(s[bracket:end], isSeparator) {
		return bracket
	}
	rest := strings.TrimLeftFunc(s[end:], isComma)
	if rest == s[end:] {
		return end // at white space, at a placeholder or at the end
	}
	next := rest[:indexOrLen(rest, isBreak)]
	if strings.ContainsFunc(s[:end], isSeparator) && strings.ContainsFunc(next, isSeparator) {
		return end
	}
	return indexOrLen(s, isSpace)
}

func indexOrLen(s string, f func(rune) bool) int {
	if i := strings.IndexFunc(s, f); i >= 0 {
		return i
	}
	return len(s)
}
