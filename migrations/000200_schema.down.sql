DROP TABLE update_attempts, dead_letters, ensured_messages, match_messages, outbox, timers, prompts, handled_commands,
    elo_history, match_fixes, match_players, matches, group_players, sightings, players, ladders, groups, boards, chat_aliases,
    chats, leases, bot;
DROP FUNCTION require_one_chat();
DROP DOMAIN unchanged, lease_held;
