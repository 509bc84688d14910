//go:build soak && unix

package soaktest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strconv"
	"sync"
	"time"

	"elobot/cmd/elobot/soaktest/judge"
	"elobot/internal/botsim"
)

const (
	chats  = 30 // groups in which results are reported
	humans = 60 // users in all groups together
	// Undos are requested only in one out of every undoChats chats. There, up to about undoPercent
	// percent of the commands are undos.
	undoChats, undoPercent = 3, 6
)

// people makes users report results and undo some of them.
type people struct {
	*campaign
	groups []*group

	mu       sync.Mutex // held while a command is sent and recorded
	random   *rand.Rand
	commands []judge.Command
}

type group struct {
	*botsim.Chat
	members []botsim.User
	skip    int                 // how many messages the bot sent before the faults began
	asked   map[int]bool        // numbers of matches with a requested undo
	by      map[int]botsim.User // senders by message id
}

func newPeople(c *campaign) *people {
	random := rand.New(rand.NewPCG(c.seed, 1))
	p := &people{campaign: c, random: random}
	all := make([]botsim.User, humans)
	for i := range all {
		all[i] = c.sim.User(fmt.Sprintf("player%02d", i+1))
	}
	for i := range chats {
		g := &group{asked: map[int]bool{}, by: map[int]botsim.User{}}
		for _, n := range random.Perm(humans)[:4+random.IntN(3)] {
			g.members = append(g.members, all[n])
		}
		g.Chat = c.sim.Group(fmt.Sprintf("Chat %d", i+1), g.members...)
		p.groups = append(p.groups, g)
	}
	return p
}

// joinAll makes the members of each group join it before the faults begin, so that the bot knows
// all names.
func (p *people) joinAll() {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), 3*time.Minute)
	defer cancel()
	for _, g := range p.groups {
		for _, u := range g.members {
			g.Say(u, "/join")
		}
	}
	if err := p.sim.WaitConfirmed(ctx); err != nil {
		p.t.Fatal(err)
	}
	for {
		if left, _, err := p.database.unsent(ctx); err == nil && left == 0 {
			break
		}
		if wait(ctx, 100*time.Millisecond); ctx.Err() != nil {
			p.t.Fatal("the bot does not answer everybody who joins")
		}
	}
	for _, g := range p.groups {
		g.skip = len(g.BotMessages())
	}
}

// report reports results at a steady pace until the context ends.
func (p *people) report(ctx context.Context) {
	for ctx.Err() == nil {
		wait(ctx, p.reportOne())
	}
}

// reportOne reports a result or undoes one, and returns the pause until the next command.
func (p *people) reportOne() (pause time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	g := p.groups[p.random.IntN(chats)]
	if p.random.IntN(100) >= undoPercent || !p.undo(g) {
		p.play(g)
	}
	return p.pace/2 + time.Duration(p.random.Int64N(int64(p.pace)))
}

// playEverywhere reports a result in each group.
func (p *people) playEverywhere() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, g := range p.groups {
		p.play(g)
	}
}

// play reports a random result, sent by one of the players or by a third person.
func (p *people) play(g *group) {
	order := p.random.Perm(len(g.members))
	reporter, a, b := g.members[order[0]], g.members[order[0]], g.members[order[1]]
	score := [2]int{p.random.IntN(12), p.random.IntN(12)}
	text := fmt.Sprintf("/match @%s %d:%d", b.Username, score[0], score[1])
	if p.random.IntN(4) == 0 {
		reporter = g.members[order[2]]
		text = fmt.Sprintf("/match @%s @%s %d:%d", a.Username, b.Username, score[0], score[1])
	}
	p.send(g, reporter, text, judge.Command{Game: judge.Game{Players: [2]string{a.FirstName, b.FirstName}, Score: score}})
}

var numberOfCard = regexp.MustCompile(`(?m)^Match #(\d+)`)

// undo requests the undo of the last match that has a card of its own and whose undo was not
// requested yet. It reports whether there was one. It returns false in the chats without undos: all
// but one out of every undoChats.
func (p *people) undo(g *group) bool {
	if -g.ID()%undoChats != 0 {
		return false
	}
	said := g.BotMessages()
	for i := len(said) - 1; i >= g.skip; i-- {
		found := numberOfCard.FindStringSubmatch(said[i].Text)
		if found == nil || said[i].ReplyTo == 0 {
			continue
		}
		number, err := strconv.Atoi(found[1])
		reporter, known := g.by[said[i].ReplyTo]
		if err != nil || !known || g.asked[number] {
			continue
		}
		g.asked[number] = true
		p.send(g, reporter, fmt.Sprintf("/undo %d", number), judge.Command{Undo: number})
		return true
	}
	return false
}

func (p *people) send(g *group, from botsim.User, text string, c judge.Command) {
	c.At = time.Now()
	m := g.Say(from, text)
	g.by[m.ID] = from
	c.Chat, c.Message = g.ID(), m.ID
	p.commands = append(p.commands, c)
}

func (p *people) count() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.commands)
}

// keysSince returns the keys of the commands after the first n.
func (p *people) keysSince(n int) []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return keys(p.commands[n:])
}

// waiting returns the keys of the first n commands that are not confirmed to Telegram.
func (p *people) waiting(n int) []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	pending := min(p.sim.Pending(), len(p.commands))
	return keys(p.commands[len(p.commands)-pending:][:min(n, pending)])
}

func keys(commands []judge.Command) (all []string) {
	for i := range commands {
		all = append(all, commands[i].Key())
	}
	return all
}
