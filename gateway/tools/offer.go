package tools

import (
	"slices"
	"strings"
)

// Conversation is what is known of what tools are needed for.
type Conversation struct {
	Said []string          // what the person said, the newest last
	Keep func(*Entry) bool // reports whether a tool is offered in any case, such as one already called; may be nil
	Skip func(*Entry) bool // reports whether a tool is not to be offered; may be nil
}

// Limited reports whether there are more tools than are offered at once.
func (c *Catalogue) Limited() bool { return c.limit > 0 && len(c.usable) > c.limit }

// OfferFor returns the tools to offer in a conversation: those to keep, and up to
// the limit those that fit best what was said, the newest most, then some of each
// server. They come in the order of Entries, so that equal choices are equal
// requests.
func (c *Catalogue) OfferFor(conversation Conversation) []*Entry {
	limit := c.limit
	if limit == 0 {
		limit = len(c.usable)
	}
	chosen := make(map[*Entry]bool, limit)
	choose := func(e *Entry) {
		if len(chosen) < limit && (conversation.Skip == nil || !conversation.Skip(e)) {
			chosen[e] = true
		}
	}
	for _, e := range c.usable {
		if conversation.Keep != nil && conversation.Keep(e) && (conversation.Skip == nil || !conversation.Skip(e)) {
			chosen[e] = true
		}
	}
	if query := conversation.terms(); len(query) > 0 && c.Limited() {
		for _, r := range c.index().rank(query) {
			choose(r.entry)
		}
	}
	for _, e := range c.inTurns() {
		choose(e)
	}
	return slices.DeleteFunc(slices.Clone(c.usable), func(e *Entry) bool { return !chosen[e] })
}

const (
	remembered = 6    // messages that count
	maxSaid    = 4000 // bytes of each end of a message that are read
	fading     = 0.5  // what a message counts of what the one after it does
)

// terms are the words that were said.
func (c Conversation) terms() terms {
	query := terms{}
	weight := float32(1)
	for i := len(c.Said) - 1; i >= 0 && i >= len(c.Said)-remembered; i-- {
		said := c.Said[i]
		if len(said) > 2*maxSaid { // clients put whole files between the question's parts
			said = said[:maxSaid] + " " + said[len(said)-maxSaid:]
		}
		once := terms{}
		once.add(said, 1)
		for term := range once { // a word said often is not what counts: a file may hold it
			query[term] += weight
		}
		weight *= fading
	}
	return query
}

// inTurns returns the usable tools, one of each server after another.
func (c *Catalogue) inTurns() []*Entry {
	var servers [][]*Entry
	for i, e := range c.usable {
		if i == 0 || e.Server != c.usable[i-1].Server {
			servers = append(servers, nil)
		}
		servers[len(servers)-1] = append(servers[len(servers)-1], e)
	}
	list := make([]*Entry, 0, len(c.usable))
	for turn := 0; len(list) < len(c.usable); turn++ {
		for _, own := range servers {
			if turn < len(own) {
				list = append(list, own[turn])
			}
		}
	}
	return list
}

// farFromBest is the part of the best one's score below which a tool is not found:
// it shares a word with the query, and nothing else.
const farFromBest = 0.3

// Find returns at most n usable tools that fit a query, the best first.
func (c *Catalogue) Find(query string, n int) []*Entry {
	words := terms{}
	words.add(query, 1)
	var list []*Entry
	if e := c.Lookup(strings.TrimSpace(query)); e != nil && slices.Contains(c.usable, e) {
		list = append(list, e)
	}
	ranking := c.index().rank(words)
	for _, r := range ranking {
		if len(list) >= n || r.score < farFromBest*ranking[0].score {
			break
		}
		if !slices.Contains(list, r.entry) {
			list = append(list, r.entry)
		}
	}
	return list
}

// Usable returns every tool that a model can be offered, in the order of Entries.
// The slice is shared.
func (c *Catalogue) Usable() []*Entry { return c.usable }
