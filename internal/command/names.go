package command

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"
)

// maxNear is the maximum number of players that are offered for an unknown name.
const maxNear = 5

// Names are the names by which the players of a group can be meant. They may be used concurrently.
type Names struct {
	people  []Person
	byName  map[string][]int // folded names and usernames to indexes of people
	longest int              // the number of atoms of the longest name
}

// NewNames returns the names and usernames of people.
func NewNames(people []Person) *Names {
	n := &Names{people: people, byName: make(map[string][]int, len(people))}
	for i, p := range people {
		if !p.isKnown() || p.IsBot {
			continue
		}
		name, username := foldName(p.Name), foldName(p.Username)
		n.add(name, i)
		if username != name {
			n.add(username, i)
		}
	}
	return n
}

func (n *Names) add(name string, person int) {
	if name == "" {
		return
	}
	n.byName[name] = append(n.byName[name], person)
	n.longest = max(n.longest, strings.Count(name, " ")+1)
}

// named returns the people with a folded name, at most MaxReadings.
func (n *Names) named(name string) []Person {
	return n.pick(n.byName[name], MaxReadings)
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

// near returns the people whose names are most similar to a folded name that nobody has, the most similar first, at most maxNear: the name
// is one of their names, one of them begins with it, or it has at most two wrong letters.
func (n *Names) near(name string) []Person {
	typed := []rune(name)
	type candidate struct{ person, rank int }
	var found []candidate
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
