package botsim

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

const firstUserID = 1001

var validUsername = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]{1,31}$`)

// groupAnonymousBot returns the user that Telegram names as the author when an admin writes as the
// group.
func groupAnonymousBot() User {
	return User{ID: 1087968824, IsBot: true, FirstName: "Group", Username: "GroupAnonymousBot"}
}

func (s *Server) getMe(*request) (any, error) {
	return map[string]any{
		"id": s.bot.ID, "is_bot": true, "first_name": s.bot.FirstName, "username": s.bot.Username,
		"can_join_groups": true, "can_read_all_group_messages": !s.opts.privacy,
		"supports_inline_queries": false, "can_connect_to_business": false, "has_main_web_app": false,
	}, nil
}

// User returns the user with the given username, or else the user with that first name and no
// username. If there is none, User creates one: for "alice", Alice with the username alice. For
// "Bob 2", which is not a valid username, it creates a user without a username. Ids ascend from
// 1001.
func (s *Server) User(name string) User {
	s.mu.Lock()
	defer s.mu.Unlock()
	if id, ok := s.userByName[strings.ToLower(name)]; ok {
		return s.users[id]
	}
	u := User{FirstName: name, LanguageCode: "en"}
	if validUsername.MatchString(name) {
		first, size := utf8.DecodeRuneInString(name)
		u.FirstName = string(unicode.ToUpper(first)) + name[size:]
		u.Username = name
	}
	return s.addUser(u)
}

// AddUser adds a user as given; id 0 means the next free id. If a user with that id exists, AddUser
// renames that user: from then on, the bot sees the new names, even if a test still uses the old
// User value. If another user has the same username, that user loses it.
func (s *Server) AddUser(u User) User {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.addUser(u)
}

func (s *Server) addUser(u User) User {
	if u.ID == 0 {
		for _, taken := s.users[s.nextUser]; taken; _, taken = s.users[s.nextUser] {
			s.nextUser++
		}
		u.ID = s.nextUser
		s.nextUser++
	}
	if holder, ok := s.users[s.userByName[userKey(u)]]; ok && holder.ID != u.ID &&
		holder.Username != "" && u.Username != "" {
		withoutUsername := holder
		withoutUsername.Username = ""
		s.rename(holder, withoutUsername)
	}
	s.rename(s.users[u.ID], u)
	return u
}

// rename replaces old with u, which has the same id. old is zero if u is new.
func (s *Server) rename(old, u User) {
	if s.userByName[userKey(old)] == u.ID {
		delete(s.userByName, userKey(old))
	}
	if old.ID != 0 {
		s.former[old] = true
	}
	s.users[u.ID] = u
	s.userByName[userKey(u)] = u.ID
}

// current returns the latest state of a user if u is an earlier state of that user. It returns any
// other User unchanged, such as one that a test built itself.
func (s *Server) current(u User) User {
	if s.former[u] {
		return s.users[u.ID]
	}
	return u
}

func userKey(u User) string {
	if u.Username != "" {
		return strings.ToLower(u.Username)
	}
	return strings.ToLower(u.FirstName)
}
