package shell

import (
	"context"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// pieces are what the command lines of TestAgainstBash are made of. The only one
// that changes anything makes a file named MADE.
var pieces = strings.Split("ls|cat a.go|echo|touch MADE|$(touch MADE)|`touch MADE`|>MADE|>|>>|<|&|;|&&|'|\"|\\|$|$'|#|!|(|)|{|}|~|*|?|[|]|[[|]]|-n|2>|&1|<<E|\nE\n|<<<|\t|\n|\\\n|=|X=|{a,b}|if|then|fi|sed -n '1p'|awk '{print}'|find .|grep x|2>/dev/null|coproc|time", "|")

// TestAgainstBash has the real shell run what is held to be a read, of command
// lines put together at random: none changes the folder.
func TestAgainstBash(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("there is no bash")
	}
	dir := folder(t)
	before := names(t, dir)
	random := rand.New(rand.NewPCG(1, 2))
	ran := 0
	for range 20_000 {
		command := strings.Join(pick(random), " ")
		if random.IntN(2) == 0 {
			at := reads[random.IntN(len(reads))]
			cut := random.IntN(len(at) + 1)
			command = at[:cut] + pieces[random.IntN(len(pieces))] + at[cut:]
		}
		if strings.Contains(command, "sleep") || ran == 300 || !Judge(command, dir, "/home/me").Reads {
			continue
		}
		ran++
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		cmd := exec.CommandContext(ctx, bash, "-c", command)
		cmd.Dir, cmd.Env = dir, []string{"PATH=" + os.Getenv("PATH"), "HOME=/home/me"}
		_ = cmd.Run() // most of them fail
		cancel()
		if after := names(t, dir); after != before {
			t.Fatalf("%q is held to be a read, and made of %q %q", command, before, after)
		}
	}
	if ran < 100 {
		t.Errorf("only %d command lines were held to be reads", ran)
	}
}

func pick(random *rand.Rand) []string {
	some := make([]string, 1+random.IntN(8))
	for i := range some {
		some[i] = pieces[random.IntN(len(pieces))]
	}
	return some
}

func names(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, entry := range entries {
		all = append(all, entry.Name())
	}
	return strings.Join(all, " ")
}
