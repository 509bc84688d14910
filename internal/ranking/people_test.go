package ranking

import (
	"testing"
	"time"

	"elobot/internal/command"
	"elobot/internal/ladder"

	"github.com/google/go-cmp/cmp"
)

func TestIdentify(t *testing.T) {
	t.Parallel()
	account, owner, unclaimed := &Player{ID: 1, UserID: 11}, &Player{ID: 2, UserID: 22}, &Player{ID: 3, Username: "bob"}
	shown, mention := command.Person{ID: 11, Username: "bob"}, command.Person{Username: "bob"}
	for name, tc := range map[string]struct {
		person         command.Person
		known          Known
		want, claimant *Player
	}{
		"unknown":                           {shown, Known{}, nil, nil},
		"account":                           {shown, Known{ByID: account}, account, nil},
		"account with another's username":   {shown, Known{ByID: account, ByUsername: owner}, account, nil},
		"unknown, with another's username":  {shown, Known{ByUsername: owner}, nil, nil},
		"claims":                            {shown, Known{Unclaimed: unclaimed}, unclaimed, nil},
		"account claims":                    {shown, Known{ByID: account, Unclaimed: unclaimed}, account, account},
		"mention of nobody":                 {mention, Known{}, nil, nil},
		"mention":                           {mention, Known{ByUsername: owner}, owner, nil},
		"mention of an unclaimed player":    {mention, Known{Unclaimed: unclaimed}, unclaimed, nil},
		"mention of one who should be both": {mention, Known{ByUsername: owner, Unclaimed: unclaimed}, owner, owner},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tc.known.Identify(tc.person, 0)
			if tc.known.Player != tc.want || tc.known.claimant() != tc.claimant {
				t.Errorf("it is %+v, claimed by %+v", tc.known.Player, tc.known.claimant())
			}
		})
	}
}

func TestProfileChange(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_700_000_000, 0)
	alice := &Player{ID: 1, UserID: 11, Username: "alice", Name: "Alice"}
	dave := &Player{ID: 3, Username: "dave", Name: "dave"}
	seen := func(username string) *Sighting { return &Sighting{Username: username, At: now} }
	earlier := func(username string) *Sighting { return &Sighting{Username: username, At: now.Add(-time.Hour)} }
	later := func(username string) *Sighting { return &Sighting{Username: username, At: now.Add(time.Second)} }
	change := func(
		id ladder.PlayerID, user ladder.UserID, username, name string, standing ladder.StandingID, s *Sighting,
	) *PlayerChange {
		return &PlayerChange{
			Player: Player{ID: id, UserID: user, Username: username, Name: name}, Standing: standing, Sighting: s,
		}
	}
	added := func(c *PlayerChange) *PlayerChange {
		c.New = true
		return c
	}
	mentioned := func(c *PlayerChange) *PlayerChange {
		c.Mentioned = true
		return c
	}
	as := func(id ladder.UserID, username, name string) command.Person {
		return command.Person{ID: id, Username: username, Name: name}
	}
	for name, tc := range map[string]struct {
		person   command.Person
		known    Known
		standing string // the name in the ladder
		passing  bool   // the command does not need the person as a player
		private  bool
		want     *PlayerChange
	}{
		"nothing new":                   {as(11, "alice", "Alice"), Known{Player: alice, Sighting: earlier("alice")}, "Alice", false, false, nil},
		"mentioned":                     {as(0, "ALICE", ""), Known{Player: alice}, "Alice", false, false, nil},
		"mentioned, unknown":            {as(0, "Eve", ""), Known{}, "", false, false, added(change(7, 0, "Eve", "Eve", 0, nil))},
		"mentioned, unknown, passing":   {as(0, "Eve", ""), Known{}, "", true, false, nil},
		"shown, unknown":                {as(5, "eve", "Eve"), Known{}, "", false, false, added(change(7, 5, "eve", "Eve", 0, seen("eve")))},
		"shown, unknown, passing":       {as(5, "eve", "Eve"), Known{}, "", true, false, nil},
		"claims":                        {as(4, "Dave", "David"), Known{Player: dave}, "dave", false, false, change(3, 4, "Dave", "David", 9, seen("Dave"))},
		"claims in passing":             {as(4, "dave", "David"), Known{Player: dave}, "", true, false, change(3, 4, "dave", "David", 0, seen("dave"))},
		"new name":                      {as(11, "alice", "Al"), Known{Player: alice, Sighting: earlier("alice")}, "Alice", false, false, change(1, 11, "alice", "Al", 9, nil)},
		"old name in the ladder":        {as(11, "alice", "Alice"), Known{Player: alice, Sighting: earlier("alice")}, "Al", false, false, change(1, 11, "alice", "Alice", 9, nil)},
		"mentioned, old name in ladder": {as(0, "alice", ""), Known{Player: alice}, "Al", false, false, mentioned(change(1, 11, "alice", "Alice", 9, nil))},
		"first seen in this group":      {as(11, "alice", "Alice"), Known{Player: alice}, "", false, false, change(1, 11, "alice", "Alice", 0, seen("alice"))},
		"in a private chat":             {as(11, "alice", "Alice"), Known{Player: alice}, "", false, true, nil},
		"new username":                  {as(11, "al", "Alice"), Known{Player: alice, Sighting: earlier("alice")}, "Alice", false, false, change(1, 11, "al", "Alice", 0, seen("al"))},
		"username in another case":      {as(11, "Alice", "Alice"), Known{Player: alice, Sighting: earlier("alice")}, "Alice", false, false, change(1, 11, "Alice", "Alice", 0, nil)},
		"username given up":             {as(11, "", "Alice"), Known{Player: alice, Sighting: earlier("alice")}, "Alice", false, false, change(1, 11, "", "Alice", 0, seen(""))},
		"taken over by another since":   {as(11, "alice", "Alice"), Known{Player: alice, Sighting: earlier("")}, "Alice", false, false, change(1, 11, "alice", "Alice", 0, seen("alice"))},
		"late message":                  {as(11, "alice", "Alice"), Known{Player: alice, Sighting: later("al")}, "Alice", false, false, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if tc.standing != "" {
				tc.known.Standing = &ladder.Standing{ID: 9, Name: tc.standing}
			}
			o := Origin{Chat: Chat{Kind: Group}, SentAt: now}
			if tc.private {
				o.Chat.Kind = Private
			}
			var got *PlayerChange
			if tc.known.Player == nil && !tc.passing {
				tc.known.Identify(tc.person, 7)
			}
			if change, ok := tc.known.profileChange(o, tc.person); ok {
				got = &change
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestCame checks that a command that a person sends to a group sets Came in the sighting, unless
// Came is already set or the sighting is newer than the command.
func TestCame(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_700_000_000, 0)
	zoe := command.Person{ID: 26, Name: "Zoe"}
	for name, tc := range map[string]struct {
		known  *Sighting
		sender command.Person
		want   *Sighting
	}{
		"sends first":  {nil, zoe, &Sighting{At: now, Came: true}},
		"named first":  {nil, command.Person{ID: 1}, &Sighting{At: now}},
		"sends then":   {&Sighting{At: now}, zoe, &Sighting{At: now, Came: true}},
		"named again":  {&Sighting{At: now}, command.Person{ID: 1}, nil},
		"sends again":  {&Sighting{At: now, Came: true}, zoe, nil},
		"sent earlier": {&Sighting{At: now.Add(1)}, zoe, nil},
	} {
		o := Origin{Chat: Chat{Kind: Group}, SentAt: now, Sender: &tc.sender}
		if diff := cmp.Diff(tc.want, Known{Sighting: tc.known}.newSighting(o, zoe)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestParticipants(t *testing.T) {
	t.Parallel()
	var c participants
	named, seen := command.Person{Username: "Alice"}, command.Person{ID: 1, Username: "alice", Name: "Alice"}
	mention := command.Person{ID: 2, Name: "Zoe"}
	for i, step := range []struct {
		person command.Person
		want   int
	}{{named, 0}, {mention, 1}, {seen, 0}, {named, 0}, {command.Person{ID: 2, Username: "zoe", Name: "Zoe"}, 1},
		{command.Person{Name: "nobody"}, 2}} {
		if got := c.add(step.person); got != step.want {
			t.Errorf("step %d: index %d, want %d", i, got, step.want)
		}
	}
	if diff := cmp.Diff(participants{seen, mention, {Name: "nobody"}}, c); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestComplete(t *testing.T) {
	t.Parallel()
	bob := command.Person{ID: 2, Username: "bob", Name: "Bob"}
	c := participants{{ID: 1, Username: "alice"}, {Username: "BOB"}, {Username: "carol"}}
	c.complete([]command.Person{bob, {ID: 1, Username: "alice", Name: "another view"}, {ID: 9, Name: "Zoe"}})
	if diff := cmp.Diff(participants{{ID: 1, Username: "alice"}, bob, {Username: "carol"}}, c); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
