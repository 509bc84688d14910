DROP TABLE webhook_instances, leases, update_attempts, dead_letters, timers, prompts, ensured_messages, outbox, handled_commands,
    elo_history, match_messages, match_fixes, match_players, matches, group_players, sightings, players, ladders, groups,
    chat_aliases, chats, bot;
DROP FUNCTION require_one_chat();
DROP DOMAIN unchanged, lease_held;
