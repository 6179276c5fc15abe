package repeat

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/inferometer/inferometer/internal/testkit/schema"
)

func TestSchema(t *testing.T) {
	schema.Mirror(t, JSONSchema(), reflect.TypeFor[Document]())
	published := schema.New(JSONSchema())
	until, bound := Make(of(3, 98, 100), 5, "v"), 0.1
	until.Ended, until.Until = EndedTime, &Until{Expression: "ci(ttft.avg) < 5%", Levels: []Value{{Where: "8 in flight", Value: &bound, Bound: 0.05}, {Stage: -1, Why: "not known"}}}
	unlike := of(1, 100, 101)
	unlike[1].Result.Stages[0].Load = "9 in flight"
	for name, d := range map[string]*Document{
		"several": Make(of(3, 98, 100, 102), 5, "v"), "one": Make(of(3, 100), 1, "v"), "none": Make(nil, 2, "v"),
		"until": until, "unlike": Make(unlike, 2, "v"),
	} {
		text, err := json.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		if err := published.Check(t, text); err != nil {
			t.Errorf("%s: the document does not fit its schema: %v", name, err)
		}
		for from, to := range map[string]string{
			`"requested"`: `"extra":1,"requested"`, `repeats/1`: `repeats/2`, `"valid":`: `"valid":0,"was":`, `"notes":`: `"notes":[1],"was":`,
		} {
			if published.Check(t, []byte(strings.Replace(string(text), from, to, 1))) == nil {
				t.Errorf("%s: %s is accepted", name, to)
			}
		}
	}
}
