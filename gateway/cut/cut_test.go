package cut_test

import (
	"testing"

	"pointsman/gateway/cut"
)

func TestTo(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"nothing", "", ""},
		{"short", "four", "four"},
		{"as long as may be", "fiver", "fiver"},
		{"too long", "sixsix", "sixs…"},
		{"characters, not bytes", "fünfä", "fünfä"},
		{"between characters", "ääääää", "ääää…"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := cut.To(test.text, 5); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}
