package command_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"elobot/internal/command"
)

// TestParsePeople checks that a question is about the people it names, or else about the author of
// the replied-to message. sam asks, in some cases in reply to rita.
func TestParsePeople(t *testing.T) {
	t.Parallel()
	const players = "Bob/Big Bob/Ann @ann_1/Ann @ann_2/José Müller @jose/Win/Jean-Luc/Маша"
	for _, tc := range []struct{ text, want, replying string }{
		{"/h2h", "", "rita"},
		{"/h2h bob", "Bob", "Bob"},
		{"/h2h BOB!", "Bob", ""},
		{"/h2h big bob", "Big Bob", ""},
		{"/h2h bob big bob", "Bob, Big Bob", ""},
		{"/h2h bob vs. big bob", "Bob, Big Bob", ""},
		{"/h2h bob and jose muller", "Bob, José Müller", ""},
		{"/h2h jose, bob", "José Müller, Bob", ""},
		{"/h2h \"Big Bob\" Bob", "Big Bob, Bob", ""},
		{"/h2h jean-luc", "Jean-Luc", ""},
		{"/h2h маша", "Маша", ""},
		{"/h2h @bob", "@bob", ""},
		{"/h2h @bob vs @carl", "@bob, @carl", ""},
		{"/h2h bob @carl", "Bob, @carl", ""},
		{"/h2h @carl bob", "@carl, Bob", ""},
		{"/h2h @carl me", "@carl, Sam", ""},
		{"/h2h me bob", "Sam, Bob", ""},
		{"/h2h ich gegen bob", "Sam, Bob", ""},
		{"/h2h @sam @carl", "Sam, @carl", ""},
		{"/h2h @rita", "@rita", "rita"},
		{"/h2h win", "Win", ""},
		{"/h2h vs", "", "rita"},
		{"/stats bob 3", "Bob", ""},
		{"/stats 3", "", "rita"},
		{"/stats ann_2", "Ann", ""},
		{"/stats @jose!", "@jose", ""},
		{"/stats ann", "several are ann: Ann, Ann", "several are ann: Ann, Ann"},
		{"/stats bopb", "nobody is bopb: Bob, Big Bob", ""},
		{"/stats zorb", "nobody is zorb", ""},
		{"/stats big ben", "nobody is ben", ""},
		{"/h2h bob zorb", "nobody is zorb", ""},
		{"/h2h zorb bopb", "nobody is zorb bopb", ""},
	} {
		c, ok := parseDoc(tc.text)
		if !ok {
			t.Fatalf("%q is no command", tc.text)
		}
		equal(t, peopleOf(t, c, players, nil), tc.want, "%s", tc.text)
		rita := command.Person{ID: 42, Username: "rita", Name: "rita"}
		if got := peopleOf(t, c, players, &rita); tc.replying != "" && got != tc.replying {
			t.Errorf("%s in a reply: %s, want %s", tc.text, got, tc.replying)
		}
	}
	// Telegram has not marked these as mentions.
	for args, want := range map[string]string{"@bo": "nobody is bo: Bob, Big Bob", "@bob": "Bob", "@jose": "José Müller"} {
		equal(t, peopleOf(t, command.Command{Name: "stats", Args: args}, players, nil), want, "unmarked %s", args)
	}
	// Yo is the name of a player, and also the Spanish word for the sender.
	equal(t, peopleOf(t, command.Command{Name: "stats", Args: "@yo"}, "Yo", nil), "nobody is yo: Yo", "unmarked @yo")
	equal(t, peopleOf(t, command.Command{Name: "stats", Args: "bob"}, "", nil), "nobody is bob", "where nobody plays")
}

// peopleOf describes the people whom sam's question is about. players is a list in the format of
// group, empty if the group has no players.
func peopleOf(t *testing.T, c command.Command, players string, reply *command.Person) string {
	t.Helper()
	var names *command.Names
	if players != "" {
		names = group(players)
	}
	people, err := command.ParsePeople(by(c, command.Person{ID: 7, Username: "sam", Name: "Sam"}, reply), names)
	all := func(people []command.Person) string {
		var names []string
		for _, p := range people {
			if p.Name == "" {
				p.Name = "@" + p.Username
			}
			names = append(names, p.Name)
		}
		return strings.Join(names, ", ")
	}
	var unclear *command.NameError
	switch {
	case errors.As(err, &unclear) && unclear.Several:
		return fmt.Sprintf("several are %s: %s", unclear.Word, all(unclear.People))
	case errors.As(err, &unclear):
		return strings.TrimSuffix(fmt.Sprintf("nobody is %s: %s", unclear.Word, all(unclear.People)), ": ")
	case err != nil:
		t.Fatal(err)
	}
	return all(people)
}
