package ui

import (
	"strings"
	"testing"

	"pointsman/gateway/servers/diagnostics"
)

// TestServerDiagnostics switches them on, sees what happens, and switches them
// off.
func TestServerDiagnostics(t *testing.T) {
	b := newFormsBench(t, gatewaySetup{})
	s := b.servers()
	b.until("there is a server", func() bool { return len(s.lines) > 0 })
	s.open("scratch")
	b.tap("Diagnostics")
	b.sees("Nothing is kept.")
	s.notes.keep.SetSelected("Each message")
	b.until("something is kept", func() bool { return s.notes.level == diagnostics.Debug })
	b.wantFile([]string{"mcp: debug"})
	if _, err := s.ui.client.RestartServer(t.Context(), "scratch"); err != nil {
		t.Fatal(err)
	}
	b.until("the restart is shown", func() bool { return strings.Contains(s.notes.lines.Text(), "connected") })
	s.notes.about.SetSelected("HTTP requests")
	b.sees("Nothing of this kind has happened yet.")
	s.notes.about.SetSelected("Starts and ends")
	s.notes.onCopy()
	if got := b.ui.app.Clipboard().Content(); !strings.Contains(got, "lifecycle") || strings.Contains(got, "protocol") {
		t.Errorf("copied %q", got)
	}
	b.tap("Clear")
	if got := s.notes.lines.Text(); got != "" {
		t.Errorf("after clearing: %q", got)
	}
	s.notes.keep.SetSelected("Keep nothing")
	b.sees("Nothing is kept.")
	if s.notes.stop != nil {
		t.Error("it goes on reading")
	}
	b.tap("‹ Server")
	if s.notes != nil || s.page == nil {
		t.Error("the page does not come back")
	}
}

func TestServerWhyMissing(t *testing.T) {
	b := newFormsBench(t, gatewaySetup{tools: 3, yaml: "mcpServers:\n  off: {command: x, disabled: true}\n"})
	s := b.servers()
	b.until("there is a server", func() bool { return len(s.lines) > 1 })
	s.open("scratch")
	b.until("its tools are listed", func() bool { return len(s.page.tools) > 0 })
	there := s.page.tools[0].Tool
	s.page.search.SetText(there + "9")
	b.tap("Why is “" + there + "9” missing?")
	b.sees(there + "9 is not there:")
	b.sees("Similar: scratch__" + there)
	s.page.search.SetText(there)
	if s.page.why.object.Visible() {
		t.Error("it is still asked why, of a tool that is there")
	}
}
