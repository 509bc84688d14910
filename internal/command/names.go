package command

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// maxNear is the maximum number of players that are offered for an unknown name.
const maxNear = 5

// maxWords is how many words of a name are looked up together; longer names need quotes.
const maxWords = 6

// Names are the names by which the players of a group can be meant. They may be used concurrently.
type Names struct {
	people  []Person
	byName  map[string][]int // folded names, first names and usernames to indexes of people
	former  map[string][]int // former usernames to indexes of people
	longest int              // the number of atoms of the longest name
	picked  []int64          // the players whom the first unclear names of a question mean
}

// Picking returns the names for a question whose first unclear names mean these players.
func (n *Names) Picking(players []int64) *Names {
	picking := *n
	picking.picked = players
	return &picking
}

// resolve returns the person whom a name in a question means, and the picked players who remain for the names after it. It fails with a
// *NameError if that is not clear.
func (n *Names) resolve(name plainName, picked []int64) (p Person, rest []int64, err error) {
	if len(name.people) == 1 {
		return name.people[0], picked, nil
	}
	maybe := name.people
	if len(maybe) == 0 {
		maybe = n.near(foldName(name.word))
	}
	if len(picked) > 0 {
		if at := slices.IndexFunc(maybe, func(p Person) bool { return p.Player == picked[0] }); at >= 0 {
			return maybe[at], picked[1:], nil
		}
	}
	return p, nil, &NameError{Word: name.word, People: maybe, Several: len(name.people) > 1}
}

// NewNames returns the names, the first names and the usernames of people.
func NewNames(people []Person) *Names {
	n := &Names{people: people, byName: make(map[string][]int, 2*len(people)), former: make(map[string][]int)}
	for i, p := range people {
		if !p.isKnown() || p.IsBot {
			continue
		}
		n.add(foldName(p.Name), i)
		n.add(foldName(p.Username), i)
		for username := range strings.FieldsSeq(p.Former) {
			n.former[username] = append(n.former[username], i)
		}
	}
	for i, p := range people { // after those who are called just so
		if !p.isKnown() || p.IsBot {
			continue
		}
		words := strings.Fields(foldName(p.Name))
		n.add(firstName(foldName(p.Name)), i)
		if len(words) > 1 && firstName(foldName(p.Name)) != "" {
			initial, _ := utf8.DecodeRuneInString(words[len(words)-1])
			n.add(words[0]+" "+string(initial), i) // "Stefan M."
			n.add(words[0]+" "+words[1], i)        // "José Luis"
		}
	}
	return n
}

func (n *Names) add(name string, person int) {
	if name == "" || slices.Contains(n.byName[name], person) {
		return
	}
	n.byName[name] = append(n.byName[name], person)
	n.longest = max(n.longest, min(strings.Count(name, " ")+1, maxWords))
}

// firstName returns the first word of a folded name, or nothing if it is one that people do not use as a name, such as the "The" of "The
// Rock".
func firstName(name string) string {
	first, _, _ := strings.Cut(name, " ")
	if word := norm.NFC.String(first); isScoreWord(word) || meaningOf(word) != unknown && !namesToo[word] {
		return ""
	}
	return first
}

// IsNameOf is true if a word is the name or the first name of somebody.
func IsNameOf(word, name string) bool {
	folded, name := foldName(word), foldName(name)
	return folded != "" && (folded == name || folded == firstName(name))
}

// named returns the people whom a folded name means, at most MaxReadings: those who are called so, or whose name it is in another case. Of
// those who have left it means nobody if somebody else is there.
func (n *Names) named(name string) []Person {
	called := n.byName[name]
	all := n.pick(called, len(called))
	for _, i := range n.declined(name, len(called) > 0) {
		if !slices.Contains(all, n.people[i]) {
			all = append(all, n.people[i])
			all[len(all)-1].Oblique = true
		}
	}
	present := slices.DeleteFunc(slices.Clone(all), func(p Person) bool { return p.Left })
	if len(present) > 0 {
		all = present
	}
	return all[:min(len(all), MaxReadings)]
}

// isUsername is true if a player has a username.
func (n *Names) isUsername(username string) bool {
	return slices.ContainsFunc(n.byName[foldName(username)], func(i int) bool { return strings.EqualFold(n.people[i].Username, username) })
}

func (n *Names) pick(indexes []int, most int) []Person {
	var people []Person
	for _, i := range indexes[:min(len(indexes), most)] {
		people = append(people, n.people[i])
	}
	return people
}

// near returns the people whose names are most similar to a folded name that nobody has, the most similar first, at most maxNear: they had
// it as a username, it is one of their names, one of them begins with it, or it has at most two wrong letters.
func (n *Names) near(name string) []Person {
	typed := []rune(name)
	if len(typed) == 1 {
		return nil
	}
	type candidate struct{ person, rank int }
	var found []candidate
	for _, i := range n.former[name] {
		found = append(found, candidate{i, 0})
	}
	for key, people := range n.byName {
		if rank, ok := similarity(name, typed, key); ok {
			for _, i := range people {
				found = append(found, candidate{i, rank})
			}
		}
	}
	slices.SortFunc(found, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.person, b.person))
	})
	var best []int
	for _, c := range found {
		if !slices.Contains(best, c.person) {
			best = append(best, c.person)
		}
		if len(best) == maxNear {
			break
		}
	}
	return n.pick(best, maxNear)
}

// similarity ranks how similar a name is to what was typed, 0 for the most similar. ok is false if it is not.
func similarity(name string, typed []rune, key string) (rank int, ok bool) {
	switch at := strings.Index(" "+key, " "+name); {
	case at == 0 && key[len(name)] == ' ':
		return 0, true // the first name
	case at > 0 && strings.HasSuffix(key, " "+name):
		return 1, true // the last name
	case at == 0:
		return 3, true
	case at > 0:
		return 5, true
	}
	limit := min(2, (len(typed)-1)/2) // two wrong letters of three would be another name
	d := nearest(typed, key, limit)
	for word := range strings.FieldsSeq(key) {
		d = min(d, nearest(typed, word, limit)+1)
	}
	switch {
	case d == 1:
		return 2, true
	case d <= limit+1 && limit > 0:
		return 3 + d, true
	default:
		return 0, false
	}
}

// nearest returns the distance between two names; a number above limit+1 if it is above limit.
func nearest(typed []rune, key string, limit int) int {
	if runes := utf8.RuneCountInString(key); runes > len(typed)+limit || runes < len(typed)-limit {
		return limit + 2
	}
	if d := Distance(typed, []rune(key), limit); d <= limit {
		return d
	}
	return limit + 2
}
