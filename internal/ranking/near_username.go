package ranking

import "strings"

// isNear reports whether a new username of at least four characters differs by exactly one letter from the username or the name
// of a known person, in any letter case. Digits are no letters: player1 and player2 are two people.
func (p Person) isNear(username string) bool {
	return len(username) >= 4 && (differByOneLetter(username, p.Username) || differByOneLetter(username, p.Name))
}

func differByOneLetter(a, b string) bool {
	a, b = strings.ToLower(a), strings.ToLower(b)
	for a != "" && b != "" && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for a != "" && b != "" && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	isLetter := func(s string) bool { return s == "" || len(s) == 1 && 'a' <= s[0] && s[0] <= 'z' }
	return a != b && isLetter(a) && isLetter(b)
}
