package signin

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"
)

// requestToken asks the token endpoint for a token. params say with what grant;
// for none, it is the client's own.
//
// clientcredentials serves for renewals, too: it lets the grant be named, and
// further parameters be sent along, which the library's own renewal does not,
// but RFC 8707 (section 2.2) wants.
func requestToken(ctx context.Context, w *witness, au authority, c client, params url.Values, scopes []string) (*oauth2.Token, error) {
	if params == nil {
		params = url.Values{}
	}
	params.Set("resource", au.Resource)
	config := clientcredentials.Config{
		ClientID: c.ID, ClientSecret: c.Secret, TokenURL: au.Token, AuthStyle: c.style(au), EndpointParams: params, Scopes: scopes,
	}
	token, err := config.Token(context.WithValue(ctx, oauth2.HTTPClient, w.Client))
	return checkToken(w, "asking "+originOf(au.Token)+" for a token", token, err)
}

// exchange gives a code of the browser for a token.
func exchange(ctx context.Context, w *witness, au authority, c client, redirect, code, verifier string) (*oauth2.Token, error) {
	config := oauth2.Config{
		ClientID: c.ID, ClientSecret: c.Secret, RedirectURL: redirect,
		Endpoint: oauth2.Endpoint{TokenURL: au.Token, AuthStyle: c.style(au)},
	}
	token, err := config.Exchange(context.WithValue(ctx, oauth2.HTTPClient, w.Client), code,
		oauth2.VerifierOption(verifier), oauth2.SetAuthURLParam("resource", au.Resource))
	return checkToken(w, "giving the code to "+originOf(au.Token)+" for a token", token, err)
}

// checkToken turns what came of a request into a bearer token, or an error that
// has nothing in it of what was sent.
func checkToken(w *witness, doing string, token *oauth2.Token, err error) (*oauth2.Token, error) {
	var refused *oauth2.RetrieveError
	if err != nil {
		if fault := w.fault(doing); fault != nil {
			return nil, fault
		}
		if errors.As(err, &refused) && refused.ErrorCode != "" {
			return nil, newRefused(doing, refused.ErrorCode, refused.ErrorDescription)
		}
		if status := w.last(); status != http.StatusOK {
			return nil, newRefused(doing, fmt.Sprintf("%d %s", status, http.StatusText(status)), "")
		}
		return nil, fmt.Errorf("%s: its answer holds none", doing)
	}
	if !strings.EqualFold(token.Type(), "bearer") {
		return nil, fmt.Errorf("%s: it gives one of the type %q, and MCP knows bearer tokens alone", doing, printable(token.TokenType, 20))
	}
	for _, b := range []byte(token.AccessToken) {
		if b <= ' ' || b > '~' {
			return nil, fmt.Errorf("%s: it gives one that no header can hold", doing)
		}
	}
	return token, nil
}

// client is what we are at an authorization server.
type client struct {
	ID       string   `json:"id"`
	Secret   string   `json:"secret,omitempty"`  // of a registered client; another's is in its server's entry
	Method   string   `json:"method,omitempty"`  // how it shows its secret; "": as the server likes it best
	Expires  int64    `json:"expires,omitempty"` // when the secret ends, in Unix seconds; 0: never
	Redirect []string `json:"redirect,omitempty"`
	Issuer   string   `json:"issuer,omitempty"` // where it was registered; "" for a client that we were given
}

// style is how the client shows its secret. It is never found out by trying:
// that could use up a code.
func (c client) style(au authority) oauth2.AuthStyle {
	switch {
	case c.Secret == "", c.Method == "client_secret_post", c.Method == "none":
		return oauth2.AuthStyleInParams
	case c.Method == "" && slices.Contains(au.Methods, "client_secret_post"):
		return oauth2.AuthStyleInParams
	}
	return oauth2.AuthStyleInHeader // what a server that names none does (RFC 8414, section 2)
}
