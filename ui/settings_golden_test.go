package ui

import (
	"testing"

	"pointsman/gateway/control"
	"pointsman/ui/model"
	"pointsman/ui/theme"
)

// The screens look as they were looked at.
func TestSettingsPictures(t *testing.T) {
	const rules = `approvals:
  rules:
    - {id: r1, action: allow, server: filesystem, tool: write_file, definition: d1, path_prefix: /home/me/src, created: 2020-03-01T10:00:00Z}
    - {id: r2, action: deny, server: shell, tool: run, definition: d2, arguments: '{"command":"rm -rf build"}', created: 2020-03-02T10:00:00Z}
`
	for _, tt := range []struct {
		name    string
		options gatewaySetup
		act     func(b *windowBench)
	}{
		{"settings", gatewaySetup{}, func(b *windowBench) {
			s := b.settings()
			b.until("the key is known", func() bool { return s.key.key != "" })
			field := s.form.Field(model.PathListen)
			field.Enter("9000")
			s.form.Taken(field, &control.RefusedError{Message: "listening on 127.0.0.1:9000: process 812 (node) has the port"}, "127.0.0.1:9001")
			b.setState(func(s *model.State) {
				s.LaunchFault, s.LaunchOther = "login starts /old/pointsman, not this program", true
			})
			b.until("the launch is at fault", func() bool { return b.says("Login starts") })
		}},
		{"rules", gatewaySetup{yaml: rules}, func(b *windowBench) {
			b.open(screenApprovals)
			b.until("the rules are shown", func() bool { return b.says("write_file") })
			b.write(rules + "  require: false\n")
			b.until("a change is held", func() bool { return b.says("loosens a gate") })
		}},
		{"welcome", gatewaySetup{first: true}, func(b *windowBench) {
			b.open("")
			b.until("the endpoint is known", func() bool { return b.ui.main.state.Serving != "" })
		}},
	} {
		for _, face := range []theme.Choice{theme.Light, theme.Dark} {
			t.Run(tt.name+" "+string(face), func(t *testing.T) {
				b := newWindowBench(t, tt.options)
				tt.act(b)
				b.ui.wear(face)
				looksLike(t, tt.name+"-"+string(face)+".png", b.ui.main.window.Canvas())
			})
		}
	}
}
