package ranking

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"elobot/internal/ladder"
)

// UndoImport takes back an import of the chat's group: it deletes the matches of the import, also
// those that were amended, or restores the former start ratings. It calculates later matches again.
// It fails with ErrNoSuchGroup or ErrNoSuchImport.
func UndoImport(ctx context.Context, store Store, chat ExternalChatID, number int) (u *UndoneImport, err error) {
	err = patiently(ctx, func(ctx context.Context) error {
		q := Query{Chat: Chat{ID: chat}, KnownChat: true}
		snap, err := store.Read(ctx, q)
		switch {
		case err != nil:
			return err
		case snap.Group == 0:
			return ErrNoSuchGroup
		}
		u = &UndoneImport{ImportChanges: ImportChanges{Group: snap.Group, Number: number}}
		return stageUndo(ctx, store, q, snap.imported(u))
	})
	return u, err
}

// undoneImport returns what taking back an import changes. It fails with ErrNoSuchImport.
func undoneImport(ctx context.Context, store Locked, snap *Snapshot, number int) (*UndoneImport, error) {
	u := &UndoneImport{ImportChanges: ImportChanges{Group: snap.Group, Number: number}}
	gone, err := u.find(ctx, store)
	if err != nil {
		return nil, err
	}
	for _, h := range gone {
		if err := u.replay(snap, h); err != nil {
			return nil, err
		}
	}
	return u, nil
}

// stageUndo writes changes whose effect is the undo of an import, of which it uses only the group
// and the number. Deleting many rows takes long, so it is done without the group's lock.
func stageUndo(ctx context.Context, store Store, q Query, c Changes) error {
	u := c.Effect.(*UndoneImport)
	*u = UndoneImport{ImportChanges: ImportChanges{Group: u.Group, Number: u.Number}}
	staged, err := store.StageUndo(ctx, u.Group, u.Number)
	if err != nil {
		return err
	}
	defer staged.Release(ctx)
	gone, err := u.find(ctx, staged)
	if err != nil {
		return err
	}
	if err := staged.DeleteMatches(ctx, u.Matches); err != nil {
		return err
	}
	snap, err := staged.LockGroup(ctx, q)
	switch {
	case err != nil:
		return err
	case snap.Group != u.Group:
		return fmt.Errorf("%w: the chat has another group", ErrConflict)
	}
	if len(u.Matches) == 0 { // start ratings, which are read under the lock
		again, err := undoneImport(ctx, staged, snap, u.Number)
		if err != nil {
			return err
		}
		*u, gone = *again, nil
	}
	for _, h := range gone {
		h.Matches = slices.DeleteFunc(h.Matches, func(m ladder.Match) bool { return !u.has(m.ID) })
		var players []ladder.PlayerID
		for _, s := range h.Standings {
			players = append(players, s.Player)
		}
		others, err := staged.MatchHistory(ctx, h.Season, h.Matches[0].Position, players...)
		if err != nil {
			return err
		}
		others.Matches = append(others.Matches, h.Matches...)
		slices.SortFunc(others.Matches, byPosition)
		if err := u.replay(snap, others); err != nil {
			return err
		}
	}
	c.Corrected = u.Corrected
	return staged.Apply(ctx, c)
}

// find finds the matches or the start ratings of the import. It returns the history of each season
// from the first of these matches on, or the whole history of a season with such start ratings.
func (u *UndoneImport) find(ctx context.Context, store Locked) (seasons []ladder.History, err error) {
	if u.Matches, u.Starts, err = store.FindImport(ctx, u.Group, u.Number); err != nil {
		return nil, err
	}
	first := make(map[ladder.SeasonID]ladder.Position)
	for _, m := range u.Matches {
		if from, ok := first[m.Season]; !ok || m.Position < from {
			first[m.Season] = m.Position
		}
	}
	for _, s := range u.Starts {
		first[s.Season] = 0
	}
	for _, season := range slices.Sorted(maps.Keys(first)) {
		h, err := store.MatchHistory(ctx, season, first[season])
		if err != nil {
			return nil, err
		}
		seasons = append(seasons, h)
	}
	return seasons, nil
}

// has reports whether the match belongs to the import.
func (u *UndoneImport) has(id ladder.MatchID) bool {
	_, ok := slices.BinarySearchFunc(u.Matches, id, func(m FoundMatch, id ladder.MatchID) int {
		return cmp.Compare(m.ID, id)
	})
	return ok
}

// replay adds the changes that replay a season without the matches and the start ratings of the
// import.
func (u *UndoneImport) replay(snap *Snapshot, h ladder.History) error {
	table, err := h.Initial()
	if err != nil {
		return err
	}
	starts := make(map[ladder.StandingID]int, len(u.Starts))
	for _, s := range u.Starts {
		starts[s.Standing] = s.Start
	}
	for _, s := range table {
		if start, ok := starts[s.ID]; ok {
			s.Elo, s.StartElo, s.BestElo = start, start, start
		}
	}
	players := make(map[ladder.PlayerID]bool)
	h.Matches = slices.DeleteFunc(h.Matches, func(m ladder.Match) bool {
		isGone := u.has(m.ID)
		for _, part := range m.Parts {
			players[part.Player] = players[part.Player] || isGone
		}
		return isGone
	})
	w, err := h.ReplayFrom(table, ladder.ByUndo, func(*ladder.Match) {})
	if err != nil {
		return err
	}
	for player, isOfGone := range players {
		if isOfGone {
			w.Unplayed = append(w.Unplayed, player)
		}
	}
	u.Rewrites, u.Later = append(u.Rewrites, w), u.Later+len(h.Matches)
	if snap.isOver(h.Season) {
		u.Corrected = append(u.Corrected, h.Season)
	}
	return nil
}
