package main

import (
	"fmt"
	"math/rand/v2"

	"elobot/internal/botsim"
)

// crowd is groups of people who play singles. They play the same matches whenever they are made.
type crowd struct {
	groups []*botsim.Chat
	people [][]botsim.User // by group
	random *rand.Rand
}

func newCrowd(sim *botsim.Server, s sizes) *crowd {
	c := &crowd{random: rand.New(rand.NewPCG(1, 2))}
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

// say has two people of group i report that one has beaten the other. The groups take turns as i counts on.
func (c *crowd) say(i int) {
	people := c.people[i%len(c.people)]
	winner := c.random.IntN(len(people))
	loser := (winner + 1 + c.random.IntN(len(people)-1)) % len(people)
	c.report(i%len(c.groups), winner, loser)
}

func (c *crowd) report(group, winner, loser int) {
	text := fmt.Sprintf("/match @%s 3:%d", c.people[group][loser].Username, c.random.IntN(3))
	c.groups[group].Say(c.people[group][winner], text)
}

// ask has everybody ask for the ranking of their group once, and returns how many questions that makes. The groups take
// turns.
func (c *crowd) ask() (questions int) {
	for p := range c.people[0] {
		for g, group := range c.groups {
			group.Say(c.people[g][p], "/ranking")
			questions++
		}
	}
	return questions
}

// introduce has everybody play once, so that the bot knows them, and returns how many results that makes.
func (c *crowd) introduce() (results int) {
	for p := range c.people[0] {
		for g := range c.groups {
			c.report(g, p, (p+1)%len(c.people[g]))
			results++
		}
	}
	return results
}
