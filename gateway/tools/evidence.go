package tools

import (
	"slices"

	"pointsman/approvals"
)

// evidence is what each source says about one tool.
type evidence struct {
	name, unusual, modes, files, handed, given, described, alarm finding
	leads                                                        bool // the name's finding stands on its first word
	trustedReads                                                 bool // a trusted server says the tool only reads
	params                                                       parameters
}

func (v *vocabulary) gather(def *Definition) evidence {
	words := splitWords(def.Name)
	p := v.readParameters(def.InputSchema)
	hint := def.Annotations.ReadOnlyHint
	e := evidence{
		name:         v.judgeName(words),
		unusual:      judgeSpelling(def.Name),
		modes:        v.judgeModes(p),
		files:        v.judgeFiles(words, p),
		given:        judgeParameters(p),
		described:    v.judgeDescription(def.Description),
		leads:        len(words) > 0 && v.words[words[0]].role == either,
		trustedReads: def.Trusted && hint != nil && *hint,
		params:       p,
	}
	if e.name.reads() {
		e.alarm = v.judgeAlarm(def.Description)
		e.handed = v.judgeHanded(words, p, def.Description)
	}
	return e
}

// all returns what each source says, strongest first.
func (e *evidence) all() [8]finding {
	return [...]finding{e.name, e.unusual, e.files, e.modes, e.handed, e.given, e.alarm, e.described}
}

// decision is what all evidence together says.
type decision struct {
	finding
	besideModes finding // the same of a call whose selectors choose no change; a read, or nothing, when that is none
	mayRead     bool    // selectors made the tool risky, or nothing clear did, so a call may yet only read
}

// decide weighs the evidence: the strongest says whether the tool is risky, and
// of what says so the gravest says how.
func (e *evidence) decide() decision {
	f, mayRead := e.weigh()
	d := decision{finding: f, mayRead: mayRead}
	if !f.risky() {
		return d
	}
	if f != e.modes {
		d.besideModes = f
	}
	d.besideModes = graver(d.besideModes, e.gravestBesideModes())
	d.finding = graver(graver(f, d.besideModes), e.modes)
	return d
}

// gravestBesideModes returns the gravest that is said of every call, whatever its
// selectors choose. What a description says later than with its first words says
// too little about how grave the tool is.
func (e *evidence) gravestBesideModes() finding {
	var gravest finding
	for _, f := range [...]finding{e.name, e.unusual, e.files, e.handed, e.given, e.alarm} {
		gravest = graver(gravest, f)
	}
	if e.described.strength == strong {
		gravest = graver(gravest, e.described)
	}
	return gravest
}

// weigh returns the strongest evidence. mayRead is as of decision.
func (e *evidence) weigh() (f finding, mayRead bool) {
	switch {
	case e.name.risky() && e.name.strength == strong:
		return e.name, false
	case e.unusual.risky():
		return e.unusual, false
	case e.files.risky():
		return e.files, false
	case e.modes.risky():
		return e.modes, true
	case e.handed.risky() && !e.trustedReads:
		return e.handed, false
	case e.modes.reads() && (e.name.reads() || e.trustedReads || e.given.class != approvals.Execute):
		return e.modes, false
	case e.name.reads() && e.name.strength == strong && (e.trustedReads || !e.alarm.risky()):
		return e.name, false
	case e.trustedReads && !(e.leads && e.name.risky()):
		return finding{approvals.Read, strong, "server says readOnlyHint, and it is trusted"}, false
	case e.name.reads() && e.alarm.risky():
		return e.alarm, false
	case e.name.risky():
		return e.name, true
	case e.given.risky():
		return e.given, true
	case e.name.reads() && !e.described.risky():
		return e.name, false
	case e.described.strength > none:
		return e.described, true
	}
	return finding{approvals.Write, weak, "nothing says that it only reads"}, true
}

// raise lets a server's hints make a tool more dangerous than it was found to
// be. A destructiveHint beside a readOnlyHint means nothing.
func raise(f finding, a Annotations) finding {
	readOnly := a.ReadOnlyHint != nil && *a.ReadOnlyHint
	destructive := a.DestructiveHint != nil && *a.DestructiveHint && !readOnly
	switch {
	case destructive && (f.class == approvals.Read || f.class == approvals.Write):
		return finding{approvals.Destructive, strong, "server says destructiveHint"}
	case f.class == approvals.Read && a.ReadOnlyHint != nil && !readOnly:
		return finding{approvals.Write, strong, "server says it is not read-only"}
	}
	return f
}

// verdict puts what decided first, then what else points the same way.
func (e *evidence) verdict(decided finding) Verdict {
	v := verdict(decided)
	for _, f := range e.all() {
		if f.strength > none && f.risky() == v.Risky && !slices.Contains(v.Evidence, f.evidence) {
			v.Evidence = append(v.Evidence, f.evidence)
		}
	}
	return v
}
