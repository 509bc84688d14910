package main_test

import (
	"strconv"
	"testing"

	"elobot/internal/botsim"
)

// toldNumbers returns the numbers of the matches that were told in a group, in the order in which they were.
func toldNumbers(t *testing.T, chat *botsim.Chat) []int {
	t.Helper()
	var numbers []int
	for _, m := range chat.BotMessages() {
		for _, found := range numbered.FindAllStringSubmatch(visible(m), -1) {
			n, err := strconv.Atoi(found[1])
			if err != nil {
				t.Fatal(err)
			}
			numbers = append(numbers, n)
		}
	}
	return numbers
}

// checkToldInOrder checks that the first n matches of a group were told, first copies in order, and returns how many
// further copies there were.
func checkToldInOrder(t *testing.T, chat *botsim.Chat, n int) (copies int) {
	t.Helper()
	next := 1
	for _, number := range toldNumbers(t, chat) {
		switch {
		case number == next:
			next++
		case number < next:
			copies++
		default:
			t.Fatalf("match #%d was told before #%d", number, next)
		}
	}
	if next != n+1 {
		t.Errorf("%d matches were told, want %d", next-1, n)
	}
	return copies
}
