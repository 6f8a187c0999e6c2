package port_test

import (
	"errors"
	"fmt"
	"net"
	"os"
	"runtime"
	"strings"
	"testing"

	"pointsman/ui/port"
)

// take listens on a free port until the test ends.
func take(t *testing.T, address string) net.Listener {
	t.Helper()
	ln, err := port.Listen(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ln.Close() })
	return ln
}

func TestTakenPortNamesItsHolder(t *testing.T) {
	address := take(t, "127.0.0.1:0").Addr().String()
	err := port.Check(t.Context(), address)
	var taken *port.TakenError
	if !errors.As(err, &taken) || taken.Address != address {
		t.Fatalf("a taken port: %v", err)
	}
	want := "another process"
	if runtime.GOOS == "linux" {
		want = fmt.Sprintf("process %d (", os.Getpid())
	}
	if !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), address) {
		t.Errorf("the error %q names neither %q nor %s", err, want, address)
	}
}

func TestNextFree(t *testing.T) {
	address := take(t, "127.0.0.1:0").Addr().String()
	next, err := port.NextFree(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	if next == address {
		t.Fatalf("the next free port after %s is itself", address)
	}
	take(t, next)
	if after, err := port.NextFree(t.Context(), address); err != nil || after == next {
		t.Errorf("with %s taken the next free one is %s, %v", next, after, err)
	}
}

func TestNextFreeOfNonsense(t *testing.T) {
	for name, address := range map[string]string{
		"no port": "127.0.0.1", "no number": "127.0.0.1:http", "the last port": "127.0.0.1:65535", "nothing": "",
	} {
		t.Run(name, func(t *testing.T) {
			if next, err := port.NextFree(t.Context(), address); err == nil {
				t.Errorf("it is %q", next)
			}
		})
	}
}

func TestListenOnNonsense(t *testing.T) {
	_, err := port.Listen(t.Context(), "nowhere.invalid:1")
	var taken *port.TakenError
	if err == nil || errors.As(err, &taken) {
		t.Errorf("listening there: %v", err)
	}
}
