package main_test

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"elobot/internal/botsim"
)

// testManyResults checks that, for random results that are written in different forms, every card
// and every rating equals the oracle's.
func testManyResults(t *testing.T, b *botFixture) {
	random := rand.New(rand.NewPCG(1, 0)) // the same results each time
	var people []botsim.User
	for _, name := range []string{"alice", "bob", "carol", "dave", "erin", "frank", "grace", "heidi", "ivan"} {
		people = append(people, b.sim.User(name))
	}
	people = append(people, b.sim.User("Bob 2")) // without a username
	group := b.sim.Group("Chess", people...)
	b.join(group, people...) // so that no card mentions new players
	// The oracle does not know celebrations.
	b.exec(`UPDATE chats SET celebrations = false WHERE telegram_chat_id = $1`, group.ID())
	truth := newOracle()
	var cards []string
	const matches = 40
	for range matches {
		cards = append(cards, playRandomly(random, group, people, truth))
	}
	answers := awaitAnswers(t, group, len(people)+matches)[len(people):]
	ratings := make(map[string]int) // according to the cards
	for _, p := range people {
		ratings[p.FirstName] = 1500
	}
	for i, m := range answers {
		if err := follow(ratings, visible(m)); err != nil {
			t.Fatalf("card %d: %v\n%s", i+1, err, visible(m))
		}
		if got, want := visible(m), cards[i]; got != want {
			t.Fatalf("card %d:\n%s\nwant\n%s", i+1, got, want)
		}
		if !m.Silent || !m.NoPreview || m.ReplyTo == 0 {
			t.Fatalf("card %d is not a silent reply without a preview: %+v", i+1, m)
		}
	}

	sum, stored := 0, make(map[string]int)
	for _, row := range b.standings(group) {
		sum += row.Elo
		if row.Played > 0 {
			stored[row.Name] = row.Elo
		}
	}
	if want := 1500 * len(people); sum != want {
		t.Errorf("the ratings add up to %d, want %d", sum, want)
	}
	want := make(map[string]int)
	for name, p := range truth.Standings {
		want[name] = p.Elo
	}
	if !maps.Equal(stored, want) {
		t.Errorf("ratings %v, want %v", stored, want)
	}
	checkRanking(t, group, people[0], truth)
}

// changed matches a line of a card that shows the change of a rating.
var changed = regexp.MustCompile(`(?m)^(.+) ([+−±])(\d+) → (\d+)$`)

// follow updates the ratings from a card. It checks that the card starts from the current ratings
// and does not change their sum.
func follow(ratings map[string]int, card string) error {
	lines := changed.FindAllStringSubmatch(card, -1)
	if len(lines) != 2 {
		return fmt.Errorf("it has %d ratings, want 2", len(lines))
	}
	before := total(ratings)
	for _, line := range lines {
		name := line[1]
		size, sizeErr := strconv.Atoi(line[3])
		after, afterErr := strconv.Atoi(line[4])
		if err := errors.Join(sizeErr, afterErr); err != nil {
			return err
		}
		if line[2] == "−" {
			size = -size
		}
		old, known := ratings[name]
		if !known || old+size != after {
			return fmt.Errorf("%s had %d before", name, old)
		}
		ratings[name] = after
	}
	if sum := total(ratings); sum != before {
		return fmt.Errorf("the ratings add up to %d after it and to %d before", sum, before)
	}
	return nil
}

func total(ratings map[string]int) int {
	sum := 0
	for _, elo := range ratings {
		sum += elo
	}
	return sum
}

// playRandomly reports a random result in a random form, and returns the expected card.
func playRandomly(random *rand.Rand, group *botsim.Chat, people []botsim.User, truth *oracle) string {
	order := random.Perm(len(people))
	a, b, reporter := people[order[0]], people[order[1]], people[order[2]]
	scoreA, scoreB := random.IntN(12), random.IntN(12)
	score := fmt.Sprintf([]string{"%d:%d", "%d-%d", "%d %d", "%d : %d"}[random.IntN(4)], scoreA, scoreB)
	command := []string{"/match", "/Match", "/match@elo_bot"}[random.IntN(3)]
	switch random.IntN(3) {
	case 0:
		group.Say(a, fmt.Sprintf("%s %s %s", command, mention(b), score))
		reporter = a
	case 1:
		posted := group.Say(b, "well played")
		group.Reply(a, posted, fmt.Sprintf("%s %s", command, score))
		reporter = a
	default:
		group.Say(reporter, fmt.Sprintf("%s %s %s %s", command, mention(a), mention(b), score))
	}
	return truth.play(a.FirstName, b.FirstName, scoreA, scoreB, reporter.FirstName)
}

func mention(u botsim.User) string {
	if u.Username == "" {
		return fmt.Sprintf("[%s](tg://user?id=%d)", u.FirstName, u.ID)
	}
	return "@" + u.Username
}

// checkRanking asks for the ranking and compares it with the oracle's ranking. It checks that a
// line is marked if and only if the asker is in the ranking.
func checkRanking(t *testing.T, group *botsim.Chat, asker botsim.User, truth *oracle) {
	t.Helper()
	before := len(group.BotMessages())
	group.Say(asker, "/ranking")
	page := visible(awaitAnswers(t, group, before+1)[before])
	var got []string
	for _, line := range strings.Split(page, "\n") {
		if strings.Contains(line, "–") && !strings.Contains(line, "won–") {
			got = append(got, strings.TrimPrefix(line, "▸ "))
		}
	}
	for _, tied := range truth.ranking() {
		now := slices.Clone(got[:min(len(got), len(tied))]) // tied players have no fixed order
		slices.Sort(now)
		if !slices.Equal(now, tied) {
			t.Fatalf("the ranking has %q instead of %q:\n%s", now, tied, page)
		}
		got = got[len(tied):]
	}
	if len(got) > 0 || strings.Contains(page, "▸ ") != strings.Contains(page, " "+asker.FirstName+" ") {
		t.Errorf("the ranking has other lines %q, or marks the wrong one:\n%s", got, page)
	}
}

// ranking returns the lines of the ranking, grouped by rating and sorted within a group. Newcomers
// come last, unless fewer than three players have a place.
func (o *oracle) ranking() (lines [][]string) {
	isNew := func(name string) bool { return o.Standings[name].Played < 3 }
	names := slices.Collect(maps.Keys(o.Standings))
	unplaced := len(slices.DeleteFunc(slices.Clone(names), isNew)) < 3
	isLast := func(name string) int {
		if isNew(name) && !unplaced {
			return 1
		}
		return 0
	}
	order := func(a, b string) int { return cmp.Or(isLast(a)-isLast(b), o.Standings[b].Elo-o.Standings[a].Elo) }
	slices.SortFunc(names, order)
	draws := slices.ContainsFunc(names, func(name string) bool { return o.Standings[name].Drawn > 0 })
	place := 0
	for i, name := range names {
		if i == 0 || order(names[i-1], name) != 0 {
			place = i + 1
			lines = append(lines, nil)
		}
		mark := fmt.Sprintf("%d.", place)
		switch {
		case isNew(name):
			mark = "?"
		case unplaced:
			mark = "•"
		case place <= 3:
			mark = []string{"🥇", "🥈", "🥉"}[place-1]
		}
		p := o.Standings[name]
		line := fmt.Sprintf("%s %s %d · %d–%d–%d", mark, name, p.Elo, p.Won, p.Drawn, p.Lost)
		if !draws {
			line = fmt.Sprintf("%s %s %d · %d–%d", mark, name, p.Elo, p.Won, p.Lost)
		}
		tied := &lines[len(lines)-1]
		*tied = append(*tied, line)
		slices.Sort(*tied)
	}
	return lines
}
