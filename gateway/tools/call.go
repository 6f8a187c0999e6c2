package tools

import (
	"encoding/json"
	"slices"

	"github.com/tidwall/gjson"

	"pointsman/approvals"
)

// judge judges one call by its arguments. A call of a tool whose selectors make it
// risky need not ask when each selector is given, each is known to read only, and
// no other call is inside; when they choose a change, it is as grave as that. All
// else keeps the tool's verdict or raises it.
func (p *profile) judge(v *vocabulary, args json.RawMessage) Verdict {
	if p.fixed {
		return p.verdict
	}
	given, carries := v.readCall(args)
	if p.verdict.Risky && !carries {
		if f := v.judgeChoices(p.selectors, given); f.strength > none {
			return p.chosen(f)
		}
	}
	return p.raised(v.judgeGiven(p, given, args))
}

// chosen is the verdict on a call of a risky tool whose selectors choose f.
func (p *profile) chosen(f finding) Verdict {
	if f.reads() && p.mayRead {
		return verdict(f)
	}
	f = raise(graver(f, p.besideModes), p.annotations)
	if f.reads() {
		return p.verdict
	}
	return withOthers(f, p.others)
}

// raised is the tool's verdict, or that f calls for when it is graver.
func (p *profile) raised(f finding) Verdict {
	if !f.risky() || p.verdict.Risky && gravity(f.class) <= gravity(p.verdict.Class) {
		return p.verdict
	}
	if !p.verdict.Risky {
		return verdict(f)
	}
	return withOthers(f, p.verdict.Evidence)
}

func withOthers(f finding, others []string) Verdict {
	v := verdict(f)
	for _, evidence := range others {
		if evidence != f.evidence {
			v.Evidence = append(v.Evidence, evidence)
		}
	}
	return v
}

// judgeGiven finds what the selectors that are given make a call do, and whether
// it is handed something to execute that the tool's schema does not show.
func (v *vocabulary) judgeGiven(p *profile, given []choice, args json.RawMessage) finding {
	var gravest finding
	for _, g := range given {
		f := v.judgeMode(g.name, g.value)
		f.evidence = g.name + " is “" + g.value + "”"
		gravest = graver(gravest, f)
	}
	if hidden := v.hiddenOrder(p.orders, gjson.ParseBytes(args)); hidden != "" && !p.trustedReads {
		gravest = graver(gravest, found(approvals.Execute, strong, "it is handed what its schema does not show:", hidden))
	}
	return gravest
}

// hiddenOrder returns the key of an argument, also of one inside another, that
// holds something to execute and is none of the declared, or "".
func (v *vocabulary) hiddenOrder(declared []order, args gjson.Result) string {
	hidden := ""
	if args.Type != gjson.JSON {
		return hidden
	}
	args.ForEach(func(key, value gjson.Result) bool {
		o := v.order(key.String())
		holds := value.Type == gjson.JSON || value.Type == gjson.String && value.Str != ""
		if o.executes && !o.doubtful && holds && !slices.ContainsFunc(declared, func(d order) bool { return d.name == o.name }) {
			hidden = o.name
		} else {
			hidden = v.hiddenOrder(declared, value)
		}
		return hidden == ""
	})
	return hidden
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
			carries = carries || v.carriesCalls(key.String(), value)
		}
		return true
	})
	return given, carries
}

// carriesCalls reports whether an argument may hold other calls: it is text to
// execute, a list or object named like one, or a list or object that names an
// action inside.
func (v *vocabulary) carriesCalls(name string, value gjson.Result) bool {
	if value.Type == gjson.String && value.Str != "" && v.order(name).executes {
		return true
	}
	if value.Type != gjson.JSON {
		return false
	}
	if v.carriers[fold(name)] || v.order(name).executes {
		return true
	}
	carries := false
	value.ForEach(func(key, inner gjson.Result) bool {
		inside := fold(key.String())
		carries = v.selectors[inside] || v.shells[inside] || v.carriesCalls(key.String(), inner)
		return !carries
	})
	return carries
}

// judgeChoices finds what a call does by what its selectors choose: the gravest
// of them, or nothing when one does not tell.
func (v *vocabulary) judgeChoices(declared []selector, given []choice) finding {
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
		if f.strength == none {
			if s.listed(given[i].value) && s.risks(v).strength == none {
				continue // no value of it changes anything: it says how, not what
			}
			return finding{}
		}
		if decided.strength == none {
			decided = f
		}
		decided = graver(decided, f)
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
	f := v.judgeMode(s.name, value)
	if f.risky() {
		f.evidence = s.name + " is “" + value + "”"
	}
	return f
}
