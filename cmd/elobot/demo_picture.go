package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/png"
	"os"
	"strings"
	"time"
	"unicode/utf16"

	"elobot/internal/botsim"
	"elobot/internal/chatpicture"
)

// pictureEnd is when the scene ends in the picture of it.
var pictureEnd = time.Date(2026, time.October, 25, 19, 42, 0, 0, time.UTC)

// phoneOwner is on whose phone the picture shows the chat.
const phoneOwner = "bob"

// writePicture draws the messages of the scene that are meant for it.
func (s *demoGroup) writePicture(ctx context.Context, file string) error {
	board, err := s.awaitBoard(ctx)
	if err != nil {
		return err
	}
	chat := chatpicture.Chat{Title: s.group.Title(), About: fmt.Sprintf("%d members", len(sceneMembers)), Pinned: board.Text}
	for i, m := range s.pictured {
		m, _ = s.group.Message(m.ID) // with what it says now
		shown, err := s.pictureOf(m)
		if err != nil {
			return err
		}
		if i == 0 {
			shown.Day = m.Date.UTC().Format("January 2")
		}
		chat.Messages = append(chat.Messages, shown)
	}
	picture, err := chatpicture.Draw(chat)
	if err != nil {
		return err
	}
	var encoded bytes.Buffer
	encoder := png.Encoder{CompressionLevel: png.BestCompression}
	if err := encoder.Encode(&encoded, picture); err != nil {
		return fmt.Errorf("encode the picture: %w", err)
	}
	if err := os.WriteFile(file, encoded.Bytes(), 0o644); err != nil { //nolint:gosec // for everybody
		return fmt.Errorf("write the picture: %w", err)
	}
	s.paper.aside("\nThe picture is in %s.", file)
	return nil
}

// awaitBoard waits until the board has the same number one as the last ranking, and returns it.
func (s *demoGroup) awaitBoard(ctx context.Context) (board botsim.Message, err error) {
	numberOne := func(text string) string {
		lines := strings.SplitN(text, "\n", 3)
		return lines[min(1, len(lines)-1)]
	}
	want := ""
	for _, m := range s.pictured {
		if m.From.IsBot && strings.Contains(m.Text, "🥇") {
			want = numberOne(m.Text)
		}
	}
	err = s.await(ctx, func(context.Context) (bool, error) {
		pinned := s.group.AllPinned()
		if len(pinned) == 0 {
			return false, nil
		}
		board = pinned[0]
		return numberOne(board.Text) == want, nil
	})
	return board, err
}

// pictureOf returns a message as the picture shows it.
func (s *demoGroup) pictureOf(m botsim.Message) (chatpicture.Message, error) {
	shown := chatpicture.Message{
		From: m.From.FirstName, Own: m.From.ID == s.sim.User(phoneOwner).ID, Time: m.Date.UTC().Format("15:04"), Text: spansOf(m),
	}
	if m.From.IsBot {
		shown.From = botName
	}
	for _, row := range m.Buttons {
		var labels []string
		for _, b := range row {
			labels = append(labels, b.Text)
		}
		shown.Buttons = append(shown.Buttons, labels)
	}
	if m.Photo == nil {
		return shown, nil
	}
	var err error
	if shown.Photo, _, err = image.Decode(bytes.NewReader(m.Photo.Content)); err != nil {
		return shown, errors.Join(errors.New("decode a photo of the scene"), err)
	}
	return shown, nil
}

// spansOf returns the text of a message with its styles.
func spansOf(m botsim.Message) (spans []chatpicture.Span) {
	units := utf16.Encode([]rune(m.Text))
	styles := make([]chatpicture.Style, len(units))
	for _, e := range m.Entities {
		for i := e.Offset; i < min(e.Offset+e.Length, len(units)); i++ {
			addStyle(&styles[i], e.Type)
		}
	}
	for from, i := 0, 1; i <= len(units); i++ {
		if i == len(units) || styles[i] != styles[from] {
			spans = append(spans, chatpicture.Span{Text: string(utf16.Decode(units[from:i])), Style: styles[from]})
			from = i
		}
	}
	return spans
}

// addStyle adds what a kind of entity looks like.
func addStyle(s *chatpicture.Style, entity string) {
	switch entity {
	case "bold":
		s.Bold = true
	case "italic":
		s.Italic = true
	case "code":
		s.Code = true
	case "strikethrough":
		s.Struck = true
	case "bot_command", "mention", "text_mention":
		s.Link = true
	}
}
