package ui

import (
	"context"
	"errors"
	"time"

	"pointsman/gateway/config"
	"pointsman/gateway/control"
	"pointsman/ui/model"
)

// postWhile runs a part of a screen on the UI goroutine, later, unless ctx has
// ended by then. doing says in words what it does.
func (u *UI) postWhile(ctx context.Context, doing string, part func()) {
	u.post(func() {
		if ctx.Err() == nil {
			u.safely(doing, part)
		}
	})
}

// background runs work off the UI goroutine, and then done on it with what came
// of it, unless ctx has ended by then.
func background[T any](ctx context.Context, u *UI, work func(context.Context) (T, error), done func(T, error)) {
	u.work.Go(func() {
		v, err := work(ctx)
		u.postWhile(ctx, "showing what came", func() { done(v, err) })
	})
}

// savePatience bounds a change of the settings or of the keychain, which may wait
// for a person to unlock it.
const savePatience = 30 * time.Second

// save is background for a change: it goes on when another screen is turned to.
func save[T any](u *UI, work func(context.Context) (T, error), done func(T, error)) {
	background(u.ctx, u, func(ctx context.Context) (T, error) {
		ctx, cancel := context.WithTimeout(ctx, savePatience)
		defer cancel()
		return work(ctx)
	}, done)
}

// do is save for a change that comes to nothing but an error.
func (u *UI) do(work func(context.Context) error, done func(error)) {
	save(u, func(ctx context.Context) (struct{}, error) { return struct{}{}, work(ctx) }, func(_ struct{}, err error) { done(err) })
}

// follow calls show with what fetch gets, now and after every change of what
// there is to see, until ctx ends.
func follow[T any](ctx context.Context, u *UI, fetch func(context.Context) (T, error), show func(T, error)) {
	u.work.Go(func() {
		_ = u.client.Changes(ctx, func() { // that the resident goes ends the windows: see obey
			v, err := fetch(ctx)
			u.postWhile(ctx, "showing what has changed", func() { show(v, err) })
		})
	})
}

// change makes edits of the settings as they are when it comes to it, and not as
// a screen has seen them: a list that somebody else has changed meanwhile keeps
// that change.
func change(u *UI, edits func(*config.Config) []config.Edit, done func(control.Settings, error)) {
	save(u, func(ctx context.Context) (control.Settings, error) {
		settings, err := u.client.Settings(ctx)
		var conflict *control.ConflictError
		for tries := 0; err == nil && tries < 5; tries++ {
			var changed control.Settings
			changed, err = u.client.Edit(ctx, settings.Revision, edits(settings.Config))
			if !errors.As(err, &conflict) {
				return changed, err
			}
			settings, err = conflict.Current, nil
		}
		if err == nil {
			err = errors.New("the settings change all the time; try again in a moment")
		}
		return settings, err
	}, done)
}

// inWords is an error as a screen shows it.
func inWords(err error) string { return model.Sentence(err.Error()) }
