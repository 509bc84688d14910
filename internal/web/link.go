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

// BoardPath begins the paths of web boards.
const BoardPath = "/g/"

// tokenSize is how many bytes of its hash a token has.
const tokenSize = 18

// Links makes the links of web boards, and checks them.
type Links struct {
	base string // without a slash at the end
	key  []byte
}

// NewLinks returns the links at an address, under a key that follows from the bot's token.
func NewLinks(publicURL, botToken string) Links {
	return Links{strings.TrimRight(publicURL, "/"), hash([]byte(botToken), "elobot: links of web boards")}
}

func hash(key []byte, message string) []byte {
	mac := hmac.New(sha256.New, key)
	_, _ = mac.Write([]byte(message)) // never fails
	return mac.Sum(nil)
}

// Link returns the link of a board. Whoever has it can read the board.
func (l Links) Link(b ranking.WebBoard) string {
	return fmt.Sprintf("%s%s%d/%s/", l.base, BoardPath, b.Group, l.token(b))
}

// token returns what only those know who have the link of a board. It depends on the salt: ids come
// again after a restore.
func (l Links) token(b ranking.WebBoard) string {
	return base64.RawURLEncoding.EncodeToString(hash(l.key, fmt.Sprintf("%d:%s", b.Group, b.Salt))[:tokenSize])
}

// opens is true if the token is that of the board. It takes the same time for all tokens.
func (l Links) opens(token string, b ranking.WebBoard) bool {
	return hmac.Equal([]byte(token), []byte(l.token(b)))
}

// FitsButtons is true if Telegram accepts the links in buttons: they begin with https and have a public name.
func (l Links) FitsButtons() bool {
	u, err := url.Parse(l.base)
	if err != nil || u.Scheme != "https" || net.ParseIP(u.Hostname()) != nil {
		return false
	}
	_, domain, ok := strings.Cut(strings.TrimSuffix(u.Hostname(), "."), ".")
	return ok && domain != "local" && domain != "localhost" && domain != "internal"
}
