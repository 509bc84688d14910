package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"time"

	"elobot/internal/botsim"
)

// workload is a set of groups of people who play singles, and the bot's messages to them. It is
// deterministic: all workloads of one size play the same matches.
type workload struct {
	sim      *botsim.Server
	groups   []*botsim.Chat
	people   [][]botsim.User // by group
	random   *rand.Rand
	messages <-chan botsim.Message
	close    func()

	reported int                    // how many results people have reported
	asked    int                    // how many questions people have asked
	numbers  map[int64]int          // number of the last match, by chat
	sentAt   map[matchRef]time.Time // when each result was reported
	coverage map[matchRef]time.Time // when the bot first named each match
	unnamed  int                    // how many results messages cover without naming them
	lastAt   time.Time              // date of the last message that covers a result not covered before
}

// matchRef identifies a match by its chat's Telegram id and its number there. The results of a
// group are numbered in the order in which they are reported.
type matchRef struct {
	chat   int64
	number int
}

// newWorkload starts a simulated Telegram with the given number of groups, each with the given
// number of people.
func newWorkload(groups, people int) (*workload, error) {
	sim, err := botsim.New(botsim.WithRecordLimit(1000))
	if err != nil {
		return nil, err
	}
	w := &workload{
		sim: sim, random: rand.New(rand.NewPCG(1, 2)), numbers: map[int64]int{},
		sentAt: map[matchRef]time.Time{}, coverage: map[matchRef]time.Time{},
	}
	for g := range groups {
		members := make([]botsim.User, people)
		for p := range members {
			members[p] = sim.User(fmt.Sprintf("player_%d_%d", g+1, p+1))
		}
		w.people = append(w.people, members)
		w.groups = append(w.groups, sim.Group(fmt.Sprintf("Group %d", g+1), members...))
	}
	messages, unsubscribe := sim.Subscribe()
	w.messages = messages
	w.close = func() {
		unsubscribe()
		sim.Close()
	}
	return w, nil
}

// play reports n results. The groups take turns. The first results in a group are wins of each
// player against the next, so that the bot gets to know all players.
func (w *workload) play(n int) {
	for range n {
		group, round := w.reported%len(w.groups), w.reported/len(w.groups)
		people := w.people[group]
		winner, apart := round%len(people), 1
		if round >= len(people) {
			winner, apart = w.random.IntN(len(people)), 1+w.random.IntN(len(people)-1)
		}
		loser := people[(winner+apart)%len(people)]
		w.groups[group].Say(people[winner], fmt.Sprintf("/match @%s 3:%d", loser.Username, w.random.IntN(3)))
		w.reported++
	}
}

const (
	// silenceTimeout limits the time without any message in the groups.
	silenceTimeout = time.Minute
	// progressEvery is the interval between progress messages of a long measurement.
	progressEvery = 2 * time.Second
)

var (
	// matchNumber finds the numbers of matches, in the card of one match and in a message that
	// covers several.
	matchNumber = regexp.MustCompile(`#(\d+)`)
	// unnamedResults finds how many results a message covers without naming them.
	unnamedResults = regexp.MustCompile(`(?m)^…and ([\d,]+) more\. All results count`)
)

// add records when a result is reported, and which results a message of the bot answers. It ignores
// edits of the bot's messages.
func (w *workload) add(m botsim.Message) {
	switch {
	case !m.From.IsBot && strings.HasPrefix(m.Text, "/match"):
		w.numbers[m.ChatID]++
		w.sentAt[matchRef{m.ChatID, w.numbers[m.ChatID]}] = m.Date
	case m.From.IsBot && m.Edits == 0:
		for _, found := range matchNumber.FindAllStringSubmatch(m.Text, -1) {
			n, _ := strconv.Atoi(found[1])
			ref := matchRef{m.ChatID, n}
			if _, again := w.coverage[ref]; !again {
				w.coverage[ref], w.lastAt = m.Date, m.Date
			}
		}
		if found := unnamedResults.FindStringSubmatch(m.Text); found != nil {
			n, _ := strconv.Atoi(strings.ReplaceAll(found[1], ",", ""))
			w.unnamed, w.lastAt = w.unnamed+n, m.Date
		}
	}
}

// awaitAnswers waits until w counts n answered results in all, and returns the time of the last
// answer.
func (w *workload) awaitAnswers(ctx context.Context, b *bench, n int) (time.Time, error) {
	err := w.await(ctx, b, "results answered", n, func(m botsim.Message) int {
		w.add(m)
		return len(w.coverage) + w.unnamed
	})
	return w.lastAt, err
}

// await receives messages, and calls count with each, until count returns at least n. It fails if
// no message arrives within silenceTimeout. what names, in progress messages and errors, the things
// that are counted.
func (w *workload) await(ctx context.Context, b *bench, what string, n int, count func(botsim.Message) int) error {
	quiet := time.NewTimer(silenceTimeout)
	defer quiet.Stop()
	tick := time.NewTicker(progressEvery)
	defer tick.Stop()
	for counted := 0; counted < n; {
		select {
		case m, ok := <-w.messages:
			if !ok {
				return botsim.ErrClosed
			}
			counted = count(m)
			quiet.Reset(silenceTimeout)
		case <-tick.C:
			b.progress.Printf("%d of %d %s", counted, n, what)
		case <-quiet.C:
			return fmt.Errorf("the bot has stopped sending messages: %d of %d %s", counted, n, what)
		case <-ctx.Done():
			return fmt.Errorf("wait for the bot: %w", context.Cause(ctx))
		}
	}
	return nil
}
