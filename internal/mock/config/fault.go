package config

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// FaultKind is a way in which the server can fail.
type FaultKind string

// The faults to inject. FaultRefuse and FaultSlowAccept strike connections, the others requests.
const (
	FaultStatus     FaultKind = "status"      // an HTTP error status
	FaultRefuse     FaultKind = "refuse"      // the connection is reset before anything is read
	FaultSlowAccept FaultKind = "slow-accept" // nothing is read from the connection for a while
	FaultClose      FaultKind = "close"       // the connection is closed instead of a response
	FaultReset      FaultKind = "reset"       // the connection is reset halfway through the response
	FaultStall      FaultKind = "stall"       // the response stops halfway
	FaultTruncate   FaultKind = "truncate"    // the connection is closed halfway through the response
	FaultError      FaultKind = "error"       // an error object halfway through the stream
	FaultErrorEvent FaultKind = "error-event" // the same, under "event: error"
	FaultGarbage    FaultKind = "garbage"     // status 200 and bytes that are no response
	FaultHTML       FaultKind = "html"        // status 200 and a web page
)

// FaultKinds lists them in the order in which messages name them.
func FaultKinds() []FaultKind {
	return []FaultKind{FaultStatus, FaultRefuse, FaultSlowAccept, FaultClose, FaultReset, FaultStall, FaultTruncate, FaultError,
		FaultErrorEvent, FaultGarbage, FaultHTML}
}

// onConnection tells faults of connections from faults of requests.
func (k FaultKind) onConnection() bool { return k == FaultRefuse || k == FaultSlowAccept }

// Fault is a failure that strikes a share of the requests or connections.
type Fault struct {
	Kind  FaultKind
	Code  int // of Status
	Share float64
}

// String writes the fault as ParseFault reads it.
func (f Fault) String() string {
	return f.Name() + "=" + strconv.FormatFloat(f.Share, 'g', -1, 64)
}

// Name is how the truth file calls the fault.
func (f Fault) Name() string {
	if f.Kind == FaultStatus {
		return string(f.Kind) + ":" + strconv.Itoa(f.Code)
	}
	return string(f.Kind)
}

// ParseFault reads KIND=SHARE or status:CODE=SHARE.
func ParseFault(s string) (Fault, error) {
	name, share, ok := strings.Cut(s, "=")
	if !ok {
		return Fault{}, fmt.Errorf("fault %q: write KIND=SHARE, for example reset=0.05 or status:503=0.1", s)
	}
	kind, code, hasCode := strings.Cut(name, ":")
	f := Fault{Kind: FaultKind(kind)}
	var err error
	if hasCode {
		if f.Code, err = strconv.Atoi(code); err != nil {
			return Fault{}, fmt.Errorf("fault %q: %q is not a status code", s, code)
		}
	}
	if f.Share, err = strconv.ParseFloat(share, 64); err != nil {
		return Fault{}, fmt.Errorf("fault %q: the share %q is not a number", s, share)
	}
	var wrong faults
	f.validate(&wrong)
	if len(wrong) > 0 {
		return Fault{}, wrong[0]
	}
	return f, nil
}

func (f Fault) validate(v *faults) {
	v.check(slices.Contains(FaultKinds(), f.Kind), "fault %q: the kinds are %v", f.Kind, FaultKinds())
	if f.Kind == FaultStatus {
		v.check(f.Code >= 400 && f.Code <= 599, "fault status:%d: the code must be between 400 and 599", f.Code)
	} else {
		v.check(f.Code == 0, "fault %s:%d: only status has a code", f.Kind, f.Code)
	}
	v.check(f.Share >= 0 && f.Share <= 1, "fault %s: the share %v is not between 0 and 1", f.Kind, f.Share)
}

func validateFaults(fs []Fault, v *faults) {
	var request, connection float64
	for _, f := range fs {
		f.validate(v)
		if f.Kind.onConnection() {
			connection += f.Share
		} else {
			request += f.Share
		}
	}
	const slack = 1e-9 // shares such as 0.1 do not add up exactly
	v.check(!(request > 1+slack), "faults of requests: the shares add up to %v, more than 1", round(request))
	v.check(!(connection > 1+slack), "faults of connections: the shares add up to %v, more than 1", round(connection))
}

func round(v float64) float64 { return math.Round(v*1e6) / 1e6 }

// PickFault returns the fault that the draw u in [0,1) falls on, if any.
func PickFault(fs []Fault, connection bool, u float64) (Fault, bool) {
	for _, f := range fs {
		if f.Kind.onConnection() != connection {
			continue
		}
		if u < f.Share {
			return f, true
		}
		u -= f.Share
	}
	return Fault{}, false
}
