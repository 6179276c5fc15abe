package hub

import (
	"errors"
	"fmt"
	"strings"
)

// Why a file is unavailable. An *Error wraps one of them where it applies.
var (
	ErrNotFound   = errors.New("no such file in the repository")
	ErrNoRepo     = errors.New("no such repository")
	ErrNoRevision = errors.New("no such revision")
	ErrGated      = errors.New("access to the repository is restricted")
	ErrOffline    = errors.New("not in the local cache, and the hub may not be asked")
	ErrRefused    = errors.New("the hub does not accept the token")

	// ErrUnreachable: nothing answers at the hub's address.
	ErrUnreachable = errors.New("the hub cannot be reached")
)

// Error says which file was not available, why, and what to do about it. It holds
// no secrets.
type Error struct {
	Repo     Repo
	Revision string
	Commit   string // that the cache has for the revision; "" where it has none
	File     string
	Endpoint string
	Token    bool // a token was at hand
	Err      error
}

func (h *Hub) failure(repo Repo, revision, commit, file string, err error) error {
	return &Error{Repo: repo, Revision: revision, Commit: commit, File: file, Endpoint: h.Endpoint(), Token: h.token != "", Err: err}
}

// Unwrap gives the reason.
func (e *Error) Unwrap() error { return e.Err }

// Error implements error.
func (e *Error) Error() string {
	what := string(e.Repo.Kind) + " " + e.Repo.Name
	page := e.Endpoint + "/" + e.Repo.path()
	local := "or give the path of a local file or directory"
	switch {
	case errors.Is(e.Err, ErrNotFound):
		at := e.Revision
		if e.Commit != "" && e.Commit != e.Revision {
			at += " (commit " + e.Commit + ", the one in the local cache)"
		}
		return fmt.Sprintf("%s has no file %s at revision %s", what, e.File, at)
	case errors.Is(e.Err, ErrNoRepo):
		hint := "if it is private, set HF_TOKEN or run huggingface-cli login"
		if e.Token {
			hint = "if it is private, the token in use has no access to it"
		}
		return fmt.Sprintf("%s has no %s, or hides it: check the spelling (%s); %s; %s", e.Endpoint, what, page, hint, local)
	case errors.Is(e.Err, ErrNoRevision):
		return fmt.Sprintf("%s has no revision %s: give a branch, a tag or a full commit (%s lists them)", what, e.Revision, page)
	case errors.Is(e.Err, ErrGated):
		then := "then set HF_TOKEN to a token of that account, or run huggingface-cli login"
		if e.Token {
			then = "with the account that the token in use belongs to, and let the token read gated repositories"
		}
		return fmt.Sprintf("%s is gated: accept its licence at %s, %s; %s", what, page, then, local)
	case errors.Is(e.Err, ErrRefused):
		return fmt.Sprintf("%s does not accept the token in use for %s: set HF_TOKEN to a valid one, or run huggingface-cli login; %s", e.Endpoint, what, local)
	case errors.Is(e.Err, ErrOffline):
		return fmt.Sprintf("%s of %s at revision %s is not in the local cache, and HF_HUB_OFFLINE forbids asking the hub: unset it, fetch the file elsewhere, %s",
			e.File, what, e.Revision, local)
	case errors.Is(e.Err, ErrUnreachable):
		return fmt.Sprintf("getting %s of %s: %v; check the network and HF_ENDPOINT, %s", e.File, what, e.Err, local)
	}
	return fmt.Sprintf("getting %s of %s at revision %s: %v", e.File, what, e.Revision, e.Err)
}

// hide removes the token from a text that comes from elsewhere.
func (h *Hub) hide(text string) string {
	if h.token == "" {
		return text
	}
	return strings.ReplaceAll(text, h.token, "[hidden]")
}
