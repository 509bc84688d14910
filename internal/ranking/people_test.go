package ranking

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// in returns a person in the ladder. others is the number of namesakes there, earlier how many of them came first. out
// returns a person who is about to enter the ladder.
func in(id int64, name, username string, others, earlier int) Known {
	k := out(id, name, username, others)
	k.Standing, k.Earlier = &Standing{ID: StandingID(id), Player: PlayerID(id), Name: name}, earlier
	return k
}

func out(id int64, name, username string, others int) Known {
	p := &Player{ID: PlayerID(id), UserID: UserID(id), Name: name, Username: username}
	return Known{ByID: p, Player: p, Namesakes: others, Earlier: others}
}

func TestNames(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		people []Known
		want   []string
	}{
		"nobody":                         {nil, []string{}},
		"different names":                {[]Known{in(1, "Alex", "alex", 0, 0), in(2, "Bob", "", 0, 0)}, []string{"Alex", "Bob"}},
		"both in the ladder":             {[]Known{in(1, "Alex", "", 1, 0), in(2, "Alex", "", 1, 1)}, []string{"Alex (1)", "Alex (2)"}},
		"in another case":                {[]Known{in(1, "ALEX", "", 1, 0), in(2, "alex", "", 1, 1)}, []string{"ALEX (1)", "alex (2)"}},
		"with usernames":                 {[]Known{in(1, "Alex", "a1", 1, 0), in(2, "Alex", "a2", 1, 1)}, []string{"Alex (a1)", "Alex (a2)"}},
		"one with a username":            {[]Known{in(1, "Alex", "a1", 1, 0), in(2, "Alex", "", 1, 1)}, []string{"Alex (a1)", "Alex (2)"}},
		"namesake elsewhere":             {[]Known{in(1, "Alex", "", 1, 1), in(2, "Bob", "", 0, 0)}, []string{"Alex (2)", "Bob"}},
		"both new":                       {[]Known{out(1, "Alex", "", 0), out(2, "Alex", "", 0)}, []string{"Alex (1)", "Alex (2)"}},
		"both new, usernames":            {[]Known{out(1, "Alex", "a1", 0), out(2, "Alex", "a2", 0)}, []string{"Alex (a1)", "Alex (a2)"}},
		"new second":                     {[]Known{in(1, "Alex", "", 0, 0), out(2, "Alex", "", 1)}, []string{"Alex (1)", "Alex (2)"}},
		"new first":                      {[]Known{out(2, "Alex", "", 1), in(1, "Alex", "", 0, 0)}, []string{"Alex (2)", "Alex (1)"}},
		"new, namesakes in the ladder":   {[]Known{out(3, "Alex", "", 2), in(9, "Bob", "", 0, 0)}, []string{"Alex (3)", "Bob"}},
		"both new, one in the ladder":    {[]Known{out(2, "Alex", "", 1), out(3, "alex", "", 1)}, []string{"Alex (2)", "alex (3)"}},
		"three, one of them in it":       {[]Known{out(2, "Alex", "", 1), in(1, "Alex", "", 0, 0), out(3, "Alex", "", 1)}, []string{"Alex (2)", "Alex (1)", "Alex (3)"}},
		"a new one with another name":    {[]Known{in(1, "Alex", "", 0, 0), out(2, "Bob", "", 0)}, []string{"Alex", "Bob"}},
		"the username is not the number": {[]Known{out(1, "Alex", "", 0), out(2, "Alex", "a2", 0)}, []string{"Alex (1)", "Alex (a2)"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := make([]string, 0)
			for _, n := range names(tc.people) {
				if n.Mark != "" {
					n.Name += " (" + n.Mark + ")"
				}
				got = append(got, n.Name)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestNamesTellApart checks that no two people get the same name and mark, in and outside of the ladder.
func TestNamesTellApart(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		called := rapid.SliceOfN(rapid.SampledFrom([]string{"Alex", "ALEX", "Bob"}), 2, 6).Draw(t, "names")
		inside := rapid.IntRange(0, len(called)).Draw(t, "how many are in the ladder")
		var people []Known
		for i, name := range called {
			username := ""
			if rapid.Bool().Draw(t, "has a username") {
				username = fmt.Sprintf("user_%d", i)
			}
			earlier, others := 0, 0
			for j := range inside {
				if j != i && strings.EqualFold(called[j], name) {
					others++
					if j < i {
						earlier++
					}
				}
			}
			if i < inside {
				people = append(people, in(int64(i+1), name, username, others, earlier))
			} else {
				people = append(people, out(int64(i+1), name, username, others))
			}
		}
		seen := make(map[string]int)
		for i, n := range names(people) {
			key := strings.ToLower(n.Name) + " " + n.Mark
			if j, there := seen[key]; there {
				t.Fatalf("%d and %d are both %v", j, i, n)
			}
			seen[key] = i
		}
	})
}

func TestProfileUpdates(t *testing.T) {
	t.Parallel()
	alice := &Player{ID: 1, UserID: 11, Username: "alice", Name: "Alice"}
	bob := &Player{ID: 2, UserID: 22, Username: "bob", Name: "Bob"}
	dave := &Player{ID: 3, Username: "dave", Name: "dave"}
	change := func(id PlayerID, user UserID, username, name string, standing StandingID) PlayerChange {
		return PlayerChange{Player: Player{ID: id, UserID: user, Username: username, Name: name}, Standing: standing}
	}
	known := func(p Person, byID, byUsername *Player) Known {
		return Known{ByID: byID, ByUsername: byUsername, Player: p.Identify(byID, byUsername)}
	}
	as := func(id UserID, username, name string) Person { return Person{ID: id, Username: username, Name: name} }
	for name, tc := range map[string]struct {
		person           Person
		byID, byUsername *Player
		standing         string // the name in the ladder
		passing          bool   // the command does not need the person
		want             []PlayerChange
	}{
		"nothing new":                    {as(11, "alice", "Alice"), alice, alice, "Alice", false, nil},
		"named, known":                   {as(0, "ALICE", ""), nil, alice, "Alice", false, nil},
		"named, not known":               {as(0, "Eve", ""), nil, nil, "", false, []PlayerChange{change(0, 0, "Eve", "Eve", 0)}},
		"named, not known, not needed":   {as(0, "Eve", ""), nil, nil, "", true, nil},
		"seen, not known":                {as(5, "eve", "Eve"), nil, nil, "", false, []PlayerChange{change(0, 5, "eve", "Eve", 0)}},
		"seen, not known, not needed":    {as(5, "eve", "Eve"), nil, nil, "", true, nil},
		"claims":                         {as(4, "Dave", "David"), nil, dave, "dave", false, []PlayerChange{change(3, 4, "Dave", "David", 9)}},
		"claims though not needed":       {as(4, "dave", "David"), nil, dave, "", true, []PlayerChange{change(3, 4, "dave", "David", 0)}},
		"new name":                       {as(11, "alice", "Al"), alice, alice, "Alice", false, []PlayerChange{change(1, 11, "alice", "Al", 9)}},
		"the ladder has an old name":     {as(11, "alice", "Alice"), alice, alice, "Al", false, []PlayerChange{change(1, 11, "alice", "Alice", 9)}},
		"named, ladder has an old name":  {as(0, "alice", ""), nil, alice, "Al", false, []PlayerChange{change(1, 11, "alice", "Alice", 9)}},
		"new username":                   {as(11, "al", "Alice"), alice, nil, "Alice", false, []PlayerChange{change(1, 11, "al", "Alice", 0)}},
		"username in another case":       {as(11, "Alice", "Alice"), alice, alice, "Alice", false, []PlayerChange{change(1, 11, "Alice", "Alice", 0)}},
		"username given up":              {as(11, "", "Alice"), alice, nil, "Alice", false, []PlayerChange{change(1, 11, "", "Alice", 0)}},
		"username taken over":            {as(11, "bob", "Alice"), alice, bob, "", false, []PlayerChange{change(2, 22, "", "Bob", 0), change(1, 11, "bob", "Alice", 0)}},
		"username taken over by new one": {as(5, "bob", "Eve"), nil, bob, "", false, []PlayerChange{change(2, 22, "", "Bob", 0), change(0, 5, "bob", "Eve", 0)}},
		"username is unclaimed":          {as(11, "dave", "Alice"), alice, dave, "", false, []PlayerChange{change(1, 11, "", "Alice", 0)}},
		"username is unclaimed, renamed": {as(11, "dave", "Al"), alice, dave, "", false, []PlayerChange{change(1, 11, "", "Al", 0)}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := known(tc.person, tc.byID, tc.byUsername)
			if tc.standing != "" {
				k.Standing = &Standing{ID: 9, Name: tc.standing}
			}
			if diff := cmp.Diff(tc.want, profileUpdates(tc.person, k, !tc.passing)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestParticipants(t *testing.T) {
	t.Parallel()
	var c participants
	named, seen := Person{Username: "Alice", Doubtful: true}, Person{ID: 1, Username: "alice", Name: "Alice"}
	mention := Person{ID: 2, Name: "Zoe"}
	for i, step := range []struct {
		person Person
		want   int
	}{{named, 0}, {mention, 1}, {seen, 0}, {named, 0}, {Person{ID: 2, Username: "zoe", Name: "Zoe"}, 1}, {Person{Name: "nobody"}, 2}} {
		if got := c.add(step.person); got != step.want {
			t.Errorf("step %d: index %d, want %d", i, got, step.want)
		}
	}
	if diff := cmp.Diff(participants{seen, mention, {Name: "nobody"}}, c); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
