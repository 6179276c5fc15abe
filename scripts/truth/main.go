// Command truth compares the records of a run with the truth file of the mock that it measured: each request that the
// mock saw has one record, and the other way round.
//
//	go run ./scripts/truth [-lost L -workers N] TRUTH RECORDS
//
// -lost L -workers N: L of N workers were killed. Requests of their last moment may have no record, those of others may not.
package main

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/inferometer/inferometer/internal/mock/truthfile"
	"github.com/inferometer/inferometer/internal/record"
)

func main() {
	lost, workers := flag.Int("lost", 0, "workers that were killed"), flag.Int("workers", 1, "workers of the run")
	flag.Parse()
	if flag.NArg() != 2 {
		fmt.Fprintln(os.Stderr, "usage: truth [-lost L -workers N] TRUTH RECORDS")
		os.Exit(2)
	}
	if err := compare(flag.Arg(0), flag.Arg(1), *lost, *workers); err != nil {
		fmt.Fprintln(os.Stderr, "truth:", err)
		os.Exit(1)
	}
}

func compare(truth, records string, lost, workers int) error {
	seen, err := requests(truth)
	if err != nil {
		return err
	}
	kinds := map[string]int{}
	total := 0
	var strange []string
	whole, err := record.File{Path: records}.Walk(func(l record.Line) error {
		r := l.Request
		if r == nil {
			return nil
		}
		kind := "ok"
		if r.Failure != nil {
			kind = string(r.Failure.Class)
		}
		total++
		kinds[kind]++
		if !seen[r.Seq] {
			strange = append(strange, strconv.FormatInt(int64(r.Seq), 10)+" ("+kind+")")
		}
		delete(seen, r.Seq)
		return nil
	})
	if err != nil {
		return err
	}
	var kept []string
	for _, kind := range slices.SortedFunc(maps.Keys(kinds), func(a, b string) int { return cmp.Compare(kinds[b], kinds[a]) }) {
		kept = append(kept, fmt.Sprintf("%d %s", kinds[kind], kind))
	}
	missing := slices.Sorted(maps.Keys(seen))
	fmt.Printf("%d records (%s) of %d requests that the mock saw\n", total, strings.Join(kept, ", "), total-len(strange)+len(missing))
	switch {
	case !whole:
		return errors.New("the record file has no end")
	case len(strange) > 0:
		return fmt.Errorf("records that the mock knows nothing of, or twice: %v", strange)
	case senders(missing, workers) > lost:
		return fmt.Errorf("requests without a record: %v", missing)
	case len(missing) > 0:
		fmt.Printf("without a record: %d, the last of a worker that was killed\n", len(missing))
	}
	return nil
}

// senders is how many workers sent these requests.
func senders(requests []int64, workers int) int {
	of := map[int64]bool{}
	for _, n := range requests {
		of[n%int64(workers)] = true
	}
	return len(of)
}

// requests are the numbers of the requests that a mock saw.
func requests(file string) (map[int64]bool, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	all, err := truthfile.Read(f)
	if err != nil {
		return nil, err
	}
	seen := map[int64]bool{}
	for _, one := range all {
		n, err := strconv.ParseInt(one.ID[strings.LastIndexByte(one.ID, '-')+1:], 10, 64)
		if err != nil || seen[n] {
			return nil, fmt.Errorf("%s: a request of another client, or one twice: %s", file, one.ID)
		}
		seen[n] = true
	}
	return seen, nil
}
