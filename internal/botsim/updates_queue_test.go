package botsim_test

import (
	"slices"
	"strconv"
	"testing"
	"time"

	"elobot/internal/botsim/updates"
)

var start = time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)

func TestConfirmBelow(t *testing.T) {
	t.Parallel()
	for offset, want := range map[int64][]int64{
		0: {11, 12, 13}, 11: {11, 12, 13}, 12: {12, 13}, 14: nil,
		24: nil, 25: {11, 12, 13}, // too far ahead
		-1: {13}, -2: {12, 13}, -14: {11, 12, 13}, -99: {11, 12, 13},
	} {
		q := updates.NewQueue()
		for q.Next = 11; q.Next <= 13; q.Next++ {
			q.Add(&updates.Update{ID: q.Next, At: start, Raw: strconv.AppendInt(nil, q.Next, 10)})
		}
		if n := q.ConfirmBelow(offset); n != 3-len(want) {
			t.Errorf("offset %d confirms %d", offset, n)
		}
		var waiting []int64
		for _, u := range q.Waiting() {
			waiting = append(waiting, u.ID)
		}
		if !slices.Equal(waiting, want) {
			t.Errorf("after offset %d, %v wait, want %v", offset, waiting, want)
		}
	}
}
