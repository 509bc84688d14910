package ranking

import (
	"unicode"
	"unicode/utf8"

	"elobot/internal/command"
)

// AddGuest adds the guest whom the arguments of the command name: a player of the group who has no
// account. The guest gets a standing in the ladder that applies. If the group has the guest,
// AddGuest is like a Join of the guest.
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

// isUnlimited exempts nothing: one person can add many guests.
func (g guestOperation) isUnlimited(*Snapshot) bool { return false }

func (g guestOperation) refuse(snap *Snapshot) Notice {
	return snap.refuseGuest(g.person, snap.People[0])
}

// refuseGuest returns why a person cannot be added as a guest, nil if they can or are no new guest.
// The name must have no other meaning in a command. Nobody else in the group may have it, as far as
// the snapshot has Everybody.
func (s *Snapshot) refuseGuest(p command.Person, k Known) Notice {
	if !p.IsNewGuest() || k.IsPlayer() {
		return nil
	}
	names := command.NewNames(s.everybody())
	holder, isHeld := names.Holder(p.Name)
	_, missing, words := s.ladderAt(p.Name, false)
	switch isLong := utf8.RuneCountInString(p.Name) > MaxNick; {
	case isHeld:
		return Refusal{Code: NameTaken, Name: distinct(p.Name, names), Near: new(NameOf(holder, Known{}))}
	case isLong, !names.CanNamePlayer(p.Name), missing != nil, words > 0:
		return Refusal{Code: GuestUnusable, Name: command.Excerpt(p.Name)}
	}
	return nil
}

// distinct returns the name with an initial that makes it nobody else's, as in "Bob S."
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
