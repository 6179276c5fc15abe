package bus

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/inferometer/inferometer/internal/testkit/mutate"
)

// stored is a message of a stream.
type stored struct {
	jetstream.Msg
	sequence uint64
	header   nats.Header
	data     []byte
}

func (m stored) Metadata() (*jetstream.MsgMetadata, error) {
	return &jetstream.MsgMetadata{Sequence: jetstream.SequencePair{Stream: m.sequence}}, nil
}
func (m stored) Headers() nats.Header { return m.header }
func (m stored) Data() []byte         { return m.data }

// FuzzParts: whatever stands in a stream, what Next gives is frames in order, or an error; and what was written is read.
func FuzzParts(f *testing.F) {
	f.Add(uint64(1), "1", "1/1", "", []byte("x"))
	f.Add(uint64(1), "1", "1/2", "", []byte("x"))
	f.Add(uint64(1), "18446744073709551615", "-1/-9", "", []byte("x"))
	f.Add(uint64(1), "", "", "0", []byte(nil))
	f.Add(uint64(9), "1", "9223372036854775807/1", "7", []byte("x"))
	mutate.Fuzz(f, func(t *testing.T, sequence uint64, frame, of, end string, data []byte) {
		h := nats.Header{frameHeader: {frame}, partHeader: {of}}
		if end != "" {
			h.Set(endHeader, end)
		}
		p, err := readPart(stored{sequence: sequence, header: h, data: data})
		if err != nil {
			t.Fatal(err)
		}
		if again, err := readPart(stored{sequence: sequence, header: p.header(), data: data}); err != nil || p.end != again.end ||
			p.frames != again.frames || !p.end && p.frame != again.frame {
			t.Errorf("%+v is read as %+v: %v", p, again, err)
		}
		in := &Inbox{bus: NewLink(nil).Bus("run"), worker: "w", parts: make(chan part, 1), wake: make(chan struct{}, 1), gone: make(chan struct{})}
		in.parts <- p
		close(in.parts)
		if got, err := in.Next(t.Context()); err == nil && (got.Number != 1 || sequence != 1) {
			t.Errorf("the first frame is number %d, at %d", got.Number, sequence)
		}
	})
}

// FuzzMessages: a question or a response that cannot be read is declined, or an error.
func FuzzMessages(f *testing.F) {
	f.Add([]byte(`{"Name":"x","Size":1}`))
	f.Add([]byte(`[`))
	mutate.Fuzz(f, func(t *testing.T, data []byte) {
		called := false
		reply := respond(data, func(q question) (answer, error) {
			called = true
			return answer{Share: q.Size}, errors.Join()
		})
		_, declined := reply.Header[declinedHeader]
		if json.Valid(reply.Data) == declined && called {
			t.Errorf("answered %q", reply.Data)
		}
		if !called && !declined {
			t.Errorf("not declined: %q", data)
		}
	})
}
