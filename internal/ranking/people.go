package ranking

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// profileUpdates returns the changes needed to store what a message shows about a person. An unknown person is added only
// if the command needs them; asking a question creates no player.
func profileUpdates(p Person, k Known, needed bool) []PlayerChange {
	player := k.Player
	if player == nil && !needed {
		return nil
	}
	updated := Player{UserID: p.ID, Username: p.Username, Name: p.Name}
	switch {
	case player == nil && p.ID == 0:
		updated.Name = p.Username // until a message shows the person
	case player == nil:
	case p.ID == 0:
		updated = *player // a mention shows nothing new
	default:
		updated.ID = player.ID // claims the player if it was unclaimed
	}
	var changes []PlayerChange
	if holder := k.ByUsername; holder != nil && holder.ID != updated.ID {
		if holder.UserID == 0 {
			updated.Username = "" // an unclaimed player keeps the username until the two are merged
		} else {
			released := *holder // a username belongs to the person seen with it last
			released.Username = ""
			changes = append(changes, PlayerChange{Player: released})
		}
	}
	change := PlayerChange{Player: updated, Reserved: k.Reserved}
	if k.Standing != nil && k.Standing.Name != updated.Name {
		change.Standing = k.Standing.ID
	} else if player != nil && *player == updated {
		return changes
	}
	return append(changes, change)
}

// missingPlayers replaces profileUpdates for a retried command, whose view of people may be outdated. It adds unknown
// people that the command needs, and changes no known player.
func missingPlayers(p Person, k Known, needed bool) []PlayerChange {
	if k.Player != nil || !needed {
		return nil
	}
	added := Player{UserID: p.ID, Username: p.Username, Name: cmp.Or(p.Name, p.Username)}
	if k.ByUsername != nil {
		added.Username = "" // another player has it now
	}
	return []PlayerChange{{Player: added, Reserved: k.Reserved}}
}

// predictSnapshot returns the snapshot that the store would return after the upserts. It returns false if the snapshot
// must be read again: if an upsert matches no person of the command or several, if a person has several upserts, or if a
// new name may change who needs a mark to be told apart.
func predictSnapshot(snap Snapshot, upserts []PlayerChange) (Snapshot, bool) {
	people := slices.Clone(snap.People)
	for _, change := range upserts {
		i := slices.IndexFunc(people, change.appliesTo)
		if i < 0 || slices.ContainsFunc(people[i+1:], change.appliesTo) || people[i].Player != snap.People[i].Player {
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
			if j != i && (other.hasName(before.Name) || other.hasName(k.Standing.Name)) {
				return snap, false
			}
		}
	}
	snap.People = people
	return snap, true
}

// hasName reports whether the person is a known player with this name, ignoring case.
func (k Known) hasName(name string) bool {
	return k.Player != nil && strings.EqualFold(k.Player.Name, name)
}

// appliesTo reports whether the change concerns the person's player.
func (c PlayerChange) appliesTo(k Known) bool {
	if c.Player.ID == 0 {
		return c.Reserved != 0 && c.Reserved == k.Reserved
	}
	return k.Player != nil && k.Player.ID == c.Player.ID
}

// namesFormerUsername reports whether a mention uses a username that its owner may have given up: the store still knows
// it as the username of one of the people, but the command shows that person with another one.
func namesFormerUsername(snap Snapshot, people []Person) bool {
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

// samePerson reports whether two people are visibly the same person. The store may know more, such as which user id has a
// username.
func samePerson(p, q Person) bool {
	return p.ID != 0 && p.ID == q.ID || p.Username != "" && strings.EqualFold(p.Username, q.Username)
}

// participants are the people of a command, each of them once.
type participants []Person

// add adds the person unless they are present, and returns their index. If a person is both mentioned and shown with an
// id, add keeps the one with the id.
func (ps *participants) add(p Person) int {
	i := slices.IndexFunc(*ps, func(q Person) bool { return samePerson(p, q) })
	if i < 0 {
		*ps = append(*ps, p)
		return len(*ps) - 1
	}
	if (*ps)[i].ID == 0 {
		(*ps)[i] = p
	}
	return i
}

// senderOf returns the sender of a command, nobody for an anonymous admin.
func senderOf(o Origin) participants {
	if o.Sender == nil {
		return nil
	}
	return participants{*o.Sender}
}

// names returns the names of people in a ladder, including those who are about to enter it. People with the same name get
// a mark.
func names(people []Known) []Name {
	all := make([]Name, len(people))
	for i, k := range people {
		others, earlier := k.Namesakes, k.Earlier
		for j, other := range people {
			// The store has already counted namesakes who are in the ladder.
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

// mark returns what distinguishes a player from others with the same name: the username, or else a number. earlier is how
// many of the others came first.
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

// Identify returns the player that the person p is, or nil. A person with an id is not the player with their username if
// that player has another user id.
func (p Person) Identify(byID, byUsername *Player) *Player {
	if byID == nil && byUsername != nil && (p.ID == 0 || byUsername.UserID == 0) {
		return byUsername
	}
	return byID
}
