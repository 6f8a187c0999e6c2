package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"pointsman/gateway/config"
)

// subcommandsOnly refuses arguments of a command that has only subcommands, and
// names the one that was probably meant.
func subcommandsOnly(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return usagef("unknown command %q for %s%s; `%s --help` lists them", args[0], cmd.CommandPath(), meant(args[0], names(cmd)), cmd.CommandPath())
}

// arguments checks the number of arguments.
func arguments(least, most int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < least:
			return usagef("%s needs %s; see `%s --help`", cmd.CommandPath(), strings.TrimPrefix(cmd.Use, cmd.Name()+" "), cmd.CommandPath())
		case len(args) > most:
			return usagef("%s does not take %q; see `%s --help`", cmd.CommandPath(), args[most], cmd.CommandPath())
		}
		return nil
	}
}

// helpTopic refuses to explain a command that does not exist.
func helpTopic(cmd *cobra.Command, args []string) error {
	at := cmd.Root()
	for _, name := range args {
		next, _, err := at.Find([]string{name})
		if err != nil || next == at {
			return subcommandsOnly(at, []string{name})
		}
		at = next
	}
	return nil
}

// choices lets shells complete a flag's values.
func choices(cmd *cobra.Command, flag string, values ...cobra.Completion) {
	// It fails for a flag that does not exist, which a test would see.
	_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
}

// names are a command's subcommands, but for the hidden ones.
func names(cmd *cobra.Command) []string {
	var list []string
	for _, c := range cmd.Commands() {
		if !c.Hidden {
			list = append(list, c.Name())
		}
	}
	return list
}

// flagError words a fault of a flag, and names the one that was probably meant.
func flagError(cmd *cobra.Command, err error) error {
	flag, unknown := strings.CutPrefix(err.Error(), "unknown flag: --")
	if !unknown {
		return usagef("%v; see `%s --help`", err, cmd.CommandPath())
	}
	var known []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { known = append(known, "--"+f.Name) })
	return usagef("unknown flag --%s for %s%s; see `%s --help`", flag, cmd.CommandPath(), meant("--"+flag, known), cmd.CommandPath())
}

// meant suggests the name of known that was probably meant.
func meant(typed string, known []string) string {
	if best := config.Nearest(typed, known); best != "" {
		return fmt.Sprintf(", did you mean %q?", best)
	}
	return ""
}
