package outbox

import (
	"slices"
	"time"

	"pgregory.net/rapid"

	"elobot/internal/notice"
	"elobot/internal/outbox/queuemodel"
)

// fate is the scripted outcome of one request.
type fate struct {
	class        FailureKind   // empty for success
	lasts        time.Duration // until the answer
	arrives      int           // time of arrival, in percent of lasts, or of SendTimeout if that is shorter
	delivered    bool          // whether it arrives although it is Ambiguous or canceled
	notAttempted bool          // it fails before it is sent
	wait         time.Duration // RetryAfter, for RateLimited
	panics       bool          // for Failed: the sender panics
	newID        int64         // for Migrated
	hangs        time.Duration // how long the sender ignores its cancellation
}

// addition is one item to add to the queue.
type addition struct {
	chat      ChatID
	action    Action
	purpose   notice.Purpose
	thread    int64
	content   string        // for Edit, Ensure and Page
	editIndex int           // Edit: which message, counted back from the last; Page: which message
	deadline  time.Duration // 0 for none
	size      int           // counts against scenario.capacity
	alone     bool          // cannot share a message
	fates     []fate        // of the requests whose first item it is, in order; the last one repeats
}

func (a addition) lane() Lane { return laneOf(a.chat, a.action) }

// eventKind is the kind of an event. Every kind also adds the items of the event, at once unless
// stated otherwise.
type eventKind string

const (
	stop   eventKind = "stop"   // an instance stops cleanly, and restarts later
	kill   eventKind = "kill"   // an instance dies, and restarts later
	freeze eventKind = "freeze" // an instance is suspended for a while and does not notice
	// isolate: an instance cannot renew its lease for a minute. The items are added shortly before
	// the lease ends.
	isolate   eventKind = "isolate"
	outage    eventKind = "outage" // all requests fail for a while
	add       eventKind = "add"    // the items are added at the moment of the event
	unparkAll eventKind = "unpark" // all parked chats are unparked
)

// moment is the point in an instance's work at which an event takes effect.
type moment string

const (
	atOnce       moment = ""
	whenStarted  moment = "started"  // before it loads recent requests; the event also stops the leader
	whenChecked  moment = "checked"  // after it has checked its lease
	whenTaken    moment = "taken"    // after the store has committed, before the answer arrives
	whenBegun    moment = "begun"    // after a request has begun
	whenAnswered moment = "answered" // after a request was answered
)

// event is one step of a scenario.
type event struct {
	after        time.Duration // since the previous event
	adds         []addition
	wake         bool // wake the lanes of the added items
	strayWake    bool // wake other lanes too
	kind         eventKind
	moment       moment
	nth          int  // how many moments of this kind to wait for, including the last
	other        bool // applies to an instance that does not dispatch
	lasts        time.Duration
	beforeExpiry time.Duration // for isolate: adds the items this long before the lease expires
	class        FailureKind   // for outage
}

// call is the scripted outcome of one call to the store.
type call struct {
	fails      bool          // the call has no effect
	answerLost bool          // the call has its effect, but the answer is lost
	slow       time.Duration // delay, half before and half after the effect
}

// scenario is the complete script of one call to play.
type scenario struct {
	limits   Limits
	settings Settings
	capacity int           // maximum size of a message
	ttl      time.Duration // of the lease
	hosts    int           // number of hosts, each with one instance at a time
	// alone means a single instance, which is woken for every item and polls only once a day.
	alone bool

	events       []event
	faultTail    time.Duration // how long calls to the store may still fail after the last event
	advances     []call        // in order, shared by all instances
	polls        []call
	recents      []call
	summaries    []call
	hasMovedHook bool   // Settings.ChatMigrated is set
	moves        []bool // whether each call to ChatMigrated succeeds
}

func ms(values ...int64) *rapid.Generator[time.Duration] {
	return rapid.Map(rapid.SampledFrom(values), func(v int64) time.Duration { return time.Duration(v) * time.Millisecond })
}

func oneIn(n int) *rapid.Generator[bool] {
	return rapid.Map(rapid.IntRange(1, n), func(i int) bool { return i == n })
}

func drawLimits(t *rapid.T) Limits {
	if oneIn(3).Draw(t, "usual limits") {
		return messengerLimits()
	}
	return Limits{
		Private: []Window{{1, time.Second}},
		Group: []Window{
			{rapid.IntRange(3, 5).Draw(t, "group"), 10 * time.Second},
			{rapid.IntRange(1, 2).Draw(t, "burst"), 2 * time.Second},
		},
		Total: []Window{{rapid.IntRange(2, 5).Draw(t, "total"), time.Second}},
	}
}

// drawFailing draws a failing request, after which its item is usually sent again. A callback
// answer does not fail as Failed, Migrated or Forbidden.
func drawFailing(t *rapid.T, callbackAnswer bool) fate {
	classes := []FailureKind{
		RateLimited, RateLimited, Unreachable, Ambiguous, Ambiguous, Unauthorized, Failed, Migrated, Forbidden,
	}
	if callbackAnswer {
		classes = classes[:6]
	}
	f := drawAnswer(t)
	f.class = rapid.SampledFrom(classes).Draw(t, "class")
	f.lasts = ms(0, 0, 10, 90, 900, 4000, 7000, 25_000).Draw(t, "lasts")
	f.wait = ms(0, 1000, 7000, 20_000, 40_000, 700_000).Draw(t, "wait")
	f.panics = rapid.Bool().Draw(t, "panics")
	f.notAttempted = (f.class == Unreachable || f.class == Failed) && rapid.Bool().Draw(t, "unasked")
	if oneIn(8).Draw(t, "ignores cancellation") {
		f.hangs = ms(1500, 9000).Draw(t, "hangs")
	}
	return f
}

func drawAnswer(t *rapid.T) fate {
	return fate{
		lasts:     ms(0, 0, 10, 90, 900, 4000).Draw(t, "lasts"),
		arrives:   rapid.SampledFrom([]int{0, 100, 50}).Draw(t, "arrives"),
		delivered: rapid.Bool().Draw(t, "delivered"),
	}
}

func drawFates(t *rapid.T, callbackAnswer bool) []fate {
	var fates []fate
	if oneIn(3).Draw(t, "fails") {
		fates = rapid.SliceOfN(
			rapid.Custom(func(t *rapid.T) fate { return drawFailing(t, callbackAnswer) }), 0, 3).Draw(t, "failing")
	}
	switch rapid.IntRange(0, 159).Draw(t, "copies") {
	case 156, 157, 158: // late answers
		f := drawAnswer(t)
		f.lasts = ms(1500, 3500, 7000, 25_000).Draw(t, "lasts")
		fates = slices.Repeat([]fate{f}, 6)
	case 159: // unknown outcomes only
		f := drawFailing(t, callbackAnswer)
		f.class = Ambiguous
		fates = slices.Repeat([]fate{f}, 6)
	}
	f := drawAnswer(t)
	switch rapid.IntRange(0, 19).Draw(t, "end") {
	case 17:
		f.class, f.panics = Failed, rapid.Bool().Draw(t, "panics")
	case 18:
		f.class = Rejected
	case 19:
		f.class = Obsolete
	}
	return append(fates, f)
}

func drawAddition(t *rapid.T) addition {
	a := addition{
		chat: ChatID(rapid.IntRange(1, 5).Draw(t, "chat")),
		action: rapid.SampledFrom([]Action{
			Send, Send, Send, Send, Send, CallbackAnswer, Edit, Ensure, Page,
		}).Draw(t, "action"),
		purpose: rapid.SampledFrom([]notice.Purpose{
			notice.Outcome, notice.Outcome, notice.Outcome, notice.Answer, notice.Notification,
		}).Draw(t, "purpose"),
		size:  rapid.SampledFrom([]int{1, 1, 1, 2, 5}).Draw(t, "size"),
		alone: oneIn(6).Draw(t, "alone"),
	}
	switch {
	case a.action == CallbackAnswer:
		a.deadline = 15 * time.Second
	case a.action == Page:
		a.deadline = 10 * time.Minute
		a.content = rapid.StringMatching("[a-d]").Draw(t, "content")
		a.editIndex = rapid.IntRange(0, 1).Draw(t, "edits")
	case a.action == Edit || a.action == Ensure:
		a.content = rapid.SampledFrom([]string{"a", "b"}).Draw(t, "content")
		a.editIndex = rapid.IntRange(0, 3).Draw(t, "edits")
	case a.purpose == notice.Answer:
		a.deadline = ms(1000, 5000, 20_000, 600_000).Draw(t, "deadline")
	}
	if oneIn(4).Draw(t, "in a topic") {
		a.thread = 7
	}
	a.fates = drawFates(t, a.action == CallbackAnswer)
	return a
}

func drawEvent(t *rapid.T, alone bool) event {
	e := event{
		after:     ms(0, 0, 1, 20, 150, 700, 4000, 14_000).Draw(t, "after"),
		wake:      alone || rapid.Bool().Draw(t, "wake"),
		strayWake: oneIn(3).Draw(t, "stray"),
		lasts:     ms(33_003, 33_003, 4003, 3).Draw(t, "lasts"),
		class:     rapid.SampledFrom([]FailureKind{RateLimited, Unreachable, Ambiguous, Unauthorized}).Draw(t, "class"),
	}
	switch {
	case alone:
		e.kind = rapid.SampledFrom([]eventKind{add, "", outage, unparkAll}).Draw(t, "kind")
		e.moment = rapid.SampledFrom([]moment{whenTaken, whenBegun, whenAnswered}).Draw(t, "moment")
		e.nth = rapid.IntRange(1, 3).Draw(t, "nth")
	case !oneIn(3).Draw(t, "is left alone"):
		e.kind = rapid.SampledFrom([]eventKind{
			kill, kill, freeze, freeze, isolate, isolate, stop, outage, unparkAll,
		}).Draw(t, "kind")
		moments := []moment{whenBegun, whenChecked, whenTaken, whenAnswered, atOnce, whenStarted}
		if e.kind == freeze {
			moments = append(moments[:4:4], whenChecked, whenChecked) // the most harmful moment
		}
		e.moment = rapid.SampledFrom(moments).Draw(t, "moment")
		e.nth = rapid.IntRange(1, 4).Draw(t, "nth")
		e.other = oneIn(8).Draw(t, "other")
		e.beforeExpiry = ms(10, 1000, 3000).Draw(t, "before")
		if e.moment == whenStarted {
			e.kind, e.nth, e.other, e.wake = stop, 1, true, true
		}
	}
	adds, maxAdds := rapid.Custom(drawAddition), 6
	if oneIn(3).Draw(t, "burst") { // to one chat
		chat := ChatID(rapid.IntRange(1, 5).Draw(t, "chat"))
		maxAdds = 14
		adds = rapid.Map(adds, func(a addition) addition {
			a.chat = chat
			return a
		})
	}
	e.adds = rapid.SliceOfN(adds, 0, maxAdds).Draw(t, "adds")
	return e
}

func drawCalls(t *rapid.T, name string) []call {
	drawCall := rapid.Custom(func(t *rapid.T) call {
		switch rapid.IntRange(0, 11).Draw(t, "what") {
		case 0, 1:
			return call{fails: true}
		case 2, 3:
			return call{answerLost: true}
		case 4, 5, 6:
			return call{slow: ms(2, 600, 3000).Draw(t, "slow")}
		case 7:
			return call{slow: 2 * storeTimeout, answerLost: rapid.Bool().Draw(t, "lost")}
		default:
			return call{}
		}
	})
	return rapid.SliceOfN(drawCall, 0, 40).Draw(t, name)
}

func drawScenario(t *rapid.T) scenario {
	s := scenario{
		limits:       drawLimits(t),
		capacity:     rapid.IntRange(3, 12).Draw(t, "capacity"),
		alone:        oneIn(3).Draw(t, "alone"),
		hosts:        rapid.SampledFrom([]int{1, 2, 2, 2}).Draw(t, "hosts"),
		faultTail:    ms(0, 10_000, 60_000).Draw(t, "goes on"),
		hasMovedHook: rapid.Bool().Draw(t, "hooked"),
		moves:        rapid.SliceOfN(rapid.Bool(), 0, 6).Draw(t, "moves"),
		advances:     drawCalls(t, "advances"),
		polls:        drawCalls(t, "looks"),
		recents:      drawCalls(t, "recents"),
		settings: Settings{
			Parallel:    rapid.SampledFrom([]int{1, 3, 32}).Draw(t, "parallel"),
			PollEvery:   time.Second,
			SendTimeout: ms(1000, 5000).Draw(t, "timeout"),
			MaxFailures: rapid.IntRange(2, 3).Draw(t, "failures"),
			Bounds: Bounds{
				Merge:      rapid.SampledFrom([]int{1, 4, 64}).Draw(t, "merge"),
				MaxWaiting: rapid.SampledFrom([]int{1, 3, 1000}).Draw(t, "waiting"),
			},
		},
	}
	s.settings.Limits = s.limits
	s.ttl = 2*s.settings.SendTimeout + ms(0, 3000).Draw(t, "ttl")
	if s.alone {
		s.hosts, s.polls, s.recents, s.settings.PollEvery = 1, nil, nil, 24*time.Hour
	}
	events := rapid.Custom(func(t *rapid.T) event { return drawEvent(t, s.alone) })
	s.events = rapid.SliceOfN(events, 4, 16).Draw(t, "events")
	s.summaries = drawCalls(t, "summaries")
	return s
}

func (s scenario) rules() queuemodel.Rules {
	windows := func(ws []Window) []queuemodel.Window {
		var rules []queuemodel.Window
		for _, w := range ws {
			rules = append(rules, queuemodel.Window(w))
		}
		return rules
	}
	return queuemodel.Rules{
		Private: windows(s.limits.Private), Group: windows(s.limits.Group), Total: windows(s.limits.Total),
		Parallel: s.settings.Parallel, MaxFailures: s.settings.MaxFailures, Timeout: s.settings.SendTimeout, Grace: hangGrace,
		Prompt: s.alone,
	}
}
