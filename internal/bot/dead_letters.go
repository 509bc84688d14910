package bot

import (
	"context"
	"log/slog"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"elobot/internal/command"
	"elobot/internal/intake"
	"elobot/internal/notice"
	"elobot/internal/ranking"
	"elobot/internal/telegram"
)

// Letters stores dead letters, with or without a notice for the sender.
type Letters interface {
	intake.DeadLetters
	// SaveAndNotify stores a dead letter and the notice n for the sender in o, in one transaction.
	// If the same update becomes a dead letter again, there is no second notice.
	SaveAndNotify(ctx context.Context, letter intake.DeadLetter, o ranking.Origin, n notice.Notice) error
}

// DeadLetterHandler is the bot's intake.DeadLetters: it stores updates that could not be handled.
// Unless the dead letter is silent, the handler also notifies the sender, if it can tell that the
// update was a button press, or a command that the bot would have handled.
type DeadLetterHandler struct {
	letters    Letters
	self       telegram.Self
	retryLater func(error) bool
	log        *slog.Logger
}

var _ intake.DeadLetters = (*DeadLetterHandler)(nil)

// NewDeadLetterHandler returns a handler for the bot account self. retryLater reports whether an
// error of letters has a cause other than the dead letter, such as a lock or a database outage.
func NewDeadLetterHandler(
	letters Letters, self telegram.Self, retryLater func(error) bool, log *slog.Logger,
) *DeadLetterHandler {
	return &DeadLetterHandler{letters: letters, self: self, retryLater: retryLater, log: log}
}

// Save implements intake.DeadLetters. If it fails to store the dead letter together with its
// notice, and a retry would not help, it stores the dead letter alone.
func (h *DeadLetterHandler) Save(ctx context.Context, letter intake.DeadLetter) error {
	if letter.Silent {
		return h.letters.Save(ctx, letter)
	}
	o, notice, ok := h.recipient(ctx, letter)
	if !ok {
		return h.letters.Save(ctx, letter)
	}
	err := h.letters.SaveAndNotify(ctx, letter, o, notice)
	if err != nil && ctx.Err() == nil && !h.retryLater(err) {
		h.log.ErrorContext(ctx, "failed to store a dead letter with its notice, storing it alone",
			"update_id", letter.Update.ID, "error", err)
		err = h.letters.Save(ctx, letter)
	}
	if err == nil {
		o.LogOutcome(ctx, h.log, ranking.OutcomeDeadLetter, time.Since(letter.FirstSeen))
	}
	return err
}

// recipient returns the origin of a person's command or button press, and the notice for it. ok is
// false if the update has no command or press, if the command is not for this bot or was edited too
// late, if the chat is neither private nor a group, or if too little is readable. recipient
// recovers from panics, because the fault that made the update a dead letter may occur here too.
func (h *DeadLetterHandler) recipient(
	ctx context.Context, letter intake.DeadLetter,
) (o ranking.Origin, n CommandFailed, ok bool) {
	defer func() {
		if p := recover(); p != nil {
			h.log.ErrorContext(ctx, "failed to find the sender of a dead letter",
				"update_id", letter.Update.ID, "stack", string(debug.Stack()))
			ok = false
		}
	}()
	u := letter.Update.Content.(update)
	switch {
	case u.CallbackQuery != nil:
		o, ok = u.CallbackQuery.origin(letter.Update.SentAt)
	case u.Message != nil:
		o, n.Command, ok = h.commandOrigin(u.Message, u.err != nil)
		if u.Message.Date <= 0 {
			o.SentAt = letter.Update.SentAt
		}
	case u.EditedMessage != nil && u.EditedMessage.isEditInTime():
		o, n.Command, ok = h.commandOrigin(u.EditedMessage, u.err != nil)
		o = u.EditedMessage.asEdit(o)
	}
	o.Update = letter.Update.ID
	known := []ranking.ChatKind{ranking.Private, ranking.Group, ranking.Supergroup}
	return o, n, ok && o.Chat.ID != 0 && slices.Contains(known, o.Chat.Kind)
}

// commandOrigin returns the origin of the command in a message, and the message's text, cleaned and
// possibly cut. ok is false if the message is not from a person or has no command for this bot. A
// damaged message may lack its entities. In that case, the text alone decides.
func (h *DeadLetterHandler) commandOrigin(m *message, damaged bool) (o ranking.Origin, text string, ok bool) {
	if !m.isFromPerson() {
		return o, "", false
	}
	c, ok := m.command(m.commandEntities(), h.self.Username)
	if !ok && damaged {
		head := command.Entity{Kind: command.KindBotCommand, Length: headLength(m.Text)}
		c, ok = m.command([]command.Entity{head}, h.self.Username)
	}
	o = m.origin()
	if o.Sender != nil && o.Sender.ID == 0 { // the sender is unreadable
		o.Sender = nil
	}
	o.Command = loggedName(c.Name)
	_, known := findCommand(c.Name)
	meant := !o.Chat.IsGroup() || c.Addressed || known
	return o, cleanName(m.Text), ok && meant
}

// headLength returns the length in bytes of the command at the beginning of a text, including the
// bot's name.
func headLength(text string) int {
	isBreak := func(r rune) bool { return strings.ContainsRune(" \t\r\n\u00a0", r) }
	return len(text) - len(strings.TrimLeftFunc(text, func(r rune) bool { return !isBreak(r) }))
}

// CommandFailed says that a command or a button press failed because of a fault of the bot.
type CommandFailed struct {
	Command string `json:"command,omitempty"` // as typed, possibly cut; empty for a button press
}

var _ = notice.Register[CommandFailed](notice.Kind{Name: "command_failed", Purpose: notice.Outcome})

var _ = shows(view[CommandFailed]{text: words.commandFailed, line: words.commandFailed, personal: true})

func (w words) commandFailed(n CommandFailed) string {
	if n.Command == "" {
		return w.Text("failed.press", nil)
	}
	return w.Text("failed.command", args{"Command": codeText(n.Command)})
}
