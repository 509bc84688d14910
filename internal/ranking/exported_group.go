package ranking

import "elobot/internal/notice"

// ExportedGroup is a notice whose document is the export of a group. The document is made when the
// notice is sent.
type ExportedGroup struct {
	Chat     ExternalChatID `json:"chat"` // of the group
	Title    string         `json:"title"`
	TimeZone string         `json:"time_zone"` // of the date in the name of the document
}

var _ = notice.Register[ExportedGroup](notice.Kind{Name: "exported_group", Purpose: notice.Answer, Alone: true})

// ExportGroup is the press of a button with which an admin asks for the export of the group. The
// export goes to the admin's private chat.
type ExportGroup struct{}

func (ExportGroup) plan(_ *Service, c *call) *call {
	op := exportOperation{adminsOnly{people: senderOf(c.Origin)}, c.Origin}
	return c.with(job{name: "export", bucket: RatePress, ofAdmins: true, ofGroup: true, operation: op})
}

type exportOperation struct {
	adminsOnly
	origin Origin
}

func (o exportOperation) decide(snap *Snapshot) (Decision, need, error) {
	return o.origin.privately(snap, ExportedGroup{
		Chat: o.origin.Chat.ID, Title: o.origin.Chat.Title, TimeZone: snap.Display.TimeZone,
	})
}
