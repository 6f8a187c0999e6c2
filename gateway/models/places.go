package models

import (
	"maps"
	"net"
	"net/url"
	"slices"

	"pointsman/gateway/models/local"
)

// LocalPlaces are where the known providers that run on this machine usually are.
func (r *Router) LocalPlaces() []local.Place {
	var places []local.Place
	for _, name := range slices.Sorted(maps.Keys(r.catalogue.providers)) {
		if known := r.catalogue.providers[name]; known.Local {
			places = append(places, local.Place{Provider: name, Address: known.BaseURL})
		}
	}
	return places
}

// Reaches reports whether the configuration has somebody at an address of this
// machine: a provider, or a deployment of model_list.
func (r *Router) Reaches(address string) bool {
	wanted := authority(address)
	for name := range r.cfg.Providers {
		if d, err := r.at(name, ""); err == nil && authority(d.BaseURL) == wanted {
			return true
		}
	}
	for _, g := range r.groups {
		if slices.ContainsFunc(g.Deployments, func(d *Deployment) bool { return authority(d.BaseURL) == wanted }) {
			return true
		}
	}
	return false
}

// authority is the host and port of an address, with one name for this machine.
func authority(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return address
	}
	host := u.Hostname()
	if ip := net.ParseIP(host); host == "localhost" || ip != nil && ip.IsLoopback() {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, u.Port())
}
