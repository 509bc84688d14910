package intake

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"

	"time"
)

// logbook is a slog.Handler that keeps all entries. It ignores WithAttrs and WithGroup.
type logbook struct {
	mu      sync.Mutex
	entries []entry
}

type entry struct {
	at   time.Time
	text string // level, message and attributes
}

func (*logbook) Enabled(context.Context, slog.Level) bool { return true }
func (l *logbook) WithAttrs([]slog.Attr) slog.Handler     { return l }
func (l *logbook) WithGroup(string) slog.Handler          { return l }

func (l *logbook) Handle(_ context.Context, r slog.Record) error {
	text := r.Level.String() + " " + r.Message
	r.Attrs(func(a slog.Attr) bool { text += fmt.Sprintf(" %s=%v", a.Key, a.Value); return true })
	l.mu.Lock()
	defer l.mu.Unlock()
	l.entries = append(l.entries, entry{r.Time, text})
	return nil
}

// with returns the entries that contain the text.
func (l *logbook) with(text string) []entry {
	l.mu.Lock()
	defer l.mu.Unlock()
	var found []entry
	for _, e := range l.entries {
		if strings.Contains(e.text, text) {
			found = append(found, e)
		}
	}
	return found
}
