package updates

import "encoding/json"

// Lane identifies updates that the webhook gets one at a time and in order.
type Lane struct {
	kind laneKind
	id   int64
}

type laneKind int

const (
	chatLane   laneKind = iota // the updates of one chat
	pressLane                  // the button presses of one user
	singleLane                 // one update that belongs to no chat and no user
)

// LaneOfChat returns the lane of a chat's updates.
func LaneOfChat(chat int64) Lane { return Lane{chatLane, chat} }

// LaneOfPresses returns the lane of a user's button presses.
func LaneOfPresses(user int64) Lane { return Lane{pressLane, user} }

// LaneOfRaw returns the lane of an update that a test wrote itself.
func LaneOfRaw(id int64, raw json.RawMessage) Lane {
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) != nil {
		return Lane{singleLane, id}
	}
	for kind, body := range fields {
		var of struct{ Chat, From struct{ ID int64 } }
		switch {
		case json.Unmarshal(body, &of) != nil:
		case kind == "callback_query" && of.From.ID != 0:
			return LaneOfPresses(of.From.ID)
		case of.Chat.ID != 0:
			return LaneOfChat(of.Chat.ID)
		}
	}
	return Lane{singleLane, id}
}

// Chat returns the id of the chat whose lane it is, 0 for other lanes.
func (l Lane) Chat() int64 {
	if l.kind == chatLane {
		return l.id
	}
	return 0
}
