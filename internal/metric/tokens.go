package metric

import "github.com/inferometer/inferometer/internal/record"

// spare is how many tokens the server and a tokenizer may be apart in a response: those that
// begin and end it, or stand around a part of it, are not in its text.
const spare = 4

// Compared is what a server counts beside what a tokenizer of this side finds in the same
// texts.
type Compared struct {
	N      int64 // requests
	Server int64 // tokens by the server's count
	Local  int64 // and by this side's
	Far    int64 // Σ |server − local| beyond spare
	Short  int64 // the part of Far where the server counts fewer
}

func (c *Compared) add(server, local int) {
	c.N++
	c.Server += int64(server)
	c.Local += int64(local)
	c.Far += int64(max(0, server-local-spare, local-server-spare))
	c.Short += int64(max(0, local-server-spare))
}

func (c *Compared) merge(o Compared) {
	c.N += o.N
	c.Server += o.Server
	c.Local += o.Local
	c.Far += o.Far
	c.Short += o.Short
}

// Around is by how many tokens the server's counts of prompts are beyond this side's. What a server
// puts around a prompt is the same for each.
type Around struct {
	N           int64 // prompts
	Least, Most int64
	Longest     int64 // prompt, by this side's count
}

func (a *Around) merge(o Around) {
	switch {
	case o.N == 0:
		return
	case a.N == 0:
		*a = o
		return
	}
	a.N += o.N
	a.Least, a.Most, a.Longest = min(a.Least, o.Least), max(a.Most, o.Most), max(a.Longest, o.Longest)
}

// compare takes the counts of a successful request's prompt (0) or response (1).
func (s *stageAggregate) compare(i int, t record.Tokens, standIn bool) {
	if t.Claimed > 0 {
		s.Claimed[i]++
		s.MostClaim[i] = max(s.MostClaim[i], int64(t.Claimed))
		s.ClaimSum[i] += int64(t.Claimed)
		s.ClaimUsed[i] += int64(t.N)
	}
	if t.Source != record.FromServer {
		return
	}
	local := t.Local
	if t.Expected > 0 {
		local = t.Expected
	}
	if t.Local >= 0 {
		s.Both[i]++
		s.Server[i] += int64(t.N)
		s.Own[i] += int64(local)
		s.Disagree[i] += int64(max(t.N-local, local-t.N))
		if more := int64(t.N - local); i == 0 {
			s.Around.merge(Around{1, more, more, int64(local)})
		}
	}
	if t.Expected > 0 || t.Local >= 0 && !standIn {
		s.Compared[i].add(t.N, local)
	}
}

// standIn takes another model's tokenizer's count of a stream that its server did not count.
func (s *stageAggregate) standIn(r *Request) {
	if r.Out.Source == record.FromTokenizer && r.Out.Claimed == 0 && r.events > 0 {
		s.StandIn.add(r.events, r.Out.N)
	}
}

// under looks whether a response shows far more tokens than its server counts. The margin is wide:
// the text of a token may be spread over events, and may read back as more tokens. Where the
// tokenizer agrees with the server, tokens were cut up on the way.
func (s *stageAggregate) under(r *Request, standIn bool) {
	out := &r.Out
	if out.Source != record.FromServer || out.Expected > 0 && 4*out.Expected <= 5*out.N {
		return
	}
	shown := r.events
	// A text may read back as more tokens: no evidence against a count of just what was asked for.
	if !standIn && out.Local >= 0 && out.N != r.RequestedTokens {
		if shown = max(shown, out.Local); 4*out.Local <= 5*out.N {
			return
		}
	}
	if shown > 2*out.N {
		s.Under++
		s.UnderSaid += int64(out.N)
		s.UnderShown += int64(shown)
	}
}
