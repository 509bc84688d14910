package ranking

import (
	"context"
	"slices"
)

// TopRows is how many rows a page of the ranking has.
const TopRows = 20

// ShowRanking answers with the beginning of the ranking, and the asker's own row if it is further down.
func (s *Service) ShowRanking(ctx context.Context, o Origin) error {
	var people cast
	if o.Sender != nil {
		people.add(*o.Sender)
	}
	return s.handle(ctx, o, command{
		name:   "show ranking",
		people: people,
		top:    TopRows,
		sort:   SortQuestion,
		decide: func(snap Snapshot) (Changes, error) {
			page := RankingPage{Title: snap.Chat.Title, Total: snap.Total}
			for _, r := range snap.Ranked {
				page.Rows = append(page.Rows, r.row(r.called(), r.Position))
			}
			if len(snap.People) > 0 {
				page.Own = ownRow(snap)
			}
			return Changes{Notice: page}, nil
		},
	})
}

// ownRow returns the asker's row, if there is one and it is not on the page anyway.
func ownRow(snap Snapshot) *Row {
	asker := snap.People[0]
	if asker.Position == 0 || slices.ContainsFunc(snap.Ranked, func(r Ranked) bool { return r.ID == asker.Standing.ID }) {
		return nil
	}
	row := asker.Standing.row(names(snap.People)[0], asker.Position)
	return &row
}

func (s Standing) row(name Name, position int) Row {
	return Row{Position: position, Name: name, Elo: s.Elo, Won: s.Won, Drawn: s.Drawn, Lost: s.Lost}
}
