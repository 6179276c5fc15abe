// Package adversary holds the suite of lies: servers, hosts and files that mislead whoever
// measures, each with a truth that is known from somewhere else. The program runs on them
// as a process of its own, and must not call a figure VALID that is further from the truth
// than the error that it states.
//
// A situation is one entry in a table; CONTRIBUTING.md says how to add one. All of it is
// test code.
package adversary
