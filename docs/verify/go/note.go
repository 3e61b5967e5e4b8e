// The note: its check against the bundle, and what that of a transaction states beyond it.

package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

const prefix = "attestd/v1:j"

var paymentForm = regexp.MustCompile(`^[\w-]{21}[AQgw]$`)

// readNote gives what stands behind the prefix, where a byte order mark is no JSON.
func readNote(text string) object {
	if !strings.HasPrefix(text, prefix) || strings.HasPrefix(text, prefix+"\uFEFF") {
		return nil
	}
	value, _ := parse([]byte(text[len(prefix):]))
	note, _ := value.(object)
	return note
}

// isNote reports whether a note states what was recomputed, and whether its other members have their form.
func isNote(text string, facts object, on chain, id *regexp.Regexp) bool {
	form := object{"p": paymentForm}
	if facts["r"] == nil { // the note of a batch says nothing of a chain
		form["l"] = test(func(level any) bool {
			name, _ := level.(string)
			return slices.Contains(on.levels(), name)
		})
	}
	if facts["t"] != nil { // a transaction's bundle does not hold its block
		form = with(form, object{"b": id, "n": integer(0), "u": integer(0)})
		if on.canFail() {
			form["s"] = test(func(outcome any) bool { return outcome == 0.0 || outcome == 1.0 })
		}
	}
	for _, fact := range facts {
		if fact == "" { // not to be had from the bytes
			return false
		}
	}
	note, stated := readNote(text), object{}
	for name := range form {
		stated[name] = note[name]
	}
	return fits(stated, form) && text == prefix+canonical(with(facts, stated))
}

// state prints what a transaction's note states: its block by hash, height and time, and the outcome, which it gives.
func state(text string) string {
	note, outcome := readNote(text), "not_applicable"
	if number, ok := note["s"].(float64); ok {
		outcome = []string{"failed", "succeeded"}[int(number)]
	}
	fmt.Printf("states %s %.0f %.0f %s\n", note["b"], note["n"], note["u"], outcome)
	return outcome
}
