package telegram

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/sync/singleflight"

	"elobot/internal/ladder"
	"elobot/internal/ranking"
)

const (
	// adminsKept is the maximum age of a list from which IsAdmin may return true.
	adminsKept = 5 * time.Minute
	// adminsFresh is the maximum age of a list from which IsAdmin may return false.
	adminsFresh = 10 * time.Second
	// maxAdminLists limits how many lists are cached. A further list evicts the least recently used
	// list.
	maxAdminLists = 10_000
)

// AdminSource requests the list of all admins of a chat.
type AdminSource interface {
	Admins(ctx context.Context, chat ranking.ExternalChatID) ([]ladder.UserID, error)
}

// AdminCache caches the admins of each chat. A cached list may lack a new admin, so IsAdmin returns
// false from a cached list only if the list is younger than adminsFresh.
type AdminCache struct {
	source  AdminSource
	now     func() time.Time
	flights singleflight.Group
	lists   *lru.Cache[ranking.ExternalChatID, adminList]

	mu sync.Mutex
	// era increases with each Forget and ForgetAll. The answer to a lookup that began in an earlier
	// era may be outdated.
	era int
}

type adminList struct {
	admins []ladder.UserID
	at     time.Time // when the request began
}

// NewAdminCache returns a cache in front of the source.
func NewAdminCache(source AdminSource, now func() time.Time) *AdminCache {
	lists, err := lru.New[ranking.ExternalChatID, adminList](maxAdminLists)
	if err != nil { // only if the size is not positive
		panic(err)
	}
	return &AdminCache{source: source, now: now, lists: lists}
}

// IsAdmin implements ranking.Admins.
func (c *AdminCache) IsAdmin(ctx context.Context, chat ranking.ExternalChatID, user ladder.UserID) (bool, error) {
	l, _ := c.lists.Get(chat) // without a list, the zero list is too old
	is, age := slices.Contains(l.admins, user), c.now().Sub(l.at)
	if age < adminsFresh || is && age < adminsKept {
		return is, nil
	}
	// Several callers share the answer, so the lookup must not end with the first caller's context.
	shared := context.WithoutCancel(ctx)
	c.mu.Lock()
	era := c.era
	c.mu.Unlock()
	answer := c.flights.DoChan(fmt.Sprint(chat, era), func() (any, error) { return c.ask(shared, chat, era) })
	select {
	case a := <-answer:
		admins, _ := a.Val.([]ladder.UserID)
		return a.Err == nil && slices.Contains(admins, user), a.Err
	case <-ctx.Done():
		return false, ctx.Err()
	}
}

// Forget drops the cached list of a chat. Later calls to IsAdmin do not wait for lookups in
// progress, whose results are not cached.
func (c *AdminCache) Forget(chat ranking.ExternalChatID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lists.Remove(chat)
	c.era++
}

// ForgetAll is Forget for all chats.
func (c *AdminCache) ForgetAll() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lists.Purge()
	c.era++
}

// ask looks up the admins of a chat. It caches them unless Forget or ForgetAll has ended the era in
// the meantime.
func (c *AdminCache) ask(ctx context.Context, chat ranking.ExternalChatID, era int) ([]ladder.UserID, error) {
	begun := c.now()
	admins, err := c.source.Admins(ctx, chat)
	c.mu.Lock()
	defer c.mu.Unlock()
	if err == nil && era == c.era {
		c.lists.Add(chat, adminList{admins, begun})
	}
	return admins, err
}
