package ranking

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// sightings returns what has to be kept of a person who has been seen or named. Who is not known yet is added only
// when the command needs them; nobody is kept for having asked a question.
func profileUpdates(p Person, k Known, needed bool) []PlayerChange {
	player := k.Player
	if player == nil && !needed {
		return nil
	}
	right := Player{UserID: p.ID, Username: p.Username, Name: p.Name}
	switch {
	case player == nil && p.ID == 0:
		right.Name = p.Username // until the person is seen
	case player == nil:
	case p.ID == 0:
		right = *player // a mention tells nothing new
	default:
		right.ID = player.ID // if the player was unclaimed, this claims it
	}
	var changes []PlayerChange
	if holder := k.ByUsername; holder != nil && holder.ID != right.ID {
		if holder.UserID == 0 {
			right.Username = "" // an unclaimed player keeps the username until the two are merged
		} else {
			released := *holder // whoever was seen last with a username owns it
			released.Username = ""
			changes = append(changes, PlayerChange{Player: released})
		}
	}
	change := PlayerChange{Player: right, Reserved: k.Reserved}
	if k.Standing != nil && k.Standing.Name != right.Name {
		change.Standing = k.Standing.ID
	} else if player != nil && *player == right {
		return changes
	}
	return append(changes, change)
}

// recollections is sightings for a command of long ago: it adds who is needed and not known yet, and changes nothing of
// anybody who is.
func missingPlayers(p Person, k Known, needed bool) []PlayerChange {
	if k.Player != nil || !needed {
		return nil
	}
	added := Player{UserID: p.ID, Username: p.Username, Name: cmp.Or(p.Name, p.Username)}
	if k.ByUsername != nil {
		added.Username = "" // it is somebody else's by now
	}
	return []PlayerChange{{Player: added, Reserved: k.Reserved}}
}

// foresee returns what there is once the news of its people are kept, as the store would return it. It returns false
// where that takes another look: where somebody goes by two or gives a username away, and where a new name may tell others of the command apart, or no longer.
func predictSnapshot(snap Snapshot, upserts []PlayerChange) (Snapshot, bool) {
	people := slices.Clone(snap.People)
	for _, change := range upserts {
		i := slices.IndexFunc(people, change.concerns)
		if i < 0 || slices.ContainsFunc(people[i+1:], change.concerns) || people[i].Player != snap.People[i].Player {
			return snap, false
		}
		player := change.Player
		player.ID = cmp.Or(player.ID, change.Reserved)
		people[i].Player = &player
		if change.Standing != 0 {
			standing := *people[i].Standing
			standing.Name = player.Name
			people[i].Standing = &standing
		}
	}
	for i, k := range people {
		before := snap.People[i].Standing
		if before == nil || before.Name == k.Standing.Name {
			continue
		}
		for j, other := range people {
			if j != i && (other.goesBy(before.Name) || other.goesBy(k.Standing.Name)) {
				return snap, false
			}
		}
	}
	snap.People = people
	return snap, true
}

// goesBy tells whether the person is known and called so.
func (k Known) goesBy(name string) bool {
	return k.Player != nil && strings.EqualFold(k.Player.Name, name)
}

// concerns tells whether the change is of what the person is known as.
func (c PlayerChange) concerns(k Known) bool {
	if c.Player.ID == 0 {
		return c.Reserved != 0 && c.Reserved == k.Reserved
	}
	return k.Player != nil && k.Player.ID == c.Player.ID
}

// outdated tells whether a mention names somebody who has given that username up: the store still knows it as that of one of
// the people, and the command shows that person with another one.
func outdated(snap Snapshot, people []Person) bool {
	for i, p := range people {
		holder := snap.People[i].Player
		if p.ID != 0 || holder == nil || holder.UserID == 0 {
			continue
		}
		if slices.ContainsFunc(people, func(q Person) bool { return q.ID == holder.UserID }) {
			return true
		}
	}
	return false
}

// same says whether two people are the same person as far as one can see. There may be more to it: the store may know
// that a username belongs to somebody's user id.
func same(p, q Person) bool {
	return p.ID != 0 && p.ID == q.ID || p.Username != "" && strings.EqualFold(p.Username, q.Username)
}

// cast is the people of a command, each of them once.
type participants []Person

// add returns the index of the person. Of somebody who is both named and seen, what was seen is kept.
func (c *participants) add(p Person) int {
	i := slices.IndexFunc(*c, func(q Person) bool { return same(p, q) })
	if i < 0 {
		*c = append(*c, p)
		return len(*c) - 1
	}
	if (*c)[i].ID == 0 {
		(*c)[i] = p
	}
	return i
}

// names returns what the people, all of them known, are called in a ladder that some of them are only about to enter.
// Those who go by the same name get a mark that tells them apart.
func names(people []Known) []Name {
	all := make([]Name, len(people))
	for i, k := range people {
		others, earlier := k.Namesakes, k.Earlier
		for j, other := range people {
			// who is in the ladder already is among the namesakes that the store has counted
			if i == j || other.Standing != nil || !strings.EqualFold(other.Player.Name, k.Player.Name) {
				continue
			}
			others++
			if k.Standing == nil && j < i {
				earlier++
			}
		}
		all[i] = Name{Name: k.Player.Name, Mark: mark(k.Player.Username, others, earlier)}
	}
	return all
}

// mark tells a player from others of the same name, of whom some came earlier.
func mark(username string, others, earlier int) string {
	switch {
	case others == 0:
		return ""
	case username != "":
		return username
	default:
		return strconv.Itoa(earlier + 1)
	}
}
