package bot

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"elobot/internal/ladder"
	"elobot/internal/notice"
	"elobot/internal/outbox"
	"elobot/internal/ranking"
)

// outgoing is a rendered message.
type outgoing struct {
	html string
	// table is the message as a table, in the HTML of rich messages. It is empty if the notice has
	// no such form or the chat does not want tables.
	table string
	// line is the short form for a merged message. It is empty if the kind is always sent alone, or
	// if this is the message's only item.
	line string
	// answers means that the message is for one person, whose name need not occur in it.
	answers bool
	// replyTo is the id of the message that this one replies to, 0 for none.
	replyTo int64
	buttons [][]button
	// document makes the document of the message, whose caption is html; nil for none.
	document makeDocument
	// topics lists the topics to try in order if the message's own topic is gone. General is the
	// last resort.
	topics []int64
}

// maxCallbackAnswer is the maximum length of the answer to a button press, both in characters and
// in UTF-16 units: Telegram does not document which it counts.
const maxCallbackAnswer = 200

// callbackAnswer returns the message as the answer to a button press: its first line as plain text.
func (o outgoing) callbackAnswer() string {
	line, _, _ := strings.Cut(o.html, "\n")
	return cut(strings.ReplaceAll(plain(line), joiner, ""), maxCallbackAnswer, maxCallbackAnswer)
}

// errUnknownKind means that this release does not know a kind of notice, which a newer release must
// have introduced.
var errUnknownKind = errors.New("unknown kind of notice")

// view has the functions that render the notices of a type. Only text is required.
type view[N any] struct {
	text func(words, N) string
	// line returns the short form for a merged message; nil if the notice is always sent alone.
	line func(words, N) string
	// table renders the notice as a table, or returns an empty string if the notice has no such
	// form; nil if no notice of the type has one.
	table func(words, N) string
	// buttons returns the rows of buttons below a notice that is sent alone. item is the stored
	// form of the notice.
	buttons func(N, outbox.Item, words) [][]button
	// document returns the function that makes the document sent with the notice; nil if notices of
	// the type have none. Such a notice is always sent alone, and its message is never edited.
	document func(N, words) makeDocument
	// ofLadder means that the text and the line begin with the name of the ladder, if it has one.
	ofLadder bool
	// personal means that the notice is for one person, whose name need not occur in it.
	personal bool
}

// views maps each type of notice, apart from ranking.Acknowledged, to the function that renders it.
var views = map[reflect.Type]func(outbox.Item, words) (outgoing, error){}

// shows registers v as the view of N, and returns v.
func shows[N any](v view[N]) view[N] {
	views[reflect.TypeFor[N]()] = v.render
	return v
}

// render renders the notice of an item in the language of w. The error wraps errUnknownKind if this
// release has no view for the notice.
func render(item outbox.Item, w words) (outgoing, error) {
	show, ok := views[notice.Type(item.Kind)]
	if !ok {
		return outgoing{}, fmt.Errorf("%w %q", errUnknownKind, item.Kind)
	}
	return show(item, w)
}

// inLadder adds a ladder to the data of the message's buttons, as dataInLadder does. A zero ladder
// changes nothing.
func (o outgoing) inLadder(ladder ladder.ID) outgoing {
	if ladder == 0 {
		return o
	}
	for _, row := range o.buttons {
		for i := range row {
			row[i].data = dataInLadder(row[i].data, ladder)
		}
	}
	return o
}

func (v view[N]) render(item outbox.Item, w words) (outgoing, error) {
	n, in, err := read[N](item)
	if err != nil {
		return outgoing{}, err
	}
	w.ladder = in.Name
	return v.show(n, item, w).inLadder(in.ID), nil
}

// read decodes a notice and fills in the names of its players. It also returns the label of the
// notice's ladder, which is zero if the notice has none. The label is a field of the stored JSON,
// but not of N.
func read[N any](item outbox.Item) (n N, in ranking.LadderLabel, err error) {
	err = json.Unmarshal(item.Payload, &n)
	// Most notices have no label, so they are decoded once.
	if err == nil && bytes.Contains(item.Payload, []byte(`"ladder":`)) {
		err = json.Unmarshal(item.Payload, &struct{ Ladder *ranking.LadderLabel }{&in})
	}
	if err != nil {
		return n, in, fmt.Errorf("read notice of kind %q: %w", item.Kind, err)
	}
	ranking.FillNames(&n, func(player ladder.PlayerID) (name ranking.Name, ok bool) {
		known, ok := item.Names[int64(player)]
		return ranking.Name{Name: known.Name, Mark: known.Mark}, ok
	})
	return n, in, nil
}

func (v view[N]) show(n N, item outbox.Item, w words) outgoing {
	w.nameNameless(&n)
	out := outgoing{html: v.text(w, n), answers: v.personal, replyTo: item.ReplyTo}
	if v.line != nil && !w.single {
		out.line = v.line(w, n)
	}
	if v.ofLadder {
		out.html, out.line = w.inLadder(out.html), w.inLadder(out.line)
	}
	if v.table != nil && w.tables {
		out.table = v.table(w, n)
	}
	if v.document != nil {
		out.document = v.document(n, w)
	}
	if v.buttons != nil {
		out.buttons = usable(v.buttons(n, item, w))
	}
	return out
}
