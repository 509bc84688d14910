package bot

import (
	"context"
	"encoding/json"
	"log/slog"
	"runtime/debug"
	"strings"
	"time"

	"elobot/internal/command"
	"elobot/internal/intake"
	"elobot/internal/ranking"
	"elobot/internal/telegram"
)

// Letters keeps dead letters, some of them with a word to whom they have failed.
type Letters interface {
	intake.DeadLetters
	// KeepAndTell is Keep, and tells the notice where the update came from, both or nothing. Of an update that dies again
	// nothing is told again.
	SaveAndNotify(ctx context.Context, letter intake.DeadLetter, o ranking.Origin, n ranking.Notice) error
}

// Undertaker is the bot's intake.DeadLetters: it keeps the updates that could not be handled, and if one was somebody's
// command for the bot, it has them told that it was not done.
type DeadLetterHandler struct {
	letters     Letters
	self        telegram.Self
	unavailable func(error) bool
	now         func() time.Time
	log         *slog.Logger
}

var _ intake.DeadLetters = (*DeadLetterHandler)(nil)

// NewUndertaker returns an undertaker for the bot with this account. unavailable tells the errors of the letters that say
// nothing against what was to be kept: the database is away, say. now is Telegram's clock, which says when a button was pressed.
func NewDeadLetterHandler(letters Letters, self telegram.Self, unavailable func(error) bool, now func() time.Time, log *slog.Logger) *DeadLetterHandler {
	return &DeadLetterHandler{letters: letters, self: self, unavailable: unavailable, now: now, log: log}
}

// Keep implements intake.DeadLetters. A letter that cannot be told of is kept all the same.
func (t *DeadLetterHandler) Keep(ctx context.Context, letter intake.DeadLetter) error {
	if letter.Silent {
		return t.letters.Keep(ctx, letter)
	}
	o, notice, name, ok := t.recipientOf(ctx, letter)
	if !ok {
		return t.letters.Keep(ctx, letter)
	}
	err := t.letters.SaveAndNotify(ctx, letter, o, notice)
	if err != nil && ctx.Err() == nil && !t.unavailable(err) {
		t.log.ErrorContext(ctx, "cannot tell of a dead letter, keeping it alone", "update_id", letter.Update.ID, "error", err)
		err = t.letters.Keep(ctx, letter)
	}
	if err == nil {
		ranking.CommandLog{Update: letter.Update.ID, Command: name}.
			Done(ctx, t.log, o, ranking.OutcomeDeadLetter, time.Since(letter.FirstSeen))
	}
	return err
}

// whom is mourner for updates that cannot be read without harm: it is they that end here.
func (t *DeadLetterHandler) recipientOf(ctx context.Context, letter intake.DeadLetter) (o ranking.Origin, n CommandFailed, name string, ok bool) {
	defer func() {
		if p := recover(); p != nil {
			t.log.ErrorContext(ctx, "cannot find out whose command has died", "update_id", letter.Update.ID, "stack", string(debug.Stack()))
			ok = false
		}
	}()
	return t.recipient(letter)
}

// mourner finds out whose command an update was, what they are to be told, and the name of the command for the log. ok is false if it was nobody's, or if too
// little of it can be read.
func (t *DeadLetterHandler) recipient(letter intake.DeadLetter) (o ranking.Origin, n CommandFailed, name string, ok bool) {
	var u update
	err := json.Unmarshal(letter.Update.Raw, &u) // what does not fit is left out, and all else is read
	switch {
	case u.CallbackQuery != nil:
		o, ok = u.CallbackQuery.origin(t.now())
		name = u.CallbackQuery.command()
	case u.Message != nil:
		o, n.Command, name, ok = t.commandOrigin(u.Message, err != nil)
		if u.Message.Date <= 0 {
			o.SentAt = t.now()
		}
	}
	switch o.Chat.Kind {
	case ranking.Private, ranking.Group, ranking.Supergroup:
		return o, n, name, ok && o.Chat.ID != 0
	default:
		return o, n, name, false
	}
}

// commander returns where a command came from, how it was written, and its name. Of a damaged message the text alone has to say
// whether it is a command.
func (t *DeadLetterHandler) commandOrigin(m *message, damaged bool) (o ranking.Origin, text, name string, ok bool) {
	if !m.isFromPerson() {
		return o, "", "", false
	}
	c, ok := command.Parse(m.Text, m.commandEntities(), t.self.Username)
	if !ok && damaged {
		head := command.Entity{Kind: command.KindBotCommand, Length: headLength(m.Text)}
		c, ok = command.Parse(m.Text, []command.Entity{head}, t.self.Username)
	}
	o = m.origin()
	if o.Sender != nil && o.Sender.ID == 0 { // whoever it was cannot be read
		o.Sender = nil
	}
	meant := !o.Chat.IsGroup() || c.Addressed || isKnown(c.Name)
	return o, cleanName(m.Text), loggedName(c.Name), ok && meant
}

// headLength returns how long the command is that a text begins with, the bot's name included.
func headLength(text string) int {
	isEnd := func(r rune) bool { return strings.ContainsRune(" \t\r\n\u00a0", r) }
	if i := strings.IndexFunc(text, isEnd); i >= 0 {
		return i
	}
	return len(text)
}
