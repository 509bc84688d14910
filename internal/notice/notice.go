// Package notice registers the kinds of notices. A notice is a fact to notify a chat of, before it
// is put into words.
package notice

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"time"
)

// Notice is a value of a registered type. It is stored as JSON until it is sent. Fields may be
// added, but no field may change its name or meaning.
type Notice any

// Purpose is the reason to send a notice.
type Purpose string

const (
	Outcome      Purpose = "outcome"      // the effect of a command, or why it had none
	Answer       Purpose = "answer"       // the answer to a question, which can be asked again
	Notification Purpose = "notification" // something without a request
)

// Lifetime returns how long after the command a notice is worth sending. It is 24 hours, as long as
// Telegram keeps the command, but only 10 minutes for the answer to a question.
func (p Purpose) Lifetime() time.Duration {
	if p == Answer {
		return 10 * time.Minute
	}
	return 24 * time.Hour
}

// Kind is what all notices of a type have in common.
type Kind struct {
	Name    string  // in the store
	Purpose Purpose // unless the notice itself is Fleeting
	// Alone reports whether the notice is always a message of its own, because it has buttons or
	// needs more than a line. Other notices are merged with those waiting in the same chat.
	Alone   bool
	Refuses bool // the notice says why a command did nothing
}

// Fleeting is a notice that may have only the value of an answer, although others of its kind have
// another purpose.
type Fleeting interface{ Fleeting() bool }

var (
	kinds = map[reflect.Type]Kind{}
	types = map[string]reflect.Type{} // by the names of their kinds
)

// Register registers a type of notices while a package is initialized. It panics if the type or the
// name is registered already.
func Register[N any](k Kind) Kind {
	t := reflect.TypeFor[N]()
	if registered, ok := kinds[t]; ok {
		panic(fmt.Sprintf("%v is registered as %q already", t, registered.Name))
	}
	if other, ok := types[k.Name]; ok {
		panic(fmt.Sprintf("%v is registered as %q already", other, k.Name))
	}
	kinds[t], types[k.Name] = k, t
	return k
}

// KindOf returns the kind of a notice. It panics if the type is not registered.
func KindOf(n Notice) Kind {
	k, ok := kinds[reflect.TypeOf(n)]
	if !ok {
		panic(fmt.Sprintf("%T is no registered notice", n))
	}
	if f, ok := n.(Fleeting); ok && f.Fleeting() {
		k.Purpose = Answer
	}
	return k
}

// Type returns the type of the notices of a kind, nil if no such kind is registered.
func Type(kind string) reflect.Type { return types[kind] }

// Names returns the names of all registered kinds, in no particular order.
func Names() []string { return slices.Collect(maps.Keys(types)) }
