package approvals

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
)

// ErrNotRemoved says that a rule is none that Delete has forgotten since the
// program started, or not exactly that one.
var ErrNotRemoved = errors.New("it is not one that was removed since the program started; make it anew when the tool next asks")

// maxRemoved bounds the removed rules that can be restored.
const maxRemoved = 100

// Restore brings back a rule that Delete has forgotten, exactly as it was: what
// is added is what was removed, never what rule says. It fails with
// ErrNotRemoved for any other rule, and nothing changes when it cannot be stored.
// A definition that changed meanwhile has voided it.
func (r *Rules) Restore(rule Rule) error {
	m, ok := r.findRemoved(rule)
	if !ok {
		return fmt.Errorf("restoring the rule %q: %w", rule.ID, ErrNotRemoved)
	}
	err := r.change(m.saved(), func(rules []remembered) []remembered {
		rules = slices.DeleteFunc(rules, func(o remembered) bool { return o.ID == m.ID })
		return append(rules, m)
	})
	if err == nil {
		r.forgetRemoved(m.ID)
	}
	return err
}

// sameRule reports whether two rules say the same, however often each was used
// and whether it still matches.
func sameRule(a, b Rule) bool {
	times := a.Until.Equal(b.Until) && a.Created.Equal(b.Created)
	a.Until, a.Created, a.Used, a.LastUsed, a.Voided = b.Until, b.Created, b.Used, b.LastUsed, b.Voided
	sameWords := slices.Equal(a.CommandPrefix, b.CommandPrefix)
	a.CommandPrefix, b.CommandPrefix = nil, nil
	return times && sameWords && reflect.DeepEqual(a, b)
}

func (r *Rules) findRemoved(rule Rule) (remembered, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, m := range r.removed {
		if m.ID == rule.ID && sameRule(m.Rule, rule) {
			return m, true
		}
	}
	return remembered{}, false
}

// keepRemoved notes a rule that is about to be removed. It is noted first, so
// that a definition that changes in this moment voids it, too.
func (r *Rules) keepRemoved(id string) (remembered, bool) {
	named := func(m remembered) bool { return m.ID == id }
	r.mu.Lock()
	defer r.mu.Unlock()
	i := slices.IndexFunc(r.rules, named)
	if i < 0 {
		return remembered{}, false
	}
	r.removed = append(slices.DeleteFunc(r.removed, named), r.rules[i])
	if extra := len(r.removed) - maxRemoved; extra > 0 {
		r.removed = slices.Delete(r.removed, 0, extra)
	}
	return r.rules[i], true
}

func (r *Rules) forgetRemoved(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.removed = slices.DeleteFunc(r.removed, func(m remembered) bool { return m.ID == id })
}

// voidRemoved ends removed rules of a tool whose definition has changed.
func (r *Rules) voidRemoved(stale func(remembered) bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range r.removed {
		r.removed[i].Voided = r.removed[i].Voided || stale(r.removed[i])
	}
}
