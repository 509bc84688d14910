package postgres

import (
	"strconv"
	"strings"

	"elobot/internal/outbox"
)

// maxPayload is how many bytes PostgreSQL accepts in a notification.
const maxPayload = 7999

// What follows the chat id of a lane in a list. Lanes of messages have no mark.
const (
	answersMark = "t"
	pagesMark   = "p"
	boardsMark  = "b"
)

// laneLists formats lanes as lists such as "12,13,14t,14p,14b": chat ids, with a mark for lanes other than those of messages.
// No list is longer than maxPayload.
func laneLists(lanes []outbox.Lane) []string {
	var lists []string
	var list []byte
	for _, l := range lanes {
		entry := strconv.AppendInt(nil, int64(l.Chat), 10)
		switch l.Kind {
		case outbox.CallbackAnswers:
			entry = append(entry, answersMark...)
		case outbox.Pages:
			entry = append(entry, pagesMark...)
		case outbox.Boards:
			entry = append(entry, boardsMark...)
		}
		if len(list)+len(",")+len(entry) > maxPayload {
			lists = append(lists, string(list))
			list = list[:0]
		}
		if len(list) > 0 {
			list = append(list, ',')
		}
		list = append(list, entry...)
	}
	if len(list) > 0 {
		lists = append(lists, string(list))
	}
	return lists
}

// readLanes parses what laneLists has written. It skips entries that it does not understand.
func readLanes(list string) []outbox.Lane {
	var lanes []outbox.Lane
	for entry := range strings.SplitSeq(list, ",") {
		chat, kind := entry, outbox.Messages
		if before, ok := strings.CutSuffix(entry, answersMark); ok {
			chat, kind = before, outbox.CallbackAnswers
		} else if before, ok := strings.CutSuffix(entry, pagesMark); ok {
			chat, kind = before, outbox.Pages
		} else if before, ok := strings.CutSuffix(entry, boardsMark); ok {
			chat, kind = before, outbox.Boards
		}
		if id, err := strconv.ParseInt(chat, 10, 64); err == nil && id > 0 {
			lanes = append(lanes, outbox.Lane{Chat: outbox.ChatID(id), Kind: kind})
		}
	}
	return lanes
}
