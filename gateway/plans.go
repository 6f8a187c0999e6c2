package gateway

import (
	"slices"
	"sync"

	"pointsman/gateway/loop"
)

// maxPlans is how many plans are remembered.
const maxPlans = 100

// plans remembers the latest plan of each session and client. The zero value is
// ready.
type plans struct {
	mu   sync.Mutex // guards the field below
	list []keptPlan // the latest last
}

type keptPlan struct {
	session, client string
	steps           []loop.Step
}

// note remembers a plan, if there is one.
func (p *plans) note(session, client string, steps []loop.Step) {
	if len(steps) == 0 {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.list = slices.DeleteFunc(p.list, func(k keptPlan) bool { return k.session == session && k.client == client })
	p.list = append(p.list, keptPlan{session, client, slices.Clone(steps)})
	if len(p.list) > maxPlans {
		p.list = slices.Delete(p.list, 0, 1)
	}
}

// find returns the latest plan of a session, else of a client; nil when there is
// none.
func (p *plans) find(session, client string) []loop.Step {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, same := range []func(keptPlan) bool{
		func(k keptPlan) bool { return session != "" && k.session == session },
		func(k keptPlan) bool { return client != "" && k.client == client },
	} {
		for _, k := range slices.Backward(p.list) {
			if same(k) {
				return k.steps
			}
		}
	}
	return nil
}
