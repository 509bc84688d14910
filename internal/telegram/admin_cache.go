package telegram

import (
	"context"
	"slices"
	"strconv"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/sync/singleflight"

	"elobot/internal/ranking"
)

const (
	// adminsKept is how long a list of admins is believed.
	adminsKept = 5 * time.Minute
	// adminsFresh is how old a list may be that somebody is refused by.
	adminsFresh = 10 * time.Second
	// maxAdminLists is how many lists are kept; the least recently used one goes for a new one.
	maxAdminLists = 10_000
)

// AdminSource gives the list of all admins of a chat.
type AdminSource interface {
	Admins(ctx context.Context, chat ranking.ExternalChatID) ([]ranking.UserID, error)
}

// AdminCache remembers who is an admin of which chat. In doubt a fresh look decides: nobody is refused by a list that is
// older than a few seconds.
type AdminCache struct {
	source  AdminSource
	now     func() time.Time
	asking  singleflight.Group
	mu      sync.Mutex
	lists   *lru.Cache[ranking.ExternalChatID, adminList]
	pending map[ranking.ExternalChatID]*lookup // those whose lists are to be kept
}

// lookup is a look-up under way.
type lookup struct{ begun time.Time }

type adminList struct {
	admins []ranking.UserID
	at     time.Time // when it was asked for
}

// NewAdminCache returns a cache in front of the source.
func NewAdminCache(source AdminSource, now func() time.Time) *AdminCache {
	lists, err := lru.New[ranking.ExternalChatID, adminList](maxAdminLists)
	if err != nil { // only for a size that is not positive
		panic(err)
	}
	return &AdminCache{source: source, now: now, lists: lists, pending: make(map[ranking.ExternalChatID]*lookup)}
}

// IsAdmin implements Admins.
func (c *AdminCache) IsAdmin(ctx context.Context, chat ranking.ExternalChatID, user ranking.UserID) (bool, error) {
	if l, ok := c.list(chat); ok {
		is := slices.Contains(l.admins, user)
		if is || c.now().Sub(l.at) < adminsFresh {
			return is, nil
		}
	}
	// Whoever waits for the answer shares it, so it does not end with the one who has asked first.
	shared := context.WithoutCancel(ctx)
	answer := c.asking.DoChan(key(chat), func() (any, error) { return c.ask(shared, chat) })
	select {
	case a := <-answer:
		admins, _ := a.Val.([]ranking.UserID)
		return a.Err == nil && slices.Contains(admins, user), a.Err
	case <-ctx.Done():
		return false, ctx.Err()
	}
}

// Forget drops what is known of a chat. A look-up that is under way is not kept, and nobody waits for it any more who asks
// after this.
func (c *AdminCache) Forget(chat ranking.ExternalChatID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lists.Remove(chat)
	delete(c.pending, chat)
	c.asking.Forget(key(chat))
}

// ForgetAll drops what is known of all chats.
func (c *AdminCache) ForgetAll() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lists.Purge()
	for chat := range c.pending {
		c.asking.Forget(key(chat))
	}
	clear(c.pending)
}

// list returns the list of a chat if it can be believed still.
func (c *AdminCache) list(chat ranking.ExternalChatID) (adminList, bool) {
	l, ok := c.lists.Get(chat)
	return l, ok && c.now().Sub(l.at) < adminsKept
}

// ask looks the admins of a chat up.
func (c *AdminCache) ask(ctx context.Context, chat ranking.ExternalChatID) ([]ranking.UserID, error) {
	this := &lookup{begun: c.now()}
	c.mu.Lock()
	c.pending[chat] = this
	c.mu.Unlock()
	admins, err := c.source.Admins(ctx, chat)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.pending[chat] == this { // else it has been forgotten meanwhile
		delete(c.pending, chat)
		if err == nil {
			c.lists.Add(chat, adminList{admins, this.begun})
		}
	}
	return admins, err
}

func key(chat ranking.ExternalChatID) string { return strconv.FormatInt(int64(chat), 10) }
