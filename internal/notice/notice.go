// Package notice registers the kinds of notices. A notice is something that the bot tells a chat.
// It is stored as data, and put into words when it is sent.
package notice

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"time"
)

// Notice is a value of a registered type. It is stored as JSON until it is sent. Releases may add
// fields, but must not change a field's name or meaning.
type Notice any

// Purpose is the reason to send a notice.
type Purpose string

const (
	Outcome      Purpose = "outcome"      // the effect of a command, or why it had none
	Answer       Purpose = "answer"       // a reply that the sender can ask for again, such as a ranking
	Notification Purpose = "notification" // not the answer to a command
)

// Lifetime returns how long a notice is worth sending: 10 minutes for an Answer, and 24 hours for
// all other notices. The latter is also how long Telegram keeps an update that the bot has not
// fetched.
func (p Purpose) Lifetime() time.Duration {
	if p == Answer {
		return 10 * time.Minute
	}
	return 24 * time.Hour
}

// Kind describes all notices of a type.
type Kind struct {
	Name    string  // as stored with the notice
	Purpose Purpose // KindOf returns Answer instead if Fleeting returns true
	// Alone means that the notice is always sent as a separate message, because it has buttons or
	// needs more than one line. Other notices that wait in the same chat may be merged into one
	// message.
	Alone   bool
	Refuses bool // the notice is a refusal: it says why a command changed nothing
}

// Fleeting is implemented by a type of notice if some of its notices expire as fast as an Answer,
// whatever the Purpose of the kind. The method Fleeting reports whether a notice is one of these.
type Fleeting interface{ Fleeting() bool }

var (
	kinds = map[reflect.Type]Kind{}
	types = map[string]reflect.Type{} // by Kind.Name
)

// Register registers N as a type of notice of the kind k, and returns k. It must be called during
// package initialization. It panics if the type or the name is already registered.
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

// KindOf returns the kind of a notice. If the notice has a Fleeting method that returns true, the
// Purpose is Answer. KindOf panics if the type is not registered.
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

// Type returns the type of notice registered under the name kind, or nil if there is none.
func Type(kind string) reflect.Type { return types[kind] }

// Names returns the names of all registered kinds, in no particular order.
func Names() []string { return slices.Collect(maps.Keys(types)) }
