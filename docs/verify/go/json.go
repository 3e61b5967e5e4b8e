// Strict JSON, of which every reader sees the same value, and its canonical bytes.

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

type object = map[string]any

// Of what stands behind a backslash: a pair of surrogates, half of one, or anything else.
var escapes = regexp.MustCompile(`\\(?:u[dD][89abAB]..\\u[dD][c-fC-F]..|u[dD][89a-fA-F]|[^u]|u)`)
var integerForm = regexp.MustCompile(`^(0|-?[1-9][0-9]{0,15})$`)

// parse reads the value of a file. encoding/json alone would hide a member that is there twice, half a surrogate pair,
// bytes that are not UTF-8, and how numbers are spelled.
func parse(text []byte) (value any, err error) { return parseUpTo(text, 1<<21, 4096) }

func parseUpTo(text []byte, most, mostMembers int) (value any, err error) {
	defer func() {
		if reason := recover(); reason != nil {
			value, err = nil, fmt.Errorf("%v", reason)
		}
	}()
	require(len(text) <= most, "too large")
	text = bytes.TrimPrefix(text, []byte("\uFEFF")) // a byte order mark
	require(utf8.Valid(text) && json.Valid(text), "no JSON")
	for _, escape := range escapes.FindAll(text, -1) {
		require(len(escape) != 4, "half a surrogate pair")
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	return read(decoder, 1, &mostMembers), nil
}

// read takes one value, of which json.Valid has said that its grammar is right.
func read(decoder *json.Decoder, depth int, left *int) any {
	token, err := decoder.Token()
	require(err == nil, "no JSON")
	if number, ok := token.(json.Number); ok {
		value, err := number.Int64()
		isSafe := err == nil && value < 1<<53 && value > -1<<53
		require(isSafe && integerForm.MatchString(number.String()), "no integer, or spelled otherwise")
		return float64(value)
	}
	if token != json.Delim('{') && token != json.Delim('[') {
		return token
	}
	require(depth <= 16, "nested deeper than 16")
	found, items := object{}, []any{}
	for decoder.More() {
		*left--
		require(*left >= 0, "too many members")
		if token == json.Delim('[') {
			items = append(items, read(decoder, depth+1, left))
			continue
		}
		name := read(decoder, depth+1, left).(string)
		_, isThere := found[name]
		require(!isThere && name != "__proto__", "a member that is there twice, or __proto__")
		found[name] = read(decoder, depth+1, left)
	}
	_, _ = decoder.Token()
	if token == json.Delim('[') {
		return items
	}
	return found
}

var shortEscapes = map[rune]string{'"': `\"`, '\\': `\\`, '\b': `\b`, '\f': `\f`, '\n': `\n`, '\r': `\r`, '\t': `\t`}

// canonical is RFC 8785, for values whose names are ASCII and whose numbers are integers.
func canonical(value any) string {
	switch value := value.(type) {
	case object:
		members := []string{}
		for name, member := range value {
			members = append(members, canonical(name)+":"+canonical(member))
		}
		slices.Sort(members)
		return "{" + strings.Join(members, ",") + "}"
	case []any:
		items := []string{}
		for _, item := range value {
			items = append(items, canonical(item))
		}
		return "[" + strings.Join(items, ",") + "]"
	case string:
		var text strings.Builder
		for _, letter := range value {
			if short, ok := shortEscapes[letter]; ok {
				text.WriteString(short)
			} else if letter < 0x20 {
				fmt.Fprintf(&text, `\u%04x`, letter)
			} else {
				text.WriteRune(letter)
			}
		}
		return `"` + text.String() + `"`
	case float64:
		return strconv.FormatInt(int64(value), 10)
	}
	return fmt.Sprint(value) // null and booleans do not stand in a bundle
}
