package tools

import (
	"encoding/json"
	"fmt"
	"slices"

	"pointsman/approvals"
)

// Verdict says how dangerous a tool, or one call of it, is. The zero Verdict is
// not a judgement; take one from a Classifier.
type Verdict struct {
	Class    approvals.Class
	Risky    bool     // the class is not read
	Evidence []string // short sentences, the one that decided first
}

// Classifier judges tools by the user's lists and the embedded vocabulary. It
// never changes and may be used from many goroutines at once.
type Classifier struct {
	risky, safe nameSet
	words       *vocabulary
}

// NewClassifier returns a classifier for the user's lists of tools that are
// always risky or always safe: offered or bare names, or patterns with *. It
// fails when an entry is empty.
func NewClassifier(risky, safe []string) (*Classifier, error) {
	words, err := loadVocabulary()
	if err != nil {
		return nil, err
	}
	c := &Classifier{words: words}
	if c.risky, err = newNameSet(risky); err != nil {
		return nil, fmt.Errorf("tools.risky: %w", err)
	}
	if c.safe, err = newNameSet(safe); err != nil {
		return nil, fmt.Errorf("tools.safe: %w", err)
	}
	return c, nil
}

// UserSays returns what the user's own lists say of a tool that no server of ours
// has: that it is risky, or that it is safe; listed is false when neither does.
func (c *Classifier) UserSays(tool string) (risky, listed bool) {
	_, riskyExact, isRisky := c.risky.match(tool)
	_, safeExact, isSafe := c.safe.match(tool)
	return isRisky && (riskyExact || !safeExact), isRisky || isSafe
}

// Classify judges a tool: what its most dangerous call can do.
func (c *Classifier) Classify(def Definition, offered string) Verdict {
	return c.profile(&def, offered).verdict
}

// Judge judges one call. It is Classify, but a call of a tool that both reads
// and changes things may be found to read only, and one of a reading tool to
// change something.
func (c *Classifier) Judge(def Definition, offered string, args json.RawMessage) Verdict {
	p := c.profile(&def, offered)
	return p.judge(c.words, args)
}

// profile is everything about a tool's risk that does not depend on arguments.
type profile struct {
	verdict      Verdict
	fixed        bool     // a list decided: arguments change nothing
	mayRead      bool     // its selectors, not its name, make it risky
	besideModes  finding  // what makes it risky whatever its selectors choose
	others       []string // the evidence beside that of its selectors
	selectors    []selector
	orders       []order // its parameters that may hold something to execute
	annotations  Annotations
	trustedReads bool
}

func (c *Classifier) profile(def *Definition, offered string) profile {
	if v, ok := c.listed(def, offered); ok {
		return profile{verdict: v, fixed: true}
	}
	return c.evident(def)
}

// evident is the profile of a tool that is on no list.
func (c *Classifier) evident(def *Definition) profile {
	g := c.words.gather(def)
	d := g.decide()
	v := g.verdict(raise(d.finding, def.Annotations))
	return profile{
		verdict: v, mayRead: d.mayRead, besideModes: d.besideModes,
		others:    slices.DeleteFunc(slices.Clone(v.Evidence), func(text string) bool { return text == g.modes.evidence }),
		selectors: g.params.selectors, orders: g.params.orders,
		annotations: def.Annotations, trustedReads: g.trustedReads,
	}
}

// unvouched is profile without the user's safe list: of a tool that is no longer
// the one that the user called safe.
func (c *Classifier) unvouched(def *Definition, offered string) profile {
	suspicious := Classifier{risky: c.risky, words: c.words}
	return suspicious.profile(def, offered)
}

// listed looks the tool up in the user's lists, then in the embedded ones.
func (c *Classifier) listed(def *Definition, offered string) (Verdict, bool) {
	riskyEntry, riskyExact, isRisky := c.risky.match(offered, def.Name)
	safeEntry, safeExact, isSafe := c.safe.matchTrusting(offered, def.Name)
	switch {
	case isRisky && (riskyExact || !isSafe || !safeExact):
		return c.listedRisky(def, approvals.Write, "your risky list has", riskyEntry), true
	case isSafe:
		return verdict(found(approvals.Read, strong, "your safe list has", safeEntry)), true
	}
	if entry, _, ok := c.words.risky.match(offered, def.Name); ok {
		return c.listedRisky(def, c.words.riskyClass[entry], "known to be risky:", def.Name), true
	}
	if _, _, ok := c.words.safe.matchTrusting(offered, def.Name); ok && !c.words.takesOrders(def) {
		return verdict(found(approvals.Read, strong, "known to be safe:", def.Name)), true
	}
	return Verdict{}, false
}

// listedRisky is the verdict on a tool that a list has: its class is at least
// the list's, or a graver one that other evidence speaks for.
func (c *Classifier) listedRisky(def *Definition, class approvals.Class, list, entry string) Verdict {
	f := found(class, strong, list, entry)
	v := c.evident(def).verdict
	if !v.Risky {
		return verdict(f)
	}
	if class == approvals.Write || gravity(v.Class) > gravity(class) {
		f.class = v.Class
	}
	return Verdict{Class: f.class, Risky: true, Evidence: append([]string{f.evidence}, v.Evidence...)}
}

func verdict(f finding) Verdict {
	return Verdict{Class: f.class, Risky: f.class != approvals.Read, Evidence: []string{f.evidence}}
}
