package model_test

import (
	"strings"
	"testing"
	"time"

	"pointsman/gateway/servers/diagnostics"
	"pointsman/ui/model"
)

func TestDiagnostics(t *testing.T) {
	at := time.Date(2026, 12, 1, 1, 2, 3, 0, time.Local)
	page := diagnostics.Page{Level: diagnostics.Info, DroppedCount: 2, Entries: []diagnostics.Entry{
		{Time: at, Level: diagnostics.Error, Category: diagnostics.Lifecycle, Message: "failed\x1b[2J"},
		{Time: at, Level: diagnostics.Info, Category: diagnostics.Stderr, Message: "ready", Truncated: true},
	}}
	var d model.Diagnostics
	if got := d.Notice(diagnostics.Off); !strings.HasPrefix(got, "Nothing is kept") {
		t.Errorf("off: %q", got)
	}
	d.Take(page)
	lines := d.Lines()
	if len(lines) != 2 || lines[0].Text != "01:02:03.000 error   lifecycle failed<U+001B>[2J" || lines[1].Text != "01:02:03.000 info    stderr    ready …" {
		t.Errorf("lines %q", lines)
	}
	if got := d.Notice(diagnostics.Info); got != "2 records came too fast and were dropped." {
		t.Errorf("dropped: %q", got)
	}
	d.Narrow(diagnostics.HTTP)
	if got := d.Notice(diagnostics.Info); len(d.Lines()) != 0 || !strings.HasPrefix(got, "Nothing of this kind") {
		t.Errorf("narrowed: %q %q", d.Lines(), got)
	}
	d.Narrow("")
	d.Take(diagnostics.Page{Level: diagnostics.Off})
	if len(d.Lines()) != 0 || d.Notice(diagnostics.Info) != "Nothing has happened yet." {
		t.Errorf("after it was switched off: %q", d.Lines())
	}
	for range 30 {
		d.Take(diagnostics.Page{Level: diagnostics.Info, Entries: make([]diagnostics.Entry, 100)})
	}
	if got := len(d.Lines()); got != 2000 {
		t.Errorf("%d are kept", got)
	}
}
