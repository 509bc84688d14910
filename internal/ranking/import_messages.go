package ranking

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"elobot/internal/transfer"
)

// ChatOptions returns how to read the export of a chat into the group. people says who names are,
// as in ImportFile.
func (i *Importer) ChatOptions(people map[string]string) transfer.ChatOptions {
	o := transfer.ChatOptions{
		Options: transfer.Options{Zone: i.snap.Display.Zone()}, Group: int64(i.snap.Chat.ID),
		Topics: make(map[int64]string), Accounts: make(map[string]int64),
	}
	for _, l := range i.snap.Ladders {
		if l.Name != "" {
			o.Ladders = append(o.Ladders, l.Name)
		}
		for _, topic := range l.Topics {
			o.Topics[topic] = l.Name
		}
	}
	for name, who := range people {
		o.Accounts[name], _ = strconv.ParseInt(who, 10, 64) // 0 unless it is an id
		for _, k := range i.snap.Everybody {
			if p := k.person(); p.ID != 0 && p.Username != "" && strings.EqualFold("@"+p.Username, who) {
				o.Accounts[name] = int64(p.ID)
			}
		}
	}
	return o
}

// ImportPart is the part of a file that is about one ladder.
type ImportPart struct {
	*Importer
	ImportFile
	Ladder string // its name
}

// ByLadder divides a file by ladder. If a ladder was named, the rows of all others are left out.
// Otherwise missing has the names of ladders that the group does not have in use. The first part
// also has what belongs to no ladder.
func (i *Importer) ByLadder(f ImportFile) (parts []ImportPart, missing []string) {
	rows := f.Rows
	f.Rows = nil
	find := func(name string) *GroupLadder {
		if name != "" {
			return findLadder(i.snap.Ladders, name)
		}
		return ladderThat(i.snap.Ladders, func(l GroupLadder) bool { return l.Default })
	}
	for _, r := range rows {
		l := find(r.Ladder)
		isThere := l != nil && !l.Archived
		switch at := slices.IndexFunc(parts, func(p ImportPart) bool { return isThere && p.query.Ladder == l.ID }); {
		case i.named && (!isThere || l.ID != i.query.Ladder):
			f.LeftOut = append(f.LeftOut, transfer.Fault{
				Line: r.Line, Message: true, Reason: transfer.OtherLadder, Value: r.Ladder,
			})
		case !isThere && !slices.Contains(missing, r.Ladder):
			missing = append(missing, r.Ladder)
		case !isThere:
		case at >= 0:
			parts[at].Rows = append(parts[at].Rows, r)
		default:
			into := *i
			into.query.Ladder = l.ID
			part := ImportPart{&into, f, l.Name}
			part.Rows, part.Refused, part.LeftOut = []transfer.Row{r}, nil, nil
			parts = append(parts, part)
		}
	}
	if len(parts) == 0 {
		parts = []ImportPart{{Importer: i, ImportFile: f}}
	}
	parts[0].Refused, parts[0].LeftOut = f.Refused, f.LeftOut
	return parts, missing
}

// Add adds the report of another part of the file, but for its new players, whom the parts may have
// in common.
func (r *ImportReport) Add(o ImportReport) {
	for _, p := range o.Unknown {
		if !slices.ContainsFunc(r.Unknown, func(known transfer.Person) bool { return known.Name == p.Name }) {
			r.Unknown = append(r.Unknown, p)
		}
	}
	for _, f := range o.Faults {
		if !slices.Contains(r.Faults, f) {
			r.Faults = append(r.Faults, f)
		}
	}
	r.Refused, r.Closed = append(r.Refused, o.Refused...), append(r.Closed, o.Closed...)
	r.NotAgain = append(r.NotAgain, o.NotAgain...)
	for to, from := range map[*[]int][]int{&r.Away: o.Away, &r.Known: o.Known, &r.Equal: o.Equal, &r.Same: o.Same} {
		*to = append(*to, from...)
		slices.Sort(*to)
	}
	r.New, r.Later, r.Seasons = r.New+o.New, r.Later+o.Later, r.Seasons+o.Seasons
}

// readResults reads a file of results, or the export of a chat. people says who names are.
func (o importOperation) readResults(
	snap *Snapshot, content []byte, people map[string]string,
) (transfer.File, error) {
	if !transfer.IsChats(content) {
		return transfer.Read(bytes.NewReader(content), transfer.Options{
			Dates: o.request.Dates, OrderByRow: o.request.OrderByRow, Zone: snap.Display.Zone(), Now: o.origin.SentAt,
		})
	}
	importer := Importer{snap: snap, query: Query{Ladder: snap.Ladder.ID}, named: true}
	chat := importer.ChatOptions(people)
	chat.Bots, chat.BotID, chat.Commands = o.chats.Bots, o.chats.BotID, o.chats.Commands
	chat.Chat, chat.HasZone, chat.Now = fmt.Sprint(snap.Chat.ID), o.request.Zone, o.origin.SentAt
	f, err := transfer.ReadChat(bytes.NewReader(content), chat)
	if err == nil && f.Ask == transfer.AskChat {
		err = transfer.Fault{Reason: transfer.NoSuchChat}
	}
	parts, _ := importer.ByLadder(ImportFile{File: f})
	return parts[0].File, err
}
