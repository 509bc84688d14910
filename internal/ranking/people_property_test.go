package ranking_test

import (
	"slices"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"elobot/internal/command"
	"elobot/internal/ladder"
	"elobot/internal/ranking"
)

// as returns the player for whom e counts in the group.
func (c *modelGroup) as(e *entity) *entity {
	if p := c.counts[e]; p != nil {
		return p
	}
	return e
}

// is reports whether a person counts for the same player as e.
func (c *modelGroup) is(who int, e *entity) bool {
	return e != nil && c.known[who] != nil && c.as(c.known[who]) == c.as(e)
}

// contains reports whether one of the people counts for the same player as e.
func (c *modelGroup) contains(people []*entity, e *entity) bool {
	return slices.ContainsFunc(people, func(o *entity) bool { return c.as(o) == c.as(e) })
}

// isDoubled reports whether two of the people count for the same player. New people are nil.
func (c *modelGroup) isDoubled(people []*entity) bool {
	for i, e := range people {
		if e != nil && c.contains(slices.DeleteFunc(slices.Clone(people[:i]), isNew), e) {
			return true
		}
	}
	return false
}

func isNew(e *entity) bool { return e == nil }

func (e *entity) isAccount() bool { return !e.unclaimed && !e.nameless }

// isUndone reports whether a match does not count, because a person has undone it, or because a
// player would play twice.
func (c *modelGroup) isUndone(m *modelMatch) bool {
	return m.gone || m.undone || c.isDoubled(m.players())
}

// areOut reports whether any of the people are out of the rankings. New people are nil.
func (c *modelGroup) areOut(people []*entity) bool {
	return slices.ContainsFunc(people, func(e *entity) bool { return e != nil && c.isOut[c.as(e)] })
}

// whoMayPlay returns people who may play in one match together, chosen in order.
func (c *modelGroup) whoMayPlay(people []int, byAccount map[int]bool) (those []int) {
	for _, who := range people {
		if named := c.resolve(append(slices.Clone(those), who), byAccount); !c.isDoubled(named) && !c.areOut(named) {
			those = append(those, who)
		}
	}
	return those
}

// resolve returns the entities meant by a report, nil for those that it would add.
func (s *model) resolve(people []int, byAccount map[int]bool) (all []*entity) {
	for _, who := range people {
		e := s.known[who]
		if !byAccount[who] && (e == nil || !s.named[who]) {
			e = s.unclaimed[who]
		}
		all = append(all, e)
	}
	return all
}

// entitiesOf returns the entities meant by a report that takes effect.
func (s *model) entitiesOf(people []int, byAccount map[int]bool) (all []*entity) {
	for _, who := range people {
		all = append(all, s.entityOf(who, byAccount[who]))
	}
	return all
}

// playerOf returns the id of an entity's player, or 0 if the player is not stored yet. Guests of
// earlier groups and deleted guests have lower ids.
func (s *model) playerOf(e *entity) ladder.PlayerID {
	if e.id == 0 {
		name := s.people[e.who].Name
		if !s.isGuest(e.who) {
			name = s.nameOf(e)
		}
		e.id = rows1[ladder.PlayerID](s.t, s.game, `
			SELECT coalesce(max(id), 0) FROM players
			WHERE coalesce(telegram_user_id::text, username, display_name) = $1`, name)[0]
	}
	return e.id
}

// players returns all entities that have a player.
func (c *modelGroup) players() (all []*entity) {
	for i := range c.people {
		all = append(all, c.known[i], c.unclaimed[i])
	}
	return slices.DeleteFunc(append(all, c.nameless...), func(e *entity) bool { return e == nil || c.playerOf(e) == 0 })
}

// merged returns the players who count for others.
func (c *modelGroup) merged() []*entity {
	return slices.DeleteFunc(c.players(), func(e *entity) bool { return c.counts[e] == nil })
}

// standings returns the standings that count in a season. A player's own standing counts or, if
// there is none, the oldest standing of the others who count for the player.
func (c *modelGroup) standings(s *modelSeason) map[*entity]entry {
	all := make(map[*entity]entry)
	for owner, own := range s.entries {
		p := c.as(owner)
		if _, hasOwn := s.entries[p]; hasOwn && owner != p {
			continue
		}
		if other, is := all[p]; !is || own.order < other.order {
			all[p] = own
		}
	}
	return all
}

// has reports whether a player has a standing in a current season.
func (c *modelGroup) has(p *entity) bool {
	return slices.ContainsFunc(c.ladders, func(l *modelLadder) bool {
		_, there := c.standings(l.season())[p]
		return there
	})
}

func (c *modelGroup) hasLeft(p *entity) bool { return c.isOut[p] || !c.left[p].IsZero() }

// remap makes e, and all who count for e, count for the player p. If e and p are the same, e counts
// for itself again. remap returns the numbers of the matches that no longer count or count again.
func (c *modelGroup) remap(e, p *entity) (changed []int) {
	other := p
	if e == p {
		other = c.as(e)
	}
	c.remapMembers(e, other, e == p)
	before := make(map[*modelSeason]int) // the start ratings that e and the other player shared
	for _, l := range c.ladders {
		for _, s := range l.seasons {
			standings := c.standings(s)
			one, has := standings[e]
			two, both := standings[other]
			if both && (!has || two.order < one.order) {
				one = two
			}
			if has || both {
				before[s] = one.start
			}
		}
	}
	var counted []bool
	for _, m := range c.matches {
		counted = append(counted, !c.isUndone(m))
	}
	if e == p {
		delete(c.counts, e)
	} else {
		for one, as := range c.counts {
			if as == e {
				c.counts[one] = p
			}
		}
		c.counts[e] = p
	}
	for i, m := range c.matches {
		if counted[i] == c.isUndone(m) {
			changed = append(changed, i+1)
		}
	}
	for _, l := range c.ladders {
		for _, s := range l.seasons {
			for _, one := range []*entity{e, other} {
				_, has := c.standings(s)[one]
				plays := func(m *modelMatch) bool {
					return m.season == s && slices.ContainsFunc(m.players(), func(e *entity) bool { return c.as(e) == one })
				}
				if start, shared := before[s]; shared && !has && slices.ContainsFunc(c.there(), plays) {
					c.entryCount++
					s.entries[one] = entry{order: c.entryCount, start: start}
				}
			}
		}
	}
	return changed
}

// remapMembers updates which players have left, after a merge of e into the player p or a split of
// the two. A player is in the group if at least one person who counts for the player is.
func (c *modelGroup) remapMembers(e, p *entity, splits bool) {
	isUnsure := false
	for one, as := range c.counts {
		if as == e || as == p {
			// The standing of one may be kept as that of a player who has left, and may count
			// again.
			c.mixed[one] = c.mixed[one] || c.hasLeft(as) || c.mixed[as]
			isUnsure = isUnsure || c.mixed[one]
		}
	}
	switch {
	case c.mixed[e] || c.mixed[p], splits && (isUnsure || c.hasLeft(e) || c.hasLeft(p)):
		c.mixed[p], c.mixed[e] = true, c.mixed[e] || splits
	case splits:
	case c.has(e) && !c.hasLeft(e), c.has(p) && !c.hasLeft(p):
		delete(c.left, p)
	case c.has(e) && (c.has(p) || isUnsure):
		c.mixed[p] = true
	case c.has(e):
		if at, hasLeft := c.left[e]; hasLeft { // somebody out of the rankings may not have left the group
			c.left[p] = at
		}
	}
}

// claim makes an unclaimed player count for the account that has shown the username, unless the
// group has merged the unclaimed player into another one.
func (c *modelGroup) claim(ghost, account *entity) {
	if c.counts[ghost] == nil && c.as(account) != ghost {
		c.remap(ghost, c.as(account))
	}
	if c.isOut[ghost] {
		c.isOut[c.as(account)] = true
	}
}

// turn makes the player for whom an unclaimed player counts, and all who count for that player,
// count for the unclaimed player, who has become an account. It does nothing if that player is an
// account.
func (c *modelGroup) turn(claimed *entity) {
	p := c.counts[claimed]
	if p == nil || p.isAccount() {
		return
	}
	for one, as := range c.counts {
		if as == p {
			c.counts[one] = claimed
		}
	}
	delete(c.counts, claimed)
	c.counts[p] = claimed
	delete(c.left, claimed)
	if since, hasLeft := c.left[p]; hasLeft {
		c.left[claimed] = since
	}
	c.mixed[claimed] = c.mixed[p]
	if c.isOut[p] {
		c.isOut[claimed] = true
	}
}

// mergeAny has an admin merge a random player into another one.
func (c *modelGroup) mergeAny(rt *rapid.T) {
	all := c.players()
	if len(all) < 2 {
		return
	}
	pair := rapid.Permutation(all).Draw(rt, "pair")[:2]
	from, into := pair[0], c.as(pair[1])
	notice, sender := c.asAnyAdmin(ranking.MergePlayers{From: c.playerOf(from), Into: c.playerOf(pair[1])})
	if from.isAccount() && !into.isAccount() {
		c.checkMapping(notice, ranking.UnknownButton, ranking.PlayersMerged{})
		return
	}
	if c.counts[from] != nil || into == from {
		c.checkMapping(notice, ranking.MergedAlready, ranking.PlayersMerged{})
		return
	}
	c.seen(sender)
	c.checkMapping(notice, "", ranking.PlayersMerged{Undone: c.remap(from, into)})
}

// splitAny has an admin split a random player, usually one who counts for another player.
func (c *modelGroup) splitAny(rt *rapid.T) {
	all, merged := c.players(), c.merged()
	if len(merged) > 0 && rapid.IntRange(0, 9).Draw(rt, "merged") > 0 {
		all = merged
	}
	if len(all) > 0 {
		c.mustSplit(rapid.SampledFrom(all).Draw(rt, "who"))
	}
}

// mustSplit has an admin split a player from the one for whom the player counts.
func (c *modelGroup) mustSplit(e *entity) {
	notice, sender := c.asAnyAdmin(ranking.SplitPlayer{Player: c.playerOf(e)})
	if c.counts[e] == nil {
		c.checkMapping(notice, ranking.NotMerged, ranking.PlayersMerged{})
		return
	}
	c.seen(sender)
	c.checkMapping(notice, "", ranking.PlayersMerged{Split: true, Restored: c.remap(e, e)})
}

// asAnyAdmin has a random person send a command as an admin, and returns the answer and the person.
func (c *modelGroup) asAnyAdmin(op ranking.Operation) (answer ranking.Notice, sender int) {
	sender = c.anyPerson("admin")
	c.showAccount(sender)
	return c.command(c.account(sender), func(o ranking.Origin) error { return c.Do(asAdmin(c.t), o, op) }), sender
}

// checkMapping compares the answer to a merge or a split, apart from the names.
func (c *modelGroup) checkMapping(got ranking.Notice, code ranking.RefusalCode, want ranking.PlayersMerged) {
	if r, _ := got.(ranking.Refusal); code != "" && r.Code == code {
		return
	}
	n, ok := got.(ranking.PlayersMerged)
	n.Player, n.Name = ranking.Name{}, ranking.Name{}
	slices.Sort(n.Undone)
	slices.Sort(n.Restored)
	if diff := gocmp.Diff(want, n, cmpopts.EquateEmpty()); !ok || code != "" || diff != "" {
		c.rt.Fatalf("a merge or split is answered with %+v, want the code %q or %+v", got, code, want)
	}
}

// joinAny has a random person join, often one who has left.
func (c *modelGroup) joinAny(rt *rapid.T) {
	c.goAnywhere(rt)
	c.place.named, c.place.replied = nil, nil
	defer c.goHome()
	var gone []int
	for i := range c.people {
		if e := c.known[i]; e != nil && c.hasLeft(c.as(e)) {
			gone = append(gone, i)
		}
	}
	who := rapid.SampledFrom(append(gone, c.anyPerson("who"))).Draw(rt, "who joins")
	c.showAccount(who)
	o := c.origin(c.account(who))
	c.send(o, func(o ranking.Origin) error { return c.Do(c.t.Context(), o, ranking.Join{}) })
	e := c.seen(who)
	c.addEntry(c.standard, c.standard.season(), e)
	if c.isOut[c.as(e)] {
		c.comeBack(c.as(e))
	}
	c.isThere(e, o.SentAt)
}

// addGuest has a random person add a guest, who often exists already.
func (c *modelGroup) addGuest(rt *rapid.T) {
	if c.accounts == len(c.people) {
		return
	}
	c.goAnywhere(rt)
	c.place.named, c.place.replied = nil, nil
	defer c.goHome()
	who, sender := rapid.IntRange(c.accounts, len(c.people)-1).Draw(rt, "guest"), c.anyPerson("sender")
	c.showAccount(sender)
	o := c.origin(c.account(sender))
	o.Said = command.Command{Name: "guest", Args: c.people[who].Name}
	c.send(o, func(o ranking.Origin) error { return c.Do(c.t.Context(), o, ranking.AddGuest{}) })
	notice := c.answer(c.t, o.Key, "reply_to = 7")
	if e := c.unclaimed[who]; e != nil && c.isOut[c.as(e)] {
		c.checkRefusal(notice, ranking.Refusal{Code: ranking.PlayerOut})
		return
	}
	e := c.mentioned(who)
	if n, ok := notice.(ranking.Joined); !ok || !n.Guest {
		rt.Fatalf("adding a guest is answered with %+v", notice)
	}
	if !c.as(e).isAccount() { // the owner of an account joins without help
		c.addEntry(c.applies(), c.applies().season(), e)
		c.isThere(e, o.SentAt)
	}
}

// leaveGroup has a random person leave the chat.
func (c *modelGroup) leaveGroup(*rapid.T) {
	who := c.anyPerson("who")
	c.showAccount(who)
	o := c.origin(c.account(who))
	o.Sender, o.Key = nil, "s:"+o.Key
	c.send(o, func(o ranking.Origin) error { return c.MemberLeft(c.t.Context(), o, c.account(who)) })
	e := c.known[who]
	if e != nil && c.as(e) == e && c.has(e) && !c.hasLeft(e) {
		c.left[e] = o.SentAt
	}
}

// leaveAny has a random person leave the rankings.
func (c *modelGroup) leaveAny(*rapid.T) {
	who := c.anyPerson("who")
	c.showAccount(who)
	notice := c.command(c.account(who), func(o ranking.Origin) error { return c.Do(c.t.Context(), o, ranking.Leave{}) })
	c.checkLeft(notice, ranking.HowLeft)
	c.takeOut(c.as(c.seen(who)))
}

// removeAny has an admin remove a random player, or bring back one who is out of the rankings. It
// is seldom needless.
func (c *modelGroup) removeAny(rt *rapid.T) {
	all := c.players()
	if len(all) == 0 {
		return
	}
	e := rapid.SampledFrom(all).Draw(rt, "who")
	p, isNeedless := c.as(e), rapid.IntRange(0, 7).Draw(rt, "needless") == 0
	isBack := c.isOut[p] != isNeedless
	if p != e {
		notice, _ := c.asAnyAdmin(ranking.RemovePlayer{Player: c.playerOf(e), Back: isBack})
		c.checkRefusal(notice, ranking.Refusal{Code: ranking.UnknownButton})
	}
	notice, _ := c.asAnyAdmin(ranking.RemovePlayer{Player: c.playerOf(p), Back: isBack})
	switch {
	case isBack && p.isAccount() && c.isOut[p]:
		c.checkRefusal(notice, ranking.Refusal{Code: ranking.PlayerOut})
	case isBack:
		c.checkLeft(notice, ranking.HowBack)
		if c.isOut[p] {
			c.comeBack(p)
		}
	default:
		c.checkLeft(notice, ranking.HowRemoved, ranking.HowRemovedGuest)
		c.takeOut(p)
	}
}

func (c *modelGroup) checkLeft(got ranking.Notice, how ...ranking.HowOut) {
	if n, ok := got.(ranking.LeftRanking); !ok || !slices.Contains(how, n.How) {
		c.rt.Fatalf("the answer is %+v, want %q", got, how)
	}
}

// takeOut takes a player out of the rankings. If the player has no match, it deletes the player's
// standings, and the player too unless the player is an account.
func (c *modelGroup) takeOut(p *entity) {
	if c.isOut[p] {
		return
	}
	c.isOut[p] = true
	delete(c.mixed, p)
	if c.left[p].IsZero() {
		c.left[p] = c.now()
	}
	for _, as := range c.counts {
		if as == p {
			return
		}
	}
	if slices.ContainsFunc(c.there(), func(m *modelMatch) bool { return slices.Contains(m.players(), p) }) {
		return
	}
	for _, l := range c.ladders {
		for _, s := range l.seasons {
			delete(s.entries, p)
		}
	}
	if c.unclaimed[p.who] == p {
		delete(c.unclaimed, p.who)
	}
	c.nameless = slices.DeleteFunc(c.nameless, func(e *entity) bool { return e == p })
}

// comeBack brings back a player who was out of the rankings.
func (c *modelGroup) comeBack(p *entity) {
	delete(c.isOut, p)
	delete(c.left, p)
	delete(c.mixed, p)
}
