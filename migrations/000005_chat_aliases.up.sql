-- The ids that chats had before: a group that becomes a supergroup gets a new one. An old id stands for its chat for
-- ever.
CREATE TABLE chat_aliases (
    telegram_chat_id bigint NOT NULL,
    chat_id          bigint NOT NULL,
    created_at       timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT chat_aliases_pkey PRIMARY KEY (telegram_chat_id),
    CONSTRAINT chat_aliases_chat_id_fkey FOREIGN KEY (chat_id) REFERENCES chats (id)
);
CREATE INDEX chat_aliases_chat_id_idx ON chat_aliases (chat_id);

-- An id stands for one chat: it is not that of a chat and an earlier one as well. Whoever adds an earlier one has held
-- it in the same transaction as the id of a chat, so that others who come with it wait, and see it here afterwards.
CREATE FUNCTION require_one_chat() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (
        SELECT FROM chats JOIN chat_aliases USING (telegram_chat_id) WHERE telegram_chat_id = NEW.telegram_chat_id
    ) THEN
        RAISE EXCEPTION 'the id % stands for two chats', NEW.telegram_chat_id
            USING ERRCODE = 'unique_violation', CONSTRAINT = TG_NAME;
    END IF;
    RETURN NULL;
END
$$;
CREATE CONSTRAINT TRIGGER chats_no_alias AFTER INSERT OR UPDATE OF telegram_chat_id ON chats
    FOR EACH ROW EXECUTE FUNCTION require_one_chat();
CREATE CONSTRAINT TRIGGER chat_aliases_no_chat AFTER INSERT OR UPDATE OF telegram_chat_id ON chat_aliases
    FOR EACH ROW EXECUTE FUNCTION require_one_chat();
