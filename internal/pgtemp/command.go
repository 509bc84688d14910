package pgtemp

import (
	"context"
	"strings"
	"time"
)

// lastLines returns the last four lines of a program's output, joined into one line for an error.
func lastLines(output string) string {
	lines := strings.FieldsFunc(output, func(r rune) bool { return r == '\n' || r == '\r' })
	return strings.Join(lines[max(0, len(lines)-4):], " / ")
}

// pollUntil calls done every 10 ms until it returns true or an error, or ctx ends.
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
