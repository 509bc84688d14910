package ranking

import (
	"crypto/sha256"
	"encoding/base64"
	"strings"
)

// MatchTag is a short hash of a match's idempotency key. Match numbers and ids come again after a restore of an older backup, keys
// do not. So a button carries the tag of its match, and a press on it never amends another one. A button of a prompt carries the tag of
// what is asked about: recorded matches, or those that the answer would record.
type MatchTag string

// TagOf returns the tag of the match with a key, or of several matches together. Buttons in chats carry it for years, so it must stay
// the same.
func TagOf(keys ...string) MatchTag {
	hash := sha256.Sum256([]byte(strings.Join(keys, "\n")))
	return MatchTag(base64.RawURLEncoding.EncodeToString(hash[:6]))
}
