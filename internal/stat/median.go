package stat

// Median is the median of vals, which it reorders; of an even number of values it is
// the mean of the two in the middle, rounded down. It is 0 for none.
func Median(vals []int64) int64 {
	n := len(vals)
	if n == 0 {
		return 0
	}
	upper := selectAt(vals, n/2)
	if n%2 == 1 {
		return upper
	}
	lower := vals[0]
	for _, v := range vals[1 : n/2] {
		lower = max(lower, v)
	}
	return lower + (upper-lower)/2
}

// selectAt reorders vals so that the k-th smallest is at k, with none greater before, and gives it.
func selectAt(vals []int64, k int) int64 {
	lo, hi := 0, len(vals)-1
	for lo < hi {
		pivot := middleOf(vals[lo], vals[lo+(hi-lo)/2], vals[hi])
		i, j := lo, hi
		for i <= j {
			for vals[i] < pivot {
				i++
			}
			for vals[j] > pivot {
				j--
			}
			if i <= j {
				vals[i], vals[j] = vals[j], vals[i]
				i++
				j--
			}
		}
		switch {
		case k <= j:
			hi = j
		case k >= i:
			lo = i
		default:
			return vals[k]
		}
	}
	return vals[k]
}

// middleOf is the middle one of three values.
func middleOf(a, b, c int64) int64 {
	return max(min(a, b), min(max(a, b), c))
}
