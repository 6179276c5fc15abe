// Package errlist has what a list of errors lacks in the standard library.
package errlist

import (
	"errors"
	"slices"
)

// Distinct is a joined error without repeats: a full disk is met by every worker.
func Distinct(err error) error {
	var list []error
	var add func(error)
	add = func(err error) {
		if joined, ok := err.(interface{ Unwrap() []error }); ok && errors.Join(joined.Unwrap()...).Error() == err.Error() {
			for _, e := range joined.Unwrap() {
				add(e)
			}
			return
		}
		if err != nil && !slices.ContainsFunc(list, func(e error) bool { return e.Error() == err.Error() }) {
			list = append(list, err)
		}
	}
	add(err)
	return errors.Join(list...)
}
