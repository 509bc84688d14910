package botsim

func (s *Server) getMe(*request) (any, error) {
	return map[string]any{
		"id": s.bot.ID, "is_bot": true, "first_name": s.bot.FirstName, "username": s.bot.Username,
		"can_join_groups": true, "can_read_all_group_messages": true,
		"supports_inline_queries": false, "can_connect_to_business": false, "has_main_web_app": false,
	}, nil
}

func (s *Server) getChatAdministrators(r *request) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, err := s.readableChat(r.params)
	if err != nil {
		return nil, err
	}
	if c.kind == kindPrivate {
		return nil, badRequest("there are no administrators in the private chat")
	}
	admins := []any{}
	for _, id := range c.order {
		u := s.users[id]
		if c.isAdmin(id) && (!u.IsBot || id == s.bot.ID) {
			admins = append(admins, c.memberOf(u))
		}
	}
	return admins, nil
}
