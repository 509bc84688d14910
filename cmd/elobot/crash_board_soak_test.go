//go:build soak && unix

package main_test

import (
	"slices"
	"testing"
)

// TestBoardKilledTwentyTimes is TestBoardKilledWhileMade with five kills at each point.
func TestBoardKilledTwentyTimes(t *testing.T) {
	t.Parallel()
	killBoards(t, slices.Repeat(boardPoints(), 5))
}
