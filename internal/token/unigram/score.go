package unigram

import (
	"math"
	"strconv"
)

// parseScore reads a number of JSON as the reference does, not always to the nearest float: it
// takes the digits as an integer, as many as 64 bits hold, and multiplies or divides by a power of
// ten, rounding each time. The last bit decides between ways to split a text. number is valid JSON;
// false: too large for a float.
func parseScore(number []byte) (float64, bool) {
	i, negative := 0, false
	if i < len(number) && number[i] == '-' {
		i, negative = 1, true
	}
	var digits uint64
	exponent, full := 0, false
	for fraction := false; i < len(number); i++ {
		c := number[i]
		if c == '.' {
			fraction = true
			continue
		}
		if c < '0' || c > '9' {
			break
		}
		if d := uint64(c - '0'); !full && digits <= (math.MaxUint64-d)/10 {
			digits = digits*10 + d
			if fraction {
				exponent--
			}
			continue
		}
		full = true // what follows only tells how large the number is
		if !fraction {
			exponent++
		}
	}
	if i < len(number) { // an exponent
		n, err := strconv.Atoi(string(number[i+1:]))
		if err != nil || n > math.MaxInt32 || n < math.MinInt32 {
			if digits == 0 || number[i+1] == '-' {
				return signed(0, negative), true
			}
			return 0, false
		}
		exponent += n
	}
	f, ok := scaled(float64(digits), exponent)
	return signed(f, negative), ok
}

func signed(f float64, negative bool) float64 {
	if negative {
		return -f
	}
	return f
}

// largestPower is the largest power of ten that a float holds.
const largestPower = 308

// scaled is f · 10^exponent; false where that is too large.
func scaled(f float64, exponent int) (float64, bool) {
	for exponent < -largestPower && f != 0 {
		f /= 1e308
		exponent += largestPower
	}
	switch {
	case f == 0:
		return 0, true
	case exponent > largestPower:
		return 0, false
	case exponent < 0:
		return f / power(-exponent), true
	}
	f *= power(exponent)
	return f, !math.IsInf(f, 0)
}

// power is the float nearest to 10^n.
func power(n int) float64 {
	if n < len(exactPowers) {
		return exactPowers[n]
	}
	f, err := strconv.ParseFloat("1e"+strconv.Itoa(n), 64)
	if err != nil {
		return math.Inf(1)
	}
	return f
}

// exactPowers are the powers of ten that scores are mostly divided by.
var exactPowers = [...]float64{
	1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
}
