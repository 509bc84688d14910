package main

import (
	"fmt"
	"math/rand/v2"

	"elobot/internal/botsim"
)

// workload is a set of groups of people who play singles. It is deterministic: every workload plays the same matches.
type workload struct {
	groups []*botsim.Chat
	people [][]botsim.User // by group
	random *rand.Rand
}

func newWorkload(sim *botsim.Server, s sizes) *workload {
	c := &workload{random: rand.New(rand.NewPCG(1, 2))}
	for g := range s.groups {
		members := make([]botsim.User, s.people)
		for p := range members {
			members[p] = sim.User(fmt.Sprintf("player_%d_%d", g+1, p+1))
		}
		c.people = append(c.people, members)
		c.groups = append(c.groups, sim.Group(fmt.Sprintf("Group %d", g+1), members...))
	}
	return c
}

// reportMatch has two people of group i report that one has beaten the other. The groups take turns as i counts on.
func (c *workload) reportMatch(i int) {
	people := c.people[i%len(c.people)]
	winner := c.random.IntN(len(people))
	loser := (winner + 1 + c.random.IntN(len(people)-1)) % len(people)
	c.reportResult(i%len(c.groups), winner, loser)
}

func (c *workload) reportResult(group, winner, loser int) {
	text := fmt.Sprintf("/match @%s 3:%d", c.people[group][loser].Username, c.random.IntN(3))
	c.groups[group].Say(c.people[group][winner], text)
}

// ask makes every player ask for the ranking once, with the groups taking turns. It returns the number of questions.
func (c *workload) ask() (questions int) {
	for p := range c.people[0] {
		for g, group := range c.groups {
			group.Say(c.people[g][p], "/ranking")
			questions++
		}
	}
	return questions
}

// playRound makes every player report a match once, so that the bot knows all players. It returns the number of results.
func (c *workload) playRound() (results int) {
	for p := range c.people[0] {
		for g := range c.groups {
			c.reportResult(g, p, (p+1)%len(c.people[g]))
			results++
		}
	}
	return results
}
