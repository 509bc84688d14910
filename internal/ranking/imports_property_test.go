package ranking_test

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"pgregory.net/rapid"

	"elobot/internal/ladder"
	"elobot/internal/ranking"
	"elobot/internal/transfer"
)

// modelImport is an import of a group. Its number is its place among the imports, from 1.
type modelImport struct {
	matches []*modelMatch
	starts  []setStart
	undone  bool
}

// setStart is a start rating that an import has set.
type setStart struct {
	season   *modelSeason
	owner    *entity
	order    int // of the owner's entry in the season; another entry is another standing
	old, new int
}

// isOf reports whether a start rating is of the same standing as o.
func (s setStart) isOf(o setStart) bool {
	return s.season == o.season && s.owner == o.owner && s.order == o.order
}

// there returns the matches that exist: not those of imports that were taken back.
func (c *modelGroup) there() []*modelMatch {
	return slices.DeleteFunc(slices.Clone(c.matches), func(m *modelMatch) bool { return m.gone })
}

// anyFile returns the text of a file of a few matches, often of one that was imported before.
func (c *modelGroup) anyFile(rt *rapid.T) string {
	if len(c.files) > 0 && rapid.IntRange(0, 2).Draw(rt, "known file") == 0 {
		return rapid.SampledFrom(c.files).Draw(rt, "file")
	}
	hasDates := rapid.IntRange(0, 4).Draw(rt, "dates") > 0
	text := "date,a,a2,b,b2,score,sets,winner,id\n"
	for range rapid.IntRange(1, 5).Draw(rt, "rows") {
		order := rapid.Permutation(indexes(len(c.people))).Draw(rt, "players")
		sides := [4]string{fmt.Sprint("p", order[0]), "", fmt.Sprint("p", order[1]), ""}
		if len(order) > 3 && rapid.Bool().Draw(rt, "two a side") {
			sides[1], sides[3] = fmt.Sprint("p", order[2]), fmt.Sprint("p", order[3])
		}
		var score, sets, winner string
		switch scores := c.anyScores(); {
		case scores[0] == ladder.Win:
			winner = "a"
		case scores[0] == ladder.Loss:
			winner = "b"
		case scores[0] == ladder.Draw:
			winner = "draw"
		case len(scores) == 1:
			score = scores[0].String()
		default:
			for _, s := range scores {
				sets += s.String() + " "
			}
		}
		date, id := "", ""
		if hasDates {
			days := rapid.SampledFrom([]int{0, 1, 1, 2, 7, 31, 70, 400}).Draw(rt, "days ago")
			date = c.now().In(c.zone).AddDate(0, 0, -days).Format(time.DateOnly) +
				rapid.SampledFrom([]string{"", "", " 09:00", " 12:00"}).Draw(rt, "time")
		}
		if rapid.IntRange(0, 3).Draw(rt, "has id") == 0 {
			id = fmt.Sprint(rapid.IntRange(1, 6).Draw(rt, "id"))
		}
		text += strings.Join(append([]string{date}, append(sides[:], score, sets, winner, id)...), ",") + "\n"
	}
	c.files = append(c.files, text)
	return text
}

// readFile returns the content of a file as the command reads it now.
func (c *modelGroup) readFile(text string) ranking.ImportFile {
	read, err := transfer.ReadCSV(strings.NewReader(text), transfer.Options{Zone: c.zone, Now: c.now(), OrderByRow: true})
	must(c.t, err)
	f := ranking.ImportFile{File: read, Hash: text, At: c.now(), SkipRefused: true, People: make(map[string]string)}
	for i, p := range c.people {
		f.People[fmt.Sprint("p", i)] = "@" + c.username(i)
		if c.isGuest(i) {
			f.People[fmt.Sprint("p", i)] = transfer.Guest + " " + p.Name
		}
	}
	return f
}

// whoIs returns the person whom a file calls by the name.
func whoIs(names ...string) (who []int) {
	for _, name := range names {
		i, _ := strconv.Atoi(strings.TrimPrefix(name, "p"))
		who = append(who, i)
	}
	return who
}

// keyOf returns what identifies a match of a file, unless it is taken again.
func keyOf(r transfer.Row) string {
	if r.ID != "" {
		return "id " + r.ID
	}
	return fmt.Sprint(r.Text, r.Count)
}

// importAny imports a file into a random ladder.
func (c *modelGroup) importAny(rt *rapid.T) {
	l, text := c.anyLadder(rt, "ladder"), c.anyFile(rt)
	f := c.readFile(text)
	f.ClosedSeasons = rapid.IntRange(0, 3).Draw(rt, "closed seasons") > 0
	if rapid.IntRange(0, 7).Draw(rt, "again") == 0 {
		f.Again = rapid.SliceOfNDistinct(rapid.IntRange(2, 7), 1, 2, rapid.ID).Draw(rt, "rows again")
	} else if rapid.Bool().Draw(rt, "all again") {
		for _, r := range f.Rows {
			if c.keys[keyOf(r)] != nil && r.ID == "" && (r.IsDay || r.When.IsZero()) {
				f.Again = append(f.Again, r.Line)
			}
		}
	}
	f.DryRun = rapid.IntRange(0, 9).Draw(rt, "dry run") == 0
	type row struct {
		transfer.Row
		key string
		at  time.Time
	}
	var people []int
	var added []row
	known, again := 0, 0
	isSeasonOver, isClosed := false, false
	for _, r := range f.Rows {
		who := whoIs(slices.Concat(r.Sides[:]...)...)
		people = append(people, who...)
		if c.isDoubled(c.resolve(who, nil)) {
			continue
		}
		key, isVague := keyOf(r), r.ID == "" && (r.IsDay || r.When.IsZero())
		if isVague && c.keys[key] != nil && slices.Contains(f.Again, r.Line) {
			again++
			key = fmt.Sprint(text, r.Line)
		}
		if c.keys[key] != nil {
			known++
			continue
		}
		at := r.When
		if r.IsDay {
			year, month, day := at.Date()
			at = time.Date(year, month, day+1, 0, 0, 0, 0, c.zone).Add(-time.Microsecond)
		}
		if at.IsZero() || at.After(f.At) {
			at = f.At
		}
		ends := l.season().ends
		isSeasonOver = isSeasonOver || !ends.IsZero() && !at.Before(ends)
		isClosed = isClosed || l.seasonAt(at) != l.season()
		added = append(added, row{r, key, at})
	}
	r, ok := c.doImport(l, f, isSeasonOver)
	if !ok {
		return
	}
	if len(r.Known) != known || r.New != len(added) || len(f.Again)-len(r.NotAgain) != again ||
		(len(r.Closed) > 0) != isClosed {
		rt.Fatalf("the report of\n%sis %+v, want %d known, %d new, %d again", text, r, known, len(added), again)
	}
	isOut := c.areOut(c.resolve(people, nil))
	if (len(r.Faults) > 0) != isOut {
		rt.Fatalf("the report of\n%sis %+v", text, r)
	}
	isWritten := len(added) > 0 && !f.DryRun && !isOut && (!isClosed || f.ClosedSeasons) && len(r.NotAgain) == 0
	if c.checkNumber(r, isWritten); !isWritten {
		return
	}
	slices.SortStableFunc(added, func(a, b row) int { return a.at.Compare(b.at) })
	im := &modelImport{}
	c.imports = append(c.imports, im)
	for _, r := range added {
		scores := r.Result.Sets
		if scores == nil {
			scores = []ladder.Score{r.Result.Score}
		}
		a, b := total(scores)
		m := &modelMatch{
			imported: true, ladder: l, season: l.seasonAt(r.at), sender: -1, scores: scores, playedAt: r.at,
			reportedAt: r.at, rules: l.rules.RatingRules, turned: b > a,
		}
		for side, names := range r.Sides {
			m.sides[side] = c.entitiesOf(whoIs(names...), nil)
		}
		c.matches, im.matches = append(c.matches, m), append(im.matches, m)
		c.keys[r.key] = m
		c.insert(m, true)
		for _, e := range m.players() {
			c.addImported(l, m.season, e)
		}
		m.key = rows1[string](c.t, c.game, `
			SELECT idempotency_key FROM matches WHERE number = $2 AND group_id = (
			    SELECT g.id FROM groups g JOIN chats ch ON ch.id = g.chat_id WHERE ch.telegram_chat_id = $1)`,
			c.chat, len(c.matches))[0]
	}
}

// addImported is like addEntry, but marks a new entry as that of an import.
func (c *modelGroup) addImported(l *modelLadder, s *modelSeason, e *entity) {
	before := c.entryCount
	if c.addEntry(l, s, e); c.entryCount > before {
		added := s.entries[c.as(e)]
		added.imported = true
		s.entries[c.as(e)] = added
	}
}

// doImport imports a file into a ladder. ok is false if that fails, as it must if the ladder is
// archived or its season over.
func (c *modelGroup) doImport(
	l *modelLadder, f ranking.ImportFile, isSeasonOver bool,
) (r ranking.ImportReport, ok bool) {
	importer, err := ranking.NewImporter(c.t.Context(), c.store, c.chat, l.name)
	if l.archived {
		if !errors.Is(err, ranking.ErrNoSuchLadder) {
			c.rt.Fatalf("import into an archived ladder: %v", err)
		}
		return r, false
	}
	must(c.t, err)
	r, err = importer.Import(c.t.Context(), f)
	if isSeasonOver != errors.Is(err, ranking.ErrSeasonOver) {
		c.rt.Fatalf("import: %v, but that the season is over is %t", err, isSeasonOver)
	}
	if isSeasonOver {
		return r, false
	}
	must(c.t, err)
	return r, true
}

func (c *modelGroup) checkNumber(r ranking.ImportReport, isWritten bool) {
	number := 0
	if isWritten {
		number = len(c.imports) + 1
	}
	if r.Number != number || len(r.Unknown) > 0 {
		c.rt.Fatalf("the report is %+v, want number %d", r, number)
	}
}

// importStarts imports start ratings of random people into a random ladder.
func (c *modelGroup) importStarts(rt *rapid.T) {
	l := c.anyLadder(rt, "ladder")
	s := l.season()
	people := rapid.Permutation(indexes(len(c.people))).Draw(rt, "people")
	people = people[:rapid.IntRange(1, min(4, len(people))).Draw(rt, "number of people")]
	text := "player,rating\n"
	for _, who := range people {
		text += fmt.Sprintf("p%d,%d\n", who, rapid.SampledFrom([]int{0, 1000, 1500, 1650, 10_000}).Draw(rt, "rating"))
	}
	f := c.readFile(text)
	isOut := c.areOut(c.resolve(people, nil))
	r, ok := c.doImport(l, f, !s.ends.IsZero() && !f.At.Before(s.ends))
	if !ok {
		return
	}
	played := c.playedIn(s)
	var added []transfer.Start
	var seen []*entity
	known, refused := 0, 0
	for _, start := range f.Starts {
		e := c.resolve(whoIs(start.Player), nil)[0]
		var p *entity
		if e != nil {
			p = c.as(e)
		}
		standing, isThere := c.standings(s)[p]
		switch {
		case p != nil && slices.Contains(seen, p):
			refused++
		case isThere && standing.start == start.Rating:
			known++
		case isThere && played[p]:
			refused++
		default:
			added = append(added, start)
		}
		seen = append(seen, p)
	}
	if len(r.Known) != known || r.Starts != len(added) || len(r.Refused) != refused || (len(r.Faults) > 0) != isOut {
		rt.Fatalf("the report of\n%sis %+v, want %d known, %d new, %d refused", text, r, known, len(added), refused)
	}
	isWritten := len(added) > 0 && !isOut
	if c.checkNumber(r, isWritten); !isWritten {
		return
	}
	im := &modelImport{}
	c.imports = append(c.imports, im)
	for _, start := range added {
		e := c.entitiesOf(whoIs(start.Player), nil)[0]
		c.addImported(l, s, e)
		standing := c.standings(s)[c.as(e)]
		for owner, own := range s.entries {
			if own.order == standing.order {
				im.starts = append(im.starts, setStart{s, owner, own.order, own.start, start.Rating})
				own.start = start.Rating
				s.entries[owner] = own
			}
		}
	}
}

// undoImport takes back a random import, or one that does not exist.
func (c *modelGroup) undoImport(rt *rapid.T) {
	number := rapid.IntRange(1, len(c.imports)+1).Draw(rt, "import")
	u, err := ranking.UndoImport(c.t.Context(), c.store, c.chat, number)
	if number > len(c.imports) || c.imports[number-1].undone {
		if !errors.Is(err, ranking.ErrNoSuchImport) {
			rt.Fatalf("taking back import %d: %v", number, err)
		}
		return
	}
	must(c.t, err)
	im := c.imports[number-1]
	im.undone = true
	if len(u.Matches) != len(im.matches) {
		rt.Fatalf("taking back import %d deletes %d matches, want %d", number, len(u.Matches), len(im.matches))
	}
	touched := make(map[*modelSeason]bool)
	for _, m := range im.matches {
		m.gone, touched[m.season] = true, true
		for key, o := range c.keys {
			if o == m {
				delete(c.keys, key)
			}
		}
	}
	c.order = slices.DeleteFunc(c.order, func(m *modelMatch) bool { return m.gone })
	for _, s := range im.starts {
		own, isThere := s.season.entries[s.owner]
		if !isThere || own.order != s.order {
			continue
		}
		touched[s.season] = true
		own.start = c.startWithout(s)
		s.season.entries[s.owner] = own
	}
	for s := range touched {
		c.dropImported(s)
	}
}

// startWithout returns the start rating of the standing of s, given which imports are undone.
func (c *modelGroup) startWithout(s setStart) int {
	start := -1
	for _, im := range c.imports {
		for _, o := range im.starts {
			if !o.isOf(s) {
				continue
			}
			if start < 0 {
				start = o.old
			}
			if !im.undone {
				start = o.new
			}
		}
	}
	return start
}

// dropImported removes the entries of imports of people without a match in the season. It reads
// from the database who of them has sent a command or counts as others, and so stays.
func (c *modelGroup) dropImported(s *modelSeason) {
	stored := rows1[ladder.PlayerID](c.t, c.game, `
		SELECT coalesce(named_id, player_id) FROM group_players WHERE season_id = $1`, s.id)
	for owner, own := range s.entries {
		isIn := func(m *modelMatch) bool { return m.season == s && slices.Contains(m.players(), owner) }
		isSet := slices.ContainsFunc(c.imports, func(im *modelImport) bool {
			return !im.undone && slices.ContainsFunc(im.starts, setStart{season: s, owner: owner, order: own.order}.isOf)
		})
		mayGo := own.imported && !isSet && !slices.ContainsFunc(c.there(), isIn)
		isMapped := c.counts[owner] != nil
		for _, as := range c.counts {
			isMapped = isMapped || as == owner
		}
		isGone := !slices.Contains(stored, c.playerOf(owner))
		if mustGo := mayGo && !owner.isAccount() && !isMapped; isGone && !mayGo || mustGo && !isGone {
			c.rt.Fatalf("the standing of %s in season %d is gone: %t", c.nameOf(owner), s.number, isGone)
		}
		if isGone {
			delete(s.entries, owner)
		}
	}
}
