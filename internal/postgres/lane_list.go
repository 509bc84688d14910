package postgres

import (
	"strconv"
	"strings"

	"elobot/internal/outbox"
)

// maxPayload is how many bytes PostgreSQL takes in a notification.
const maxPayload = 7999

// laneLists writes lanes as lists such as "12,13,14t": the chats, with a t for the answers to buttons. None is longer than
// maxPayload.
func laneLists(lanes []outbox.Lane) []string {
	var lists []string
	var list []byte
	for _, l := range lanes {
		one := strconv.AppendInt(nil, int64(l.Chat), 10)
		if l.CallbackAnswers {
			one = append(one, 't')
		}
		if len(list)+len(",")+len(one) > maxPayload {
			lists = append(lists, string(list))
			list = list[:0]
		}
		if len(list) > 0 {
			list = append(list, ',')
		}
		list = append(list, one...)
	}
	if len(list) > 0 {
		lists = append(lists, string(list))
	}
	return lists
}

// readLanes reads what laneLists has written. What it does not understand it leaves out.
func readLanes(list string) []outbox.Lane {
	var lanes []outbox.Lane
	for one := range strings.SplitSeq(list, ",") {
		chat, toasts := strings.CutSuffix(one, "t")
		if id, err := strconv.ParseInt(chat, 10, 64); err == nil && id > 0 {
			lanes = append(lanes, outbox.Lane{Chat: outbox.ChatID(id), CallbackAnswers: toasts})
		}
	}
	return lanes
}
