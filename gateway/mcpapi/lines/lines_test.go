package lines_test

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"pointsman/gateway/mcpapi/lines"
)

func TestNext(t *testing.T) {
	const most = 100_000 // more than is buffered
	fits, long := strings.Repeat("x", most-1)+"\n", strings.Repeat("y", most)+"\n"
	const tooLong = "too long"
	tests := []struct {
		name  string
		input string
		want  []string
	}{
		{"nothing", "", nil},
		{"lines", "a\n\r\nb\n", []string{"a\n", "\r\n", "b\n"}},
		{"an end without a line's", "a\nb", []string{"a\n", "b"}},
		{"as long as may be", fits + "a\n", []string{fits, "a\n"}},
		{"too long by one", long + "a\n", []string{tooLong, "a\n"}},
		{"far too long", strings.Repeat(long[:most], 5) + "\na\n", []string{tooLong, "a\n"}},
		{"too long, without an end", "a\n" + long[:most] + "y", []string{"a\n"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var got []string
			r := lines.NewReader(iotest.HalfReader(strings.NewReader(test.input)), most)
			for {
				line, err := r.Next()
				if errors.Is(err, lines.ErrTooLong) {
					got = append(got, tooLong)
					continue
				}
				if len(line) > 0 {
					got = append(got, string(line))
				}
				if err == io.EOF {
					break
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("got %.200q, want %.200q", got, test.want)
			}
		})
	}
}
