package botsim

import (
	"fmt"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"elobot/internal/botsim/parameters"
)

// Telegram's limits for documents, in bytes.
const (
	maxSentDocument = 50 << 20 // that a bot sends
	maxDownload     = 20 << 20
)

// fileLifetime is how long a path from getFile is valid. Telegram guarantees at least this.
const fileLifetime = time.Hour

// Document is a file that a person or the bot has sent.
type Document struct {
	FileID  string // set by the server
	Name    string
	MIME    string // empty if unknown
	Content []byte // read-only
}

type wireDocument struct {
	FileID       string `json:"file_id"`
	FileUniqueID string `json:"file_unique_id"`
	FileName     string `json:"file_name,omitempty"`
	MIMEType     string `json:"mime_type,omitempty"`
	FileSize     int    `json:"file_size"`
}

func (d *Document) wire() *wireDocument {
	return &wireDocument{d.FileID, "u" + d.FileID, d.Name, d.MIME, len(d.Content)}
}

// servedFile is a file behind a path from getFile.
type servedFile struct {
	content []byte
	until   time.Time
}

// keep returns a copy of d with a new file id, under which getFile finds it.
func (s *Server) keep(d Document) *Document {
	d.FileID = fmt.Sprintf("BQACAgQAAxkDAAI%06d", len(s.documents)+1)
	s.documents[d.FileID] = &d
	return &d
}

func (s *Server) sendDocument(r *request) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	content, ok := r.files.Find("document", r.params["document"])
	switch {
	case !ok:
		s.complaints.add(r.call.Method + ": the file is missing, and documents that are not uploaded are not simulated")
		return nil, badRequest("wrong file identifier/HTTP URL specified")
	case len(content) == 0:
		return nil, badRequest("file must be non-empty")
	case len(content) > maxSentDocument:
		return nil, &apiError{code: http.StatusRequestEntityTooLarge, description: "Request Entity Too Large"}
	}
	m := &message{}
	explicit, err := s.readCaption(r, m, r.params)
	if err != nil {
		return nil, err
	}
	if m.Buttons, err = readKeyboard(r.params); err != nil {
		return nil, err
	}
	m.Document = s.keep(Document{Name: parameters.FileName(r.params["document"]), Content: content})
	return s.send(r, m, explicit)
}

// readCaption sets the caption of a message that the bot writes, with its entities. p has the
// caption. readCaption returns the entities that the bot marked.
func (s *Server) readCaption(r *request, m *message, p parameters.Values) ([]Entity, error) {
	caption := p["caption"]
	if err := checkUTF8(caption); err != nil {
		return nil, err
	}
	m.HTML, m.ParseMode = caption, p["parse_mode"]
	explicit, err := s.parseMarkup(r.call.Method, p, "caption_entities", m)
	if err != nil {
		return nil, err
	}
	m.Text, explicit = trim(m.Text, explicit)
	if utf8.RuneCountInString(m.Text) > maxCaption {
		return nil, badRequest("message caption is too long")
	}
	m.Entities = withDetected(m.Text, explicit)
	return explicit, nil
}

func (s *Server) getFile(r *request) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	d, ok := s.documents[r.params["file_id"]]
	switch {
	case !ok:
		return nil, badRequest("wrong file_id or the file is temporarily unavailable")
	case len(d.Content) > maxDownload:
		return nil, badRequest("file is too big")
	}
	path := fmt.Sprintf("documents/file_%d.csv", len(s.served)+1)
	s.served[path] = servedFile{d.Content, s.now().Add(fileLifetime)}
	return map[string]any{
		"file_id": d.FileID, "file_unique_id": d.wire().FileUniqueID, "file_size": len(d.Content), "file_path": path,
	}, nil
}

// Download is the name under which the download of a file is recorded in a [Call], as if it were a
// method. A [Fault] may name it too.
const Download = "download"

// fileContent is the result of a download, which is not encoded as JSON.
type fileContent []byte

// routeFile returns the method that serves the file at the path of a request.
func (s *Server) routeFile(path string) method {
	return method{Download, func(s *Server, _ *request) (any, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		f, ok := s.served[path]
		if !ok || s.now().After(f.until) {
			return nil, &apiError{code: http.StatusNotFound, description: "Not Found"}
		}
		return fileContent(f.content), nil
	}}
}

// SendDocument adds a user's message with a document and a caption, and sends its update if the bot
// sees it. If to is not zero, the message replies to it.
func (c *Chat) SendDocument(from User, to Message, d Document, caption string) Message {
	return c.Post(Post{From: from, Text: caption, Document: &d, ReplyTo: to.ID, ThreadID: to.ThreadID})
}

// mayDocument reports whether the bot may send documents to the chat.
func (c *Chat) mayDocument() bool {
	return c.kind == kindPrivate || c.isAdmin(c.s.bot.ID) || !c.noDocuments
}

// AllowDocuments sets whether members of a group may send documents. Admins always may. The bot
// gets no update.
func (c *Chat) AllowDocuments(allowed bool) {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	c.noDocuments = !allowed
}

// isHidden reports whether privacy mode hides a message from the bot. The bot sees service
// messages, replies to its own messages, and commands, unless a command names another bot. If the
// bot is an admin, it sees all messages. Telegram shows a command that names no bot only if the bot
// was the last bot to write in the group, which is not simulated.
func (c *Chat) isHidden(m *message) bool {
	if !c.s.opts.privacy || c.kind == kindPrivate || c.isAdmin(c.s.bot.ID) || m.Service != "" {
		return false
	}
	if to, ok := c.byID[m.ReplyTo]; ok && to.From.ID == c.s.bot.ID {
		return false
	}
	for _, e := range m.Entities {
		_, bot, named := strings.Cut(m.EntityText(e), "@")
		if e.Type == "bot_command" && (!named || strings.EqualFold(bot, c.s.bot.Username)) {
			return false
		}
	}
	return true
}
