//go:build linux

package main

import (
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"text/tabwriter"
)

type outcome struct {
	Kind       string   `json:"kind"`
	Seed       uint64   `json:"seed"`
	Scenario   scenario `json:"scenario"`
	Requests   int      `json:"requests"` // that the servers got
	Records    int      `json:"records"`  // that the coordinators have
	Hung       int      `json:"hung"`     // processes
	Doubled    int      `json:"doubled"`
	Lost       int      `json:"lost"`      // beyond what the documents say
	Kept       int      `json:"kept"`      // by the workers alone, as the documents say
	Unknown    int      `json:"unknown"`   // to all, as the documents say
	Invented   int      `json:"invented"`  // on record as a success that never was
	AfterEnd   int      `json:"after_end"` // requests
	Ends       float64  `json:"ends_s"`    // seconds from the planned end, or the last fault, until all have ended
	Codes      []int    `json:"codes"`     // of the coordinators
	Missed     int      `json:"missed,omitempty"`
	Skipped    string   `json:"skipped,omitempty"`
	Violations []string `json:"violations,omitempty"`
}

func (o outcome) print(w io.Writer, n int, opt options) {
	word := "ok"
	switch {
	case o.Skipped != "":
		word = "SKIPPED: " + o.Skipped
	case len(o.Violations) > 0:
		word = "FAILED"
	}
	fmt.Fprintf(w, "%3d/%d %-30s seed %d: %d requests, %d on record, ended after %.1f s: %s\n", n, opt.cases, o.Kind, o.Seed, o.Requests, o.Records, o.Ends, word)
	if len(o.Violations) == 0 {
		return
	}
	for _, v := range o.Violations {
		fmt.Fprintln(w, "    -", strings.TrimSpace(v))
	}
	fmt.Fprintf(w, "    again: go run -trimpath ./scripts/chaos -keep -n 1 -seed %d -only '^%s$' %s %s\n", o.Seed, regexp.QuoteMeta(o.Kind), opt.program, opt.nats)
}

// table prints all cases by kind, and gives how many failed.
func table(w io.Writer, all []outcome) (failed int) {
	sums := map[string]*outcome{}
	cases, bad, skipped := map[string]int{}, map[string]int{}, map[string]int{}
	var names []string
	for _, o := range all {
		for _, name := range []string{o.Kind, "all"} {
			if sums[name] == nil {
				sums[name] = &outcome{}
				names = append(names, name)
			}
			s := sums[name]
			cases[name]++
			s.Hung, s.Doubled, s.Lost, s.Kept, s.Unknown = s.Hung+o.Hung, s.Doubled+o.Doubled, s.Lost+o.Lost, s.Kept+o.Kept, s.Unknown+o.Unknown
			s.Invented, s.AfterEnd, s.Ends, s.Requests = s.Invented+o.Invented, s.AfterEnd+o.AfterEnd, max(s.Ends, o.Ends), s.Requests+o.Requests
			if len(o.Violations) > 0 {
				bad[name]++
			}
			if o.Skipped != "" {
				skipped[name]++
			}
		}
	}
	slices.SortFunc(names, func(a, b string) int {
		if (a == "all") != (b == "all") {
			return map[bool]int{true: 1, false: -1}[a == "all"]
		}
		return strings.Compare(a, b)
	})
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(t, "\nkind\tcases\tfailed\tskipped\trequests\thung\tdoubled\tlost\tkept by workers\tunknown\tinvented\tafter the end\tworst end, s\t\n")
	for _, name := range names {
		s := sums[name]
		fmt.Fprintf(t, "%s\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%.1f\t\n", name, cases[name], bad[name], skipped[name],
			s.Requests, s.Hung, s.Doubled, s.Lost, s.Kept, s.Unknown, s.Invented, s.AfterEnd, s.Ends)
	}
	_ = t.Flush()
	return bad["all"]
}
