package gateway

import (
	"context"

	"pointsman/gateway/models/local"
)

// LocalServers looks for an Ollama (where OLLAMA_HOST says, if that is set) and an
// LM Studio on this machine. It takes two seconds at most, and changes nothing.
func (g *Gateway) LocalServers(ctx context.Context) []local.Server {
	router := g.Models()
	places := router.LocalPlaces()
	host, _ := g.store.LookupEnv("OLLAMA_HOST")
	for i, place := range places {
		if place.Provider == "ollama" {
			places[i].Address = local.OllamaAddress(host)
		}
	}
	found := local.Find(ctx, places)
	for i := range found {
		found[i].Configured = router.Reaches(found[i].Address)
	}
	return found
}
