package run

import (
	"maps"
	"os"
	"path/filepath"
	"testing"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
)

func fixedLength(n float64) plan.Length { return plan.Length{Dist: plan.DistFixed, Mean: n} }

// Users of a shared prefix talk turn by turn, with their responses in front of the next
// question, as chats and as growing texts; all requests that were asked for go.
func TestSharedPrefixOfManyTurns(t *testing.T) {
	for _, endpoint := range []string{plan.EndpointChat, plan.EndpointCompletions} {
		t.Run(endpoint, func(t *testing.T) {
			s := serve(t, nil)
			p := closedPlan(t, s.url, 0, 24)
			p.Target.Endpoint = endpoint
			p.Stages[0].Concurrency, p.Stages[0].Rate = 0, 400
			p.Tokenizer.Name = plan.TokenizerWords
			p.Data = plan.Data{
				Source: plan.SourceSharedPrefix, Output: fixedLength(5),
				SharedPrefix: plan.SharedPrefix{Groups: 2, Prompts: 2, Prefix: fixedLength(30), Question: fixedLength(4), MultiTurn: true},
			}
			mustRun(t, p)
			sessions := map[string][]record.Record{}
			for _, r := range readKept(t, p.Output.Dir).recs {
				if r.Failure != nil {
					t.Fatalf("%+v", r.Failure)
				}
				sessions[r.Session] = append(sessions[r.Session], r)
			}
			if len(sessions) != 4 {
				t.Fatalf("%d users", len(sessions))
			}
			for name, list := range sessions {
				byTurn := make([]*record.Record, len(list))
				for i := range list {
					byTurn[list[i].Turn] = &list[i]
				}
				for turn, r := range byTurn {
					if r == nil || len(list) != 6 {
						t.Fatalf("%s: %d turns, turn %d is missing or twice", name, len(list), turn)
					}
					// What was asked and answered before, and four words more. A response may
					// begin within the last word of a text.
					least, most := 34+turn*8, 34+turn*9
					if r.In.Local < least || r.In.Local > most || r.RequestedTokens != 5 {
						t.Errorf("%s: turn %d has %d words, want %d to %d", name, turn, r.In.Local, least, most)
					}
					if turn > 0 && r.Sent < byTurn[turn-1].End {
						t.Errorf("%s: turn %d went before the answer to the one before", name, turn)
					}
				}
			}
		})
	}
}

// Requests have the lengths of the trace, row by row.
func TestRandomLengthsOfATrace(t *testing.T) {
	s := serve(t, nil)
	name := filepath.Join(t.TempDir(), "trace.csv")
	text := "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:15:46.68,37,4\n2023-11-16 18:15:46.83,39,9\n"
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	p := closedPlan(t, s.url, 2, 10)
	p.Data = plan.Data{Source: plan.SourceRandom, Trace: plan.Trace{Lengths: name}}
	mustRun(t, p)
	lengths := map[[2]int]int{}
	for _, r := range readKept(t, p.Output.Dir).recs {
		lengths[[2]int{r.In.Local, r.RequestedTokens}]++
	}
	if len(lengths) != 2 || lengths[[2]int{37, 4}] != 5 || lengths[[2]int{39, 9}] != 5 {
		t.Errorf("lengths of prompts and answers: %v", lengths)
	}
}

// A load of sessions holds the conversations of a file, each once and to its end.
func TestSessionsOfAFile(t *testing.T) {
	for name, load := range map[string]plan.SessionLoad{
		"all":         {Concurrent: 2},
		"all at once": {},
		"some":        {Concurrent: 2, Count: 2},
		"rate":        {Rate: 200},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, nil)
			p := closedPlan(t, s.url, 0, 0)
			p.Target.Endpoint = plan.EndpointChat
			p.Tokenizer.Name = plan.TokenizerWords
			p.Stages = []plan.Stage{{Arrival: plan.ArrivalSessions, Sessions: load}}
			file := filepath.Join(t.TempDir(), "talks.jsonl")
			text := `{"session_id": "a", "text": "one"}
{"session_id": "b", "text": "one"}
{"session_id": "a", "text": "two", "delay": 5}
{"session_id": "c", "text": "one"}
{"session_id": "a", "text": "three"}
{"session_id": "b", "text": "two"}
`
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			p.Data = plan.Data{Source: plan.SourceFile, File: file, Output: fixedLength(3)}
			mustRun(t, p)
			turns := map[string]int{}
			for _, r := range readKept(t, p.Output.Dir).recs {
				if r.Failure != nil {
					t.Fatalf("%+v", r.Failure)
				}
				turns[r.Session]++
			}
			want := map[string]int{"a": 3, "b": 2, "c": 1}
			if load.Count > 0 {
				delete(want, "c")
			}
			if !maps.Equal(turns, want) {
				t.Errorf("turns of sessions: %v, want %v", turns, want)
			}
		})
	}
}
