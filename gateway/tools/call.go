package tools

import (
	"encoding/json"
	"slices"

	"github.com/tidwall/gjson"
)

// judge judges one call by the selectors among its arguments. A call of a tool
// whose selectors make it risky need not ask when each selector is given, each
// is known to read only, and no other call is inside. All else keeps the tool's
// verdict or raises it.
func (p *profile) judge(v *vocabulary, args json.RawMessage) Verdict {
	if p.fixed {
		return p.verdict
	}
	given, carries := v.readCall(args)
	for _, g := range given {
		f := v.judgeMode(g.name, g.value)
		if f.risky() && !p.verdict.Risky {
			f.evidence = g.name + " is “" + g.value + "”"
			return verdict(f)
		}
	}
	if p.verdict.Risky && p.mayRead && !carries {
		if f := v.judgeReadingCall(p.selectors, given); f.reads() {
			return verdict(f)
		}
	}
	return p.verdict
}

// choice is a selector as given in a call.
type choice struct{ name, value string }

func called(name string) func(choice) bool {
	return func(c choice) bool { return c.name == name }
}

// readCall returns the selectors among args, and whether args may hold other
// calls. Arguments that are no object, or give a selector twice, hold anything.
func (v *vocabulary) readCall(args json.RawMessage) (given []choice, carries bool) {
	object := gjson.ParseBytes(args)
	if !object.IsObject() {
		return nil, true
	}
	object.ForEach(func(key, value gjson.Result) bool {
		name := fold(key.String())
		switch {
		case v.selectors[name], v.shells[name]:
			carries = carries || value.Type != gjson.String || slices.ContainsFunc(given, called(key.String()))
			given = append(given, choice{key.String(), value.String()})
		default:
			carries = carries || v.carriesCalls(name, value)
		}
		return true
	})
	return given, carries
}

// carriesCalls reports whether an argument may hold other calls: it is text to
// execute, a list or object named like one, or a list or object that names an
// action inside.
func (v *vocabulary) carriesCalls(name string, value gjson.Result) bool {
	if value.Type == gjson.String && value.Str != "" && v.executeParams[name] {
		return true
	}
	if value.Type != gjson.JSON {
		return false
	}
	if v.carriers[name] {
		return true
	}
	carries := false
	value.ForEach(func(key, inner gjson.Result) bool {
		inside := fold(key.String())
		carries = v.selectors[inside] || v.shells[inside] || v.carriesCalls(inside, inner)
		return !carries
	})
	return carries
}

// judgeReadingCall finds that a call only reads, or nothing.
func (v *vocabulary) judgeReadingCall(declared []selector, given []choice) finding {
	var decided finding
	for _, s := range declared {
		i := slices.IndexFunc(given, called(s.name))
		if i < 0 {
			if len(s.values) == 0 || s.risks(v).strength > none {
				return finding{} // what it does by default is unknown
			}
			continue
		}
		f := s.judgeChoice(v, given[i].value)
		if !f.reads() {
			if s.listed(given[i].value) && s.risks(v).strength == none {
				continue // no value of it changes anything: it says how, not what
			}
			return finding{}
		}
		if decided.strength == none {
			decided = f
		}
	}
	for _, g := range given {
		if !slices.ContainsFunc(declared, func(s selector) bool { return s.name == g.name }) {
			return finding{} // the server may obey what its schema does not show
		}
	}
	return decided
}

func (s selector) listed(value string) bool { return slices.Contains(s.values, value) }

// judgeChoice judges a value as given, which counts only when the schema lists
// it or could not.
func (s selector) judgeChoice(v *vocabulary, value string) finding {
	if len(s.values) > 0 && !s.listed(value) || len(s.values) == 0 && s.shell {
		return finding{}
	}
	return v.judgeMode(s.name, value)
}
