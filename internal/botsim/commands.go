package botsim

import (
	"encoding/json"
	"fmt"
	"regexp"
	"unicode/utf8"
)

const maxCommands = 100

type botCommand struct {
	Command     string `json:"command"`
	Description string `json:"description"`
}

var (
	validCommand  = regexp.MustCompile(`^[a-z0-9_]{1,32}$`)
	validLanguage = regexp.MustCompile(`^([a-z]{2})?$`)
)

func (s *Server) setMyCommands(r *request) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key, err := s.commandsKey(r.params)
	if err != nil {
		return nil, err
	}
	var list []botCommand
	given, err := r.params.object("commands", &list)
	if err != nil || !given {
		return nil, badRequest("can't parse commands: expected an Array of BotCommand")
	}
	if len(list) > maxCommands {
		return nil, badRequest("BOT_COMMANDS_TOO_MUCH")
	}
	for _, c := range list {
		if !validCommand.MatchString(c.Command) {
			return nil, badRequest("BOT_COMMAND_INVALID")
		}
		if n := utf8.RuneCountInString(c.Description); n < 1 || n > 256 {
			return nil, badRequest("BOT_COMMAND_DESCRIPTION_INVALID")
		}
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
func (s *Server) commandsKey(p params) (string, error) {
	var scope struct {
		Type   string          `json:"type"`
		ChatID json.RawMessage `json:"chat_id"`
		UserID int64           `json:"user_id"`
	}
	scope.Type = "default"
	if _, err := p.object("scope", &scope); err != nil {
		return "", badRequest("can't parse BotCommandScope JSON object")
	}
	if !validLanguage.MatchString(p["language_code"]) {
		return "", badRequest("invalid language code specified")
	}
	chat := int64(0)
	switch scope.Type {
	case "default", "all_private_chats", "all_group_chats", "all_chat_administrators":
	case "chat", "chat_administrators", "chat_member":
		var id any
		if json.Unmarshal(scope.ChatID, &id) != nil {
			return "", badRequest("chat_id is empty")
		}
		c, err := s.findChat(params{"chat_id": chatIDText(id)})
		if err != nil {
			return "", err
		}
		chat = c.id
	default:
		return "", badRequest("can't parse BotCommandScope: Unsupported type specified")
	}
	return fmt.Sprintf("%s/%d/%d/%s", scope.Type, chat, scope.UserID, p["language_code"]), nil
}
