package ranking

import (
	"slices"
	"strings"
)

// profileChange returns the change needed to store what a message shows about a person. ok is false if there is nothing to
// store. An unknown person is added only if the command needs them; asking a question creates no player.
func (k Known) profileChange(o Origin, p Person, needed bool) (change PlayerChange, ok bool) {
	if k.Player == nil {
		change.Player = Player{UserID: p.ID, Username: p.Username, Name: p.Name}
		if p.ID == 0 {
			change.Player.Name = p.Username // until a message shows the person
		}
		change.Sighting = k.newSighting(o, p)
		return change, needed
	}
	if p.Player != 0 || p.Earlier {
		return change, false
	}
	change.Player = *k.Player
	if p.ID != 0 {
		change.Player.UserID, change.Player.Username, change.Player.Name = p.ID, p.Username, p.Name // claims an unclaimed player
	}
	if k.Standing != nil && k.Standing.Name != change.Player.Name {
		change.Standing = k.Standing.ID
	}
	change.Sighting = k.newSighting(o, p)
	return change, change != PlayerChange{Player: *k.Player}
}

// newSighting returns the sighting of a person if it changes with the message, or nil. A late message changes nothing.
func (k Known) newSighting(o Origin, p Person) *Sighting {
	switch {
	case p.ID == 0, !o.Chat.IsGroup(), o.Retried:
		return nil
	case k.Sighting != nil && (strings.EqualFold(k.Sighting.Username, p.Username) || k.Sighting.At.After(o.SentAt)):
		return nil
	}
	return &Sighting{Username: p.Username, At: o.SentAt}
}

// claimant returns the account that the unclaimed player with the person's username has turned out to be: the person's, or
// for a mention the one that was last seen with the username. It returns nil if there is none.
func (k Known) claimant() *Player {
	if k.Unclaimed == nil || k.Player == nil || k.Player.ID == k.Unclaimed.ID {
		return nil
	}
	return k.Player
}

// claimsPlayer reports whether one of the people is shown with an id and turns out to be an unclaimed player.
func claimsPlayer(snap Snapshot, people []Person) bool {
	for i, p := range people {
		if k := snap.People[i]; p.ID != 0 && k.Unclaimed != nil && k.Player == k.Unclaimed {
			return true
		}
	}
	return false
}

// Identify sets the player that the person p is: the account with their id. Without an id, it is the account that was last
// seen in the group with their username. Otherwise it is the group's unclaimed player with that username, or none.
func (k *Known) Identify(p Person) {
	switch {
	case k.ByID != nil:
		k.Player = k.ByID
	case p.ID == 0 && k.ByUsername != nil:
		k.Player = k.ByUsername
	default:
		k.Player = k.Unclaimed
	}
}

// namesFormerUsername reports whether a mention uses a username that its owner has given up: the owner was last seen with
// it, but the command shows them with another one.
func namesFormerUsername(snap Snapshot, people []Person) bool {
	for i, p := range people {
		holder := snap.People[i].ByUsername
		if p.ID == 0 && holder != nil && slices.ContainsFunc(people, func(q Person) bool {
			return q.ID == holder.UserID && !strings.EqualFold(q.Username, p.Username)
		}) {
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

// areOfEarlierMessage marks all people but the sender, who comes first if there is one, as shown by an earlier message.
func (ps participants) areOfEarlierMessage(sender participants) {
	for i := len(sender); i < len(ps); i++ {
		ps[i].Earlier = true
	}
}

// complete replaces each mention of somebody whom the message shows with an id.
func (ps participants) complete(shown []Person) {
	for i, p := range ps {
		at := slices.IndexFunc(shown, func(q Person) bool { return samePerson(p, q) })
		if p.ID == 0 && at >= 0 {
			ps[i] = shown[at]
		}
	}
}

// senderOf returns the sender of a command, nobody for an anonymous admin.
func senderOf(o Origin) participants {
	if o.Sender == nil {
		return nil
	}
	return participants{*o.Sender}
}

// name returns the player's name for notices.
func (p Player) name() Name { return Name{Player: p.ID} }

// senderName returns the name of a command's sender, the first of its people.
func (s Snapshot) senderName() Name { return s.People[0].Player.name() }
