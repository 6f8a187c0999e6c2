package sandbox_test

import (
	"strings"
	"testing"

	"pointsman/gateway/servers/sandbox"
)

func TestSeatbeltProfile(t *testing.T) {
	tests := []struct {
		name string
		of   sandbox.Seatbelt
		want []string // in this order
		not  []string
	}{
		{"nothing", sandbox.Seatbelt{}, []string{"(version 1)", "(deny default)", "(allow file-read*)"}, []string{"network", "(allow file-write* "}},
		{"network", sandbox.Seatbelt{Outbound: true}, []string{"(allow network-outbound (remote ip \"*:*\"))", "mDNSResponder"}, []string{"(remote unix"}},
		{"write", sandbox.Seatbelt{Write: []string{"/a", "/b c"}}, []string{`(allow file-write* (subpath "/a"))`, `(allow file-write* (subpath "/b c"))`}, nil},
		{
			"what is hidden wins over what is written, and is not moved away",
			sandbox.Seatbelt{Write: []string{"/u"}, Hidden: []string{"/u/x/y/secret"}},
			[]string{
				`(allow file-write* (subpath "/u"))`, `(deny file-read* file-write* (subpath "/u/x/y/secret"))`,
				`(deny file-write-unlink (literal "/u/x"))`, `(deny file-write-unlink (literal "/u/x/y"))`,
			},
			[]string{`unlink (literal "/u"))`},
		},
		{"what is kept is read", sandbox.Seatbelt{Write: []string{"/u"}, Keep: []string{"/u/bin/p"}}, []string{`(deny file-write* (subpath "/u/bin/p"))`, `(literal "/u/bin")`}, []string{"deny file-read*"}},
		{
			"its own folder in a hidden one",
			sandbox.Seatbelt{Hidden: []string{"/own"}, Private: []string{"/own/box/1"}},
			[]string{`(deny file-read* file-write* (subpath "/own"))`, `(allow file-read-metadata (literal "/own"))`, `(literal "/own/box"))`, `(allow file-read* file-write* (subpath "/own/box/1"))`},
			nil,
		},
		{"quotes", sandbox.Seatbelt{Write: []string{`/a")) (allow default) ("`, `/b\`}}, []string{`(subpath "/a\")) (allow default) (\""))`, `(subpath "/b\\"))`}, nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			profile := test.of.Profile()
			rest := profile
			for _, part := range test.want {
				_, after, ok := strings.Cut(rest, part)
				if !ok {
					t.Fatalf("%s is missing, or not in its place:\n%s", part, profile)
				}
				rest = after
			}
			for _, part := range test.not {
				if strings.Contains(profile, part) {
					t.Errorf("%s is in it:\n%s", part, profile)
				}
			}
		})
	}
}
