package botsim

import (
	"fmt"

	"elobot/internal/botsim/parameters"
)

type botCommand struct {
	Command     string `json:"command"`
	Description string `json:"description"`
}

func (s *Server) setMyCommands(r *request) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key, err := s.commandsKey(r.params)
	if err != nil {
		return nil, err
	}
	var list []botCommand
	if _, err := r.params.Object("commands", &list); err != nil {
		return nil, err
	}
	if len(list) == 0 {
		delete(s.commands, key)
	} else {
		s.commands[key] = list
	}
	return true, nil
}

func (s *Server) getMyCommands(r *request) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key, err := s.commandsKey(r.params)
	if err != nil {
		return nil, err
	}
	list := s.commands[key]
	if list == nil {
		list = []botCommand{}
	}
	return list, nil
}

func (s *Server) deleteMyCommands(r *request) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key, err := s.commandsKey(r.params)
	if err != nil {
		return nil, err
	}
	delete(s.commands, key)
	return true, nil
}

// commandsKey returns the key of the list of commands for a scope and language.
func (s *Server) commandsKey(p parameters.Values) (string, error) {
	var scope struct {
		Type   string `json:"type"`
		ChatID any    `json:"chat_id"`
		UserID int64  `json:"user_id"`
	}
	scope.Type = "default"
	if _, err := p.Object("scope", &scope); err != nil {
		return "", err
	}
	chat := int64(0)
	if scope.ChatID != nil {
		c, err := s.findChat(parameters.Values{"chat_id": chatIDText(scope.ChatID)})
		if err != nil {
			return "", err
		}
		chat = c.id
	}
	return fmt.Sprintf("%s/%d/%d/%s", scope.Type, chat, scope.UserID, p["language_code"]), nil
}
