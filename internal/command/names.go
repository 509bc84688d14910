package command

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

const (
	maxNear  = 5 // the maximum number of suggestions for an unknown name
	maxWords = 6 // the longest name, in words, that is found without quotes
)

// Names finds the players of a group by their names. It is safe for concurrent use.
type Names struct {
	people  []Person
	byName  map[string][]int // folded names, shortened names and usernames to indexes of people
	former  map[string][]int // former usernames to indexes of people
	longest int              // the number of atoms of the longest name, at most maxWords
}

// NewNames indexes people by their names, shortened names, usernames and former usernames. It
// leaves out bots, and people who have neither an id nor a username nor a Player.
func NewNames(people []Person) *Names {
	people = slices.DeleteFunc(slices.Clone(people), func(p Person) bool { return !p.isKnown() || p.IsBot })
	n := &Names{people: people, byName: make(map[string][]int, 2*len(people)), former: make(map[string][]int)}
	for i, p := range people {
		n.add(foldName(p.Name), i)
		n.add(foldName(p.Username), i)
		n.add(foldName(p.Shown), i)
		if p.Nameless > 0 {
			for _, word := range namelessWords {
				n.add(fmt.Sprintf("%s %d", word, p.Nameless), i)
			}
		}
		for username := range strings.FieldsSeq(p.Former) {
			n.former[username] = append(n.former[username], i)
		}
	}
	for i, p := range people { // in a second pass, so that exact names come first
		for _, name := range []string{foldName(p.Name), foldName(p.Shown)} {
			n.addShort(name, i)
		}
	}
	return n
}

// addShort adds the shortened forms of a person's folded name.
func (n *Names) addShort(name string, person int) {
	first := firstName(name)
	n.add(first, person)
	if words := strings.Fields(name); len(words) > 1 && first != "" {
		initial, _ := utf8.DecodeRuneInString(words[len(words)-1])
		n.add(first+" "+string(initial), person) // "Stefan M."
		n.add(first+" "+words[1], person)        // "José Luis"
	}
}

func (n *Names) add(name string, person int) {
	if name == "" || slices.Contains(n.byName[name], person) {
		return
	}
	n.byName[name] = append(n.byName[name], person)
	n.longest = max(n.longest, min(strings.Count(name, " ")+1, maxWords))
}

// firstName returns the first word of a folded name. It returns an empty string for a word that is
// not used as a name, such as the "The" of "The Rock".
func firstName(name string) string {
	first, _, _ := strings.Cut(name, " ")
	if word := norm.NFC.String(first); isScoreWord(word) || meaningOf(word) != unknown && !mayBeName(word) {
		return ""
	}
	return first
}

// named returns at most MaxReadings people who have the folded name, in any grammatical case. It
// returns people who have left only if it finds no others. Of several people who count as the same
// player, it returns one, preferably that player.
func (n *Names) named(name string) []Person {
	called := n.byName[name]
	all := n.pick(called)
	for _, i := range n.declined(name, len(called) > 0) {
		if !slices.Contains(all, n.people[i]) {
			p := n.people[i]
			p.Oblique = true
			p.Whom = isAccusative(name, foldName(p.Name)) || p.Shown != "" && isAccusative(name, foldName(p.Shown))
			all = append(all, p)
		}
	}
	present := slices.DeleteFunc(slices.Clone(all), func(p Person) bool { return p.Left })
	if len(present) > 0 {
		all = present
	}
	all = slices.DeleteFunc(slices.Clone(all), func(p Person) bool {
		return p.CountsAs != 0 && slices.ContainsFunc(all, func(o Person) bool {
			return o.Player == p.CountsAs || o.CountsAs == p.CountsAs && o.Player < p.Player
		})
	})
	return all[:min(len(all), MaxReadings)]
}

// Holder returns a player to whom a name already refers: as the player's name, in whole or
// shortened and in any grammatical case, or as a current or former username. ok is false if there
// is no such player.
func (n *Names) Holder(name string) (p Person, ok bool) {
	name = foldName(name)
	holders := append(n.named(name), n.pick(n.former[name])...)
	if len(holders) == 0 {
		return Person{}, false
	}
	return holders[0], true
}

// CanNamePlayer reports whether a text can serve as the name of a player. None of its words may
// affect the meaning of a report, as "beat", "vs" and "I" do, or name a span such as "today". At
// least one word must have no meaning in a report, be no part of a date such as "Sunday" and
// "May 5", and belong to no player's name. Otherwise names such as "Alice Bob", "Bob over" and "Bob
// Sunday" would change the meaning of reports about Alice and Bob.
func (n *Names) CanNamePlayer(name string) bool {
	t := text{written: name}
	decides := func(w word) bool {
		lower := strings.ToLower(w.string)
		return w.meaning != unknown && !w.meaning.isMinor() || spans[lower] != "" || commandOutcomes[lower] != unknown
	}
	isNew := func(p plainName) bool { return len(p.people) == 0 }
	undated, _, _, _ := t.withoutDates(nil)
	return !strings.ContainsAny(name, "@#/:<>\n"+placeholder) && !viewWords[strings.ToLower(name)] &&
		!slices.ContainsFunc(t.words(), decides) && slices.ContainsFunc(n.find(undated, true), isNew)
}

// isUsername reports whether a player has the given username, in any letter case.
func (n *Names) isUsername(username string) bool {
	return slices.ContainsFunc(n.byName[foldName(username)],
		func(i int) bool { return strings.EqualFold(n.people[i].Username, username) })
}

func (n *Names) pick(indexes []int) (people []Person) {
	for _, i := range indexes {
		people = append(people, n.people[i])
	}
	return people
}

// Like returns at most maxNear people whose names are similar to name, the most similar first.
func (n *Names) Like(name string) []Person { return n.near(foldName(name)) }

// near returns at most maxNear people for a folded name that no player has, the most similar first.
// It looks for former usernames, for words and beginnings of words in names, and for names and
// words with at most two wrong letters, or fewer in a short name. For a single letter it returns
// none.
func (n *Names) near(name string) []Person {
	typed := []rune(name)
	if len(typed) == 1 {
		return nil
	}
	ranks := make(map[int]int) // of people, 0 for the most similar name
	for key, people := range n.byName {
		rank, ok := similarity(name, typed, key)
		for _, i := range people {
			if before, known := ranks[i]; ok && (!known || rank < before) {
				ranks[i] = rank
			}
		}
	}
	for _, i := range n.former[name] {
		ranks[i] = 0
	}
	best := slices.SortedFunc(maps.Keys(ranks),
		func(a, b int) int { return cmp.Or(cmp.Compare(ranks[a], ranks[b]), cmp.Compare(a, b)) })
	return n.pick(best[:min(len(best), maxNear)])
}

// similarity ranks how similar the name key is to the typed one, 0 for the most similar. typed has
// the runes of name. ok is false if the names are not similar.
func similarity(name string, typed []rune, key string) (rank int, ok bool) {
	switch at := strings.Index(" "+key, " "+name); {
	case strings.HasPrefix(key+" ", name+" "):
		return 0, true // the first name, or the whole name, as in "@me" for a player called Me
	case at > 0 && strings.HasSuffix(key, " "+name):
		return 1, true // the last name
	case at >= 0:
		return 3, true
	}
	limit := min(2, (len(typed)-1)/2) // two wrong letters of three would be another name
	wrong := Distance(typed, []rune(key), limit)
	for word := range strings.FieldsSeq(key) {
		wrong = min(wrong, Distance(typed, []rune(word), limit))
	}
	return 2 * wrong, wrong <= limit
}

// Distance returns how many edits turn a into b, or a number above limit if more than limit edits
// are necessary. An edit adds, removes or replaces a letter, or swaps two adjacent letters.
func Distance(a, b []rune, limit int) int {
	if len(a)-len(b) > limit || len(b)-len(a) > limit {
		return limit + 1
	}
	before, last, next := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range a {
		next[0] = i + 1
		for j := range b {
			next[j+1] = last[j]
			if a[i] != b[j] {
				next[j+1] = 1 + min(last[j], last[j+1], next[j])
			}
			if isSwapped := i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j]; isSwapped {
				next[j+1] = min(next[j+1], 1+before[j-1])
			}
		}
		before, last, next = last, next, before
	}
	return last[len(b)]
}
