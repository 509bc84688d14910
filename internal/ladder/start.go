package ladder

// playerHistory sums up a player's history entries.
type playerHistory struct {
	entries int
	first   int // the rating before the first entry
	changes int // the sum of all rating changes
}

// Start returns the standings before the first match. The history must be a whole season. If a
// player's rating before the first entry plus all rating changes is the current rating, the rating
// before the first entry is the start rating. Otherwise, Start uses the stored start rating.
func (h History) Start() Table {
	histories := make(map[PlayerID]playerHistory, len(h.Standings))
	for _, m := range h.Matches {
		for _, part := range m.Parts {
			if e := part.Entry; e != nil {
				p := histories[part.Player]
				if p.entries == 0 {
					p.first = e.Before
				}
				p.entries++
				p.changes += e.After - e.Before
				histories[part.Player] = p
			}
		}
	}
	all := make(Table, len(h.Standings))
	for _, s := range h.Standings {
		if p := histories[s.Player]; p.entries > 0 && p.first+p.changes == s.Elo {
			s.StartElo = p.first
		}
		all[s.Player] = new(s.Initial())
	}
	return all
}
