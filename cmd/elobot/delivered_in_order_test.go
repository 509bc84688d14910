package main_test

import (
	"strconv"
	"testing"

	"elobot/internal/botsim"
)

// deliveredNumbers returns the match numbers in the bot's messages to a group, in order.
func deliveredNumbers(t *testing.T, chat *botsim.Chat) []int {
	t.Helper()
	var numbers []int
	for _, m := range chat.BotMessages() {
		for _, found := range numbered.FindAllStringSubmatch(visible(m), -1) {
			n, err := strconv.Atoi(found[1])
			must(t, err)
			numbers = append(numbers, n)
		}
	}
	return numbers
}

// checkDeliveredInOrder checks that the first n matches of a group and no others were delivered,
// their first copies in order. It returns the number of further copies.
func checkDeliveredInOrder(t *testing.T, chat *botsim.Chat, n int) (copies int) {
	t.Helper()
	next := 1
	for _, number := range deliveredNumbers(t, chat) {
		switch {
		case number == next:
			next++
		case number < next:
			copies++
		default:
			t.Fatalf("match #%d was delivered before #%d", number, next)
		}
	}
	if next != n+1 {
		t.Errorf("%d matches were delivered, want %d", next-1, n)
	}
	return copies
}
