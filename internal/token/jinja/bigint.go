package jinja

import (
	"math"
	"math/big"
)

// bigInt is the text of an integer that no int64 holds, in decimal digits.
type bigInt string

const (
	maxBits   = 1 << 15 // of the integers that a template builds
	maxDigits = 4300    // of those that it prints, as in Python
)

// bigOf returns an integer of any size.
func bigOf(v any) (*big.Int, bool) {
	if b, ok := v.(bigInt); ok {
		return new(big.Int).SetString(string(b), 10)
	}
	i, ok := asInt(v)
	return big.NewInt(i), ok
}

func integer(n *big.Int) any {
	switch {
	case n.IsInt64():
		return n.Int64()
	case n.BitLen() > maxBits:
		panic(bad(tooLarge))
	}
	return bigInt(n.String())
}

// bigIntegers is a binary operator on integers of any size.
func bigIntegers(op string, i, j *big.Int) any {
	out := new(big.Int)
	switch op {
	case "+":
		return integer(out.Add(i, j))
	case "-":
		return integer(out.Sub(i, j))
	case "*":
		if i.BitLen()+j.BitLen() > 2*maxBits {
			panic(bad(tooLarge))
		}
		return integer(out.Mul(i, j))
	case "**":
		return bigPower(i, j)
	}
	if j.Sign() == 0 {
		panic(bad(byZero))
	}
	if op == "/" {
		f, _ := new(big.Rat).SetFrac(i, j).Float64()
		if math.IsInf(f, 0) {
			panic(bad(tooLarge))
		}
		return f
	}
	rest := new(big.Int)
	out.QuoRem(i, j, rest)
	if rest.Sign() != 0 && rest.Sign() != j.Sign() {
		out.Sub(out, big.NewInt(1))
		rest.Add(rest, j)
	}
	if op == "//" {
		return integer(out)
	}
	return integer(rest)
}

func bigPower(i, j *big.Int) any {
	if j.Sign() < 0 {
		x, _ := new(big.Float).SetInt(i).Float64()
		y, _ := new(big.Float).SetInt(j).Float64()
		return floats("**", x, y)
	}
	if i.BitLen() > 1 && (!j.IsInt64() || j.Int64() > maxBits || int64(i.BitLen())*j.Int64() > 2*maxBits) {
		panic(bad(tooLarge))
	}
	if i.BitLen() <= 1 && j.BitLen() > 1 {
		j = big.NewInt(2 - int64(j.Bit(0))) // of 0, 1 and -1 only this counts
	}
	return integer(new(big.Int).Exp(i, j, nil))
}

// compareNumbers is -1, 0 or 1; !ok: one is no number. A NaN compares as equal: callers look for
// it.
func compareNumbers(a, b any) (n int, ok bool) {
	i, isInt := bigOf(a)
	j, isInt2 := bigOf(b)
	x, isFloat := a.(float64)
	y, isFloat2 := b.(float64)
	switch {
	case isInt && isInt2:
		return i.Cmp(j), true
	case !(isInt || isFloat) || !(isInt2 || isFloat2):
		return 0, false
	case math.IsNaN(x) || math.IsNaN(y):
		return 0, true
	}
	return exact(i, x, isInt).Cmp(exact(j, y, isInt2)), true
}

// exact is a number without loss: integers have at most maxBits bits, floats 53.
func exact(i *big.Int, x float64, isInt bool) *big.Float {
	if isInt {
		return new(big.Float).SetInt(i)
	}
	return new(big.Float).SetFloat64(x)
}

func (n bigInt) digits() string {
	if len(n) > maxDigits {
		panic(bad("an integer of more than %d digits cannot be printed", maxDigits))
	}
	return string(n)
}
