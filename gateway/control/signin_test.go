package control_test

import (
	"errors"
	"testing"

	"pointsman/gateway/control"
)

func TestSigningIn(t *testing.T) {
	c := newRig(t).client
	in, err := c.SignIn(t.Context(), "good/one", "https://example.com/cb")
	if err != nil || in.ID != "7/7" || in.Server != "good/one" || in.RedirectURI != "https://example.com/cb" {
		t.Errorf("it begins %+v, %v", in, err)
	}
	var refused *control.RefusedError
	if _, err := c.SignIn(t.Context(), "local", ""); !errors.As(err, &refused) || refused.Status != 409 {
		t.Errorf("one that cannot be signed in to: %v", err)
	}
	if s, err := c.AwaitSignIn(t.Context(), "7/7"); err != nil || s.Name != "of 7/7" {
		t.Errorf("it ends as %+v, %v", s, err)
	}
	if _, err := c.CompleteSignIn(t.Context(), "7/7", "https://example.com/?code=1"); err == nil || err.Error() != "7/7 is not at https://example.com/?code=1" {
		t.Errorf("completing it: %v", err)
	}
	for name, was := range map[string]bool{"good/one": true, "other": false} {
		if ended, err := c.CancelSignIn(t.Context(), name); err != nil || ended != was {
			t.Errorf("cancelling that of %s: %t, %v", name, ended, err)
		}
		if out, err := c.SignOut(t.Context(), name); err != nil || out.Was != was {
			t.Errorf("signing out of %s: %+v, %v", name, out, err)
		}
	}
}
