package command

import "strings"

// minNear is the length of the shortest username that can be a misspelling of another.
const minNear = 4

// Near reports whether two usernames of at least four characters differ by exactly one letter, in any letter case: one is missing,
// added or another one, or two neighbours are exchanged. Digits and "_" are no letters: player1 and player2 are two people.
func Near(a, b string) bool {
	if min(len(a), len(b)) < minNear {
		return false
	}
	a, b = strings.ToLower(a), strings.ToLower(b)
	for a != "" && b != "" && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for a != "" && b != "" && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	switch {
	case !isLetters(a) || !isLetters(b), a == b:
		return false
	case len(a) == 2 && len(b) == 2:
		return a[0] == b[1] && a[1] == b[0]
	default:
		return len(a) < 2 && len(b) < 2
	}
}

// isLetters reports whether all bytes of a username in lower case are letters.
func isLetters(s string) bool {
	return strings.Trim(s, "abcdefghijklmnopqrstuvwxyz") == ""
}

// distance returns how many letters have to be added, left out, replaced or exchanged with their neighbour to turn a into b; a
// number above limit if there are more than limit.
func distance(a, b []rune, limit int) int {
	if len(a)-len(b) > limit || len(b)-len(a) > limit {
		return limit + 1
	}
	before, last, next := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range a {
		next[0] = i + 1
		least := next[0]
		for j := range b {
			d := min(last[j+1], next[j]) + 1
			if a[i] == b[j] {
				d = min(d, last[j])
			} else {
				d = min(d, last[j]+1)
			}
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				d = min(d, before[j-1]+1)
			}
			next[j+1], least = d, min(least, d)
		}
		if least > limit {
			return limit + 1
		}
		before, last, next = last, next, before
	}
	return last[len(b)]
}
