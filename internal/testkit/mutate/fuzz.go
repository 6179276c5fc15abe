package mutate

import (
	"flag"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"
)

// perSeed is how many broken versions of each seed an ordinary test tries: a time for each
// fuzz target, in the binary that is there anyway. Fuzzing by go itself needs another one.
const perSeed = 12

// Fuzz is f.Fuzz, and more in an ordinary test: with each seed it tries broken versions of it.
func Fuzz(f *testing.F, body any) {
	f.Helper()
	if fuzzing := flag.Lookup("test.fuzz"); fuzzing != nil && fuzzing.Value.String() != "" {
		f.Fuzz(body)
		return
	}
	call := reflect.ValueOf(body)
	f.Fuzz(reflect.MakeFunc(call.Type(), func(in []reflect.Value) []reflect.Value {
		values := in[1:]
		sum := fnv.New64a()
		fmt.Fprint(sum, inputs(values)...)
		random := rand.New(rand.NewPCG(1, sum.Sum64()))
		for range perSeed {
			broken := breakOne(random, values)
			in[0].Interface().(*testing.T).Run("broken", func(t *testing.T) {
				ended := false
				defer func() {
					if t.Failed() || !ended && !t.Skipped() {
						t.Logf("input: %#v", inputs(broken))
					}
				}()
				call.Call(append([]reflect.Value{reflect.ValueOf(t)}, broken...))
				ended = true
			})
		}
		return call.Call(in) // last: what skips a seed ends it
	}).Interface())
}

func inputs(values []reflect.Value) []any {
	list := make([]any, len(values))
	for i, v := range values {
		list[i] = v.Interface()
	}
	return list
}

func breakOne(random *rand.Rand, values []reflect.Value) []reflect.Value {
	broken := append([]reflect.Value(nil), values...)
	i := random.IntN(len(broken))
	old := broken[i]
	v := reflect.New(old.Type()).Elem()
	text := func(s string) string { return (&mutator{rand: random, seeds: []string{s}}).version() }
	switch {
	case old.Kind() == reflect.String:
		v.SetString(text(old.String()))
	case old.Kind() == reflect.Slice:
		v.SetBytes([]byte(text(string(old.Bytes()))))
	case old.Kind() == reflect.Bool:
		v.SetBool(!old.Bool())
	case old.CanInt():
		near := []int64{0, 1, -1, old.Int() + 1, old.Int() - 1, -old.Int(), math.MaxInt64, math.MinInt64,
			int64(random.Uint64() >> random.IntN(64))}
		v.SetInt(near[random.IntN(len(near))])
	case old.CanUint():
		near := []uint64{0, 1, old.Uint() + 1, old.Uint() - 1, math.MaxUint64, random.Uint64() >> random.IntN(64)}
		v.SetUint(near[random.IntN(len(near))])
	case old.CanFloat():
		near := []float64{0, 1, -old.Float(), old.Float() / 3, math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat64,
			math.SmallestNonzeroFloat64, math.Float64frombits(random.Uint64())}
		v.SetFloat(near[random.IntN(len(near))])
	default:
		panic(fmt.Sprintf("a fuzz target takes a %s, which nothing breaks yet", old.Type()))
	}
	broken[i] = v
	return broken
}
