package approvals

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

// Rules are the remembered decisions. Nothing widens by itself: a rule is about
// one definition of one tool of one server, and a denial beats a permission.
// It is safe for concurrent use.
type Rules struct {
	now     func() time.Time
	persist func([]Rule) error
	changed signal
	secret  func(arguments string) bool // nil: none is

	saving  sync.Mutex // serialises calls of persist; held across them, taken before mu
	mu      sync.Mutex // guards the fields below
	rules   []remembered
	removed []remembered // by Delete, the latest last, to be restored
}

// NewRules returns an empty set. now is the clock; nil means time.Now. persist
// stores the rules that outlive the program, replacing what was stored; it is
// called for each change of them, and may call Load. Nil means they are not
// stored.
func NewRules(now func() time.Time, persist func([]Rule) error) *Rules {
	if now == nil {
		now = time.Now
	}
	if persist == nil {
		persist = func([]Rule) error { return nil }
	}
	return &Rules{now: now, persist: persist}
}

// Subscribe returns a channel that receives after rules changed, and a function
// that ends the subscription.
func (r *Rules) Subscribe() (<-chan struct{}, func()) { return r.changed.subscribe() }

// Match returns the rule that decides req, a denial before a permission, and
// counts its use. It reports false when none does. No permission decides a
// request with AlwaysAsk.
func (r *Rules) Match(req Request) (Rule, bool) {
	if r == nil {
		return Rule{}, false
	}
	now := r.now()
	m, ok := r.find(req, now)
	if !ok {
		return Rule{}, false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range r.rules {
		if r.rules[i].ID == m.ID {
			r.rules[i].Used++
			r.rules[i].LastUsed = now
		}
	}
	return m.Rule, true
}

// matches is Match without counting.
func (r *Rules) matches(req Request) bool {
	_, ok := r.find(req, r.now())
	return ok
}

// find looks at a copy, since matching a path touches the file system.
func (r *Rules) find(req Request, now time.Time) (remembered, bool) {
	r.mu.Lock()
	rules := slices.Clone(r.rules)
	r.mu.Unlock()
	actions := []Action{Deny, Allow}
	if req.AlwaysAsk {
		actions = actions[:1]
	}
	for _, action := range actions {
		for i := range rules {
			if m := &rules[i]; m.Action == action && m.matches(req, now) {
				return *m, true
			}
		}
	}
	return remembered{}, false
}

// Remember adds the rule that d.Scope asks for and returns it. When it cannot be
// stored nothing is remembered. An equal rule that is already there is renewed.
func (r *Rules) Remember(req Request, d Decision) (Rule, error) {
	rule, err := ruleFor(req, d)
	if err != nil {
		return Rule{}, fmt.Errorf("remembering a decision on tool %q: %w", req.Tool, err)
	}
	rule.ID, rule.Created = newID(), r.now()
	m, err := remember(rule)
	if err != nil {
		return Rule{}, fmt.Errorf("remembering a decision on tool %q: %w", req.Tool, err)
	}
	m = r.conceal(m)
	err = r.change(m.saved(), func(rules []remembered) []remembered {
		rules = slices.DeleteFunc(rules, func(o remembered) bool { return sameSubject(o.Rule, m.Rule) })
		return append(rules, m)
	})
	if err != nil {
		return Rule{}, err
	}
	return m.Rule, nil
}

// ruleFor writes d's scope out as a rule about req.
func ruleFor(req Request, d Decision) (Rule, error) {
	if d.Scope == nil {
		return Rule{}, errors.New("it has no scope")
	}
	rule := Rule{
		Server: req.Server, Tool: req.Tool, Definition: req.Definition,
		Lifetime: d.Scope.Lifetime, PathPrefix: d.Scope.PathPrefix, CommandPrefix: d.Scope.CommandPrefix, Folder: d.Scope.Folder,
	}
	switch d.Outcome {
	case Allowed:
		rule.Action = Allow
	case Denied:
		rule.Action = Deny
	default:
		return Rule{}, fmt.Errorf("%q is nothing to remember", d.Outcome)
	}
	switch d.Scope.Lifetime {
	case ForRun:
		rule.Run = req.Run
	case UntilTime:
		rule.Until = d.Scope.Until
	}
	if !d.Scope.ExactArguments {
		return rule, nil
	}
	var err error
	rule.Arguments, err = canonical(decided(d, req))
	return rule, err
}

// sameSubject reports whether a and b are about the same calls for the same
// time, so that the later one takes the earlier one's place.
func sameSubject(a, b Rule) bool {
	return !a.Voided && !b.Voided && a.Lifetime == b.Lifetime && a.Run == b.Run &&
		a.Server == b.Server && a.Tool == b.Tool && a.Definition == b.Definition &&
		digest(a.Arguments) == digest(b.Arguments) && a.PathPrefix == b.PathPrefix &&
		slices.Equal(a.CommandPrefix, b.CommandPrefix) && a.Folder == b.Folder
}

// change replaces the rules by what edit makes of a copy. With save set it
// stores them first, and on an error nothing changes.
func (r *Rules) change(save bool, edit func([]remembered) []remembered) error {
	r.saving.Lock()
	defer r.saving.Unlock()
	if save {
		if err := r.persist(savedOf(edit(r.copy()))); err != nil {
			return fmt.Errorf("saving the remembered rules: %w", err)
		}
	}
	r.mu.Lock()
	// Edited again, not reused: persist may have called Load meanwhile.
	r.rules = dedupe(edit(slices.Clone(r.rules)))
	r.mu.Unlock()
	r.changed.notify()
	return nil
}

func (r *Rules) copy() []remembered {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.rules)
}

func savedOf(rules []remembered) []Rule {
	saved := []Rule{}
	for _, m := range rules {
		if m.saved() {
			saved = append(saved, m.Rule)
		}
	}
	return saved
}

// dedupe keeps the last rule of each id.
func dedupe(rules []remembered) []remembered {
	last := make(map[string]int, len(rules))
	for i, m := range rules {
		last[m.ID] = i
	}
	kept := rules[:0]
	for i, m := range rules {
		if last[m.ID] == i {
			kept = append(kept, m)
		}
	}
	return kept
}

// Load puts rules, as they were stored, in the place of all that outlive the
// program; those for a run or the session stay. A rule that makes no sense is
// left out, and the error names it; the others are loaded all the same.
func (r *Rules) Load(rules []Rule) error {
	loaded := make([]remembered, 0, len(rules))
	var errs []error
	for i, rule := range rules {
		m, err := remember(rule)
		if err != nil {
			errs = append(errs, fmt.Errorf("remembered rule %d (%s): %w", i+1, cmp.Or(rule.ID, "no id"), err))
			continue
		}
		loaded = append(loaded, r.conceal(m))
	}
	r.mu.Lock()
	r.rules = dedupe(r.merge(loaded))
	r.mu.Unlock()
	r.changed.notify()
	return errors.Join(errs...)
}

// merge returns what stays of r.rules beside loaded: rules that are not stored,
// and what is known of stored ones besides their text. Its caller holds mu.
func (r *Rules) merge(loaded []remembered) []remembered {
	var merged []remembered
	for _, old := range r.rules {
		i := slices.IndexFunc(loaded, func(m remembered) bool { return m.ID == old.ID })
		switch {
		case i < 0 && old.saved(): // gone from the store
		case i < 0:
			merged = append(merged, old)
		default:
			loaded[i] = loaded[i].inherit(old)
		}
	}
	return append(merged, loaded...)
}

// inherit returns m with what old, its earlier self, learned in use.
func (m remembered) inherit(old remembered) remembered {
	m.Used, m.LastUsed = old.Used, old.LastUsed
	m.Voided = m.Voided || old.Voided && old.Definition == m.Definition
	if m.PathPrefix == old.PathPrefix {
		m.prefix = old.prefix
	}
	return m
}

// Void ends every rule of a tool that was given for another definition than
// hash, because the definition has changed. They stay in List, marked, until
// the program ends, and leave the store; an error tells that they could not.
func (r *Rules) Void(server, tool, hash string) error {
	stale := func(m remembered) bool {
		return !m.Voided && m.Server == server && m.Tool == tool && m.Definition != hash
	}
	r.voidRemoved(stale)
	rules := r.copy()
	if !slices.ContainsFunc(rules, stale) {
		return nil
	}
	r.mu.Lock()
	for i := range r.rules {
		r.rules[i].Voided = r.rules[i].Voided || stale(r.rules[i])
	}
	r.mu.Unlock()
	return r.change(true, func(rules []remembered) []remembered { return rules })
}

// Delete forgets the rule with that id and reports whether there was one. It can
// be restored as long as the program runs.
func (r *Rules) Delete(id string) (bool, error) {
	m, ok := r.keepRemoved(id)
	if !ok {
		return false, nil
	}
	err := r.change(m.saved(), func(rules []remembered) []remembered {
		return slices.DeleteFunc(rules, func(m remembered) bool { return m.ID == id })
	})
	if err != nil {
		r.forgetRemoved(id)
	}
	return err == nil, err
}

// EndRun forgets the rules that held for that run.
func (r *Rules) EndRun(run string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	ended := func(m remembered) bool { return m.Lifetime == ForRun && m.Run == run }
	r.rules = slices.DeleteFunc(r.rules, ended)
	r.removed = slices.DeleteFunc(r.removed, ended)
}

// List returns the rules that have not expired, oldest first, voided ones
// included.
func (r *Rules) List() []Rule {
	now := r.now()
	list := []Rule{}
	for _, m := range r.copy() {
		if m.Lifetime != UntilTime || now.Before(m.Until) {
			list = append(list, m.Rule)
		}
	}
	slices.SortStableFunc(list, func(a, b Rule) int { return a.Created.Compare(b.Created) })
	return list
}
