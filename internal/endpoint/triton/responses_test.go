package triton

import (
	"testing"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt/tensor"
)

func TestResponses(t *testing.T) {
	broken := respond("r", false)
	broken.ErrorMessage = "out of memory"
	body, marks := framed(
		marshal(t, respond("r", false, textOutput("WORD", "a"), intOutput("N", "INT32", 7, 8))),
		marshal(t, broken), marshal(t, respond("r", true)),
	)
	target := &plan.Target{Transport: plan.TransportGRPC, Endpoint: plan.EndpointStream}
	got, err := Responses(body, target)
	if err != nil || len(got) != 3 {
		t.Fatalf("%d responses, %v", len(got), err)
	}
	n := got[0].Outputs[1]
	if word := got[0].Outputs[0]; len(got[0].Outputs) != 2 || word.Name != "WORD" || string(word.Data[4:]) != "a" || n.Datatype != tensor.Int32 || string(n.AppendJSON(nil)) != "[7,8]" {
		t.Errorf("first %+v", got[0])
	}
	if got[1].Error != "out of memory" || len(got[2].Outputs) != 0 || got[2].Error != "" {
		t.Errorf("the others: %+v", got[1:])
	}
	for i := range got {
		if got[i].End != marks[i].Off {
			t.Errorf("response %d ends at %d, want %d", i, got[i].End, marks[i].Off)
		}
	}
	if cut, err := Responses(body[:len(body)-1], target); err != nil || len(cut) != 2 {
		t.Errorf("of an answer that breaks off: %d responses, %v", len(cut), err)
	}
}
