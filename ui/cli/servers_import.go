package cli

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"pointsman/approvals"
	"pointsman/gateway/config"
	"pointsman/gateway/control"
	"pointsman/gateway/secrets"
	"pointsman/ui/connect"
	"pointsman/ui/model"
)

// importFlags are what `servers import` is asked for.
type importFlags struct {
	from                []string
	dryRun, yes, rename bool
}

func (a *app) importCommand() *cobra.Command {
	var f importFlags
	cmd := &cobra.Command{
		Use: "import", Short: "Add the MCP servers that other programs have", Args: arguments(0, 0),
		Long: `Look for MCP servers in the files of VS Code, Copilot, Claude Desktop, Claude Code,
Cursor and Codex, the user's own and those of the working directory, show what would be
added, and add it after a yes. Their files are not changed. Values that they ask for,
and values that look like secrets, go to the keychain.`,
		Example: "  pointsman servers import --dry-run\n  pointsman servers import --from vscode --from cursor",
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.importServers(cmd.Context(), f) },
	}
	cmd.Flags().StringArrayVar(&f.from, "from", nil, "only from `PROGRAM`: "+strings.Join(connect.Clients(), ", ")+" (may be given again)")
	choices(cmd, "from", connect.Clients()...)
	cmd.Flags().BoolVar(&f.dryRun, "dry-run", false, "show what would be added, and add nothing")
	cmd.Flags().BoolVar(&f.yes, "yes", false, "add without asking")
	cmd.Flags().BoolVar(&f.rename, "rename", false, "add a server whose name is taken under another name")
	return cmd
}

// importing is one import: what is there, and what is to be added.
type importing struct {
	*app
	flags      importFlags
	store      *config.Store
	now        config.Snapshot
	candidates []connect.Candidate
	values     map[string]string // for the keychain, by name
	in         *bufio.Reader
}

func (a *app) importServers(ctx context.Context, f importFlags) error {
	im, err := a.newImport(f)
	if err != nil {
		return err
	}
	if im == nil {
		return nil
	}
	if err := im.show(); err != nil || f.dryRun {
		return err
	}
	if im.adding() == 0 {
		a.tell("Nothing is added.")
		return nil
	}
	if !f.yes {
		if !a.interactive() {
			return usagef("nobody can be asked here; look with --dry-run, and add with --yes")
		}
		yes, err := im.confirm(fmt.Sprintf("Add %s to %s? [y/N] ", counted(im.adding(), "server"), approvals.Visible(im.store.Path())))
		if err != nil || !yes {
			a.tell("Nothing is added.")
			return err
		}
	}
	return im.add(ctx)
}

// newImport reads the other programs' files; nil when there is nothing in them.
func (a *app) newImport(f importFlags) (*importing, error) {
	for _, name := range f.from {
		if !slices.Contains(connect.Clients(), name) {
			return nil, usagef("there is no import from %q%s; it is one of %s", name, meant(name, connect.Clients()), strings.Join(connect.Clients(), ", "))
		}
	}
	machine, err := a.machine()
	if err != nil {
		return nil, err
	}
	sources := connect.Read(machine, f.from...)
	for _, s := range sources {
		if s.Fault != "" {
			a.tell("warning: %s, %s: %s", s.Title, approvals.Visible(s.Path), approvals.Visible(s.Fault))
		}
	}
	store, err := a.load(loading{})
	if err != nil {
		return nil, err
	}
	im := &importing{app: a, flags: f, store: store, now: store.Snapshot(), values: map[string]string{}, in: bufio.NewReader(a.Stdin)}
	im.candidates = connect.Plan(sources, im.now.Config.MCPServers, f.rename)
	if len(im.candidates) == 0 {
		a.tell("No MCP servers of other programs were found.")
		return nil, nil
	}
	return im, nil
}

// machine is this machine, with the working directory as workspace.
func (a *app) machine() (connect.Machine, error) {
	folder, err := os.Getwd()
	if err != nil {
		return connect.Machine{}, fmt.Errorf("finding the working directory: %w", err)
	}
	machine, err := connect.ThisMachine(folder, a.Getenv)
	if home := a.Getenv("HOME"); home != "" {
		machine.Home, err = home, nil
	}
	if err != nil {
		return connect.Machine{}, fmt.Errorf("finding the home directory: %w", err)
	}
	return machine, nil
}

// adding is how many servers are to be added.
func (im *importing) adding() int {
	n := 0
	for _, c := range im.candidates {
		if c.Skip == "" {
			n++
		}
	}
	return n
}

// show prints what becomes of each server.
func (im *importing) show() error {
	var rows [][]string
	for _, c := range im.candidates {
		mark, note := "+", ""
		if c.Skip != "" {
			mark, note = "-", "skipped: "+c.Skip
		} else if len(c.Lost) > 0 {
			note = "without " + strings.Join(lostKeys(c.Lost), ", ")
		}
		from := c.Source.Path
		if len(c.Also) > 0 {
			from += " (also " + strings.Join(c.Also, ", ") + ")"
		}
		rows = append(rows, []string{mark, c.As, concealed(strings.Join(c.Runs(), " ")), c.Source.Title, from, note})
	}
	if err := im.table([]string{"", "NAME", "RUNS", "FROM", "FILE", "NOTE"}, rows); err != nil {
		return err
	}
	for _, c := range im.candidates {
		for _, lost := range c.Lost {
			if c.Skip == "" {
				im.tell("%s is added without %s", approvals.Visible(c.As), approvals.Visible(lost))
			}
		}
		if c.Skip != "" && !im.flags.rename && strings.HasPrefix(c.Skip, "another server") {
			im.tell("%s is skipped: %s; --rename adds it under another name", approvals.Visible(c.Name), approvals.Visible(c.Skip))
		}
	}
	return nil
}

// concealed is a text without what looks like a credential.
func concealed(text string) string {
	var redactor secrets.Redactor
	return redactor.Redact(text)
}

// lostKeys are the keys that explanations begin with.
func lostKeys(lost []string) []string {
	var keys []string
	for _, l := range lost {
		key, _, _ := strings.Cut(l, ":")
		keys = append(keys, key)
	}
	return keys
}

// confirm asks for a clear yes.
func (im *importing) confirm(question string) (bool, error) { return im.app.confirm(im.in, question) }

// line asks for a line of text.
func (im *importing) line(question string) (string, error) { return im.app.line(im.in, question) }

// add asks for what the servers need, keeps it, and adds them in one change.
func (im *importing) add(ctx context.Context) error {
	wanted := connect.Inputs(im.candidates, func(name string) bool { return im.used(ctx, name) })
	if err := im.ask(wanted); err != nil {
		return err
	}
	entries := map[string]config.MCPServer{}
	needed := map[string]bool{}
	for _, c := range im.candidates {
		if c.Skip != "" {
			continue
		}
		entry, ok := c.With(wanted, im.values)
		if !ok {
			im.tell("%s is left out: it needs a value that was not given", approvals.Visible(c.As))
			continue
		}
		entries[c.As] = entry
	}
	var edits []config.Edit
	for _, line := range model.PastedLines(entries, im.now.Config) {
		if line.Fault != "" {
			im.tell("%s is left out: %s", approvals.Visible(line.Form.Name), approvals.Visible(line.Fault))
			continue
		}
		maps.Copy(im.values, line.Draft.Secrets)
		edits = append(edits, line.Draft.Edits()...)
		for _, ref := range refsOf(line.Draft.Entry) {
			needed[ref] = true
		}
	}
	maps.DeleteFunc(im.values, func(name string, _ string) bool { return !needed[name] })
	if len(edits) == 0 {
		im.tell("Nothing is added.")
		return silentError{}
	}
	return im.save(ctx, edits)
}

// refsOf are the names in the keychain that an entry refers to.
func refsOf(entry config.MCPServer) []string {
	only := config.Config{MCPServers: map[string]config.MCPServer{"s": entry}}
	var names []string
	for _, ref := range only.SecretRefs() {
		if name, ok := strings.CutPrefix(ref.Ref, keychainScheme); ok {
			names = append(names, name)
		}
	}
	return names
}

// used reports whether a name in the keychain is something else's.
func (im *importing) used(ctx context.Context, name string) bool {
	if model.KeyUsed(im.now.Config, name) {
		return true
	}
	_, err := im.Keychain.Get(ctx, name)
	return err == nil
}

// ask asks for the inputs. Where nobody can be asked, a default must do.
func (im *importing) ask(wanted []connect.Wanted) error {
	for _, w := range wanted {
		if !im.interactive() {
			im.values[w.Name] = w.Default
			continue
		}
		value, err := im.askFor(w)
		if err != nil {
			return err
		}
		im.values[w.Name] = cmp.Or(value, w.Default)
	}
	return nil
}

func (im *importing) askFor(w connect.Wanted) (string, error) {
	about := fmt.Sprintf("%s (for %s", approvals.Visible(w.Description), approvals.Visible(w.Of))
	if len(w.Options) > 0 {
		about += "; one of " + approvals.Visible(strings.Join(w.Options, ", "))
	}
	if w.Default != "" && !w.Secret {
		about += "; otherwise " + approvals.Visible(w.Default)
	}
	if !w.Secret {
		return im.line(about + "): ")
	}
	return im.readSecret(w.Description + " (of " + w.Of + ")")
}

// save keeps the secrets and changes the file. When the file stays as it is, so
// does the keychain.
func (im *importing) save(ctx context.Context, edits []config.Edit) error {
	var kept []string
	var err error
	for _, name := range slices.Sorted(maps.Keys(im.values)) {
		if err = im.Keychain.Set(ctx, name, im.values[name]); err != nil {
			err = fmt.Errorf("keeping %q in the keychain: %w", name, err)
			break
		}
		kept = append(kept, name)
	}
	if err == nil {
		err = im.store.Edit(im.now.Revision, edits)
	}
	if err != nil {
		for _, name := range kept {
			if gone := im.Keychain.Delete(context.WithoutCancel(ctx), name); gone != nil {
				err = errors.Join(err, fmt.Errorf("removing %q from the keychain again: %w", name, gone))
			}
		}
		return fmt.Errorf("adding the servers: %w", err)
	}
	for _, name := range kept {
		im.tell("%s is in the keychain.", approvals.Visible(name))
	}
	im.tell("Added %s to %s.", counted(len(edits), "server"), approvals.Visible(im.store.Path()))
	im.tellOfResident(ctx)
	return nil
}

// tellOfResident says that a running Pointsman waits for a yes of its own: what
// other programs write into its file is held.
func (im *importing) tellOfResident(ctx context.Context) {
	client, err := im.resident(ctx)
	if errors.Is(err, control.ErrNoResident) {
		return
	}
	if err == nil {
		defer client.Close()
		err = im.otherConfig(client.Info)
	}
	if err == nil {
		im.tell("The running Pointsman starts them after your yes in its window, or at its next start.")
	}
}
