package model

import (
	"slices"
	"strings"

	"pointsman/gateway/config"
)

// BannerKind is how much a banner matters.
type BannerKind int

// The kinds.
const (
	BannerNote  BannerKind = iota // good to know
	BannerAsk                     // the person should decide something
	BannerFault                   // something does not work
)

// BannerAct is what a banner's button does.
type BannerAct string

// The acts.
const (
	BannerAccept      BannerAct = "Accept"
	BannerRefuse      BannerAct = "Put it back"
	BannerOpenConfig  BannerAct = "Open its folder"
	BannerResume      BannerAct = "Resume"
	BannerKeychain    BannerAct = "Look again"
	BannerOpenServers BannerAct = "Servers"
)

// Banner is a line above every screen.
type Banner struct {
	Kind  BannerKind
	Title string
	Lines []string // below the title
	Acts  []BannerAct
	// Revision is that of the file which the banner is about: what a person
	// accepts is what they have seen.
	Revision string
}

// Banners are what a person should know whatever screen they look at, weightiest
// first. keychain says why the keychain cannot be used; "" when it can.
func Banners(s State, now config.Settings, keychain string) []Banner {
	var banners []Banner
	add := func(when bool, b Banner) {
		if when {
			banners = append(banners, b)
		}
	}
	add(len(now.Held) > 0, Banner{
		Kind: BannerAsk, Title: "A change made outside loosens a gate. It is not in force until you accept it.",
		Lines: now.Held, Acts: []BannerAct{BannerRefuse, BannerAccept}, Revision: now.Revision,
	})
	add(len(now.Fault) > 0, Banner{
		Kind: BannerFault, Title: "The configuration file has a fault. What was in force before it stays in force.",
		Lines: now.Fault, Acts: []BannerAct{BannerOpenConfig},
	})
	add(s.Paused, Banner{
		Kind: BannerAsk, Title: "Tools are paused. Every call of them is denied until you resume.", Acts: []BannerAct{BannerResume},
	})
	add(keychain != "", Banner{
		Kind: BannerFault, Title: "The keychain cannot be used.", Lines: []string{sentence(keychain)}, Acts: []BannerAct{BannerKeychain},
	})
	add(serverFault(s.Fault), Banner{Kind: BannerFault, Title: sentence(clip(s.Fault, longestFault+longestName)), Acts: []BannerAct{BannerOpenServers}})
	add(s.NoTray != "", Banner{
		Kind: BannerNote, Title: "There is no tray here (" + s.NoTray + ").",
		Lines: []string{"Pointsman runs without one: this window is where it is seen. Start pointsman again to open it."},
	})
	add(len(now.Restart) > 0, Banner{
		Kind: BannerNote, Title: "Takes effect when Pointsman is started again: " + strings.Join(now.Restart, ", ") + ".",
	})
	return banners
}

// serverFault reports whether a state's fault is one of a server.
func serverFault(fault string) bool { return strings.HasPrefix(fault, "server ") }

// Same reports whether two lists of banners say the same.
func (b Banner) Same(other Banner) bool {
	return b.Kind == other.Kind && b.Title == other.Title && b.Revision == other.Revision &&
		slices.Equal(b.Lines, other.Lines) && slices.Equal(b.Acts, other.Acts)
}

// SameBanners reports whether two lists of banners say the same.
func SameBanners(a, b []Banner) bool { return slices.EqualFunc(a, b, Banner.Same) }

// sentence is an error's text as a sentence of its own.
func sentence(text string) string {
	if text == "" || strings.HasSuffix(text, "…") {
		return Sentence(text)
	}
	return strings.TrimSuffix(Sentence(text), ".") + "."
}
