package shell

import (
	"slices"
	"strings"
)

// danger is a way to use commands that destroys something, or gives more rights.
type danger struct {
	names []string
	does  func(args []string) bool
	says  string
}

// destructive are the ones that are recognised.
var destructive = []danger{
	{[]string{"rm"}, hasAny("r", "R", "--recursive"), "deletes folders with all that is in them (rm -r)"},
	{[]string{"rm", "unlink", "shred", "srm"}, always, "deletes files for good"},
	{[]string{"find", "fd"}, whole("-delete"), "deletes what it finds"},
	{[]string{"rmdir"}, always, "deletes folders"},
	{[]string{"truncate"}, always, "cuts files short"},
	{[]string{"dd", "mkfs", "mkfs.ext4", "mkfs.vfat", "mkfs.xfs", "fdisk", "parted", "wipefs", "mkswap"}, always, "writes to disks or files directly"},
	{[]string{"sudo", "doas", "su", "run0", "pkexec"}, always, "runs with another user's rights"},
	{[]string{"chmod", "chown", "chgrp"}, hasAny("R", "--recursive"), "changes who may use a whole folder"},
	{[]string{"sed", "perl"}, hasAny("i", "--in-place"), "rewrites files in place"},
	{[]string{"kill", "pkill", "killall"}, always, "ends running programs"},
	{[]string{"shutdown", "reboot", "halt", "poweroff"}, always, "stops the computer"},
	{[]string{"systemctl", "launchctl", "service"}, whole("stop", "disable", "mask", "kill", "restart", "unload", "bootout"), "stops services"},
	{[]string{"crontab"}, always, "changes what runs by itself"},
	{[]string{"eval"}, always, "runs a text as a command (eval)"},
	{[]string{"git"}, push("-f", "--force", "--force-with-lease", "--mirror", "--delete", "-d", "--prune"), "overwrites or deletes what others have (git push --force or --delete)"},
	{[]string{"git"}, both("reset", "--hard"), "discards changes that are not committed (git reset --hard)"},
	{[]string{"git"}, both("clean", "-f", "-fd", "-fdx", "-df", "-dfx", "-xdf", "-xfd", "-ffdx", "--force"), "deletes files that git does not know (git clean)"},
	{[]string{"git"}, both("checkout", "--", ".", "-f", "--force"), "discards changes that are not committed (git checkout)"},
	{[]string{"git"}, both("restore"), "discards changes that are not committed (git restore)"},
	{[]string{"git"}, both("branch", "-D", "-d", "--delete"), "deletes a branch"},
	{[]string{"git"}, both("stash", "drop", "clear"), "deletes stashed changes"},
	{[]string{"git"}, both("filter-branch"), "rewrites history"},
	{[]string{"npm", "pnpm", "yarn", "cargo", "twine", "gem"}, whole("publish", "push", "upload", "unpublish", "yank"), "publishes to a registry, or takes back from it"},
	{[]string{"docker", "podman"}, whole("rm", "rmi", "prune", "kill", "down"), "deletes containers, images or volumes"},
	{[]string{"kubectl", "helm", "oc"}, whole("delete", "drain", "uninstall", "destroy"), "deletes what runs in a cluster"},
	{[]string{"terraform", "tofu", "pulumi"}, whole("destroy", "apply"), "changes or destroys infrastructure"},
	{[]string{"mv", "cp", "ln"}, hasAny("f", "--force"), "overwrites files without asking"},
	{[]string{"history"}, hasAny("c"), "deletes the history of commands"},
}

func always([]string) bool { return true }

// whole reports whether one of the words is among the arguments.
func whole(words ...string) func([]string) bool {
	return func(args []string) bool {
		return slices.ContainsFunc(args, func(a string) bool { return slices.Contains(words, a) })
	}
}

// hasAny reports whether one of the flags is among the arguments: letters, also
// joined with others, or long ones.
func hasAny(flags ...string) func([]string) bool {
	return func(args []string) bool {
		return slices.ContainsFunc(args, func(a string) bool {
			return slices.ContainsFunc(flags, func(flag string) bool {
				if strings.HasPrefix(flag, "--") {
					return strings.HasPrefix(a, flag)
				}
				return len(a) > 1 && a[0] == '-' && a[1] != '-' && strings.Contains(a, flag)
			})
		})
	}
}

// both reports whether the subcommand is there, with one of the words, if any.
func both(sub string, words ...string) func([]string) bool {
	return func(args []string) bool {
		return slices.Contains(args, sub) && (len(words) == 0 || whole(words...)(args))
	}
}

// push reports whether it pushes with one of the flags, or a reference that is
// forced (+) or deleted (:).
func push(flags ...string) func([]string) bool {
	forced := func(a string) bool {
		return strings.HasPrefix(a, "+") || strings.HasPrefix(a, ":") || strings.HasPrefix(a, "--force")
	}
	return func(args []string) bool {
		i := slices.Index(args, "push")
		return i >= 0 && (whole(flags...)(args[i:]) || slices.ContainsFunc(args[i:], forced))
	}
}
