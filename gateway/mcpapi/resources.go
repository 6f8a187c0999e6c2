package mcpapi

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/tidwall/gjson"

	"pointsman/gateway/models"
)

// A resource's address is served with its server's prefix and a plus before its
// scheme: server+file:///x. That is an address again (RFC 3986, 3.1), and says
// whose it is.

// plainScheme matches what can stand in a scheme, and comes back as it is from
// programs that take an address apart.
var plainScheme = regexp.MustCompile(`^[a-z][a-z0-9.-]*$`)

// foreignScheme is what cannot.
var foreignScheme = regexp.MustCompile(`[^a-z0-9.-]+`)

// schemeOf returns what stands before the addresses of a server's resources; ""
// when nothing does. Servers whose prefixes are no schemes get others of their own.
func schemeOf(prefix string) string {
	if prefix == "" || plainScheme.MatchString(prefix) {
		return prefix
	}
	sum := sha256.Sum256([]byte(prefix))
	return fmt.Sprintf("s%s-%x", foreignScheme.ReplaceAllString(strings.ToLower(prefix), "-"), sum[:4])
}

// served returns the address under which a server's resource is served.
func (s *service) served(server, uri string) string {
	if scheme := schemeOf(s.door.opts.Library.Prefix(server)); scheme != "" {
		return scheme + "+" + uri
	}
	return uri
}

// place is where a resource may be.
type place struct{ server, uri string }

// places returns where a resource of an address may be: at the server whose
// prefix it has, else, as it may come from a link in a result, at any.
func (s *service) places(address string) []place {
	var named, bare []place
	for _, name := range s.shelves() {
		scheme := schemeOf(s.door.opts.Library.Prefix(name))
		head, rest, _ := strings.Cut(address, "+")
		if scheme != "" && strings.EqualFold(head, scheme) {
			named = append(named, place{name, rest})
			continue
		}
		bare = append(bare, place{name, address})
	}
	if len(named) > 0 {
		return named
	}
	return bare
}

func (s *service) listResources(ctx context.Context, req *mcp.ListResourcesRequest) (mcp.Result, error) {
	s.awaitServers(ctx)
	cursor := ""
	if req.Params != nil {
		cursor = req.Params.Cursor
	}
	return page(req, "resources", cursor, s.list(ctx, "resources/list", "resources", s.addressed("uri")))
}

func (s *service) listTemplates(ctx context.Context, req *mcp.ListResourceTemplatesRequest) (mcp.Result, error) {
	s.awaitServers(ctx)
	cursor := ""
	if req.Params != nil {
		cursor = req.Params.Cursor
	}
	return page(req, "resourceTemplates", cursor, s.list(ctx, "resources/templates/list", "resourceTemplates", s.addressed("uriTemplate")))
}

// addressed makes items of elements whose address is a member.
func (s *service) addressed(member string) func(server string, element raw) item {
	return func(server string, element raw) item {
		own := gjson.GetBytes(element, member).Str
		address := s.served(server, own)
		if address != own {
			element = models.WithMember(element, member, models.Quote(address))
		}
		return item{key: address, body: element, server: server, own: own}
	}
}

// readResource reads a resource from its server.
func (s *service) readResource(ctx context.Context, req *mcp.ReadResourceRequest) (mcp.Result, error) {
	p := req.Params
	return s.errand(ctx, req, errandParams{state: p.RequestState, answers: p.InputResponses, token: p.GetProgressToken()},
		func(ctx context.Context, e *errand) (mcp.Result, error) {
			err := invalid("unknown resource %q", p.URI)
			for _, at := range s.likely(ctx, p.URI) {
				var body raw
				if body, err = s.requestOf(ctx, e, at.server, "resources/read", map[string]any{"uri": at.uri}); err == nil {
					return s.contents(req, at.server, body), nil
				}
			}
			return nil, err
		})
}

// likely returns the places of a resource, those whose servers list it first: of
// several servers without a prefix nothing else tells whose it is.
func (s *service) likely(ctx context.Context, address string) []place {
	places := s.places(address)
	if len(places) < 2 {
		return places
	}
	listed := map[string]bool{}
	for _, it := range s.list(ctx, "resources/list", "resources", s.addressed("uri")) {
		if it.own == address || it.key == address {
			listed[it.server] = true
		}
	}
	slices.SortStableFunc(places, func(a, b place) int {
		return cmp.Compare(rank(listed[a.server]), rank(listed[b.server]))
	})
	return places
}

func rank(first bool) int {
	if first {
		return 0
	}
	return 1
}

// contents is the result of reading: the same, under the addresses that clients
// know.
func (s *service) contents(req request, server string, body raw) *answer {
	elements := gjson.GetBytes(body, "contents")
	if schemeOf(s.door.opts.Library.Prefix(server)) != "" && elements.IsArray() {
		var list [][]byte
		for _, element := range elements.Array() {
			list = append(list, models.WithMember(raw(element.Raw), "uri", models.Quote(s.served(server, element.Get("uri").Str))))
		}
		body = models.WithMember(body, "contents", fmt.Appendf(nil, "[%s]", bytes.Join(list, []byte(","))))
	}
	if stateless(req) { // it may change at any time
		for member, value := range map[string]string{"ttlMs": "0", "cacheScope": `"private"`} {
			if !gjson.GetBytes(body, member).Exists() {
				body = models.WithMember(body, member, raw(value))
			}
		}
	}
	return answered(req, body)
}
