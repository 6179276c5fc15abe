package tensor

import "math"

// The two 16-bit formats differ in how they divide their bits.
const (
	fp16Exponent, fp16Mantissa = 5, 10
	bf16Exponent, bf16Mantissa = 8, 7
)

// ToFP16 is the half-precision number nearest to x, the even one of two; infinite if too large.
func ToFP16(x float64) uint16 { return toHalf(x, fp16Exponent, fp16Mantissa) }

// ToBF16 is the bfloat16 number nearest to x, the even one of two that are as near.
func ToBF16(x float64) uint16 { return toHalf(x, bf16Exponent, bf16Mantissa) }

// FromFP16 is the value of a half-precision number.
func FromFP16(h uint16) float64 { return fromHalf(h, fp16Exponent, fp16Mantissa) }

// FromBF16 is the value of a bfloat16 number.
func FromBF16(h uint16) float64 { return fromHalf(h, bf16Exponent, bf16Mantissa) }

func toHalf(x float64, exponentBits, mantissaBits int) uint16 {
	var sign uint16
	if math.Signbit(x) {
		sign, x = 1<<15, -x
	}
	top := uint16(1)<<exponentBits - 1 // exponent of infinities and NaNs
	bias := 1<<(exponentBits-1) - 1
	infinite := sign | top<<mantissaBits
	switch {
	case math.IsNaN(x):
		return infinite | 1<<(mantissaBits-1)
	case math.IsInf(x, 0):
		return infinite
	case x == 0:
		return sign
	}
	// In units of the result's last place, which below the smallest normal number stays, x is
	// scaled.
	_, exponent := math.Frexp(x) // x is in [2^(exponent-1), 2^exponent)
	exponent = max(exponent-1, 1-bias)
	units := math.RoundToEven(math.Ldexp(x, mantissaBits-exponent))
	// A normal number has 2^mantissaBits units or more, and its hidden bit counts up
	// the exponent; so does a mantissa that rounding made one bit longer.
	bits := uint32(units) + uint32(exponent+bias-1)<<mantissaBits
	if bits >= uint32(top)<<mantissaBits {
		return infinite
	}
	return sign | uint16(bits)
}

func fromHalf(h uint16, exponentBits, mantissaBits int) float64 {
	bias := 1<<(exponentBits-1) - 1
	exponent := int(h>>mantissaBits) & (1<<exponentBits - 1)
	mantissa := float64(h & (1<<mantissaBits - 1))
	var x float64
	switch {
	case exponent == 1<<exponentBits-1 && mantissa != 0:
		return math.NaN()
	case exponent == 1<<exponentBits-1:
		x = math.Inf(1)
	case exponent == 0:
		x = math.Ldexp(mantissa, 1-bias-mantissaBits)
	default:
		x = math.Ldexp(mantissa+float64(int(1)<<mantissaBits), exponent-bias-mantissaBits)
	}
	if h>>15 == 1 {
		return -x
	}
	return x
}
