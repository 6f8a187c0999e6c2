package model

import (
	"pointsman/gateway/journal"
)

// Tone is what a state means to whoever looks, beside its word.
type Tone int

// The tones.
const (
	Quiet  Tone = iota // nothing to look at
	Busy               // it goes on
	Asking             // a person is wanted
	Good
	Bad
)

// CallState is where a call stands. Its order is that of a call's life: a call
// never goes back.
type CallState int

// The states. Those from CallDone on are ends.
const (
	CallRequested CallState = iota // it is at the gates
	CallWaiting                    // for a person
	CallRunning
	CallDone
	CallFailed
	CallDenied
	CallNotAnswered
	CallWithdrawn
	CallInvalid
	CallTimedOut
	CallCancelled
	CallUnknown // it may have run
)

// callStates are each state's word, tone and, of an end, the outcome in the record.
var callStates = map[CallState]struct {
	word    string
	tone    Tone
	outcome journal.Outcome
}{
	CallRequested:   {"Starting", Busy, ""},
	CallWaiting:     {"Waiting for you", Asking, ""},
	CallRunning:     {"Running", Busy, ""},
	CallDone:        {"Done", Good, journal.OK},
	CallFailed:      {"Failed", Bad, journal.Failed},
	CallDenied:      {"Denied", Bad, journal.Denied},
	CallNotAnswered: {"Not answered", Bad, journal.NotAnswered},
	CallWithdrawn:   {"Withdrawn", Quiet, journal.Withdrawn},
	CallInvalid:     {"Not valid", Bad, journal.Invalid},
	CallTimedOut:    {"Timed out", Bad, journal.Timeout},
	CallCancelled:   {"Cancelled", Quiet, journal.Cancelled},
	CallUnknown:     {"Unknown", Bad, journal.Unknown},
}

// Word says the state to a person.
func (s CallState) Word() string { return callStates[s].word }

// Tone is what the state means.
func (s CallState) Tone() Tone { return callStates[s].tone }

// Ended reports whether the call is over.
func (s CallState) Ended() bool { return s >= CallDone }

// endOf returns the state that an outcome stands for; one that is not known is
// taken for CallUnknown.
func endOf(outcome journal.Outcome) CallState {
	for state, s := range callStates {
		if s.outcome == outcome && state.Ended() {
			return state
		}
	}
	return CallUnknown
}

// Outcomes are the ends of calls that can be searched for, in the order of
// their states.
func Outcomes() []OutcomeChoice {
	var all []OutcomeChoice
	for state := CallDone; state <= CallUnknown; state++ {
		all = append(all, OutcomeChoice{Word: state.Word(), Outcome: callStates[state].outcome})
	}
	return all
}

// OutcomeChoice is an outcome and its word.
type OutcomeChoice struct {
	Word    string
	Outcome journal.Outcome
}
