package secrets

import (
	"errors"
	"fmt"
	"strings"

	"github.com/zalando/go-keyring"
)

// systemBackend is go-keyring, which asks macOS's Keychain, Windows' Credential
// Manager or the Secret Service.
type systemBackend struct{}

func (systemBackend) Get(service, user string) (string, error) {
	if err := reachable(); err != nil {
		return "", err
	}
	return keyring.Get(service, user)
}

func (systemBackend) Set(service, user, value string) error {
	if err := reachable(); err != nil {
		return err
	}
	return keyring.Set(service, user, value)
}

func (systemBackend) Delete(service, user string) error {
	if err := reachable(); err != nil {
		return err
	}
	return keyring.Delete(service, user)
}

// lockedSigns are words of the systems' errors for a locked keychain: the
// Secret Service's IsLocked and go-keyring's own message; macOS's
// errSecInteractionNotAllowed and its exit status.
var lockedSigns = []string{"failed to unlock", "islocked", "is locked", "locked collection", "user interaction is not allowed", "exit status 36"}

// classify turns a backend's error into one of ours.
func classify(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, keyring.ErrNotFound):
		return ErrNotFound
	case errors.Is(err, keyring.ErrSetDataTooBig):
		return errors.New("the name or the value is too long for this system's keychain")
	}
	text := strings.ToLower(err.Error())
	for _, sign := range lockedSigns {
		if strings.Contains(text, sign) {
			return ErrLocked
		}
	}
	return fmt.Errorf("%w (%v)", ErrUnavailable, err)
}
