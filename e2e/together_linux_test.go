package e2e

import (
	"maps"
	"slices"
	"testing"

	"pointsman/approvals"
)

// TestOneSession has the real Copilot use all three doors at once: we are its
// model, its MCP server, and what its hooks ask. All that it does, and what a
// sub-agent of its does, is of one session.
func TestOneSession(t *testing.T) {
	t.Parallel()
	p := serve(t, withFiles(t, "approvals: {control: true}\n"))
	h := hookCopilot(t, p, `@tool bash {"command":"touch made.txt","description":"make"}
@tool pointsman-fs__write_file {"path":"%FOLDER%/door.txt","content":"x"}
@tool task {"description":"d","prompt":"@tool bash {\"command\":\"touch agent.txt\"}","agent_type":"general-purpose","name":"n","mode":"sync"}`, everything,
		"COPILOT_PROVIDER_BASE_URL="+p.url+"/v1", "COPILOT_PROVIDER_API_KEY="+key)
	h.person(t, func(approvals.Request) string { return "" })
	h.answer(t)
	expect(t, "the files", p.made(t), "agent.txt door.txt made.txt poem.txt")
	calls, runs := p.rows(t), p.rows(t, "--runs")
	sessions, doors := map[string]bool{}, map[string]int{}
	for _, row := range slices.Concat(calls, runs) {
		sessions[row.Get("session").String()] = true
		doors[row.Get("door").String()]++
	}
	if len(sessions) != 1 || doors["http"] < 4 || doors["hook"] != 3 || doors["mcp"] != 1 {
		t.Fatalf("sessions %v of rows %v", slices.Collect(maps.Keys(sessions)), doors)
	}
	id := runs[0].Get("session").String()
	expect(t, "calls of the session", len(p.rows(t, "--session", id)), len(calls))
	expect(t, "runs of the session", len(p.rows(t, "--session", id, "--runs")), len(runs))
}
