package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"pointsman/approvals"
	"pointsman/gateway/config"
	"pointsman/gateway/secrets"
)

const keychainScheme = "keychain:"

func (a *app) keysCommand() *cobra.Command {
	var asJSON bool
	list := &cobra.Command{
		Use: "list", Short: "List the keys that the configuration refers to, and whether each is there", Args: arguments(0, 0),
		Example: "  pointsman keys list",
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.listKeys(cmd.Context(), asJSON) },
	}
	jsonFlag(list, &asJSON)
	set := &cobra.Command{
		Use: "set NAME", Short: "Keep a key in the keychain", Args: keyName,
		Long:    "Keep a key in the keychain. It is typed at a prompt, unseen, or read from the standard\ninput; never given as an argument, which other programs can see and shells remember.",
		Example: "  pointsman keys set openai\n  pass show openai | pointsman keys set openai",
		RunE:    func(cmd *cobra.Command, args []string) error { return a.setKey(cmd.Context(), args[0]) },
	}
	rm := &cobra.Command{
		Use: "rm NAME", Short: "Remove a key from the keychain", Args: arguments(1, 1), Example: "  pointsman keys rm openai",
		RunE: func(cmd *cobra.Command, args []string) error { return a.removeKey(cmd.Context(), args[0]) },
	}
	return group("keys", "Keep provider keys in the system's keychain", "  pointsman keys set openai", list, set, rm)
}

// keyName takes the name alone. The argument too many may be the key itself, so
// it is not repeated.
func keyName(cmd *cobra.Command, args []string) error {
	if len(args) > 1 {
		return usagef("keys set takes the NAME alone: a key on the command line can be seen by other programs and stays in the shell's history; run `pointsman keys set NAME` and type it, or pipe it in")
	}
	return arguments(1, 1)(cmd, args)
}

// keyRow is an element of `keys list --json`.
type keyRow struct {
	Name    string   `json:"name"`
	Ref     string   `json:"ref"` // as the configuration writes it
	Present bool     `json:"present"`
	Error   string   `json:"error"`   // why that cannot be told, or ""
	UsedBy  []string `json:"used_by"` // paths of the configuration
}

func (a *app) listKeys(ctx context.Context, asJSON bool) error {
	store, err := a.load(loading{})
	if err != nil {
		return err
	}
	rows := keyRows(store.Config())
	a.lookUp(ctx, store, rows)
	if asJSON {
		return printJSON(a.Stdout, rows)
	}
	var lines [][]string
	var why string
	for _, r := range rows {
		lines = append(lines, []string{r.Name, r.Ref, r.state(), strings.Join(r.UsedBy, ", ")})
		why = cmp.Or(why, r.Error)
	}
	if why != "" {
		a.tell("%s", why)
	}
	return a.table([]string{"NAME", "KEPT AT", "STATE", "USED BY"}, lines)
}

func (r keyRow) state() string {
	switch {
	case r.Present:
		return "present"
	case r.Error != "":
		return "not known"
	}
	return "missing"
}

// keyRows are the keys that a configuration refers to, and the gateway's own.
func keyRows(cfg *config.Config) []keyRow {
	refs := append(cfg.SecretRefs(), config.SecretRef{Ref: keychainScheme + "gateway"})
	var rows []keyRow
	for _, ref := range refs {
		at := slices.IndexFunc(rows, func(r keyRow) bool { return r.Ref == ref.Ref })
		if at < 0 {
			at = len(rows)
			_, name, _ := strings.Cut(strings.Replace(ref.Ref, "os.environ/", "env:", 1), ":")
			rows = append(rows, keyRow{Name: name, Ref: ref.Ref, UsedBy: []string{}})
		}
		if ref.Path != "" {
			rows[at].UsedBy = append(rows[at].UsedBy, ref.Path)
		}
	}
	return rows
}

// lookUp finds out which keys are there. A keychain that does not answer is
// asked once.
func (a *app) lookUp(ctx context.Context, store *config.Store, rows []keyRow) {
	var broken error
	for i := range rows {
		row := &rows[i]
		if name, ok := strings.CutPrefix(row.Ref, keychainScheme); ok {
			err := broken
			if err == nil {
				_, err = a.Keychain.Get(ctx, name)
			}
			row.Present = err == nil
			if err != nil && !errors.Is(err, secrets.ErrNotFound) {
				row.Error = err.Error()
			}
			if errors.Is(err, secrets.ErrLocked) || errors.Is(err, secrets.ErrUnavailable) {
				broken = err
			}
			continue
		}
		value, ok := store.LookupEnv(row.Name)
		row.Present = ok && value != ""
	}
}

func (a *app) setKey(ctx context.Context, name string) error {
	value, err := a.readSecret(name)
	if err != nil {
		return err
	}
	if value == "" {
		return usagef("the key is empty; type it at the prompt, or pipe it in")
	}
	if err := a.Keychain.Set(ctx, name, value); err != nil {
		return fmt.Errorf("keeping %q in the keychain: %w", name, err)
	}
	a.tell("%s is in the keychain; write keychain:%s where the configuration needs it.", approvals.Visible(name), approvals.Visible(name))
	return nil
}

// maxSecret bounds a key, in bytes: more is a mistaken pipe.
const maxSecret = 1 << 20

// readSecret reads a key: unseen from a terminal, or all of the input but the
// last line's end.
func (a *app) readSecret(name string) (string, error) {
	if tty := terminalFile(a.Stdin); tty != nil {
		_, _ = fmt.Fprintf(a.Stderr, "Key for %s (not shown): ", approvals.Visible(name))
		value, err := term.ReadPassword(int(tty.Fd()))
		a.tell("")
		if err != nil {
			return "", fmt.Errorf("reading the key: %w", err)
		}
		return string(value), nil
	}
	value, err := io.ReadAll(io.LimitReader(a.Stdin, maxSecret+1))
	switch {
	case err != nil:
		return "", fmt.Errorf("reading the key: %w", err)
	case len(value) > maxSecret:
		return "", fmt.Errorf("the key on the standard input is longer than %d bytes; is it the right file?", maxSecret)
	}
	return strings.TrimSuffix(trimNewline(string(value)), "\r"), nil
}

func (a *app) removeKey(ctx context.Context, name string) error {
	if err := a.Keychain.Delete(ctx, name); err != nil {
		return fmt.Errorf("removing %q from the keychain: %w", name, err)
	}
	a.tell("%s is removed from the keychain.", approvals.Visible(name))
	return nil
}
