package ranking

import (
	"context"
	"fmt"
	"time"

	"elobot/internal/notice"
)

// LongTimer is the prefix of the keys of timers that do what takes too long for the turn of a
// command: an import or its undo that calculates many later matches again. They are due at once.
const LongTimer = "t:long:"

// longPatience is how long such a timer is tried again. It is limited because the action may be
// what ends the process every time, by its need of memory.
const longPatience = time.Hour

// Recalculating says that a timer carries out an import or its undo. It replaces the message with
// the pressed button, and the result replaces it.
type Recalculating struct {
	Later int `json:"later"` // number of later matches
}

var _ = notice.Register[Recalculating](notice.Kind{Name: "recalculating", Purpose: notice.Outcome})

// longOperation returns what a timer with a LongTimer does, nil if this release does not know it.
func longOperation(t Timer) Operation {
	var i longImport
	var u longUndo
	_, _ = fmt.Sscanf(t.Key, importTimer, &i.prompt)
	_, _ = fmt.Sscanf(t.Key, undoTimer, &u.number, &u.chat, &u.message, &u.tag)
	var long Operation
	switch t.Key {
	case i.timer():
		long = i
	case u.timer():
		long = u
	default:
		return nil
	}
	if time.Since(t.DueAt) > longPatience {
		return givenUp{long}
	}
	return long
}

// The keys of timers, as formats.
const (
	importTimer = LongTimer + "import:%d"
	undoTimer   = LongTimer + "undo:%d:%d:%d:%s"
)

// perhapsLong gives the call a job. A timer does it without the group's lock for the most part.
func (c *call) perhapsLong(j job) *call {
	if c.Trigger == ByTimer {
		j.silent, j.keyless, j.knownChatOnly, j.staged = true, true, true, true
	}
	return c.with(j)
}

// longImport carries out the import that a prompt has begun.
type longImport struct{ prompt PromptID }

func (l longImport) timer() string { return fmt.Sprintf(importTimer, l.prompt) }

func (l longImport) plan(s *Service, c *call) *call {
	if c.found == nil {
		return c.finding(findPrompt{ref: PromptRef{ID: l.prompt}})
	}
	p := c.found.prompt
	if p == nil || p.Closed {
		return c.perhapsLong(job{name: "import", locks: true, operation: expiredPrompt{id: l.prompt}})
	}
	op := importOperation{prompt: p, ref: PromptRef{ID: p.ID, Tag: p.tag()}, request: *p.Import}
	if c.Pressed = p.Message; p.Message != 0 {
		op.option = ImportLong
	}
	return s.importing(c, op)
}

// longUndo takes an import back.
type longUndo struct {
	number  int
	chat    ExternalChatID // the chat with the message, which may have another id now
	message int64          // the message with the pressed button
	tag     MatchTag
}

func (l longUndo) timer() string { return fmt.Sprintf(undoTimer, l.number, l.chat, l.message, l.tag) }

func (l longUndo) plan(s *Service, c *call) *call {
	if l.chat == c.Chat.ID {
		c.Pressed = l.message
	}
	return TakeBackImport{Import: l.number, Tag: l.tag, Step: UndoSure}.plan(s, c)
}

// givenUp only says that something was not done.
type givenUp struct{ Operation }

func (g givenUp) plan(s *Service, c *call) *call {
	if c = g.Operation.plan(s, c); c.finds { // the message in which to say it
		return c
	}
	return c.perhapsLong(job{name: "give up", locks: true, operation: answer{notice: Refusal{Code: TooManyAtOnce}}})
}

// applyStaged is like store.Apply, but an import or its undo is staged. snap is what the changes
// were decided on, with the group locked.
func (s *Service) applyStaged(ctx context.Context, store Locked, q Query, snap *Snapshot, c Changes) error {
	switch e := c.Effect.(type) {
	case *NewImport:
		return snap.Planned.stage(ctx, s.store, q, c)
	case *UndoneImport:
		if len(e.Matches) > 0 {
			store.Release(ctx)
			return stageUndo(ctx, s.store, q, c)
		}
	}
	return store.Apply(ctx, c)
}
