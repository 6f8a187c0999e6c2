package models

import (
	"slices"
	"sync"
	"time"

	"pointsman/gateway/config"
)

// balance shares a group's requests out. Each deployment earns credit by its
// weight, and pays when a request goes its way (smooth weighted round robin, as
// nginx has it), so that shares are exact over a few requests already.
type balance struct {
	mu     sync.Mutex // guards the field below
	credit []float64
}

// weights are the shares of deployments: by weight, or else by rpm, or else by
// tpm, whichever the first of these is that one of them has. A deployment without
// it counts as the least that has. All are equal when none has any.
func weights(deployments []*Deployment) []float64 {
	for _, of := range []func(*config.LiteLLMParams) *float64{
		func(p *config.LiteLLMParams) *float64 { return p.Weight },
		func(p *config.LiteLLMParams) *float64 { return float(p.RPM) },
		func(p *config.LiteLLMParams) *float64 { return float(p.TPM) },
	} {
		if shares := sharesBy(deployments, of); shares != nil {
			return shares
		}
	}
	return sharesBy(deployments, func(*config.LiteLLMParams) *float64 { return new(1.0) })
}

func float(n *int64) *float64 {
	if n == nil {
		return nil
	}
	return new(float64(*n))
}

func sharesBy(deployments []*Deployment, of func(*config.LiteLLMParams) *float64) []float64 {
	least := 0.0
	for _, d := range deployments {
		if share := of(&d.params); share != nil && *share > 0 && (least == 0 || *share < least) {
			least = *share
		}
	}
	if least == 0 {
		return nil
	}
	shares := make([]float64, len(deployments))
	for i, d := range deployments {
		shares[i] = least
		if share := of(&d.params); share != nil {
			shares[i] = *share
		}
	}
	return shares
}

// pick chooses a deployment that may be asked now, and enters it: by weight, and
// among equals the least busy. One with the weight 0 stands by for when no other
// is free. skip are deployments not to be asked. It returns nil when there is
// none.
func (g *Group) pick(now time.Time, skip map[*health]bool) (*Deployment, *visit) {
	g.balance.mu.Lock()
	defer g.balance.mu.Unlock()
	for {
		i := g.choose(now, skip)
		if i < 0 {
			return nil, nil
		}
		d := g.Deployments[i]
		if v, ok := d.health.enter(now, d.limits); ok {
			return d, v
		} // somebody else was faster: it is not free any more
	}
}

// open reports whether a deployment that is not to be skipped may be asked at a
// time.
func (g *Group) open(at time.Time, skip map[*health]bool) bool {
	return slices.ContainsFunc(g.Deployments, func(d *Deployment) bool {
		free, _ := d.health.free(at, d.limits)
		return free && !skip[d.health]
	})
}

// candidate is a deployment that is free.
type candidate struct{ index, inFlight int }

// choose is pick without entering; the lock is held.
func (g *Group) choose(now time.Time, skip map[*health]bool) int {
	var free, open []candidate
	for i, d := range g.Deployments {
		ok, inFlight := d.health.free(now, d.limits)
		if !ok {
			continue
		}
		free = append(free, candidate{i, inFlight})
		if !skip[d.health] {
			open = append(open, candidate{i, inFlight})
		}
	}
	if len(open) < 2 && len(g.Deployments) < 2 {
		return len(open) - 1
	}
	return g.leastBusy(open, g.turn(free, open))
}

// turn returns whose turn it is among those open, -1 when there is none, and
// keeps the account of all who are free.
func (g *Group) turn(free, open []candidate) int {
	turn := -1
	for _, c := range open {
		if turn < 0 || g.before(c.index, turn) {
			turn = c.index
		}
	}
	if turn < 0 {
		return turn
	}
	for _, c := range free {
		g.balance.credit[c.index] += g.weights[c.index]
		g.balance.credit[turn] -= g.weights[c.index]
	}
	return turn
}

// before reports whether deployment i is to be asked rather than j.
func (g *Group) before(i, j int) bool {
	if standby := g.weights[i] == 0; standby != (g.weights[j] == 0) {
		return !standby
	}
	return g.balance.credit[i]+g.weights[i] > g.balance.credit[j]+g.weights[j]
}

// leastBusy returns the one with the fewest requests among those with the weight
// of the one whose turn it is.
func (g *Group) leastBusy(open []candidate, turn int) int {
	chosen, busy := turn, -1
	for _, c := range open {
		if g.weights[c.index] != g.weights[turn] {
			continue
		}
		if busy < 0 || c.inFlight < busy || c.inFlight == busy && c.index == turn {
			chosen, busy = c.index, c.inFlight
		}
	}
	return chosen
}
