package web

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net"
	"net/url"
	"strings"

	"elobot/internal/ranking"
)

// BoardPath is the prefix of the paths of web boards.
const BoardPath = "/g/"

// tokenSize is how many bytes of the hash make up a token.
const tokenSize = 18

// Links creates and checks the links of web boards.
type Links struct {
	base string // without a trailing slash
	key  []byte
}

// NewLinks returns Links for a server that is reached at publicURL. Their key is derived from the
// bot's token.
func NewLinks(publicURL, botToken string) Links {
	return Links{strings.TrimRight(publicURL, "/"), hash([]byte(botToken), "elobot: links of web boards")}
}

func hash(key []byte, message string) []byte {
	mac := hmac.New(sha256.New, key)
	_, _ = mac.Write([]byte(message)) // never fails
	return mac.Sum(nil)
}

// Link returns the link of a board. Anyone who has the link can read the board.
func (l Links) Link(b ranking.WebBoard) string {
	return fmt.Sprintf("%s%s%d/%s/", l.base, BoardPath, b.Group, l.token(b))
}

// token returns the secret part of a board's link. It depends on the salt, because ids can recur
// after a restore from a backup.
func (l Links) token(b ranking.WebBoard) string {
	return base64.RawURLEncoding.EncodeToString(hash(l.key, fmt.Sprintf("%d:%s", b.Group, b.Salt))[:tokenSize])
}

// opens reports whether a token opens a board. It takes the same time for all tokens of the right
// length.
func (l Links) opens(token string, b ranking.WebBoard) bool {
	return hmac.Equal([]byte(token), []byte(l.token(b)))
}

// FitsButtons reports whether Telegram accepts the links in buttons. They must begin with https and
// have a public host name.
func (l Links) FitsButtons() bool {
	u, err := url.Parse(l.base)
	if err != nil || u.Scheme != "https" || net.ParseIP(u.Hostname()) != nil {
		return false
	}
	_, domain, ok := strings.Cut(strings.TrimSuffix(u.Hostname(), "."), ".")
	return ok && domain != "local" && domain != "localhost" && domain != "internal"
}
