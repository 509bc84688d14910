package app

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"elobot/internal/outbox"
)

const (
	// longestWindow is the longest duration of a rate limit, and the longest BOARD_INTERVAL.
	longestWindow = time.Hour
	// longestRequest is the longest SendTimeout of the outbox, however long the lease is. With a
	// short lease, SendTimeout is half the lease.
	longestRequest = 5 * time.Second
	// shortestRenewal is the shortest LEASE_RENEWAL. More frequent renewals would flood the
	// database.
	shortestRenewal = 100 * time.Millisecond
	// shortestBoardInterval is the shortest BOARD_INTERVAL. It is this short only for tests: people
	// cannot follow more than an edit every few seconds.
	shortestBoardInterval = 100 * time.Millisecond
)

// SendingConfig configures how committed notices are sent, and how instances share the lease.
type SendingConfig struct {
	SendParallel     string `env:"SEND_PARALLEL" placeholder:"N" help:"Maximum number of concurrent requests to send (default: 32)."`
	SendLimitPrivate string `env:"SEND_LIMIT_PRIVATE" placeholder:"LIMITS" help:"Rate limits for each private chat: N/duration, separated by commas, or off (default: 1/1s)."`
	SendLimitGroup   string `env:"SEND_LIMIT_GROUP" placeholder:"LIMITS" help:"Rate limits for each group (default: 20/1m,5/5s)."`
	SendLimitTotal   string `env:"SEND_LIMIT_TOTAL" placeholder:"LIMITS" help:"Rate limits for all chats together (default: 30/1s)."`
	SendMerge        string `env:"SEND_MERGE" placeholder:"on|off" help:"Whether to merge the notices that wait in a chat into one message (default: on)."`
	SendMaxPerChat   string `env:"SEND_MAX_PER_CHAT" placeholder:"N" help:"How many notices may wait in a chat; if there are more, a message sums up the results among them (default: 1000)."`
	SendMaxTotal     string `env:"SEND_MAX_TOTAL" placeholder:"N" help:"How many notices may wait in all chats; beyond that, each chat may have only a tenth of SEND_MAX_PER_CHAT (default: 100000)."`
	SendAttempts     string `env:"SEND_ATTEMPTS" placeholder:"N" help:"After how many unexplained failures a notice becomes a dead letter (default: 8)."`
	SendFavoredChats string `env:"SEND_FAVORED_CHATS" placeholder:"IDS" help:"Telegram ids of chats to send to first, separated by commas (default: none)."`
	BoardInterval    string `env:"BOARD_INTERVAL" placeholder:"DURATION" help:"How often the board of a group is edited at most (default: 10s)."`
	LeaseDuration    string `env:"LEASE_DURATION" placeholder:"DURATION" help:"How long the lease of a leader that crashed keeps other instances from taking over (default: 10s)."`
	LeaseRenewal     string `env:"LEASE_RENEWAL" placeholder:"DURATION" help:"How often the leader renews its lease (default: 3s)."`

	// Resolve sets these.
	outbox                                     outbox.Settings
	boardInterval, leaseDuration, leaseRenewal time.Duration
}

func (c *SendingConfig) resolve(r *settingsReader) {
	c.outbox = outbox.Settings{
		Parallel: r.number("SEND_PARALLEL", c.SendParallel, 32, 1, 1000),
		Limits: outbox.Limits{
			Private: r.windows("SEND_LIMIT_PRIVATE", cmp.Or(c.SendLimitPrivate, "1/1s")),
			Group:   r.windows("SEND_LIMIT_GROUP", cmp.Or(c.SendLimitGroup, "20/1m,5/5s")),
			Total:   r.windows("SEND_LIMIT_TOTAL", cmp.Or(c.SendLimitTotal, "30/1s")),
		},
		Bounds: outbox.Bounds{
			Merge: 64, MaxWaiting: r.number("SEND_MAX_PER_CHAT", c.SendMaxPerChat, 1000, 10, 1_000_000),
		},
		MaxFailures: r.number("SEND_ATTEMPTS", c.SendAttempts, 8, 1, 100),
		Favored:     r.chats("SEND_FAVORED_CHATS", c.SendFavoredChats),
	}
	if !r.toggle("SEND_MERGE", c.SendMerge) {
		c.outbox.Bounds.Merge = 1
	}
	c.outbox.WaitingTotal = r.number("SEND_MAX_TOTAL", c.SendMaxTotal, 100_000, 10, 1_000_000_000)
	if total := c.outbox.WaitingTotal; total > 0 && total < c.outbox.Bounds.MaxWaiting {
		r.wrong("SEND_MAX_TOTAL must be at least SEND_MAX_PER_CHAT")
	}

	if c.boardInterval = duration(cmp.Or(c.BoardInterval, "10s")); c.boardInterval < shortestBoardInterval ||
		c.boardInterval > longestWindow {
		r.wrong("BOARD_INTERVAL must be a duration from 100ms to 1h, such as 10s")
	}
	c.leaseDuration = duration(cmp.Or(c.LeaseDuration, "10s"))
	if c.leaseDuration < 500*time.Millisecond {
		r.wrong("LEASE_DURATION must be a duration of at least 500ms, such as 10s")
	}
	c.leaseRenewal = duration(cmp.Or(c.LeaseRenewal, "3s"))
	if c.leaseRenewal < shortestRenewal || c.leaseDuration > 0 && c.leaseRenewal > c.leaseDuration/5*2 {
		r.wrong("LEASE_RENEWAL must be a duration from 100ms to two fifths of LEASE_DURATION, such as 3s for 10s")
	}
	c.outbox.SendTimeout = min(c.leaseDuration/2, longestRequest)
}

// settingsReader parses settings and collects one sentence per fault. The sentences never quote a
// value, which may be a secret that was pasted there by mistake.
type settingsReader struct {
	faults []string
}

func (r *settingsReader) wrong(sentences ...string) { r.faults = append(r.faults, sentences...) }

// number parses a whole number from low to high. An empty value stands for fallback. For an invalid
// value, number notes a fault and returns 0.
func (r *settingsReader) number(name, value string, fallback, low, high int) int {
	n, err := strconv.Atoi(cmp.Or(value, strconv.Itoa(fallback)))
	if err == nil && low <= n && n <= high {
		return n
	}
	r.wrong(fmt.Sprintf("%s must be a whole number from %d to %d", name, low, high))
	return 0
}

// toggle reports whether a setting is on. An empty value stands for "on". For a value other than
// "on" or "off", toggle notes a fault and returns true.
func (r *settingsReader) toggle(name, value string) bool {
	if value != "" && value != "on" && value != "off" {
		r.wrong(name + " must be on or off")
	}
	return value != "off"
}

// duration parses a duration. It returns 0 if the value is invalid.
func duration(value string) time.Duration {
	d, err := time.ParseDuration(value)
	if err != nil {
		return 0
	}
	return d
}

// windows parses rate limits such as 20/1m,5/5s. It returns nil for off. For an invalid value it
// notes a fault and returns nil.
func (r *settingsReader) windows(name, value string) []outbox.Window {
	if value == "off" {
		return nil
	}
	var all []outbox.Window
	for part := range strings.SplitSeq(value, ",") {
		count, per, _ := strings.Cut(strings.TrimSpace(part), "/")
		n, err := strconv.Atoi(count)
		window := duration(per)
		if err != nil || n < 1 || window <= 0 || window > longestWindow {
			r.wrong(name + " must be limits such as 20/1m, separated by commas, or off for no limit: " +
				"each a number of at least 1, and a duration of at most 1h")
			return nil
		}
		all = append(all, outbox.Window{N: n, Per: window})
	}
	return all
}

func (r *settingsReader) chats(name, value string) []int64 {
	if value == "" {
		return nil
	}
	var ids []int64
	for part := range strings.SplitSeq(value, ",") {
		id, err := strconv.ParseInt(strings.TrimSpace(part), 10, 64)
		if err != nil || id == 0 {
			r.wrong(name + " must be Telegram ids of chats, separated by commas, such as 123456789,-1001234567890")
			return nil
		}
		ids = append(ids, id)
	}
	return ids
}
