package botsim

import "elobot/internal/botsim/parameters"

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

// commandsKey returns the key of the command list for a scope and a language. Scopes of the same
// type share a list, even if they name different chats.
func (s *Server) commandsKey(p parameters.Values) (string, error) {
	var scope struct {
		Type string `json:"type"`
	}
	scope.Type = "default"
	if _, err := p.Object("scope", &scope); err != nil {
		return "", err
	}
	return scope.Type + "/" + p["language_code"], nil
}
