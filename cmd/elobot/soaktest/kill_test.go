//go:build soak && unix

package soaktest

import (
	"context"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"elobot/cmd/elobot/soaktest/judge"
)

// momentLimit is how long a kill waits for its moment. After that, it strikes anyway.
const momentLimit = 3 * time.Second

// hooks are called at moments in the life of a process. Each may be nil.
type hooks struct {
	received   func() // updates were delivered
	confirming func() // the process is about to confirm updates
	sent       func() // a request to send or edit a message took effect or failed, and is not answered yet
}

// kills returns the faults that kill a bot: at any time, and at moments at which updates or
// messages can get lost or arrive twice.
func (c *campaign) kills() []fault {
	killed := func(when string, aim func(random *rand.Rand, kill func()) hooks) fault {
		strike := func(ctx context.Context, random *rand.Rand) error {
			bot := c.bots.leader(ctx, random) // only the leader sends
			if random.IntN(2) == 0 {
				bot = c.bots.any(random)
			}
			ctx, end := context.WithTimeout(ctx, momentLimit)
			defer end()
			kill := sync.OnceFunc(func() {
				bot.kill()
				end()
			})
			bot.setHooks(aim(random, kill))
			<-ctx.Done()
			kill() // the moment may not have come
			c.say("the bot was killed %s", when)
			return nil
		}
		return fault{name: "SIGKILL " + when, of: judge.Bot, strike: strike}
	}
	return []fault{
		killed("at any time", func(_ *rand.Rand, kill func()) hooks {
			kill()
			return hooks{}
		}),
		killed("before the response of a request", func(random *rand.Rand, kill func()) hooks {
			var left atomic.Int64
			left.Store(1 + random.Int64N(8))
			return hooks{sent: func() {
				if left.Add(-1) == 0 {
					kill()
				}
			}}
		}),
		killed("before it confirms updates", func(_ *rand.Rand, kill func()) hooks {
			return hooks{confirming: kill}
		}),
		killed("after it received updates", func(random *rand.Rand, kill func()) hooks {
			after := time.Duration(random.IntN(8000)) * time.Microsecond
			return hooks{received: func() { time.AfterFunc(after, kill) }}
		}),
	}
}
