// Strict JSON, and its canonical bytes.

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"regexp"
)

type object = map[string]any

var memberName = regexp.MustCompile(`"(?:[^"\\]|\\.)*"\s*:`)

// parse reads JSON in which no member is there twice, which encoding/json would hide.
func parse(text []byte) (value any, err error) {
	if err := json.Unmarshal(text, &value); err != nil {
		return nil, err
	}
	if len(memberName.FindAll(text, -1)) != len(memberName.FindAll(canonical(value), -1)) {
		return nil, errors.New("a member is there twice")
	}
	return value, nil
}

// canonical is RFC 8785, for values whose names are ASCII and whose numbers are integers.
func canonical(value any) []byte {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		panic(err)
	}
	return bytes.TrimSuffix(text.Bytes(), []byte("\n"))
}
