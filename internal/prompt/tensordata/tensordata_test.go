package tensordata

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/prompt/prompttest"
	"github.com/inferometer/inferometer/internal/prompt/tensor"
)

func open(t *testing.T, d plan.Tensors, text string) (*Source, error) {
	t.Helper()
	if text != "" {
		d.Files = []string{filepath.Join(t.TempDir(), "d.json")}
		if err := os.WriteFile(d.Files[0], []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return New(plan.Data{Source: plan.SourceTensors, Tensors: d}, 7)
}

func source(t *testing.T, d plan.Tensors, text string) *Source {
	t.Helper()
	s, err := open(t, d, text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func at(t *testing.T, s *Source, stage, i int) prompt.Prompt {
	t.Helper()
	p, err := s.Prompt(t.Context(), prompt.Position{Stage: uint64(stage), I: uint64(i)})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// values is what the items of a request give for their first tensor.
func values(p prompt.Prompt) string {
	var words []string
	for _, item := range p.Inputs.Items {
		words = append(words, string(item.Values[0].Text))
	}
	return strings.Join(words, " ")
}

func TestRoundRobin(t *testing.T) {
	const data = `{"data": [{"A": [0]}, {"A": [1]}, {"A": [2]}, {"A": [3]}]}`
	for _, c := range []struct {
		batch int
		want  []string
	}{
		{0, []string{"[0]", "[1]", "[2]", "[3]", "[0]"}},
		{2, []string{"[0] [1]", "[2] [3]", "[0] [1]"}},
		{3, []string{"[0] [1] [2]", "[3] [0] [1]", "[2] [3] [0]", "[1] [2] [3]", "[0] [1] [2]"}},
	} {
		s := source(t, plan.Tensors{Batch: c.batch}, data)
		s.SetStage(0)
		var got []string
		first := at(t, s, 0, 0)
		got = append(got, values(first))
		for i := range len(c.want) - 1 {
			p := at(t, s, 0, i+1)
			got = append(got, values(p))
			if same := p.Inputs == first.Inputs; same != (values(p) == values(first)) {
				t.Errorf("batch %d: %s: the same content has another pointer", c.batch, values(p))
			}
			if same := p.Hash == first.Hash; same != (values(p) == values(first)) {
				t.Errorf("batch %d: %s: hash %x and %x", c.batch, values(p), p.Hash, first.Hash)
			}
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("batch %d: %s", c.batch, diff)
		}
		s.SetStage(1)
		if got := values(at(t, s, 1, 0)); got != c.want[0] {
			t.Errorf("batch %d: a stage begins with %s", c.batch, got)
		}
	}
}

// Where nothing is given, all inputs are made up, the same for each request.
func TestMadeUp(t *testing.T) {
	s := source(t, plan.Tensors{Fill: plan.FillRandom, StringLength: 5, Shapes: []string{"A:2,2"}, Batch: 2}, "")
	m := &tensor.Signature{Name: "m", MaxBatch: 8, Inputs: []tensor.Spec{
		{Name: "A", Datatype: tensor.Int32, Shape: []int64{-1, 2}}, {Name: "B", Datatype: tensor.Bytes, Shape: []int64{1}},
	}}
	if err := s.Fit(m); err != nil {
		t.Fatal(err)
	}
	p := at(t, s, 0, 0)
	got, _, err := p.Inputs.Build(m.Inputs, nil, true)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]int64{2, 2, 2}, got[0].Shape); diff != "" {
		t.Error(diff)
	}
	if len(got[1].Data) != 2*(4+5) {
		t.Errorf("strings: %q", got[1].Data)
	}
	if at(t, s, 0, 1).Inputs != p.Inputs {
		t.Error("the second request has other inputs")
	}
}

func TestFitTellsAll(t *testing.T) {
	s := source(t, plan.Tensors{}, `{"data": [
{"A": ["x"]},
{"A": [1]},
{"B": [1]}]}`)
	m := &tensor.Signature{Name: "m", Inputs: []tensor.Spec{{Name: "A", Datatype: tensor.Int8, Shape: []int64{1}}}}
	err := s.Fit(m)
	var faults plan.Faults
	if !errors.As(err, &faults) || len(faults) != 2 ||
		!strings.Contains(faults[0].Text, `d.json:2: tensor "A": element 0 must be a whole number (INT8), is a string`) ||
		!strings.Contains(faults[1].Text, `d.json:4: the model has no input "B"`) {
		t.Errorf("got %v", err)
	}
	s = source(t, plan.Tensors{Fill: plan.FillZero, Batch: 3}, "")
	for most, want := range map[int]string{0: "takes one item at a time", 1: "takes one item at a time", 2: "takes at most 2 items"} {
		m.MaxBatch = most
		if err := s.Fit(m); err == nil || !strings.Contains(err.Error(), `is 3, and model "m" `+want) {
			t.Errorf("got %v", err)
		}
	}
}

func describe(p prompt.Prompt) string {
	text := fmt.Sprintf("%d:%d %s", p.Sequence.ID, p.Turn, values(p))
	if p.Sequence.Start {
		text += " start"
	}
	if p.Sequence.End {
		text += " end"
	}
	return text
}

// Each request of a sequence comes after the response to the one before.
func TestSequenceAfterAnswers(t *testing.T) {
	s := source(t, plan.Tensors{}, `{"data": [[{"A": [1]}, {"A": [2]}, {"A": [3]}]]}`)
	if err := s.Fit(&tensor.Signature{Sequences: true, Inputs: []tensor.Spec{{Name: "A", Datatype: tensor.Int8, Shape: []int64{1}}}}); err != nil {
		t.Fatal(err)
	}
	s.SetStage(0)
	p := at(t, s, 0, 0)
	got := []string{describe(p)}
	for rest := p.Rest; rest != nil; rest = p.Rest {
		var err error
		var think time.Duration
		if p, think, err = rest.Next(prompt.Response{}); err != nil || think != 0 {
			t.Fatal(think, err)
		}
		got = append(got, describe(p))
	}
	if diff := cmp.Diff([]string{"1:0 [1] start", "1:1 [2]", "1:2 [3] end"}, got); diff != "" {
		t.Error(diff)
	}
	p = at(t, s, 0, 1)
	if p.Sequence.ID != 2 {
		t.Errorf("the second sequence has id %d", p.Sequence.ID)
	}
	if _, _, err := p.Rest.Next(prompt.Response{Failed: true}); !errors.Is(err, io.EOF) {
		t.Errorf("after a failure: %v", err)
	}
}

func TestSequencesInTurn(t *testing.T) {
	s := source(t, plan.Tensors{Sequences: plan.Sequences{Mode: plan.SequencesOn, Live: 2, Length: 3, FirstID: 10, IDs: 2}}, `{"data": [{"A": [1]}, {"A": [2]}]}`)
	s.SetStage(0)
	var got []string
	for i := range 8 {
		p := at(t, s, 0, i)
		if p.Rest != nil {
			t.Error("a request waits for an answer")
		}
		got = append(got, describe(p))
	}
	want := []string{
		"10:0 [1] start", "11:0 [1] start", "10:1 [2]", "11:1 [2]", "10:2 [1] end", "11:2 [1] end", "10:0 [1] start", "11:0 [1] start",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// Where sequences are serial a request waits for the response to the one before it in its
// place, and whatever is sent of a sequence knows how it ends.
func TestSerialSequences(t *testing.T) {
	s := source(t, plan.Tensors{Sequences: plan.Sequences{Mode: plan.SequencesOn, Live: 2, Serial: true, Length: 3}}, `{"data": [{"A": [1]}, {"A": [2]}, {"A": [3]}]}`)
	s.SetStage(0)
	var all []prompt.Prompt
	for i := range 8 {
		all = append(all, at(t, s, 0, i))
	}
	for i := range all[:2] {
		if last := all[i].Sequence.Last; last == nil || describe(*last) != fmt.Sprintf("%d:2 [3] end", i+1) {
			t.Errorf("request %d ends with %v", i, last)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		gone := make(chan int, len(all))
		for i := range all {
			go func() {
				if err := all[i].Late.Await(context.Background()); err != nil {
					t.Error(err)
				}
				gone <- i
			}()
		}
		if a, b := <-gone, <-gone; a+b != 1 {
			t.Errorf("requests %d and %d go first", a, b)
		}
		for i := range all[:6] {
			synctest.Wait()
			if len(gone) > 0 {
				t.Errorf("request %d does not wait for request %d", i+2, i)
			}
			all[i].Late.End(prompt.Response{})
			if next := <-gone; next != i+2 {
				t.Errorf("request %d goes after request %d", next, i)
			}
		}
	})
	if p, err := all[4].Late.Prompt(); err != nil || describe(p) != "1:2 [3] end" || p.Sequence.Last != nil {
		t.Errorf("request 4 is %s, %v", describe(p), err)
	}
}

// Lengths stay within the variation, streams are all used, ids do not clash, and the
// same seed gives the same.
func TestSequencesVary(t *testing.T) {
	made := func(stage int) []string {
		s := source(t, plan.Tensors{Sequences: plan.Sequences{Mode: plan.SequencesOn, Live: 5, Length: 10, Variation: 0.2}}, `{"data": [[{"A": [1]}], [{"A": [2]}], [{"A": [3]}]]}`)
		s.SetStage(stage)
		var all []string
		open, lengths, streams := map[uint64]int{}, map[int]int{}, map[string]bool{}
		for i := range 4000 {
			p := at(t, s, stage, i)
			id := p.Sequence.ID
			if n, ok := open[id]; ok == p.Sequence.Start || n != p.Turn {
				t.Fatalf("%s: request %d of sequence %d", describe(p), n, id)
			}
			open[id]++
			streams[values(p)] = true
			if p.Sequence.End {
				lengths[open[id]]++
				delete(open, id)
			}
			if len(open) > 5 {
				t.Fatalf("%d sequences at a time", len(open))
			}
			all = append(all, describe(p))
		}
		for n := range lengths {
			if n < 8 || n > 12 {
				t.Errorf("a sequence of %d", n)
			}
		}
		if len(lengths) < 3 || len(streams) != 3 {
			t.Errorf("lengths %v, streams %v", lengths, streams)
		}
		return all
	}
	a, b := made(0), made(0)
	if diff := cmp.Diff(a, b); diff != "" {
		t.Error(diff)
	}
	if cmp.Equal(a, made(1)) {
		t.Error("another stage has the same sequences")
	}
}

// Which sequence a request is of does not depend on who asks when, nor on how many ids there are.
func TestSequencesByPlace(t *testing.T) {
	for _, ids := range []uint64{0, 6} {
		settings := plan.Tensors{Sequences: plan.Sequences{Mode: plan.SequencesOn, Live: 5, Length: 4, Variation: 0.7, IDs: ids}}
		const data, n = `{"data": [[{"A": [1]}, {"A": [4]}], [{"A": [2]}], [{"A": [3]}]]}`, 300
		s := source(t, settings, data)
		var want []string
		for i := range n {
			want = append(want, describe(at(t, s, 0, i)))
		}
		var got []string
		for _, p := range prompttest.TakeShared(t, source(t, settings, data), n) {
			got = append(got, describe(p))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		few := source(t, settings, data)
		for i := 2; i < n; i += 5 { // one lane alone
			if got := describe(at(t, few, 0, i)); got != want[i] {
				t.Errorf("request %d of one lane is %s, want %s", i, got, want[i])
			}
		}
	}
}

func TestMadeUpSequences(t *testing.T) {
	s := source(t, plan.Tensors{Fill: plan.FillZero, Sequences: plan.Sequences{Mode: plan.SequencesOn}}, "")
	p := at(t, s, 0, 0)
	n := 1
	for ; p.Rest != nil; n++ {
		var err error
		if p, _, err = p.Rest.Next(prompt.Response{}); err != nil {
			t.Fatal(err)
		}
	}
	if n != defaultLength || !p.Sequence.End {
		t.Errorf("a sequence of %d requests", n)
	}
}

// A session's turns carry what was said before them.
func TestSessions(t *testing.T) {
	s := source(t, plan.Tensors{}, `{"data": [[
{"payload": [{"model": "m", "messages": [{"role": "user", "content": "a"}], "n": 1}], "delay": [250]},
{"payload": [{"messages": [ {"role": "user", "content": "b"} , {"role": "user", "content": "c"} ]}]}, {"payload": [{"messages": []}]}]]}`)
	if err := s.Fit(&tensor.Signature{}); err != nil {
		t.Fatal(err)
	}
	s.SetStage(0)
	p := at(t, s, 0, 0)
	if string(p.Body) != `{"model":"m","messages":[{"role":"user","content":"a"}],"n":1}` || p.Sequence.ID != 0 {
		t.Errorf("first turn: %s", p.Body)
	}
	p, think, err := p.Rest.Next(prompt.Response{Text: "A\""})
	if err != nil || think != 250*time.Millisecond {
		t.Fatal(think, err)
	}
	if want := `{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"A\""},{"role":"user","content":"b"},{"role":"user","content":"c"}]}`; string(p.Body) != want {
		t.Errorf("second turn: %s", p.Body)
	}
	p, _, err = p.Rest.Next(prompt.Response{Text: "B"})
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"A\""},{"role":"user","content":"b"},{"role":"user","content":"c"},{"role":"assistant","content":"B"}]}`; string(p.Body) != want {
		t.Errorf("third turn: %s", p.Body)
	}
	if p.Rest != nil || p.Turn != 2 {
		t.Errorf("turn %d goes on", p.Turn)
	}
}

// As Perf Analyzer takes data, requests that stand alone are those of the first stream.
func TestExact(t *testing.T) {
	exact := func(text string) *Source {
		path := filepath.Join(t.TempDir(), "d.json")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := Exact(plan.Data{Source: plan.SourceTensors, Tensors: plan.Tensors{Files: []string{path}}}, 7, false)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	model := &tensor.Signature{Inputs: []tensor.Spec{{Name: "A", Datatype: tensor.Int8, Shape: []int64{1}}}}
	s := exact(`{"data": [[{"A": [1]}, {"A": [2]}], [{"A": [3]}]]}`)
	if err := s.Fit(model); err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"[1]", "[2]", "[1]"} {
		if p := at(t, s, 0, i); values(p) != want || p.Rest != nil {
			t.Errorf("request %d is %s, want %s", i, values(p), want)
		}
	}
	model.Sequences = true
	if err := s.Fit(model); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for i := range 40 {
		seen[values(at(t, s, 0, i))] = true
	}
	if !seen["[1]"] || !seen["[3]"] {
		t.Errorf("sequences begin with %v", seen)
	}
	s = exact(`{"data": [[{"payload": [{"a": 1}]}, {"payload": [{"a": 2}]}], [{"payload": [{"a": 3}]}]]}`)
	if err := s.Fit(&tensor.Signature{}); err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{`{"a":1}`, `{"a":2}`, `{"a":1}`} {
		if p := at(t, s, 0, i); string(p.Body) != want || p.Rest != nil || s.Sessions() != 0 {
			t.Errorf("payload %d is %s, want %s", i, p.Body, want)
		}
	}
}

func TestDelays(t *testing.T) {
	s := source(t, plan.Tensors{}, `{"data": [{"payload": [{}], "session_id": ["a"], "delay": [30]}, {"payload": [{}], "session_id": ["b"], "delay": [0]}, {"payload": [{}], "session_id": ["a"]}]}`)
	unnamed := source(t, plan.Tensors{}, `{"data": [[{"payload": [{}], "delay": [4]}, {"payload": [{}]}], [{"payload": [{}], "delay": [7]}]]}`)
	for _, c := range []struct {
		of      *Source
		session string
		turn    int
		ms      int64
		ok      bool
	}{
		{s, "a", 0, 30, true}, {s, "a", 1, 0, false}, {s, "b", 0, 0, true}, {s, "b", 1, 0, false}, {s, "c", 0, 0, false},
		{unnamed, "1", 0, 4, true}, {unnamed, "2", 0, 7, true}, {unnamed, "2", -1, 0, false},
	} {
		if ms, ok := c.of.Delays()(c.session, c.turn); ms != c.ms || ok != c.ok {
			t.Errorf("session %s, turn %d: %d %v", c.session, c.turn, ms, ok)
		}
	}
}

func TestSchedule(t *testing.T) {
	s := source(t, plan.Tensors{}, `{"data": [{"payload": [{}], "timestamp": [5]}, {"payload": [{}], "timestamp": [1500]}]}`)
	if diff := cmp.Diff([]time.Duration{5 * time.Millisecond, 1500 * time.Millisecond}, s.Schedule().List()); diff != "" {
		t.Error(diff)
	}
	s = source(t, plan.Tensors{}, `{"data": [{"payload": [{}], "timestamp": [5]}, {"payload": [{}]}]}`)
	if s.Schedule() != nil {
		t.Error("a schedule with a hole")
	}
}

// Tensors have a schedule where the plan says so: their timestamps are no input of the model,
// and the steps go in their order.
// differs: pa-schedule-order
func TestScheduleOfTensors(t *testing.T) {
	timed := plan.Tensors{Timestamps: true}
	s := source(t, timed, `{"data": [{"A": [1], "timestamp": [400]}, {"A": [2], "timestamp": [0]}, {"timestamp": [400], "A": [3]}]}`)
	if diff := cmp.Diff([]time.Duration{0, 400 * time.Millisecond, 400 * time.Millisecond}, s.Schedule().List()); diff != "" {
		t.Error(diff)
	}
	if err := s.Fit(&tensor.Signature{Inputs: []tensor.Spec{{Name: "A", Datatype: tensor.Int8, Shape: []int64{1}}}}); err != nil {
		t.Error(err)
	}
	for i, want := range []string{"[2]", "[1]", "[3]"} {
		if p := at(t, s, 0, i); values(p) != want {
			t.Errorf("%s, want %s", values(p), want)
		}
	}
	// differs: pa-schedule-sequences
	timed.Sequences = plan.Sequences{Mode: plan.SequencesOn, Live: 2}
	if s := source(t, timed, `{"data": [{"A": [1], "timestamp": [4]}, {"A": [2], "timestamp": [5]}]}`); len(s.Schedule().List()) != 2 || at(t, s, 0, 0).Sequence.ID != 1 || at(t, s, 0, 1).Sequence.ID != 2 {
		t.Error("a schedule does not go to sequences in turn")
	}
	for data, want := range map[string]string{
		`{"data": [{"A": [1], "timestamp": [4]}, {"A": [2]}]}`:                       "step 1 has no timestamp",
		`{"data": [{"A": [1], "timestamp": ["soon"]}]}`:                              "must be a whole number of milliseconds",
		`{"data": [[{"A": [1], "timestamp": [4]}], [{"A": [1], "timestamp": [5]}]]}`: "has several streams",
	} {
		if _, err := open(t, timed, data); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", data, err, want)
		}
	}
}

func TestFaults(t *testing.T) {
	dir := t.TempDir()
	for name, c := range map[string]struct {
		data plan.Data
		text string
		want string
	}{
		"none.json": {plan.Data{}, "", "none.json: cannot be read"},
		"mix.json":  {plan.Data{}, `{"data": [{"payload": [{}]}, {"A": [1]}]}`, "1 of the 2 steps have a payload"},
		"two.json":  {plan.Data{}, `{"data": [{"payload": [{}, {}]}]}`, "two.json:1: tensor payload: has 2 elements, not 1"},
		"few.json":  {plan.Data{Prompts: 3}, `{"data": [{"A": [1]}]}`, "3 steps are asked for, and the data has 1"},
	} {
		path := filepath.Join(dir, name)
		if c.text != "" {
			if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		c.data.Tensors.Files = []string{path}
		_, err := New(c.data, 1)
		var faults plan.Faults
		if !errors.As(err, &faults) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %s", name, err, c.want)
		}
	}
}
