package bot

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"elobot/internal/notice"
	"elobot/internal/outbox"
	"elobot/internal/telegram"
)

// maxDocument is Telegram's limit for a document that a bot sends, in bytes.
const maxDocument = 50_000_000

var errDocumentTooLarge = errors.New("the document is too large")

// makeDocument writes the content of a document to into, and returns the name of its file. It runs
// each time when the document is sent, so it must not change anything.
type makeDocument func(ctx context.Context, s *Sender, into io.Writer) (name string, err error)

// sendDocument sends a new message with a document. The text is its caption. The document is made
// when it is sent, and is never stored. If it is too large, or the chat refuses documents,
// sendDocument sends a text instead. Only one document is in memory at a time.
func (s *Sender) sendDocument(ctx context.Context, d draft) (outbox.Receipt, error) {
	// Meanwhile the message occupies a send slot that other chats may need.
	waiting, cancel := context.WithTimeout(ctx, viewTimeout)
	defer cancel()
	if err := s.documents.Acquire(waiting, 1); err != nil {
		err = fmt.Errorf("wait for other documents: %w", err)
		return outbox.Receipt{}, &outbox.Failure{Kind: outbox.Unreachable, Err: err}
	}
	defer s.documents.Release(1)
	w := s.words(d.message)
	file, err := s.document(ctx, d.out.document)
	d.instead = &outgoing{html: w.noDocument(NoDocument{}), replyTo: d.out.replyTo}
	switch {
	case errors.Is(err, errDocumentTooLarge):
		d.out = outgoing{html: w.noDocument(NoDocument{TooLarge: true}), replyTo: d.out.replyTo}
	case err != nil:
		return outbox.Receipt{}, err
	default:
		d.files = []telegram.File{file}
	}
	return s.deliver(ctx, d)
}

// document makes a document. If its content cannot be read, the error is an [outbox.Failure] of the
// kind Unreachable, so the outbox sends the message again later.
func (s *Sender) document(ctx context.Context, write makeDocument) (file telegram.File, err error) {
	defer func() {
		// A panic would recur and block the chat's lane.
		if p := recover(); p != nil {
			err = telegram.Rejected(fmt.Errorf("making a document panicked: %v", p))
		}
	}()
	var content bounded
	name, err := write(ctx, s, &content)
	switch {
	case content.over:
		return file, errDocumentTooLarge
	case err != nil:
		return file, &outbox.Failure{Kind: outbox.Unreachable, Err: fmt.Errorf("make a document: %w", err)}
	}
	return telegram.File{Field: fieldDocument, Name: name, Content: content.Bytes()}, nil
}

// NoDocument replaces a document that is too large, or that the bot may not send to the chat. It
// exists only while the message is being sent, and is never stored.
type NoDocument struct {
	TooLarge bool `json:"too_large,omitempty"`
}

var _ = notice.Register[NoDocument](notice.Kind{Name: "no_document", Purpose: notice.Answer})

var _ = shows(view[NoDocument]{text: words.noDocument, line: words.noDocument})

func (w words) noDocument(n NoDocument) string {
	if n.TooLarge {
		return w.Text("document.too_large", nil)
	}
	return w.Text("document.refused", nil)
}

// bounded is a buffer for at most maxDocument bytes.
type bounded struct {
	bytes.Buffer
	over bool // more was written
}

// Write implements io.Writer.
func (b *bounded) Write(p []byte) (int, error) {
	if b.over = b.over || b.Len()+len(p) > maxDocument; b.over {
		return 0, errDocumentTooLarge
	}
	return b.Buffer.Write(p)
}
