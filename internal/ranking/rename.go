package ranking

import (
	"cmp"
	"slices"
	"unicode/utf8"

	"elobot/internal/command"
	"elobot/internal/ladder"
	"elobot/internal/notice"
)

// MaxNick is the maximum length of a nick, in characters.
const MaxNick = 32

// Rename gives a player a nick, which the group then sees instead of the player's own name, or ends
// the nick. Players rename themselves; only admins may rename other players.
type Rename struct {
	Player ladder.PlayerID // 0 for the sender
	Nick   string
	Off    bool // ends the nick; without Off and Nick, the answer shows the nick
}

func (r Rename) plan(s *Service, c *call) *call {
	if r.Player == 0 && c.Sender == nil {
		return Say{Notice: Refusal{Code: NobodyToName}}.plan(s, c)
	}
	op := renameOperation{Rename: r, people: senderOf(c.Origin)}
	if r.Nick != "" {
		op.username = op.people.add(command.Person{Username: r.Nick})
	}
	return c.with(job{
		name: "rename", bucket: RateQuestion, ofAdmins: r.Player != 0, ofGroup: true, locks: r.Nick != "" || r.Off,
		operation: op,
	})
}

type renameOperation struct {
	plain
	Rename
	people   participants
	username int // the index in people of the person whose username is the Nick; 0 without a Nick
}

func (r renameOperation) needs() Needs { return Needs{People: r.people, Everybody: true} }

func (r renameOperation) permission(*Snapshot) Permission {
	if r.Player == 0 {
		return Permission{}
	}
	return Permission{Who: OnlyAdmins, Refusal: Refusal{Code: AdminsOnly}}
}

// renamed returns the player to rename, zero if the group has no such player.
func (r renameOperation) renamed(snap *Snapshot) Known {
	player := r.Player
	if player == 0 && snap.People[0].Player != nil {
		player = snap.People[0].Player.ID
	}
	return snap.everybodyWith(player)
}

func (r renameOperation) refuse(snap *Snapshot) Notice {
	k := r.renamed(snap)
	switch {
	case k.Player == nil && r.Player == 0:
		return Refusal{Code: NotJoined}
	case k.Player == nil, r.Player != 0 && k.Named != nil: // the button is older than a merge of the player
		return Refusal{Code: UnknownButton}
	case r.Nick == k.Nick && (r.Off || r.Nick != ""):
		return Refusal{Code: SameSetting}
	case r.Nick == "":
		return nil
	}
	others := slices.DeleteFunc(snap.everybody(),
		func(p command.Person) bool { return p.Player == k.Player.ID || p.CountsAs == k.Player.ID })
	names := command.NewNames(others)
	holder, isHeld := names.Holder(r.Nick)
	if u := snap.People[r.username]; !isHeld && u.Player != nil && !u.IsSame(k) {
		holder, isHeld = u.person(), true
	}
	if isHeld {
		return Refusal{Code: NickTaken, Name: command.Excerpt(r.Nick), Near: new(NameOf(holder, Known{}))}
	}
	return snap.refuseName(r.Nick, names, NickUnusable)
}

// refuseName returns a refusal with the given code if a player cannot have the name, because it is
// too long, names a ladder or a player without a name, or has another meaning in a command.
// Otherwise it returns nil.
func (s *Snapshot) refuseName(name string, names *command.Names, code RefusalCode) Notice {
	_, missing, words := s.ladderAt(name, false)
	if utf8.RuneCountInString(name) > MaxNick || !names.CanNamePlayer(name) || command.IsOfNameless(name) ||
		missing != nil || words > 0 {
		return Refusal{Code: code, Name: command.Excerpt(name)}
	}
	return nil
}

func (r renameOperation) decide(snap *Snapshot) (Decision, need, error) {
	k := r.renamed(snap)
	own := cmp.Or(k.Shown, k.Player.Name)
	if r.Nick == "" && !r.Off {
		return Decision{Notice: NickShown{Nick: k.Nick, Name: own, Number: k.Nameless}}, nil, nil
	}
	return Decision{
		Effect: &NewNick{Group: snap.Group, Player: k.Player.ID, Nick: r.Nick},
		Notice: Renamed{Was: k.Player.Name, Name: cmp.Or(r.Nick, own), Off: r.Off, Number: k.Nameless},
	}, nil, nil
}

// NewNick is a new nick of a player in a group. An empty Nick ends the player's nick.
type NewNick struct {
	Group  GroupID
	Player ladder.PlayerID
	Nick   string
}

func (*NewNick) outcome() CommandOutcome { return OutcomeSettingChanged }

// Renamed says that a player is called by another name in the group from now on. It has the names
// themselves, because the player may be renamed again before the notice is sent.
type Renamed struct {
	Was  string `json:"was"`
	Name string `json:"name"`
	Off  bool   `json:"off,omitempty"` // the Name is the player's own, because the nick ended
	// Number is the number to show with Was or Name if that is Nameless.
	Number int `json:"number,omitempty"`
}

var _ = notice.Register[Renamed](notice.Kind{Name: "renamed", Purpose: notice.Outcome})

// NickShown shows the sender what the group calls them.
type NickShown struct {
	Nick string `json:"nick,omitempty"` // empty for none
	Name string `json:"name"`           // the sender's own name
	// Number is the number to show with the Name if that is Nameless.
	Number int `json:"number,omitempty"`
}

var _ = notice.Register[NickShown](notice.Kind{Name: "nick", Purpose: notice.Answer})
