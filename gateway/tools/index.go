package tools

import (
	"cmp"
	"maps"
	"math"
	"slices"
)

// The constants of BM25, as usual: how soon a word repeated says no more, and how
// much a long description counts against a tool.
const (
	saturation = 1.2
	lengthened = 0.75
)

// meaningWeight is what a word of the same meaning counts, beside the word itself.
const meaningWeight = 0.7

// index finds tools by words. It never changes.
type index struct {
	entries []*Entry
	lengths []float32 // how much is said of each entry
	average float32
	found   map[string][]posting // by term
}

// posting says how much an entry says of a term.
type posting struct {
	entry  int
	weight float32
}

func newIndex(entries []*Entry) *index {
	x := &index{entries: entries, lengths: make([]float32, len(entries)), found: map[string][]posting{}}
	var sum float32
	for i, e := range entries {
		for term, weight := range e.terms() {
			x.found[term] = append(x.found[term], posting{i, weight})
			x.lengths[i] += weight
		}
		sum += x.lengths[i]
	}
	x.average = sum / float32(max(len(entries), 1))
	return x
}

// ranked is a tool and how well it fits a query.
type ranked struct {
	entry *Entry
	score float64
}

// rank returns the tools that share a word with the query, the best first, and
// those of one score in the catalogue's order.
func (x *index) rank(query terms) []ranked {
	scores := make([]float64, len(x.entries))
	// In the order of terms, so that rounding does not depend on that of a map.
	for _, term := range slices.Sorted(maps.Keys(query)) {
		postings, weight := x.found[term], float64(query[term])
		if term[0] == '~' {
			weight *= meaningWeight
		}
		rarity := math.Log(1 + (float64(len(x.entries)-len(postings))+0.5)/(float64(len(postings))+0.5))
		for _, p := range postings {
			said := float64(p.weight)
			length := 1 - lengthened + lengthened*float64(x.lengths[p.entry]/x.average)
			scores[p.entry] += weight * rarity * said * (saturation + 1) / (said + saturation*length)
		}
	}
	var list []ranked
	for i, score := range scores {
		if score > 0 {
			list = append(list, ranked{x.entries[i], score})
		}
	}
	slices.SortStableFunc(list, func(a, b ranked) int { return cmp.Compare(b.score, a.score) })
	return list
}
