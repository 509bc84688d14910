//go:build soak && unix

package soaktest

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"regexp"

	"elobot/cmd/elobot/soaktest/judge"
	"elobot/internal/botsim"
)

// watch makes the simulator call the hooks of the processes. With a webhook, forward calls the
// hooks received and confirming instead. watch also cuts off a poll whose process has ended.
func (b *bots) watch() {
	b.sim.OnCall(func(call botsim.Call) {
		if call.Method != "getUpdates" || call.Params["offset"] == "" {
			return
		}
		if !b.all[0].now.Load().confirms(func(string) bool { return true }) {
			same := func(c botsim.Call) bool { return c.ID == call.ID }
			b.sim.Fault(botsim.Fault{Kind: botsim.CutBefore, Times: 1, Match: same})
		}
	})
	b.sim.AfterEffect(func(call botsim.Call) {
		switch call.Method {
		case "getUpdates":
			b.all[0].now.Load().receives(b.people.waiting(call.Shown)...)
		case "sendMessage", "editMessageText":
			for _, i := range b.all {
				i.now.Load().call(func(h hooks) func() { return h.sent })
			}
		}
	})
}

// ServeHTTP forwards a delivery to the next bot in turn, even to a bot that does not run.
func (b *bots) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	status := http.StatusBadGateway
	if body, err := io.ReadAll(r.Body); err == nil {
		status = b.all[b.turn.Add(1)%uint64(len(b.all))].now.Load().forward(r, body)
	}
	w.WriteHeader(status)
}

// forward forwards a delivery to the bot. It returns the status of the answer, or 502 if there is
// none or the process has ended.
func (p *life) forward(r *http.Request, body []byte) (status int) {
	var update struct {
		Message struct {
			ID   int                `json:"message_id"`
			Chat struct{ ID int64 } `json:"chat"`
		} `json:"message"`
	}
	url := "http://" + p.address() + r.URL.Path
	request, err := http.NewRequestWithContext(r.Context(), r.Method, url, bytes.NewReader(body))
	if err != nil || json.Unmarshal(body, &update) != nil {
		return http.StatusBadGateway
	}
	request.Header = r.Header
	command := judge.Command{Chat: update.Message.Chat.ID, Message: update.Message.ID}
	p.receives(command.Key())
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return http.StatusBadGateway
	}
	_ = answer.Body.Close() // its body is not needed
	if !p.confirms(func(key string) bool { return key == command.Key() }) {
		return http.StatusBadGateway
	}
	return answer.StatusCode
}

var servingAt = regexp.MustCompile(`msg=serving addr=(\S+)`)

// address returns where the process listens, or "" if that is not known yet.
func (p *life) address() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.at == "" {
		if found := servingAt.FindStringSubmatch(p.output()); found != nil {
			p.at = found[1]
		}
	}
	return p.at
}

// receives notes that commands are delivered to the process.
func (p *life) receives(keys ...string) {
	p.mu.Lock()
	for _, key := range keys {
		p.inHand[key] = true
	}
	p.mu.Unlock()
	if len(keys) > 0 {
		p.call(func(h hooks) func() { return h.received })
	}
}

// confirms notes that the process confirms the commands whose keys satisfy which, and reports
// whether the process is still alive.
func (p *life) confirms(which func(key string) bool) bool {
	p.call(func(h hooks) func() { return h.confirming })
	select {
	case <-p.ended:
		return false
	default:
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	maps.DeleteFunc(p.inHand, func(key string, _ bool) bool { return which(key) })
	return true
}

func (p *life) setHooks(h hooks) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.hooks = h
}

// call calls the hook that which selects, unless it is nil. The hook may kill the process.
func (p *life) call(which func(hooks) func()) {
	p.mu.Lock()
	hook := which(p.hooks)
	p.mu.Unlock()
	if hook != nil {
		hook()
	}
}
