package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"elobot/internal/botsim"
)

// latency measures how long somebody waits for the answer to a result, when results come one by one.
func latency() scenario {
	return scenario{
		name:        "latency",
		description: "from an update that is handed out to the answer that arrives, elobot's and two echo bots'",
		run: func(ctx context.Context, env *environment) ([]figure, error) {
			var figures []figure
			for _, bot := range []struct {
				name    string
				measure func(context.Context, *environment) ([]wait, error)
			}{{"latency", elobotLatency}, {"latency.echo", echoLatency}, {"latency.durable_echo", durableEchoLatency}} {
				waited, err := bot.measure(ctx, env)
				if err != nil {
					return figures, fmt.Errorf("measure %s: %w", bot.name, err)
				}
				figures = append(figures, latencyFigures(bot.name, waited)...)
			}
			return figures, nil
		},
	}
}

// wait is how long an answer took.
type wait struct {
	handedOut time.Duration // since the bot has had the update
	said      time.Duration // since somebody has sent what is answered
}

func latencyFigures(name string, waits []wait) []figure {
	handedOut, said := make([]time.Duration, len(waits)), make([]time.Duration, len(waits))
	for i, w := range waits {
		handedOut[i], said[i] = w.handedOut, w.said
	}
	return append(percentiles(name, handedOut), percentiles(name+".said", said)...)
}

func percentiles(name string, times []time.Duration) []figure {
	var figures []figure
	for _, p := range []float64{50, 95, 99} {
		figures = append(figures, figure{
			Name: fmt.Sprintf("%s.p%g", name, p), Value: milliseconds(percentile(times, p)), Unit: "ms", Better: lower,
		})
	}
	return figures
}

func elobotLatency(ctx context.Context, env *environment) ([]wait, error) {
	db, drop, err := env.database(ctx)
	if err != nil {
		return nil, err
	}
	defer drop()
	waited, err := measureLatency(ctx, env, func(sim *botsim.Server) (*process, error) {
		return env.launchBot(ctx, sim, db.url, noLimits...)
	})
	if err == nil {
		err = env.verify(ctx, db.url)
	}
	return waited, err
}

func echoLatency(ctx context.Context, env *environment) ([]wait, error) {
	return measureLatency(ctx, env, func(sim *botsim.Server) (*process, error) { return env.launchEcho(ctx, sim, "") })
}

// durableEchoLatency is that of the echo bot that looks something up and commits one row before it answers: what the two
// round trips to the database take by themselves.
func durableEchoLatency(ctx context.Context, env *environment) ([]wait, error) {
	db, drop, err := env.database(ctx)
	if err != nil {
		return nil, err
	}
	defer drop()
	return measureLatency(ctx, env, func(sim *botsim.Server) (*process, error) { return env.launchEcho(ctx, sim, db.url) })
}

// measureLatency has results come at the rate and returns how long each has waited. Before that everybody has played, so
// that neither people nor connections are new.
func measureLatency(ctx context.Context, env *environment, launch func(*botsim.Server) (*process, error)) ([]wait, error) {
	sim, err := botsim.New()
	if err != nil {
		return nil, err
	}
	defer sim.Close()
	crowd := newCrowd(sim, env.sizes)
	messages, leave := sim.Subscribe()
	defer leave()
	bot, err := launch(sim)
	if err != nil {
		return nil, err
	}
	ctx, cancel := bot.during(ctx)
	defer cancel()
	answers := newAnswers()
	n := crowd.introduce()
	_, err = waitMessages(ctx, messages, func(m botsim.Message) bool {
		answers.add(m)
		return len(answers.came) >= n
	}, func() { env.progress.say("%d of %d results to begin with are answered", len(answers.came), n) })
	var waited []wait
	if err == nil {
		waited, err = measureAnswers(ctx, env, sim, crowd, messages, answers)
	}
	return waited, errors.Join(err, bot.stop())
}

// measureAnswers says results at the rate, waits until all are answered, and returns how long each has waited.
func measureAnswers(ctx context.Context, env *environment, sim *botsim.Server, crowd *crowd, messages <-chan botsim.Message,
	answers *answers) ([]wait, error) {
	n := env.sizes.rate * int(env.sizes.latency)
	env.progress.say("%d results, %d a second", n, env.sizes.rate)
	total := len(answers.came) + n
	answers.said = answers.said[:0]
	saying, stop := context.WithCancel(ctx)
	defer stop()
	said := make(chan struct{})
	go func() {
		defer close(said)
		sayAtRate(saying, crowd, n, time.Second/time.Duration(env.sizes.rate))
	}()
	_, err := waitMessages(ctx, messages, func(m botsim.Message) bool {
		answers.add(m)
		return len(answers.came) >= total
	}, func() { env.progress.say("%d of %d are answered", len(answers.came)+n-total, n) })
	stop()
	<-said
	if err != nil {
		return nil, err
	}
	return answers.waited(handOuts(sim.CallsOf("getUpdates")))
}

// sayAtRate says so many results, each when its time has come, however long the ones before have taken.
func sayAtRate(ctx context.Context, crowd *crowd, n int, every time.Duration) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for i := range n {
		select {
		case <-tick.C:
			crowd.say(i)
		case <-ctx.Done():
			return
		}
	}
}

// answers finds out which message answers which. An answer replies to one, or tells several matches by their numbers: the
// results of a group are numbered in the order in which they were said.
type answers struct {
	said   []botsim.Message
	byID   map[toldMatch]int       // the number of a message of a chat
	number map[int64]int           // the last number of a chat
	came   map[toldMatch]time.Time // by the number
}

func newAnswers() *answers {
	return &answers{byID: make(map[toldMatch]int), number: make(map[int64]int), came: make(map[toldMatch]time.Time)}
}

// add takes note of what somebody says, or of an answer.
func (a *answers) add(m botsim.Message) {
	if !m.From.IsBot {
		a.said = append(a.said, m)
		a.number[m.ChatID]++
		a.byID[toldMatch{m.ChatID, m.ID}] = a.number[m.ChatID]
		return
	}
	numbers := numbersIn(m.Text)
	if n, ok := a.byID[toldMatch{m.ChatID, m.ReplyTo}]; ok {
		numbers = append(numbers, n)
	}
	for _, n := range numbers {
		match := toldMatch{m.ChatID, n}
		if _, again := a.came[match]; !again {
			a.came[match] = m.Date
		}
	}
}

// waited returns for everything that was said how long its answer took, given when updates were handed out, in order.
func (a *answers) waited(handedOut []time.Time) ([]wait, error) {
	all := make([]wait, 0, len(a.said))
	for _, m := range a.said {
		i, _ := slices.BinarySearchFunc(handedOut, m.Date, time.Time.Compare)
		came, answered := a.came[toldMatch{m.ChatID, a.byID[toldMatch{m.ChatID, m.ID}]}]
		switch {
		case i == len(handedOut):
			return nil, fmt.Errorf("nobody was handed message %d of chat %d", m.ID, m.ChatID)
		case !answered:
			return nil, fmt.Errorf("nobody has answered message %d of chat %d", m.ID, m.ChatID)
		case came.Before(handedOut[i]):
			return nil, fmt.Errorf("message %d of chat %d was answered before it was handed out", m.ID, m.ChatID)
		}
		all = append(all, wait{handedOut: came.Sub(handedOut[i]), said: came.Sub(m.Date)})
	}
	return all, nil
}

// handOuts returns when updates were handed out, in order. What somebody says is in the first that ends after it was said,
// because all that waits fits into one.
func handOuts(calls []botsim.Call) []time.Time {
	var ends []time.Time
	for _, c := range calls {
		empty := strings.HasSuffix(c.Body, `"result":[]}`)
		if c.Done && c.Status == 200 && !empty && c.Params["limit"] != "1" { // the last confirms, and takes nothing
			ends = append(ends, c.At.Add(c.Duration))
		}
	}
	slices.SortFunc(ends, time.Time.Compare)
	return ends
}
