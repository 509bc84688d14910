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
	username int // the index among the people of the person with the nick as a username
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
	case k.Player == nil:
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
	_, missing, words := snap.ladderAt(r.Nick, false)
	switch name := command.Excerpt(r.Nick); {
	case isHeld:
		return Refusal{Code: NickTaken, Name: name, Near: new(NameOf(holder, Known{}))}
	case utf8.RuneCountInString(r.Nick) > MaxNick, !names.CanNamePlayer(r.Nick), missing != nil, words > 0:
		return Refusal{Code: NickUnusable, Name: name}
	}
	return nil
}

func (r renameOperation) decide(snap *Snapshot) (Decision, need, error) {
	k := r.renamed(snap)
	own := cmp.Or(k.Shown, k.Player.Name)
	if r.Nick == "" && !r.Off {
		return Decision{Notice: NickShown{Nick: k.Nick, Name: own}}, nil, nil
	}
	return Decision{
		Effect: &NewNick{Group: snap.Group, Player: k.Player.ID, Nick: r.Nick},
		Notice: Renamed{Was: k.Player.Name, Name: cmp.Or(r.Nick, own), Off: r.Off},
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
}

var _ = notice.Register[Renamed](notice.Kind{Name: "renamed", Purpose: notice.Outcome})

// NickShown tells the sender by which name the group calls them.
type NickShown struct {
	Nick string `json:"nick,omitempty"` // empty for none
	Name string `json:"name"`           // the sender's own name
}

var _ = notice.Register[NickShown](notice.Kind{Name: "nick", Purpose: notice.Answer})
