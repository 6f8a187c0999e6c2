package loop

import (
	"crypto/sha256"
	"encoding/json"

	"pointsman/gateway/calls"
)

// guard counts calls that repeat: the same tool with the same arguments and the
// same result. Polling whose result changes is progress and never counted.
type guard struct {
	soft, hard int
	seen       map[[sha256.Size]byte]int
	warned     bool
}

type guardVerdict int

const (
	guardGoOn guardVerdict = iota
	guardWarn              // once in a run
	guardStop
)

// note counts one call and says what follows.
func (g *guard) note(result calls.Result) guardVerdict {
	if g.soft <= 0 && g.hard <= 0 {
		return guardGoOn
	}
	key := sha256.Sum256(append(append(append([]byte(result.Name), 0), canonical(result.Arguments)...), result.Text...))
	if g.seen == nil {
		g.seen = map[[sha256.Size]byte]int{}
	}
	g.seen[key]++
	switch n := g.seen[key]; {
	case g.hard > 0 && n >= g.hard:
		return guardStop
	case g.soft > 0 && n >= g.soft && !g.warned:
		g.warned = true
		return guardWarn
	default:
		return guardGoOn
	}
}

// canonical returns JSON with sorted keys and no spaces, and without members
// that are null; what is not JSON is returned as it is.
func canonical(data []byte) []byte {
	var v any
	if json.Unmarshal(data, &v) != nil {
		return data
	}
	out, err := json.Marshal(withoutNulls(v))
	if err != nil {
		return data
	}
	return out
}

func withoutNulls(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for key, value := range v {
			if value == nil {
				delete(v, key)
			} else {
				v[key] = withoutNulls(value)
			}
		}
	case []any:
		for i := range v {
			v[i] = withoutNulls(v[i])
		}
	}
	return v
}
