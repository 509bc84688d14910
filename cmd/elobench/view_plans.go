package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// planCounter adds up what statements read. The server reports the plan of each statement as a notice, after it has run.
type planCounter struct {
	mu  sync.Mutex
	sum reads
	err error
}

// reads is what statements read.
type reads struct {
	queries, rows, blocks int
	scanned               []string // tables that were read sequentially
}

// planNode is a node of a plan in PostgreSQL's JSON.
type planNode struct {
	Type     string  `json:"Node Type"`
	Relation string  `json:"Relation Name"`
	Rows     float64 `json:"Actual Rows"` // of each loop
	Removed  float64 `json:"Rows Removed by Filter"`
	Loops    float64 `json:"Actual Loops"`
	// Blocks include those of the nodes below.
	Hit   int        `json:"Shared Hit Blocks"`
	Read  int        `json:"Shared Read Blocks"`
	Plans []planNode `json:"Plans"`
}

// pool returns a pool like another one, whose statements are counted.
func (c *planCounter) pool(ctx context.Context, like *pgxpool.Pool) (*pgxpool.Pool, error) {
	config := like.Config()
	config.ConnConfig.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) { c.add(n.Message) }
	settings := config.AfterConnect
	config.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
		if err := settings(ctx, conn); err != nil {
			return err
		}
		_, err := conn.Exec(ctx, `
			LOAD 'auto_explain';
			SET auto_explain.log_level = notice;
			SET auto_explain.log_format = json;
			SET auto_explain.log_analyze = on;
			SET auto_explain.log_buffers = on;
			SET auto_explain.log_timing = off;
			SET auto_explain.log_min_duration = 0`)
		return err
	}
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("open a pool that explains: %w", err)
	}
	return pool, nil
}

// add adds the statement of a notice.
func (c *planCounter) add(notice string) {
	_, plan, found := strings.Cut(notice, "plan:\n")
	if !found {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	var explained struct{ Plan planNode }
	if err := json.Unmarshal([]byte(plan), &explained); err != nil {
		c.err = fmt.Errorf("read a plan: %w", err)
		return
	}
	c.sum.queries++
	c.sum.blocks += explained.Plan.Hit + explained.Plan.Read
	c.sum.addNode(explained.Plan)
}

// addNode adds the rows that a node and those below it read from tables.
func (r *reads) addNode(n planNode) {
	if n.Relation != "" {
		r.rows += int((n.Rows + n.Removed) * n.Loops)
	}
	if n.Type == "Seq Scan" && n.Loops > 0 {
		r.scanned = append(r.scanned, n.Relation)
	}
	for _, below := range n.Plans {
		r.addNode(below)
	}
}

// take returns the sum since the last call. It fails if nothing was reported.
func (c *planCounter) take() (reads, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	sum, err := c.sum, c.err
	if err == nil && sum.queries == 0 {
		err = errors.New("the server reports no plans")
	}
	c.sum, c.err = reads{}, nil
	return sum, err
}
