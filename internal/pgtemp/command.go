package pgtemp

import (
	"context"
	"strings"
	"time"
)

// lastLines is the end of what a program has written, in one line, for an error.
func lastLines(output string) string {
	lines := strings.FieldsFunc(output, func(r rune) bool { return r == '\n' || r == '\r' })
	return strings.Join(lines[max(0, len(lines)-4):], " / ")
}

// pollUntil asks done every few milliseconds until it says yes or reports an error, or ctx ends.
func pollUntil(ctx context.Context, done func() (bool, error)) error {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		if ok, err := done(); ok || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick.C:
		}
	}
}
