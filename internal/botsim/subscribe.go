package botsim

import "sync"

// subscriber receives every message. Its queue is unbounded, so that a slow reader neither loses
// messages nor blocks the server.
type subscriber struct {
	out   chan Message
	queue []Message     // guarded by the server's lock
	more  chan struct{} // capacity 1; signals that the queue is not empty
	stop  chan struct{}
	once  sync.Once
}

// Subscribe returns a channel that receives the messages of all chats from now on, in the order in
// which they are sent. When the bot edits a message, the channel receives it again, with its new
// content. cancel and Close close the channel.
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

// publish queues a message for all subscribers. The caller must hold the lock.
func (s *Server) publish(m Message) {
	for sub := range s.subscribers {
		sub.queue = append(sub.queue, m)
		select {
		case sub.more <- struct{}{}:
		default:
		}
	}
}

// pump moves messages from a subscriber's queue to its channel until the subscription is canceled
// or the server is closed.
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
