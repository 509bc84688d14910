package outbox

import (
	"context"
	"log/slog"
	"slices"
	"sync"
)

// logbook is a slog.Handler that keeps all records, and ignores WithGroup.
type logbook struct {
	mu      *sync.Mutex
	entries *[]logged
	attrs   []slog.Attr
}

// logged is a log record.
type logged struct {
	level   slog.Level
	message string
	attrs   map[string]slog.Value
}

func newLogbook() *logbook { return &logbook{mu: new(sync.Mutex), entries: new([]logged)} }

func (b *logbook) Enabled(context.Context, slog.Level) bool { return true }

func (b *logbook) Handle(_ context.Context, r slog.Record) error {
	l := logged{level: r.Level, message: r.Message, attrs: make(map[string]slog.Value)}
	l.add(b.attrs...)
	r.Attrs(func(a slog.Attr) bool {
		l.add(a)
		return true
	})
	b.mu.Lock()
	defer b.mu.Unlock()
	*b.entries = append(*b.entries, l)
	return nil
}

// add adds attributes. It inlines groups without a name, as slog requires of a handler.
func (l logged) add(attrs ...slog.Attr) {
	for _, a := range attrs {
		if a.Key == "" && a.Value.Kind() == slog.KindGroup {
			l.add(a.Value.Group()...)
		} else {
			l.attrs[a.Key] = a.Value
		}
	}
}

func (b *logbook) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &logbook{mu: b.mu, entries: b.entries, attrs: slices.Concat(b.attrs, attrs)}
}

func (b *logbook) WithGroup(string) slog.Handler { return b }

func (b *logbook) all() []logged {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(*b.entries)
}

// lines returns the records with the given message.
func (b *logbook) lines(message string) []logged {
	b.mu.Lock()
	defer b.mu.Unlock()
	var lines []logged
	for _, l := range *b.entries {
		if l.message == message {
			lines = append(lines, l)
		}
	}
	return lines
}

// countFrom returns the number of records at or above a level.
func (b *logbook) countFrom(level slog.Level) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := 0
	for _, l := range *b.entries {
		if l.level >= level {
			n++
		}
	}
	return n
}
