package ranking

import (
	"unicode"

	"elobot/internal/command"
)

// AddGuest adds a guest, a player of the group who has no account. The arguments of the command are
// the guest's name. The guest gets a standing in the ladder that applies. If the group already has
// the guest, AddGuest is like a Join of the guest.
type AddGuest struct {
	Otherwise Notice // the answer if the command names nobody
}

func (a AddGuest) plan(s *Service, c *call) *call {
	name := c.Said.GivenName()
	switch {
	case len(c.Said.Mentions) > 0:
		account := NameOf(c.Said.Mentions[0], Known{})
		return Say{Notice: Refusal{Code: NeedsNoGuest, Name: account.Name}}.plan(s, c)
	case name == "":
		return Say{Notice: a.Otherwise}.plan(s, c)
	case command.NamesSeveral(name):
		return Say{Notice: Refusal{Code: OneGuest, Name: command.Excerpt(name)}}.plan(s, c)
	}
	op := guestOperation{
		joinOperation: joinOperation{person: command.NewGuest(name), at: c.SentAt}, sender: senderOf(c.Origin),
	}
	return c.with(job{name: "add guest", bucket: RateQuestion, operation: op})
}

type guestOperation struct {
	joinOperation
	sender participants
}

func (g guestOperation) needs() Needs {
	needs := g.joinOperation.needs()
	needs.People, needs.Everybody = append(needs.People, g.sender...), true
	return needs
}

// isUnlimited overrides the exemption of joinOperation, because one person can add many guests.
func (g guestOperation) isUnlimited(*Snapshot) bool { return false }

func (g guestOperation) refuse(snap *Snapshot) Notice {
	if k := snap.People[0]; k.Out {
		return k.refusesOut(false)
	}
	if snap.known(1).Ignored { // the sender
		return Refusal{Code: SenderIgnored}
	}
	return snap.refuseGuest(g.person, snap.People[0])
}

// refuseGuest returns why the new guest p cannot be added. It returns nil if the guest can be
// added, or if p is not a new guest. k is the snapshot's entry for p. A guest's name must have no
// other meaning in a command, and must not be the name of a person in the snapshot's Everybody.
func (s *Snapshot) refuseGuest(p command.Person, k Known) Notice {
	if !p.IsNewGuest() || k.IsPlayer() {
		return nil
	}
	names := command.NewNames(s.everybody())
	if holder, isHeld := names.Holder(p.Name); isHeld {
		return Refusal{Code: NameTaken, Name: distinct(p.Name, names), Near: new(NameOf(holder, Known{}))}
	}
	return s.refuseName(p.Name, names, GuestUnusable)
}

// distinct appends an initial to the name, as in "Bob S.", and returns the first result that no
// player in names has. If there is none, it returns the last result tried.
func distinct(name string, names *command.Names) (longer string) {
	runes, initials := []rune(name), "SBKMTRGLNPFCHJWZ"
	if unicode.Is(unicode.Cyrillic, runes[0]) {
		initials = "СБКМТРГЛНПФЗДВИЖ"
	}
	for _, initial := range initials {
		longer = string(runes[:min(len(runes), MaxNick-len(" S."))]) + " " + string(initial) + "."
		if _, isHeld := names.Holder(longer); !isHeld && names.CanNamePlayer(longer) {
			break
		}
	}
	return longer
}
