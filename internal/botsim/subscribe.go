package botsim

import "sync"

// subscriber is somebody who reads every message. Its queue has no bound, so that a slow reader neither loses
// anything nor holds up the server.
type subscriber struct {
	out   chan Message
	queue []Message     // guarded by the server's lock
	more  chan struct{} // has room for one: there is something in the queue
	stop  chan struct{}
	once  sync.Once
}

// Subscribe hands out every message of every chat from now on, in the order in which they appear; one that the bot
// edits comes again as it reads then. The channel is closed by cancel and by Close.
func (s *Server) Subscribe() (messages <-chan Message, cancel func()) {
	sub := &subscriber{out: make(chan Message), more: make(chan struct{}, 1), stop: make(chan struct{})}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		close(sub.out)
		return sub.out, func() {}
	}
	s.subscribers[sub] = struct{}{}
	s.handlers.Go(func() { s.pump(sub) })
	return sub.out, func() { sub.once.Do(func() { close(sub.stop) }) }
}

// publish queues a message for all subscribers; the lock is held.
func (s *Server) publish(m Message) {
	for sub := range s.subscribers {
		sub.queue = append(sub.queue, m)
		select {
		case sub.more <- struct{}{}:
		default:
		}
	}
}

// pump carries a subscriber's queue to its channel until either side ends.
func (s *Server) pump(sub *subscriber) {
	defer close(sub.out)
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.subscribers, sub)
	}()
	for {
		select {
		case <-sub.more:
		case <-sub.stop:
			return
		case <-s.done:
			return
		}
		s.mu.Lock()
		batch := sub.queue
		sub.queue = nil
		s.mu.Unlock()
		for _, m := range batch {
			select {
			case sub.out <- m:
			case <-sub.stop:
				return
			case <-s.done:
				return
			}
		}
	}
}
