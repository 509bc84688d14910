package pgranking

import (
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"elobot/internal/ranking"
)

// queueSetting writes a setting, and the ends of seasons that change with it. For the setting of
// the web board, it also makes a salt if there is none or if c.NewLink is true. The batch fails if
// the setting is not as it was read. The JSON names of settings are their column names.
func queueSetting(batch *pgx.Batch, c *ranking.ChangedSetting) {
	id, before, after := any(c.Chat), any(c.Before.Display), any(c.After.Display)
	switch c.Setting.Table() {
	case ranking.OfLadder:
		id, before, after = c.Ladder, c.Before.Rules, c.After.Rules
	case ranking.OfGroup:
		id, before, after = c.Group, c.Before, c.After
	}
	var set, unchanged []string
	for _, column := range c.Setting.Columns {
		set = append(set, column+" = new."+column)
		unchanged = append(unchanged, "was."+column+" = old."+column)
	}
	if c.Setting.Name == ranking.SettingWeb {
		const salt = "web_salt = coalesce(CASE WHEN NOT %t THEN was.web_salt END, gen_random_uuid())"
		set = append(set, fmt.Sprintf(salt, c.NewLink))
	}
	batch.Queue(fmt.Sprintf(`
		WITH changed AS (
		    UPDATE %[1]s was SET %[2]s
		    FROM jsonb_populate_record(NULL::%[1]s, $2) AS old, jsonb_populate_record(NULL::%[1]s, $3) AS new
		    WHERE was.id = $1 AND %[3]s
		    RETURNING 1)
		SELECT EXISTS (SELECT FROM changed)::unchanged`,
		c.Setting.Table(), strings.Join(set, ", "), strings.Join(unchanged, " AND ")), id, before, after)
	for _, u := range c.Seasons {
		queueUntil(batch, c.Chat, u)
	}
}
