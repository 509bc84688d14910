package intake

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestFailuresInTurns checks that the waits between attempts double separately after outages and
// locks, and after the update's own failures. Only the time of its own failures counts toward
// giving up.
func TestFailuresInTurns(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		attempts string // the outcome of each attempt, see outcome; the last one repeats
		letters  string // the outcome of each attempt to store the dead letter
		careful  bool
		want     string // times in milliseconds: of attempts, of storing (letter), and of the next update (end)
	}{
		"an outage": {
			attempts: "aaaaaaa.",
			want:     "0 100 300 700 1500 2500 3500 4500 end 4500",
		},
		"locks in an outage": {
			attempts: "abbaaba.",
			want:     "0 100 300 700 1500 2500 3500 4500 end 4500",
		},
		"in turns, handled": {
			attempts: "aoboaobo.",
			want:     "0 100 200 400 600 1000 1400 2200 3000 end 3000",
		},
		"in turns, given up": {
			attempts: "oaobooaabo", letters: ".",
			want: "0 100 200 400 600 1000 1800 2200 3000 4000 5000 6000 7000 letter 7000 end 7000 given up after " +
				"13: this update fails",
		},
		"slow, in turns": {
			attempts: "OaObObaaO", letters: ".",
			want: "0 2100 2200 4400 4600 7000 7400 8200 9200 letter 11200 end 11200 given up after 9: this update fails",
		},
		"hangs, in turns": {
			attempts: "oAoBoAh", letters: ".",
			want: "0 100 9100 9300 18300 18700 27700 letter 27700 end 27700 given up after 7: this update always fails",
		},
		"hangs after a slow failure, each but the first for the whole time": {
			attempts: "OABA.",
			want:     "0 2100 9100 18300 27700 end 27700",
		},
		"a long outage between": {
			attempts: "oooaaaaaaaaaaaaoooo", letters: ".",
			want: "0 100 300 700 800 1000 1400 2200 3200 4200 5200 6200 7200 8200 9200 10200 11000 12000 13000 " +
				"14000 letter 14000 end 14000 given up after 20: this update fails",
		},
		"hopeless after an outage": {
			attempts: "aabh", letters: ".",
			want: "0 100 300 700 letter 700 end 700 given up after 4: this update always fails",
		},
		"letters away": {
			attempts: "aaoabh", letters: "aoba.",
			want: "0 100 300 400 800 1600 letter 1600 letter 2600 letter 3600 letter 4600 letter 5600 end 5600 " +
				"given up after 6: this update always fails",
		},
		"letters away, own failures": {
			attempts: "o", letters: "aaaaaa.",
			want: "0 100 300 700 1500 2500 3500 4500 letter 4500 letter 4600 letter 4800 letter 5200 letter 6000 " +
				"letter 7000 letter 8000 end 8000 given up after 8: this update fails",
		},
		"letters hang": {
			attempts: "aah", letters: "AB.",
			want: "0 100 300 letter 300 letter 3700 letter 7500 end 7500 given up after 3: this update always fails",
		},
		"careful, in turns": {
			attempts: "aoboaObBo.", careful: true,
			want: "0 100 200 400 600 1000 3400 4200 14200 15000 end 15000",
		},
		"careful, in turns, given up": {
			attempts: "oaobOaObo", letters: "ab.", careful: true,
			want: "0 100 200 400 600 3000 3400 letter 5400 letter 6200 letter 7200 end 7200 given up after 7: " +
				"this update fails",
		},
	}
	for name, c := range cases {
		inBubble(t, name, func(t *testing.T) {
			b := newBot(t)
			begun := time.Now()
			var did []string
			try := func(ctx context.Context, what, outcomes string, n int) error {
				did = append(did, fmt.Sprint(what, time.Since(begun).Milliseconds()))
				return outcome(ctx, outcomes[min(n, len(outcomes)-1)])
			}
			saves := 0
			b.onKeep = func(ctx context.Context) error {
				saves++
				return try(ctx, "letter ", c.letters, saves-1)
			}
			b.answer = func(ctx context.Context, u Update) error {
				if u.ID == 1 {
					return try(ctx, "", c.attempts, len(b.tries(1))-1)
				}
				did = append(did, fmt.Sprint("end ", time.Since(begun).Milliseconds()))
				return nil
			}
			if c.careful {
				b.worker.BeCareful("the test wants it")
			}
			b.come(Update{ID: 1, Lane: 1}, Update{ID: 2, Lane: 1})
			b.start()
			after(t, 2*time.Minute)
			for _, letter := range b.kept() {
				did = append(did, fmt.Sprintf("given up after %d: %s", letter.Attempts, letter.LastError))
			}
			equal(t, strings.Join(did, " "), c.want, "what happened")
			b.checkConfirmed()
		})
	}
}

// outcome returns the error that a letter stands for: errAway (a), errBusy (b), errOwn (o) or
// errHopeless (h). A and B first hang until the context ends, and O first takes two seconds. Any
// other letter means success.
func outcome(ctx context.Context, letter byte) error {
	switch letter {
	case 'a':
		return errAway
	case 'A':
		return errors.Join(errAway, hang(ctx))
	case 'b':
		return errBusy
	case 'B':
		return errors.Join(errBusy, hang(ctx))
	case 'o':
		return errOwn
	case 'O':
		return errors.Join(errOwn, pass(ctx, 2*time.Second))
	case 'h':
		return errHopeless
	default:
		return nil
	}
}
