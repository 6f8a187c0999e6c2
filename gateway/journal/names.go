package journal

import (
	"context"
	"fmt"
)

// ToolName is a tool of a server.
type ToolName struct{ Server, Tool string }

// maxNames bounds how many names a choice is made of.
const maxNames = 1000

// Tools returns the tools that were called, by server and name; at most 1,000.
func (r *Reader) Tools(ctx context.Context) ([]ToolName, error) {
	names, err := r.tools(ctx)
	if err != nil {
		return nil, fmt.Errorf("reading the names of the tools in the journal: %w", err)
	}
	return names, nil
}

func (r *Reader) tools(ctx context.Context) (names []ToolName, err error) {
	r.catchUp(ctx)
	rows, err := r.db.QueryContext(ctx, "SELECT DISTINCT server, tool FROM calls ORDER BY server, tool LIMIT ?", maxNames)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var n ToolName
		if err := rows.Scan(&n.Server, &n.Tool); err != nil {
			return nil, err
		}
		names = append(names, n)
	}
	return names, rows.Err()
}
