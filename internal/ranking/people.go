package ranking

import (
	"cmp"
	"slices"
	"strings"

	"elobot/internal/command"
	"elobot/internal/ladder"
)

// profileChange returns the change that stores what a message shows about a person. ok is false if
// there is nothing to store, for example because the person is unknown and the command adds no
// players. A retried command may show an outdated state, so it only adds missing players.
func (k Known) profileChange(o Origin, p command.Person) (change PlayerChange, ok bool) {
	if k.Player == nil || !k.New && (!p.IsShownNow() || o.Retried) {
		return change, false
	}
	named := *k.named()
	change.Player, change.New = named, k.New
	if p.ID != 0 {
		// The id turns an unclaimed player into an account.
		change.Player.UserID, change.Player.Username, change.Player.Name = p.ID, p.Username, p.Name
	}
	if k.Standing != nil && k.Named == nil && k.Standing.Name != cmp.Or(k.Nick, change.Player.Name) {
		change.Standing = k.Standing.ID
	}
	change.Sighting = k.newSighting(o, p)
	ok = change != PlayerChange{Player: named}
	change.Mentioned = p.ID == 0 && !k.New
	return change, ok
}

// newSighting returns the sighting to store for the person, nil for none. A message older than the
// stored sighting changes nothing.
func (k Known) newSighting(o Origin, p command.Person) *Sighting {
	came := o.Sender != nil && o.Sender.ID == p.ID
	isKnown := k.Sighting != nil && strings.EqualFold(k.Sighting.Username, p.Username) && (k.Sighting.Came || !came)
	switch {
	// A claimant that cannot be merged with the unclaimed player must not share its username.
	case p.ID == 0, !o.Chat.IsGroup(), o.Retried, k.claimant() != nil:
		return nil
	case isKnown, k.Sighting != nil && k.Sighting.At.After(o.SentAt):
		return nil
	}
	return &Sighting{Username: p.Username, At: o.SentAt, Came: came}
}

// claimant returns the account of the person if the group also has an unclaimed player with the
// person's username. Both are then the same person. Otherwise, it returns nil.
func (k Known) claimant() *Player {
	if k.Unclaimed == nil || k.Player == nil || k.named().ID == k.Unclaimed.ID {
		return nil
	}
	return k.named()
}

// countsAsGuest reports whether the person claims a player who counts as a player without an
// account.
func (k Known) countsAsGuest() bool { return k.Claimed && k.Named != nil && !k.IsAccount() }

// Identify sets the Player of the person p, and Claimed or New if that applies. The Player is the
// first of these that exists:
//   - the account with p's id
//   - if p has no id, the account last seen in the group with p's username
//   - the group's unclaimed player with p's username, or the guest p
//   - a new player with the id added, unless added is 0
//
// If none exists, the Player stays nil. If the player found counts as another player, the other
// player becomes the Player, and the player found becomes Named.
func (k *Known) Identify(p command.Person, added ladder.PlayerID) {
	switch {
	case k.ByID != nil:
		k.Player = k.ByID
	case p.ID == 0 && k.ByUsername != nil:
		k.Player = k.ByUsername
	case k.Unclaimed != nil:
		k.Player, k.Claimed = k.Unclaimed, p.ID != 0 && p.IsShownNow()
	case added != 0:
		k.New = true
		k.Player = &Player{ID: added, UserID: p.ID, Username: p.Username, Name: p.Name}
		if p.ID == 0 && p.Username != "" {
			k.Player.Name = p.Username // until a message shows the person
		}
	}
	if k.CountsAs != nil {
		k.Named, k.Player = k.Player, k.CountsAs
	}
}

// participants are the distinct people of a command.
type participants []command.Person

// add adds the person p if p is not present, and returns p's index. If p is present without an id,
// add replaces that entry with p.
func (ps *participants) add(p command.Person) int {
	i := ps.index(p)
	if i < 0 {
		*ps = append(*ps, p)
		return len(*ps) - 1
	}
	if (*ps)[i].ID == 0 {
		(*ps)[i] = p
	}
	return i
}

// index returns the index of a person, -1 if the person is not present.
func (ps participants) index(p command.Person) int { return slices.IndexFunc(ps, p.IsSame) }

func (ps *participants) addSides(sides [2][]command.Person) (at [2][]int) {
	for side, people := range sides {
		for _, p := range people {
			at[side] = append(at[side], ps.add(p))
		}
	}
	return at
}

// areOfEarlierMessage marks all people except the sender as shown by an earlier message. The
// sender, if any, must come first.
func (ps participants) areOfEarlierMessage(sender participants) {
	for i := len(sender); i < len(ps); i++ {
		ps[i].Earlier = true
	}
}

// complete replaces each person without an id with the same person in shown, if any.
func (ps participants) complete(shown []command.Person) {
	for i, p := range ps {
		at := slices.IndexFunc(shown, p.IsSame)
		if p.ID == 0 && at >= 0 {
			ps[i] = shown[at]
		}
	}
}

// senderOf returns the sender of a command as participants, empty if the command has no Sender.
func senderOf(o Origin) participants {
	if o.Sender == nil {
		return nil
	}
	return participants{*o.Sender}
}

func (p Player) name() Name { return Name{Player: p.ID} }

// senderName returns the sender's name. The first of the snapshot's People must be the sender and
// must have a Player.
func (s *Snapshot) senderName() Name { return s.People[0].Player.name() }

// shownName returns what the group calls the Player, which must not be nil: the nick, or else the
// player's own name.
func (k Known) shownName() string { return cmp.Or(k.Nick, k.Player.Name) }

// IsAccount reports whether the person has an account, because a message has shown their id.
func (k Known) IsAccount() bool { return k.Player != nil && k.Player.UserID != 0 }

// IsPlayer reports whether the person has a player that is neither New nor Gone.
func (k Known) IsPlayer() bool { return k.Player != nil && !k.New && !k.Gone }

// hasJoined reports whether the person takes part in the group: as a guest, as a player of the
// ladder, or as an account that has sent a command there.
func (k Known) hasJoined() bool {
	return k.IsPlayer() && (k.Came || k.Standing != nil || !k.IsAccount())
}

// IsSame reports whether two people have the same player.
func (k Known) IsSame(o Known) bool {
	return k.Player != nil && o.Player != nil && k.Player.ID == o.Player.ID
}

// StandingIn returns the person's Standing, or a new standing under the rules of l if there is
// none. The new standing of a person without a player has no Player.
func (k Known) StandingIn(l Ladder) ladder.Standing {
	if k.Standing != nil {
		return *k.Standing
	}
	s := ladder.Standing{Elo: l.Start, StartElo: l.Start, BestElo: l.Start}
	if k.Player != nil {
		s.Player, s.Name = k.Player.ID, k.shownName()
	}
	return s
}
