package owntools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"pointsman/approvals"
)

// repository tells of a repository's state.
type repository struct {
	Repo   string `json:"repo"`
	Branch string `json:"branch"` // "" when HEAD is detached
	Head   string `json:"head"`
	Ahead  *int   `json:"ahead"` // commits that its upstream lacks; null when it has none
	Dirty  bool   `json:"dirty"`
	Pushed bool   `json:"pushed"`
	Output string `json:"output"` // the end of what the push printed
}

func deployTool(repo string) *tool {
	return &tool{
		name: "vihokai_deploy", title: "Report or push the deployed repository", class: approvals.OpenWorld, reads: "push", openWorld: true,
		description: "Reports the configured repository: branch, HEAD, commits ahead, uncommitted changes. With push: true it pushes the branch, which the user is asked about; main is not pushed without allow_main: true.",
		input: `{"type":"object","properties":{` +
			`"push":{"type":"boolean","default":false,"description":"Push the current branch."},` +
			`"allow_main":{"type":"boolean","default":false,"description":"Push even if the branch is main."}},"additionalProperties":false}`,
		run: func(ctx context.Context, arguments json.RawMessage, progress func(string)) (any, error) {
			var args struct {
				Push      bool `json:"push"`
				AllowMain bool `json:"allow_main"`
			}
			if err := json.Unmarshal(arguments, &args); err != nil {
				return nil, err
			}
			git := find("git")
			if git == "" {
				return nil, errors.New("git was not found in PATH")
			}
			r := &repository{Repo: repo}
			if err := r.read(ctx, git); err != nil || !args.Push {
				return r, err
			}
			progress("pushing " + r.Branch)
			return r, r.push(ctx, git, args.AllowMain)
		},
	}
}

func (r *repository) git(ctx context.Context, git string, args ...string) (string, error) {
	return program{
		path: git, args: append([]string{"-C", r.Repo}, args...), timeout: 2 * time.Minute,
		env: []string{"GIT_TERMINAL_PROMPT=0", "GIT_OPTIONAL_LOCKS=0", "LC_ALL=C"},
	}.run(ctx)
}

// read finds out how the repository stands.
func (r *repository) read(ctx context.Context, git string) error {
	var err error
	if r.Head, err = r.git(ctx, git, "rev-parse", "HEAD"); err != nil {
		return err
	}
	if branch, err := r.git(ctx, git, "symbolic-ref", "--quiet", "--short", "HEAD"); err == nil {
		r.Branch = branch
	}
	changes, err := r.git(ctx, git, "status", "--porcelain")
	if err != nil {
		return err
	}
	r.Dirty = changes != ""
	if count, err := r.git(ctx, git, "rev-list", "--count", "@{upstream}..HEAD"); err == nil { // else there is none
		if n, err := strconv.Atoi(count); err == nil {
			r.Ahead = &n
		}
	}
	return nil
}

// push pushes the branch to the branch of its name, on the remote that it belongs
// to: what HEAD tracks may be another one.
func (r *repository) push(ctx context.Context, git string, allowMain bool) error {
	switch {
	case r.Branch == "":
		return errors.New("HEAD is on no branch; nothing was pushed")
	case (r.Branch == "main" || r.Branch == "master") && !allowMain:
		return fmt.Errorf("the branch is %s; nothing was pushed: it needs allow_main: true", r.Branch)
	}
	remote := "origin"
	if set, err := r.git(ctx, git, "config", "branch."+r.Branch+".remote"); err == nil && set != "" {
		remote = set
	}
	if strings.HasPrefix(remote, "-") {
		return fmt.Errorf("the branch's remote is called %q; nothing was pushed", remote)
	}
	said, err := r.git(ctx, git, "push", remote, "HEAD:refs/heads/"+r.Branch)
	if err != nil {
		return err
	}
	r.Pushed, r.Output = true, said
	return r.read(ctx, git)
}
