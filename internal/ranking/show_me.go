package ranking

import "context"

// MaxGroups is how many groups somebody is told of who asks where they stand.
const MaxGroups = 20

// ShowMe answers where the sender stands: in the group's ranking, or in a private chat in those of all their groups.
func (s *Service) ShowMe(ctx context.Context, o Origin) error {
	if o.Sender == nil {
		return s.Answer(ctx, o, Refusal{Code: NobodyToShow})
	}
	c := command{name: "show me", people: cast{*o.Sender}, sort: SortQuestion, decide: myStanding}
	if o.Chat.IsGroup() {
		c.ask = func(q *Query) { q.Place = true }
	} else {
		c.ask, c.decide = func(q *Query) { q.Groups = MaxGroups }, myStandings
	}
	return s.handle(ctx, o, c)
}

func myStanding(snap Snapshot) (Changes, error) {
	n := MyStanding{Total: snap.Total}
	if me := snap.People[0]; me.Player != nil {
		n.Name = names(snap.People)[0]
		if s := me.Standing; s != nil {
			n.Position, n.Left = me.Position, !s.LeftAt.IsZero()
			n.Elo, n.Best, n.Streak = s.Elo, s.BestElo, s.Streak
			n.Won, n.Drawn, n.Lost = s.Won, s.Drawn, s.Lost
		}
	}
	return Changes{Notice: n}, nil
}

func myStandings(snap Snapshot) (Changes, error) {
	return Changes{Notice: MyStandings{Groups: snap.Groups, More: snap.OfGroups - len(snap.Groups)}}, nil
}

// MyStanding tells somebody where they stand in a group.
type MyStanding struct {
	Name     Name `json:"name,omitzero"`      // not set for somebody who is not known yet
	Position int  `json:"position,omitempty"` // 0 for somebody who is not shown in the ranking
	Total    int  `json:"total,omitempty"`    // all who are ranked
	Elo      int  `json:"elo,omitempty"`
	Best     int  `json:"best,omitempty"`
	Won      int  `json:"won,omitempty"`
	Drawn    int  `json:"drawn,omitempty"`
	Lost     int  `json:"lost,omitempty"`
	Streak   int  `json:"streak,omitempty"` // wins in a row, or losses in a row as a negative number
	// Left says that they had left the group, and so are not shown until their next match.
	Left bool `json:"left,omitempty"`
}

// Kind implements Notice.
func (MyStanding) Kind() string { return KindMyStanding }

// Purpose implements Notice.
func (MyStanding) Purpose() Purpose { return Answer }

// MyStandings tells somebody where they stand in all groups in which they are ranked.
type MyStandings struct {
	Groups []GroupStanding `json:"groups"`
	More   int             `json:"more,omitempty"` // how many more groups there are
}

// GroupStanding is where somebody stands in one of their groups.
type GroupStanding struct {
	Title    string `json:"title"`
	Position int    `json:"position"`
	Total    int    `json:"total"` // all who are ranked
	Elo      int    `json:"elo"`
	Won      int    `json:"won"`
	Drawn    int    `json:"drawn"`
	Lost     int    `json:"lost"`
}

// Kind implements Notice.
func (MyStandings) Kind() string { return KindMyStandings }

// Purpose implements Notice.
func (MyStandings) Purpose() Purpose { return Answer }
