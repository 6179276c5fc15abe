package prompt

// The number of a request tells it from all others of a run, follows from where it stands
// and is the same whichever process sends it: requests that come from the source are
// counted, and one that goes on from another has the number of the first of them and its
// place behind it in the upper bits.
const (
	turnShift = 40
	endBit    = 1 << 62
)

// TurnSeq is the number of the request at a place, from 1, behind the one with which its
// conversation began.
func TurnSeq(first int64, turn int) int64 { return first + int64(turn)<<turnShift }

// Ending is the number of a request that ends what another has begun.
func Ending(first int64) int64 { return first | endBit }

// Spread shares requests out among n servers, in turn.
func (p *Prompt) Spread(n int) int {
	seq := p.Seq &^ endBit
	return int((seq&(1<<turnShift-1) + seq>>turnShift) % int64(n))
}
