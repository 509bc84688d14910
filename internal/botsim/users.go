package botsim

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

const firstUserID = 1001

var validUsername = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]{1,31}$`)

// groupAnonymousBot is the stand-in that Telegram names as the author when an admin writes as the group.
func groupAnonymousBot() User {
	return User{ID: 1087968824, IsBot: true, FirstName: "Group", Username: "GroupAnonymousBot"}
}

// User is the user with that username, or with that first name if it has no username. The first use makes it:
// "alice" becomes Alice with the username alice, "Bob 2", which cannot be a username, becomes somebody without
// one. Ids ascend from 1001.
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

// AddUser makes a user as given; id 0 means the next free one. A known id gets the new names from now on, as
// when somebody renames themselves: whatever the bot is shown later names them so, also where a test still uses
// the User of before. A username that somebody else had is theirs no more.
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
	if holder, ok := s.users[s.userByName[userKey(u)]]; ok && holder.ID != u.ID && holder.Username != "" && u.Username != "" {
		robbed := holder
		robbed.Username = ""
		s.rename(holder, robbed)
	}
	s.rename(s.users[u.ID], u)
	return u
}

// rename puts a user in the place of what was known of them before.
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

// current is the user as they are now. One that a test made up for a single occasion stays as given.
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
